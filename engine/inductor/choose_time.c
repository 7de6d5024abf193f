/* Candidates of a matmul, timed: the library's call with an epilogue against its plain call and a kernel behind it.
 *
 * In: both calls. Out: medians of both on this card, on buffers of their own, and what the kernel would take: its bytes at the copy rate measured on
 * this card, plus a launch. Where no card is, nothing is timed and the caller decides by bytes.
 * Invariant: nothing of the program is touched; buffers hold a constant other than zero. */
#include "inductor/lowering.h"
#include "run/runtime.h"
#include <stdlib.h>

typedef struct Operands { Storage *a, *b, *out, *bias, *add; } Operands;

static Storage *operand(const Lowering *lowering, int buffer, const Meta *meta) {
    if (buffer < 0) return NULL;
    int64_t bytes = meta_storage_span(meta) * dtype_size(meta->dtype);
    Storage *storage = storage_new(lowering->c->runtime, lowering->l->device, bytes);
    if (storage) device_fill(lowering->c->runtime, lowering->l->device, storage->data, 0x3c, bytes);
    return storage;
}

static void release(Storage *storage) {
    if (storage) storage_unref(storage);
}

static void *data_of(const Storage *storage) { return storage ? storage->data : NULL; }

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

enum { WARM = 2, RUNS = 7 };

/* Median device time of the call; negative when it fails. */
static double time_call(const Lowering *lowering, const MatmulCall *call, const Operands *o) {
    Runtime *runtime = lowering->c->runtime;
    Device device = lowering->l->device;
    double times[RUNS];
    OpError error;
    for (int i = -WARM; i < RUNS; i++) {
        DeviceTimer *timer = timer_start(runtime, device);
        bool ok = matmul_run(runtime, device, call, data_of(o->a), data_of(o->b), data_of(o->out), data_of(o->bias), data_of(o->add), &error);
        double us = timer_stop_us(timer);
        if (!ok) return -1;
        if (i >= 0) times[i] = us;
    }
    qsort(times, RUNS, sizeof *times, compare_doubles);
    return times[RUNS / 2];
}

static bool is_static(const MatmulCall *call) { return meta_is_static(&call->a_meta) && meta_is_static(&call->b_meta) && meta_is_static(&call->out_meta); }

bool time_epilogue(const Lowering *lowering, const MatmulCall *plain, const MatmulCall *with, int64_t kernel_bytes, EpilogueTimes *times) {
    Runtime *runtime = lowering->c->runtime;
    DeviceFacts facts;
    if (!lowering->c->policy->time_candidates || lowering->l->device.kind != DEVICE_CUDA || !is_static(with) || !cuda_available(runtime, NULL)) return false;
    if (!device_facts(runtime, lowering->l->device, &facts, true) || facts.copy_gbs <= 0) return false;
    Operands o = {operand(lowering, with->a, &with->a_meta), operand(lowering, with->b, &with->b_meta), operand(lowering, 0, &with->out_meta),
                  operand(lowering, with->bias, &with->bias_meta), operand(lowering, with->add, &with->add_meta)};
    bool ok = o.a && o.b && o.out;
    if (ok) {
        times->with_us = time_call(lowering, with, &o);
        times->plain_us = time_call(lowering, plain, &o);
        times->kernel_us = (double)kernel_bytes / facts.copy_gbs / 1e3 + 2.5;
        ok = times->with_us >= 0 && times->plain_us >= 0;
    }
    release(o.a), release(o.b), release(o.out), release(o.bias), release(o.add);
    return ok;
}
