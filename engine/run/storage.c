/* Storage: refcounted memory of a device.
 *
 * In: a device and a size. Out: a Storage with one reference, whose memory comes from the device's pool and goes back there.
 *
 *     Storage *s = storage_new(runtime, device, 4096);
 *     if (!s) ... out of memory ...
 *     storage_unref(s);
 *
 * Invariant: `data` is NULL exactly when the storage is fake or has no bytes. A runtime may be NULL for host memory (tests of
 * parts that need no devices): then the memory is malloc's. */
#include "run/storage.h"
#include "run/private.h"
#include <stdlib.h>

static void *memory_alloc(Runtime *runtime, Device device, int64_t bytes) {
    if (runtime) {
        Pool *pool = runtime_pool(runtime, device);
        return pool ? pool_alloc(pool, bytes) : NULL;
    }
    void *at = NULL;
    if (device.kind != DEVICE_CPU || bytes > INT64_C(1) << 56) return NULL;
    return posix_memalign(&at, 64, (size_t)bytes) == 0 ? at : NULL;
}

static Storage *storage_make(Runtime *runtime, Device device, int64_t bytes) {
    Storage *s = malloc(sizeof *s);
    if (!s) return NULL;
    *s = (Storage){.refs = 1, .device = device, .bytes = bytes, .runtime = runtime, .id = runtime ? ++runtime->storage_ids : 0};
    return s;
}

Storage *storage_new(Runtime *runtime, Device device, int64_t bytes) {
    if (bytes < 0 || (bytes == 0 && runtime && !runtime_pool(runtime, device))) return NULL;
    void *data = bytes ? memory_alloc(runtime, device, bytes) : NULL;
    if (bytes && !data) return NULL;
    Storage *s = storage_make(runtime, device, bytes);
    if (s) s->data = data;
    return s;
}

Storage *storage_fake(Runtime *runtime, Device device, int64_t bytes) { return storage_make(runtime, device, bytes); }

void storage_unref(Storage *s) {
    if (!s || --s->refs) return;
    if (s->data && s->runtime) pool_release(runtime_pool(s->runtime, s->device), s->data, s->bytes);
    else free(s->data);
    free(s);
}
