/* What the unit tests of engine/run share: a cache folder and a runtime for each test, hand-made plans, an op of our own. */
#ifndef VITRINE_TESTS_RUN_UNIT_H
#define VITRINE_TESTS_RUN_UNIT_H
#include "unit.h"
#include "run/private.h"
#include "run/runtime.h"
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static Arena *arena;
static char folder[64]; /* a cache folder of each test's own */
static volatile int interrupt;
static char warned[2048];
static int warnings;
static const Device cpu = {DEVICE_CPU, 0};

static inline void note_warning(void *state, const char *text) {
    (void)state;
    warnings++;
    snprintf(warned, sizeof warned, "%s", text);
}

static inline Runtime *open_runtime(const char *cache) {
    return runtime_new(arena, &(RuntimeOptions){.cache_dir = cache, .interrupt = &interrupt, .warn = note_warning});
}

static inline int remove_one(const char *path, const struct stat *facts, int kind, struct FTW *place) {
    (void)facts, (void)kind, (void)place;
    return remove(path);
}

static inline void open_all(void) {
    arena = arena_new("test");
    interrupt = 0;
    warnings = 0;
    snprintf(folder, sizeof folder, "/tmp/vitrine-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}
static inline void close_all(void) {
    arena_free(arena);
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- plans ---- */

static inline Meta meta_of(DType dtype, int rank, const Dim *sizes) { return meta_new(dtype, cpu, rank, sizes); }
static inline Meta vector_of(DType dtype, Dim n) { return meta_of(dtype, 1, &n); }

static inline Plan *plan_new(void) {
    Plan *plan = ARENA_NEW(arena, Plan);
    plan->arena = arena;
    plan->device = cpu;
    plan->name = "forward";
    return plan;
}

static inline int plan_buffer(Plan *plan, BufferRole role, int index, Meta meta) {
    Buffer buffer = {.name = arena_printf(arena, "buf%d", plan->buffers.count), .role = role, .index = index, .meta = meta, .reuses = -1};
    vec_push_in(plan->arena, &plan->buffers, buffer);
    return plan->buffers.count - 1;
}

static inline Kernel *kernel_new(const char *entry, const char *body) {
    Kernel *kernel = ARENA_NEW(arena, Kernel);
    kernel->name = "k0";
    kernel->entry = entry;
    kernel->language = KERNEL_C;
    kernel->source = arena_printf(arena, "void %s(void *const *pointers, const long *sizes) {\n%s\n}\n", entry, body);
    return kernel;
}

static inline void plan_kernel(Plan *plan, const Kernel *kernel, const int *buffers, int count) {
    bool known = false;
    for (int i = 0; i < plan->kernels.count; i++) known = known || plan->kernels.at[i] == kernel;
    if (!known) vec_push_in(plan->arena, &plan->kernels, kernel);
    int *copy = arena_copy(plan->arena, buffers, (size_t)count * sizeof *buffers);
    Launch launch = {.kind = LAUNCH_KERNEL, .name = kernel->entry, .kernel = kernel, .buffers = copy, .buffer_count = count};
    vec_push_in(plan->arena, &plan->launches, launch);
}

/* An op of our own: out = first tensor of the list * i. */
static inline bool run_scale(const Op *op, const Arg *args, int nargs, const Arg *outs, int nouts, const OpContext *context, OpError *error) {
    (void)op, (void)context;
    if (nargs != 2 || nouts != 1 || args[0].tag != ARG_TENSORS) return op_error(error, ERROR_TYPE, "bad call");
    const Arg *x = &args[0].list.items[0];
    if (args[1].i == 13) return op_error(error, ERROR_VALUE, "thirteen");
    for (int64_t i = 0; i < meta_numel(x->tensor.meta); i++)
        ((float *)outs[0].tensor.data)[i] = ((const float *)x->tensor.data)[x->tensor.meta->offset + i * x->tensor.meta->strides[0]] * (float)args[1].i;
    return true;
}

static inline void flip_byte(const char *path, off_t at) {
    int file = open(path, O_RDWR);
    unsigned char byte;
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(pread(file, &byte, 1, at), 1);
    byte ^= 0x10;
    ck_assert_int_eq(pwrite(file, &byte, 1, at), 1);
    close(file);
}

#endif
