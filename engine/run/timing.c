/* Timing: clocks, device time of a region, and how fast a device copies.
 *
 *     DeviceTimer *timer = timer_start(runtime, device);
 *     ... launches ...
 *     double us = timer_stop_us(timer);
 *
 * On CUDA events of the default stream bound the region; on the CPU, where launches run at once, the clock does.
 * Invariant: a measurement never counts the memory's first touch: buffers are written before they are timed. */
#include "run/private.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

double clock_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

struct DeviceTimer { Runtime *runtime; Device device; double start; void *first, *last; };

DeviceTimer *timer_start(Runtime *runtime, Device device) {
    DeviceTimer *timer = calloc(1, sizeof *timer);
    OpError ignored;
    if (!timer) abort();
    *timer = (DeviceTimer){.runtime = runtime, .device = device};
    if (device.kind == DEVICE_CUDA && cuda_enter(runtime, device.index, &ignored) && cuda_event_new(runtime, &timer->first, &ignored) && cuda_event_new(runtime, &timer->last, &ignored))
        cuda_event_record(runtime, timer->first, NULL, &ignored);
    timer->start = clock_us();
    return timer;
}

double timer_stop_us(DeviceTimer *timer) {
    double us = clock_us() - timer->start;
    OpError ignored;
    if (timer->last && cuda_event_record(timer->runtime, timer->last, NULL, &ignored)) cuda_event_us(timer->runtime, timer->first, timer->last, &us, &ignored);
    if (timer->first) cuda_event_free(timer->runtime, timer->first);
    if (timer->last) cuda_event_free(timer->runtime, timer->last);
    free(timer);
    return us;
}

/* ---- cold caches ---- */

static int64_t flush_bytes(Runtime *runtime, Device device) {
    DeviceFacts facts;
    int64_t cache = device_facts(runtime, device, &facts, false) ? facts.l2_bytes : 0;
    int64_t least = INT64_C(64) << 20, most = INT64_C(512) << 20, bytes = cache * 2;
    return bytes < least ? least : bytes > most ? most : bytes;
}

void device_flush_cache(Runtime *runtime, Device device) {
    int64_t bytes = flush_bytes(runtime, device);
    Pool *pool = runtime_pool(runtime, device);
    void *at = pool ? pool_alloc(pool, bytes) : NULL; /* the pool keeps it: from the second time on this costs nothing */
    if (!at) return;
    device_fill(runtime, device, at, 1, bytes);
    pool_release(pool, at, bytes);
}

/* ---- copy bandwidth ---- */

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* With as many threads as kernels use: each copies its own piece. */
static void host_copy_parallel(char *dst, const char *src, int64_t bytes) {
    int64_t piece = INT64_C(1) << 20;
#pragma omp parallel for schedule(static)
    for (int64_t at = 0; at < bytes; at += piece) memcpy(dst + at, src + at, (size_t)(bytes - at < piece ? bytes - at : piece));
}

/* own: by a kernel like those that are generated, in place of the driver's copy. */
static bool copy_once(Runtime *runtime, Device device, void *dst, const void *src, int64_t bytes, bool own) {
    OpError ignored;
    if (device.kind == DEVICE_CUDA && own) return cuda_vector_copy(runtime, device.index, dst, src, bytes, &ignored);
    if (device.kind == DEVICE_CUDA) return cuda_copy_async(runtime, dst, src, bytes, NULL, &ignored);
    host_copy_parallel(dst, src, bytes);
    return true;
}

static double measure_copies(Runtime *runtime, Device device, void *dst, void *src, int64_t bytes, bool own) {
    enum { RUNS = 9 };
    double times[RUNS];
    device_fill(runtime, device, src, 1, bytes);
    device_fill(runtime, device, dst, 2, bytes);
    copy_once(runtime, device, dst, src, bytes, own);
    for (int i = 0; i < RUNS; i++) {
        DeviceTimer *timer = timer_start(runtime, device);
        bool good = copy_once(runtime, device, dst, src, bytes, own);
        times[i] = timer_stop_us(timer);
        if (!good) return 0;
    }
    qsort(times, RUNS, sizeof *times, compare_doubles);
    return times[RUNS / 2] > 0 ? 2.0 * (double)bytes / (times[RUNS / 2] * 1e3) : 0;
}

double device_copy_gbs(Runtime *runtime, Device device) {
    Pool *pool = runtime_pool(runtime, device);
    int64_t bytes = INT64_C(1) << (device.kind == DEVICE_CUDA ? 30 : 27);
    void *src = pool ? pool_alloc(pool, bytes) : NULL, *dst = pool ? pool_alloc(pool, bytes) : NULL;
    double gbs = src && dst ? measure_copies(runtime, device, dst, src, bytes, false) : 0;
    double own = src && dst && device.kind == DEVICE_CUDA ? measure_copies(runtime, device, dst, src, bytes, true) : 0;
    if (own > gbs) gbs = own; /* the card's limit is what the better of the two reaches */
    if (src) pool_release(pool, src, bytes);
    if (dst) pool_release(pool, dst, bytes);
    return gbs;
}
