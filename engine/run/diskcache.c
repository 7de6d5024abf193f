/* Disk cache: see diskcache.h for what it keeps and how it is laid out.
 *
 * In: keys (SHA-256) and contents. Out: the same contents, or a miss.
 * Eviction: the modification time of a file is set anew when it is read; when the files together are over the limit, the oldest
 * go until three quarters of it are left. Each put counts bytes; the folder is measured once in so many bytes, under a lock file.
 *
 * Invariant: no reader ever sees a half-written file (rename), nor believes one that was damaged (length, SHA-256). */
#include "run/diskcache.h"
#include "base/vec.h"
#include "run/private.h"
#include "run/sha256.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { CACHE_VERSION = 1, MEASURE_EVERY_MB = 16 };

typedef struct Header {
    char magic[8];
    uint32_t version, crc; /* crc: of the header with this field 0 */
    uint64_t length;
    unsigned char key[32], contents[32];
} Header;

struct DiskCache {
    char *folder;
    bool broken; /* could not be written: said once, not tried again */
    bool bypassed;
    int64_t unmeasured;
    unsigned temporaries;
    void (*warn)(void *, const char *);
    void *warn_state;
};

static uint32_t crc32_of(const void *data, size_t bytes) {
    const unsigned char *at = data;
    uint32_t crc = ~0u;
    for (size_t i = 0; i < bytes; i++) {
        crc ^= at[i];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

DiskCache *diskcache_open(const char *folder, void (*warn)(void *, const char *), void *state) {
    DiskCache *cache = calloc(1, sizeof *cache);
    if (!cache) abort();
    cache->folder = strdup(folder ? folder : "");
    if (!cache->folder) abort();
    cache->warn = warn, cache->warn_state = state;
    cache->unmeasured = INT64_C(1) << 40; /* the first put of a process measures the folder */
    return cache;
}

void diskcache_close(DiskCache *cache) {
    if (!cache) return;
    free(cache->folder);
    free(cache);
}

const char *diskcache_folder(const DiskCache *cache) { return cache->folder; }

static bool path_of(const DiskCache *cache, const CacheKey *key, const char *ending, char path[PATH_MAX]) {
    char hex[65];
    for (int i = 0; i < 32; i++) snprintf(hex + 2 * i, 3, "%02x", key->at[i]);
    return snprintf(path, PATH_MAX, "%s/%.2s/%s.%s", cache->folder, hex, hex + 2, ending) < PATH_MAX;
}

static void header_fill(Header *header, const CacheKey *key, const void *data, int64_t bytes) {
    memset(header, 0, sizeof *header);
    memcpy(header->magic, "vitrine", 8);
    header->version = CACHE_VERSION;
    header->length = (uint64_t)bytes;
    memcpy(header->key, key->at, 32);
    Sha256 hash;
    sha256_start(&hash);
    sha256_add(&hash, data, (size_t)bytes);
    sha256_end(&hash, header->contents);
    header->crc = crc32_of(header, sizeof *header);
}

void diskcache_bypass(DiskCache *cache, bool on) { cache->bypassed = on; }

/* ---- reading ---- */

bool diskcache_get(DiskCache *cache, const CacheKey *key, const char *ending, void **data, int64_t *bytes) {
    char path[PATH_MAX];
    void *file;
    int64_t length;
    if (cache->bypassed || !*cache->folder || !path_of(cache, key, ending, path) || !file_read(path, &file, &length)) return false;
    Header expected;
    int64_t contents = length - (int64_t)sizeof expected;
    bool good = contents >= 0;
    if (good) {
        header_fill(&expected, key, (char *)file + sizeof expected, contents);
        good = memcmp(&expected, file, sizeof expected) == 0;
    }
    if (!good) {
        unlink(path);
        free(file);
        return false;
    }
    utimensat(AT_FDCWD, path, NULL, 0);
    memmove(file, (char *)file + sizeof expected, (size_t)contents + 1);
    *data = file, *bytes = contents;
    return true;
}

/* ---- writing ---- */

static void complain(DiskCache *cache, const char *what, const char *path) {
    if (__atomic_exchange_n(&cache->broken, true, __ATOMIC_RELAXED) || !cache->warn) return;
    char text[PATH_MAX + 200];
    snprintf(text, sizeof text, "the kernel cache is not used: cannot %s %s: %s", what, path, strerror(errno));
    cache->warn(cache->warn_state, text);
}

static bool folder_make(const char *path) {
    char part[PATH_MAX];
    snprintf(part, sizeof part, "%s", path);
    for (char *slash = part + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        if (mkdir(part, 0700) != 0 && errno != EEXIST) return false;
        *slash = '/';
    }
    return mkdir(part, 0700) == 0 || errno == EEXIST;
}

static bool write_both(int file, const Header *header, const void *data, int64_t bytes) {
    const char *pieces[2] = {(const char *)header, data};
    int64_t lengths[2] = {sizeof *header, bytes};
    for (int i = 0; i < 2; i++)
        while (lengths[i] > 0) {
            ssize_t put = write(file, pieces[i], (size_t)lengths[i]);
            if (put < 0 && errno == EINTR) continue;
            if (put <= 0) return false;
            pieces[i] += put, lengths[i] -= put;
        }
    return true;
}

static void measure_now_and_then(DiskCache *cache, int64_t bytes) {
    cache->unmeasured += bytes;
    if (cache->unmeasured < (int64_t)MEASURE_EVERY_MB << 20) return;
    cache->unmeasured = 0;
    diskcache_evict(cache, (int64_t)CACHE_LIMIT_MB << 20);
}

/* Threads compile at the same time, but their results are put by the thread that started them: no lock is needed here. */
void diskcache_put(DiskCache *cache, const CacheKey *key, const char *ending, const void *data, int64_t bytes) {
    char path[PATH_MAX], part[PATH_MAX + 48];
    if (cache->bypassed || !*cache->folder || cache->broken || !path_of(cache, key, ending, path)) return;
    char *slash = strrchr(path, '/');
    *slash = 0;
    if (!folder_make(path)) {
        complain(cache, "make", path);
        return;
    }
    *slash = '/';
    snprintf(part, sizeof part, "%s.%ld-%u.tmp", path, (long)getpid(), cache->temporaries++);
    int file = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) {
        complain(cache, "write", part);
        return;
    }
    Header header;
    header_fill(&header, key, data, bytes);
    bool good = write_both(file, &header, data, bytes);
    if (close(file) != 0 || !good || rename(part, path) != 0) {
        complain(cache, "write", part);
        unlink(part);
        return;
    }
    measure_now_and_then(cache, bytes);
}

/* ---- eviction ---- */

typedef struct CachedFile { char *path; int64_t bytes; struct timespec used; } CachedFile;
typedef VEC(CachedFile) CachedFiles;

static int compare_used(const void *a, const void *b) {
    const CachedFile *x = a, *y = b;
    if (x->used.tv_sec != y->used.tv_sec) return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
    return x->used.tv_nsec < y->used.tv_nsec ? -1 : x->used.tv_nsec > y->used.tv_nsec;
}

static bool is_hex_pair(const char *name) {
    return strlen(name) == 2 && strspn(name, "0123456789abcdef") == 2;
}

/* A process that was killed leaves its half-written file: after an hour it is nobody's. */
static bool is_stale(const char *name, const struct stat *facts) {
    const char *dot = strrchr(name, '.');
    return dot && strcmp(dot, ".tmp") == 0 && facts->st_mtim.tv_sec + 3600 < time(NULL);
}

static void folder_list(const char *folder, CachedFiles *files, int64_t *total) {
    DIR *dir = opendir(folder);
    struct dirent *entry;
    while (dir && (entry = readdir(dir))) {
        char path[PATH_MAX];
        struct stat facts;
        if (entry->d_name[0] == '.' || snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= (int)sizeof path) continue;
        if (lstat(path, &facts) != 0 || !S_ISREG(facts.st_mode)) continue;
        if (is_stale(entry->d_name, &facts)) {
            unlink(path);
            continue;
        }
        CachedFile file = {strdup(path), (int64_t)facts.st_blocks * 512, facts.st_mtim};
        vec_push(files, file);
        *total += file.bytes;
    }
    if (dir) closedir(dir);
}

static void cache_list(const DiskCache *cache, CachedFiles *files, int64_t *total) {
    DIR *dir = opendir(cache->folder);
    struct dirent *entry;
    while (dir && (entry = readdir(dir))) {
        char path[PATH_MAX];
        if (is_hex_pair(entry->d_name) && snprintf(path, sizeof path, "%s/%s", cache->folder, entry->d_name) < (int)sizeof path)
            folder_list(path, files, total);
    }
    if (dir) closedir(dir);
}

static void evict_locked(DiskCache *cache, int64_t limit) {
    CachedFiles files = {0};
    int64_t total = 0;
    cache_list(cache, &files, &total);
    if (total > limit) {
        qsort(files.at, (size_t)files.count, sizeof *files.at, compare_used);
        for (int i = 0; i < files.count && total > limit / 4 * 3; i++) {
            unlink(files.at[i].path);
            total -= files.at[i].bytes;
        }
    }
    for (int i = 0; i < files.count; i++) free(files.at[i].path);
    vec_free(&files);
}

void diskcache_evict(DiskCache *cache, int64_t limit) {
    char path[PATH_MAX];
    if (!*cache->folder || snprintf(path, sizeof path, "%s/lock", cache->folder) >= (int)sizeof path) return;
    int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lock < 0) return;
    if (flock(lock, LOCK_EX | LOCK_NB) == 0) evict_locked(cache, limit);
    close(lock);
}
