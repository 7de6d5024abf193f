/* Runtime: what a session has of devices, compilers and memory; opened when first needed.
 *
 * In: RuntimeOptions. Out: the object that every function of run/ takes. The devices' own work is in cuda.c and in the C library;
 * here is only who does it.
 *
 *     Runtime *rt = runtime_new(arena, &(RuntimeOptions){.cache_dir = ""});
 *     device_copy(rt, dst, cpu, src, cpu, bytes, &error);
 *
 * Invariant: runtime_close may be called twice; the arena calls it too. To add a device: a DeviceKind, and a line in each function here. */
#include "run/private.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

/* ---- opening and closing ---- */

static const char *default_cache_dir(Arena *arena) {
    const char *own = getenv("VITRINE_CACHE_DIR"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (own) return arena_strdup(arena, own);
    if (xdg && xdg[0] == '/') return arena_printf(arena, "%s/vitrine", xdg);
    return home && *home ? arena_printf(arena, "%s/.cache/vitrine", home) : "";
}

static void close_runtime(void *runtime) { runtime_close(runtime); }

Runtime *runtime_new(Arena *arena, const RuntimeOptions *options) {
    Runtime *runtime = ARENA_NEW(arena, Runtime);
    runtime->arena = arena;
    runtime->arch = arena_strdup(arena, options->arch);
    runtime->interrupt = options->interrupt;
    runtime->warn = options->warn;
    runtime->warn_state = options->warn_state;
    runtime->host_pool = pool_new(pool_source_host());
    runtime->own_context = (OpContext){.default_dtype = DTYPE_F32, .threads = runtime_cores()};
    runtime->context = &runtime->own_context;
    const char *folder = options->cache_dir ? options->cache_dir : default_cache_dir(arena);
    runtime->disk = diskcache_open(folder, options->warn, options->warn_state);
    arena_defer(arena, close_runtime, runtime);
    return runtime;
}

void runtime_close(Runtime *runtime) {
    if (!runtime || runtime->closed) return;
    runtime->closed = true;
    plans_close(runtime);
    kernels_close(runtime);
    cublaslt_close(runtime);
    nvrtc_close(runtime);
    cuda_close(runtime);
    if (runtime->host_flush) free(runtime->host_flush);
    diskcache_close(runtime->disk);
    pool_free(runtime->host_pool);
    runtime->host_pool = NULL;
    if (runtime->scratch) rmdir(runtime->scratch);
}

void runtime_set_context(Runtime *runtime, const OpContext *context) { runtime->context = context; }
void runtime_allow_tf32(Runtime *runtime, bool allow) { runtime->allow_tf32 = allow; }
void runtime_tune_matmul(Runtime *runtime, bool tune) { runtime->tune_matmul = tune; }
void runtime_replay_graphs(Runtime *runtime, bool replay) { runtime->replay_graphs = replay; }

/* ---- small services ---- */

void runtime_warn(Runtime *runtime, const char *format, ...) {
    if (!runtime->warn) return;
    Text text = {0};
    va_list arguments;
    va_start(arguments, format);
    text_vprintf(&text, format, arguments);
    va_end(arguments);
    runtime->warn(runtime->warn_state, text_cstr(&text));
    text_free(&text);
}

bool runtime_interrupted(const Runtime *runtime) { return runtime->interrupt && *runtime->interrupt; }

int runtime_cores(void) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > 1024 ? 1024 : (int)cores;
}

int runtime_threads(void) {
#ifdef _OPENMP
    int threads = omp_get_max_threads();
    return threads < 1 ? 1 : threads > 1024 ? 1024 : threads;
#else
    return runtime_cores();
#endif
}

static bool scratch_make(Runtime *runtime) {
    const char *tmp = getenv("TMPDIR");
    char path[1024];
    if (snprintf(path, sizeof path, "%s/vitrine-XXXXXX", tmp && *tmp ? tmp : "/tmp") >= (int)sizeof path) return false;
    if (!mkdtemp(path)) return false; /* mode 0700: nobody else puts files there */
    runtime->scratch = arena_strdup(runtime->arena, path);
    return true;
}

bool runtime_scratch(Runtime *runtime, const char *ending, char *path, size_t room) {
    /* Made by the first caller, before threads are started, and again when a cleaner of temporary files took it. */
    if ((!runtime->scratch || access(runtime->scratch, W_OK) != 0) && !scratch_make(runtime)) return false;
    unsigned number = __atomic_fetch_add(&runtime->scratch_files, 1, __ATOMIC_RELAXED);
    return snprintf(path, room, "%s/%u%s", runtime->scratch, number, ending) < (int)room;
}

bool file_read(const char *path, void **data, int64_t *bytes) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat facts;
    if (file < 0) return false;
    char *at = fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) ? malloc((size_t)facts.st_size + 1) : NULL;
    int64_t length = 0;
    ssize_t got = 1;
    while (at && length < facts.st_size && got > 0) {
        got = read(file, at + length, (size_t)(facts.st_size - length));
        if (got < 0 && errno == EINTR) got = 1;
        else if (got > 0) length += got;
    }
    close(file);
    if (!at || length != facts.st_size) {
        free(at);
        return false;
    }
    at[length] = 0;
    *data = at, *bytes = length;
    return true;
}

bool file_write(const char *path, const void *data, int64_t bytes) {
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) return false;
    const char *at = data;
    while (bytes > 0) {
        ssize_t put = write(file, at, (size_t)bytes);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) break;
        at += put, bytes -= put;
    }
    if (close(file) != 0 || bytes > 0) {
        unlink(path);
        return false;
    }
    return true;
}

/* ---- devices ---- */

Pool *runtime_pool(Runtime *runtime, Device device) {
    return device.kind == DEVICE_CPU ? runtime->host_pool : cuda_pool(runtime, device.index);
}

int64_t device_memory_used(Runtime *runtime, Device device) {
    Pool *pool = device.kind == DEVICE_CPU || runtime->cuda ? runtime_pool(runtime, device) : NULL;
    return pool ? pool_used(pool) : 0;
}

bool device_copy(Runtime *runtime, void *dst, Device dst_device, const void *src, Device src_device, int64_t bytes, OpError *error) {
    if (bytes == 0) return true;
    if (dst_device.kind == DEVICE_CUDA || src_device.kind == DEVICE_CUDA) return cuda_copy(runtime, dst, dst_device, src, src_device, bytes, error);
    memmove(dst, src, (size_t)bytes);
    return true;
}

bool device_fill(Runtime *runtime, Device device, void *dst, int byte, int64_t bytes) {
    if (bytes == 0) return true;
    if (device.kind == DEVICE_CUDA) return cuda_fill(runtime, device.index, dst, byte, bytes);
    memset(dst, byte, (size_t)bytes);
    return true;
}

bool device_synchronize(Runtime *runtime, Device device, OpError *error) {
    return device.kind == DEVICE_CPU || cuda_synchronize(runtime, device.index, error);
}

/* A line "name : value" of /proc/cpuinfo, or of /proc/meminfo. */
static bool proc_line(const char *path, const char *name, char *value, size_t room) {
    FILE *file = fopen(path, "re");
    char line[512];
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        found = colon && strncmp(line, name, strlen(name)) == 0;
        if (!found) continue;
        colon++;
        colon += strspn(colon, " \t");
        colon[strcspn(colon, "\n")] = 0;
        snprintf(value, room, "%s", colon);
    }
    if (file) fclose(file);
    return found;
}

static void host_facts(DeviceFacts *facts) {
    char text[128];
    if (!proc_line("/proc/cpuinfo", "model name", facts->name, sizeof facts->name)) snprintf(facts->name, sizeof facts->name, "CPU");
    if (proc_line("/proc/meminfo", "MemTotal", text, sizeof text)) facts->memory_bytes = (int64_t)strtoll(text, NULL, 10) * 1024;
    facts->sm_count = runtime_cores();
    long l3 = sysconf(_SC_LEVEL3_CACHE_SIZE), l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
    long largest = l3 > l2 ? l3 : l2;
    facts->l2_bytes = largest > 0 ? (int)(largest > INT32_MAX ? INT32_MAX : largest) : 0;
}

bool device_facts(Runtime *runtime, Device device, DeviceFacts *facts, bool measure) {
    memset(facts, 0, sizeof *facts);
    if (device.kind == DEVICE_CPU) host_facts(facts);
    else if (!cuda_facts(runtime, device.index, facts)) return false;
    if (measure) facts->copy_gbs = device_copy_gbs(runtime, device);
    return true;
}

/* With a salt of their own in their keys, kernels that are loaded or on disk are not found either; nothing of it is written. */
void runtime_bypass_cache(Runtime *runtime, bool on) {
    diskcache_bypass(runtime->disk, on);
    runtime->cache_salt = on ? ++runtime->cache_salts : 0;
}
