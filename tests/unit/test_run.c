/* Unit tests of engine/run: storage and pools, hashes, 16-bit floats, the disk cache, what devices say of themselves. */
#include "run_unit.h"
#include "run/half.h"
#include "run/sha256.h"
#include <math.h>

/* ---- storage, pool ---- */

START_TEST(storage_counts_references) {
    Runtime *rt = open_runtime("");
    Storage *s = storage_new(rt, cpu, 1000);
    ck_assert_uint_eq(s->refs, 1);
    ck_assert_uint_eq((uintptr_t)s->data % 64, 0);
    ck_assert_int_ge(device_memory_used(rt, cpu), 1000);
    memset(s->data, 7, 1000);
    ck_assert_ptr_eq(storage_ref(s), s);
    storage_unref(s);
    ck_assert_int_eq(((char *)s->data)[999], 7);
    void *data = s->data;
    storage_unref(s);
    ck_assert_int_eq(device_memory_used(rt, cpu), 0);
    Storage *again = storage_new(rt, cpu, 999);
    ck_assert_ptr_eq(again->data, data); /* the freed block served the next request of its class */
    Storage *other = storage_new(rt, cpu, 999);
    ck_assert_ptr_ne(other->data, data);
    ck_assert_uint_ne(other->id, again->id);
    storage_unref(again);
    storage_unref(other);
    storage_unref(NULL);
}
END_TEST

START_TEST(storage_refuses_what_there_is_not) {
    Runtime *rt = open_runtime("");
    ck_assert_ptr_null(storage_new(rt, cpu, INT64_C(1) << 50));
    ck_assert_ptr_null(storage_new(rt, cpu, INT64_MAX));
    ck_assert_ptr_null(storage_new(rt, cpu, -1));
    if (!cuda_available(rt, NULL)) {
        ck_assert_ptr_null(storage_new(rt, (Device){DEVICE_CUDA, 0}, 16));
        ck_assert_ptr_null(storage_new(rt, (Device){DEVICE_CUDA, 0}, 0));
    }
    ck_assert_ptr_null(storage_new(rt, (Device){DEVICE_CUDA, 99}, 16));
    Storage *empty = storage_new(rt, cpu, 0), *fake = storage_fake(rt, cpu, INT64_C(1) << 60);
    ck_assert_ptr_null(empty->data);
    ck_assert_ptr_null(fake->data);
    ck_assert_int_eq(fake->bytes, INT64_C(1) << 60);
    storage_unref(empty);
    storage_unref(fake);
    Storage *bare = storage_new(NULL, cpu, 100);
    memset(bare->data, 1, 100);
    storage_unref(bare);
}
END_TEST

typedef struct Bank { int64_t left, gets, returns; } Bank;
static void *bank_get(void *state, int64_t bytes) {
    Bank *bank = state;
    if (bytes > bank->left) return NULL;
    bank->left -= bytes;
    bank->gets++;
    void *at = NULL;
    return posix_memalign(&at, 256, (size_t)bytes) == 0 ? at : NULL;
}
static void bank_back(void *state, void *at, int64_t bytes) {
    Bank *bank = state;
    bank->left += bytes;
    bank->returns++;
    free(at);
}

START_TEST(pool_reuses_trims_and_refuses) {
    Bank bank = {.left = 10000};
    Pool *pool = pool_new((PoolSource){.state = &bank, .get = bank_get, .give_back = bank_back, .cache_limit = 1 << 20});
    void *a = pool_alloc(pool, 4000), *b = pool_alloc(pool, 4000);
    ck_assert(a && b);
    ck_assert_ptr_null(pool_alloc(pool, 4000));
    pool_release(pool, a, 4000);
    ck_assert_int_ge(pool_cached(pool), 4000);
    ck_assert_ptr_eq(pool_alloc(pool, 3990), a); /* same class */
    pool_release(pool, a, 3990);
    void *c = pool_alloc(pool, 5000); /* only fits after the cached block went back */
    ck_assert_ptr_nonnull(c);
    ck_assert_int_eq(bank.returns, 1);
    ck_assert_int_eq(pool_cached(pool), 0);
    pool_release(pool, b, 4000);
    pool_release(pool, c, 5000);
    ck_assert_int_eq(pool_used(pool), 0);
    pool_free(pool);
    ck_assert_int_eq(bank.left, 10000);
}
END_TEST

START_TEST(pool_classes_hold_what_was_asked) {
    Bank bank = {.left = INT64_C(1) << 40};
    Pool *pool = pool_new((PoolSource){.state = &bank, .get = bank_get, .give_back = bank_back, .cache_limit = 0});
    for (int64_t n = 1; n < 1 << 22; n = n * 17 / 16 + 1) {
        char *at = pool_alloc(pool, n);
        int64_t used = pool_used(pool);
        ck_assert_int_ge(used, n);
        ck_assert(n <= 512 ? used - n < 64 : used <= n + n / 8 + 1);
        memset(at, 1, (size_t)n);
        pool_release(pool, at, n);
    }
    ck_assert_int_eq(pool_used(pool), 0);
    ck_assert_int_eq(bank.gets, bank.returns); /* a cache limit of 0 keeps nothing */
    pool_free(pool);
}
END_TEST

START_TEST(pool_cuts_small_blocks_from_slabs) {
    Bank bank = {.left = INT64_C(1) << 30};
    Pool *pool = pool_new((PoolSource){.state = &bank, .get = bank_get, .give_back = bank_back, .cache_limit = 1 << 20, .slab_bytes = 1 << 16});
    char *blocks[64];
    for (int i = 0; i < 64; i++) {
        blocks[i] = pool_alloc(pool, 300);
        ck_assert_uint_eq((uintptr_t)blocks[i] % 256, 0);
        memset(blocks[i], i, 300);
    }
    for (int i = 0; i < 64; i++) ck_assert(blocks[i][0] == i && blocks[i][299] == i);
    ck_assert_int_eq(bank.gets, 1);
    for (int i = 0; i < 64; i++) pool_release(pool, blocks[i], 300);
    pool_trim(pool);
    ck_assert_int_eq(bank.returns, 0); /* slabs stay */
    ck_assert_ptr_eq(pool_alloc(pool, 310), blocks[63]);
    pool_free(pool);
    ck_assert_int_eq(bank.left, INT64_C(1) << 30);
}
END_TEST

/* ---- hashes and halves ---- */

static const char *digest_of(const char *text, size_t repeats) {
    Sha256 hash;
    unsigned char digest[32];
    Text hex = {0};
    sha256_start(&hash);
    for (size_t i = 0; i < repeats; i++) sha256_add(&hash, text, strlen(text));
    sha256_end(&hash, digest);
    for (int i = 0; i < 32; i++) text_printf(&hex, "%02x", digest[i]);
    const char *result = text_in(&hex, arena);
    text_free(&hex);
    return result;
}

START_TEST(sha256_gives_the_standard_digests) {
    ck_assert_str_eq(digest_of("", 1), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    ck_assert_str_eq(digest_of("abc", 1), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    ck_assert_str_eq(digest_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    ck_assert_str_eq(digest_of("a", 1000000), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}
END_TEST

/* By definition: the nearest of the two neighbours, the even one in a tie. */
static void check_rounding(float f, uint16_t (*round)(float), float (*widen)(uint16_t), float largest) {
    uint16_t h = round(f);
    float back = widen(h);
    if (fabsf(back) > largest) return;
    float below = widen((uint16_t)(h - 1)), above = widen((uint16_t)(h + 1));
    float distance = fabsf(back - f);
    if ((h & 0x7fff) != 0) ck_assert(distance < fabsf(below - f) || (distance == fabsf(below - f) && !(h & 1)));
    if (fabsf(above) <= largest) ck_assert(distance < fabsf(above - f) || (distance == fabsf(above - f) && !(h & 1)));
}

static uint16_t round_bf16(float f) { return float_to_bf16(f); }
static float widen_bf16(uint16_t h) { return bf16_to_float(h); }
static uint16_t round_f16(float f) { return float_to_f16(f); }
static float widen_f16(uint16_t h) { return f16_to_float(h); }

START_TEST(halves_round_to_nearest_even) {
    for (uint32_t h = 0; h < 65536; h++) { /* every 16-bit value survives the way there and back */
        bool nan16 = (h & 0x7fff) > 0x7c00, nanb16 = (h & 0x7fff) > 0x7f80;
        if (nan16) ck_assert(isnan(f16_to_float((uint16_t)h)));
        else ck_assert_uint_eq(float_to_f16(f16_to_float((uint16_t)h)), h);
        if (!nanb16) ck_assert_uint_eq(float_to_bf16(bf16_to_float((uint16_t)h)), h);
    }
    for (uint32_t bits = 0; bits < 0x7f000000u; bits += 40503) {
        check_rounding(bits_float(bits), round_bf16, widen_bf16, INFINITY);
        if (bits_float(bits) < 65504) check_rounding(bits_float(bits), round_f16, widen_f16, 65504);
    }
    ck_assert_uint_eq(float_to_f16(65519.99f), 0x7bff);
    ck_assert_uint_eq(float_to_f16(65520.f), 0x7c00);
    ck_assert_uint_eq(float_to_f16(-1e30f), 0xfc00);
    ck_assert_uint_eq(float_to_f16(1e-9f), 0);
    ck_assert(isnan(f16_to_float(float_to_f16(NAN))));
    ck_assert(isnan(bf16_to_float(float_to_bf16(bits_float(0x7f800001)))));
    ck_assert(isnan(bf16_to_float(float_to_bf16(bits_float(0x7fffffff)))));
}
END_TEST

/* ---- disk cache ---- */

static CacheKey key_of(int n) {
    CacheKey key = {{0}};
    memset(key.at, n, sizeof key.at);
    return key;
}

static bool cache_has(DiskCache *cache, int n, const char *expected) {
    CacheKey key = key_of(n);
    void *data;
    int64_t bytes;
    if (!diskcache_get(cache, &key, "so", &data, &bytes)) return false;
    ck_assert_int_eq(bytes, (int64_t)strlen(expected));
    ck_assert_mem_eq(data, expected, (size_t)bytes + 1);
    free(data);
    return true;
}

static void cache_put(DiskCache *cache, int n, const char *text) {
    CacheKey key = key_of(n);
    diskcache_put(cache, &key, "so", text, (int64_t)strlen(text));
}

/* The only file of key n, whose name follows from the layout. */
static const char *cache_path(int n) {
    Text text = {0};
    text_printf(&text, "%s/%02x/", folder, n);
    for (int i = 1; i < 32; i++) text_printf(&text, "%02x", n);
    text_put(&text, ".so");
    const char *path = text_in(&text, arena);
    text_free(&text);
    return path;
}

START_TEST(diskcache_keeps_and_finds) {
    DiskCache *cache = diskcache_open(folder, note_warning, NULL);
    ck_assert(!cache_has(cache, 1, ""));
    cache_put(cache, 1, "one");
    cache_put(cache, 2, "");
    ck_assert(cache_has(cache, 1, "one") && cache_has(cache, 2, ""));
    cache_put(cache, 1, "uno");
    ck_assert(cache_has(cache, 1, "uno"));
    ck_assert_int_eq(warnings, 0);
    diskcache_close(cache);
    DiskCache *none = diskcache_open("", note_warning, NULL);
    cache_put(none, 1, "one");
    ck_assert(!cache_has(none, 1, "one"));
    diskcache_close(none);
}
END_TEST

START_TEST(diskcache_believes_no_damaged_file) {
    DiskCache *cache = diskcache_open(folder, note_warning, NULL);
    struct stat facts;
    cache_put(cache, 7, "the contents of the file");
    ck_assert_int_eq(stat(cache_path(7), &facts), 0);
    for (off_t at = 0; at < facts.st_size; at++) { /* any byte of it */
        cache_put(cache, 7, "the contents of the file");
        flip_byte(cache_path(7), at);
        ck_assert(!cache_has(cache, 7, "the contents of the file"));
        ck_assert_int_ne(access(cache_path(7), F_OK), 0); /* and it is gone */
    }
    for (off_t length = 0; length < facts.st_size; length += 5) {
        cache_put(cache, 7, "the contents of the file");
        ck_assert_int_eq(truncate(cache_path(7), length), 0);
        ck_assert(!cache_has(cache, 7, "the contents of the file"));
    }
    cache_put(cache, 7, "the contents of the file");
    cache_put(cache, 8, "another");
    ck_assert_int_eq(rename(cache_path(7), cache_path(8)), 0); /* the right file under the wrong name */
    ck_assert(!cache_has(cache, 8, "another"));
    diskcache_close(cache);
}
END_TEST

START_TEST(diskcache_warns_once_where_it_cannot_write) {
    char inside[128];
    snprintf(inside, sizeof inside, "%s/file/below", folder);
    char *file = arena_printf(arena, "%s/file", folder);
    fclose(fopen(file, "w")); /* a file where a folder should be: not even root can write there */
    DiskCache *cache = diskcache_open(inside, note_warning, NULL);
    cache_put(cache, 1, "one");
    cache_put(cache, 2, "two");
    ck_assert(!cache_has(cache, 1, "one"));
    ck_assert_int_eq(warnings, 1);
    ck_assert_ptr_nonnull(strstr(warned, folder));
    diskcache_close(cache);
}
END_TEST

START_TEST(diskcache_evicts_the_oldest) {
    DiskCache *cache = diskcache_open(folder, note_warning, NULL);
    char big[40000];
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = 0;
    for (int n = 1; n <= 10; n++) {
        cache_put(cache, n, big);
        struct timespec times[2] = {{.tv_sec = 1000 + n}, {.tv_sec = 1000 + n}};
        utimensat(AT_FDCWD, cache_path(n), times, 0);
    }
    ck_assert(cache_has(cache, 2, big)); /* used now: no longer old */
    diskcache_evict(cache, 400000 + 40960);
    ck_assert_int_eq(access(cache_path(1), F_OK), 0); /* under the limit */
    diskcache_evict(cache, 200000);
    ck_assert_int_ne(access(cache_path(1), F_OK), 0);
    ck_assert_int_ne(access(cache_path(5), F_OK), 0);
    ck_assert(cache_has(cache, 2, big) && cache_has(cache, 10, big));
    diskcache_close(cache);
}
END_TEST

START_TEST(diskcache_serves_many_processes) {
    enum { PROCESSES = 6, ROUNDS = 150 };
    for (int p = 0; p < PROCESSES; p++)
        if (fork() == 0) {
            DiskCache *cache = diskcache_open(folder, note_warning, NULL);
            char text[3000];
            bool good = true;
            for (int i = 0; i < ROUNDS && good; i++) {
                int n = i % 5;
                memset(text, 'a' + n, sizeof text - 1);
                text[sizeof text - 1] = 0;
                cache_put(cache, n, text);
                good = cache_has(cache, n, text); /* whole, whoever wrote it last */
                if (i % 50 == 7) diskcache_evict(cache, INT64_C(1) << 30);
            }
            _exit(good && warnings == 0 ? 0 : 1);
        }
    for (int p = 0; p < PROCESSES; p++) {
        int status = -1;
        ck_assert_int_gt(wait(&status), 0);
        ck_assert_int_eq(status, 0);
    }
}
END_TEST

START_TEST(devices_tell_their_facts) {
    Runtime *rt = open_runtime("");
    DeviceFacts facts;
    ck_assert(device_facts(rt, cpu, &facts, false));
    ck_assert(facts.memory_bytes > 0 && facts.sm_count > 0 && facts.name[0] && facts.copy_gbs == 0);
    ck_assert(device_copy_gbs(rt, cpu) > 0);
    device_flush_cache(rt, cpu);
    DeviceTimer *timer = timer_start(rt, cpu);
    ck_assert(timer_stop_us(timer) >= 0);
    const char *why = NULL;
    if (!cuda_available(rt, &why)) {
        ck_assert_ptr_nonnull(why);
        ck_assert_int_eq(cuda_device_count(rt), 0);
        ck_assert(!device_facts(rt, (Device){DEVICE_CUDA, 0}, &facts, false));
        OpError error = {0};
        ck_assert(!device_synchronize(rt, (Device){DEVICE_CUDA, 0}, &error));
        ck_assert(error.message[0]);
        ck_assert_str_eq(cuda_arch(rt), "sm_90a");
    }
    Text text = {0};
    runtime_versions(rt, &text);
    static const char *const parts[] = {"C compiler:", "CUDA driver:", "NVRTC:", "cuBLASLt:", "NCCL:", "cache: off"};
    for (int i = 0; i < 6; i++) ck_assert_ptr_nonnull(strstr(text_cstr(&text), parts[i]));
    text_free(&text);
}
END_TEST

int main(void) {
    const TTest *tests[] = {
        storage_counts_references, storage_refuses_what_there_is_not, pool_reuses_trims_and_refuses, pool_classes_hold_what_was_asked,
        pool_cuts_small_blocks_from_slabs, sha256_gives_the_standard_digests, halves_round_to_nearest_even, diskcache_keeps_and_finds,
        diskcache_believes_no_damaged_file, diskcache_warns_once_where_it_cannot_write, diskcache_evicts_the_oldest,
        diskcache_serves_many_processes, devices_tell_their_facts,
    };
    return UNIT_RUN("run", tests, open_all, close_all);
}
