/* Storage: refcounted memory of a device, with a version counter for in-place changes. */
#ifndef VITRINE_RUN_STORAGE_H
#define VITRINE_RUN_STORAGE_H
#include "ir/meta.h"

typedef struct Runtime Runtime;
typedef struct Storage {
    uint32_t refs;
    uint32_t version;               /* counts in-place changes by any view */
    uint32_t rebases;               /* counts how often an in-place change moved its tensors on the tape */
    Device device;
    bool inference;                 /* made in inference mode: off the tape for good */
    void *data;                     /* host or device pointer; NULL: fake (tracing), or empty */
    int64_t bytes;
    Runtime *runtime;
    uint64_t id;                    /* unique in the session */
    uint64_t met;                   /* as Tensor.met */
} Storage;

Storage *storage_new(Runtime *runtime, Device device, int64_t bytes);   /* 64-byte aligned, uninitialized; NULL: out of memory, or no such device */
Storage *storage_fake(Runtime *runtime, Device device, int64_t bytes);
static inline Storage *storage_ref(Storage *s) { s->refs++; return s; }
void storage_unref(Storage *s);
#endif
