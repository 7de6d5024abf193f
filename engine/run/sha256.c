/* SHA-256 as FIPS 180-4 defines it. In: bytes, in pieces. Out: 32 bytes.
 *
 *     Sha256 hash; sha256_start(&hash); sha256_add(&hash, text, length); sha256_end(&hash, digest);
 *
 * Invariant: `used` < 64 between calls. */
#include "run/sha256.h"
#include <string.h>

static uint32_t rotate(uint32_t x, int n) { return x >> n | x << (32 - n); }

static const uint32_t round_constant[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

void sha256_start(Sha256 *hash) {
    static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memset(hash, 0, sizeof *hash);
    memcpy(hash->state, initial, sizeof initial);
}

/* The message schedule of one block: 16 words as given, 48 mixed from them. */
static void schedule_fill(uint32_t w[64], const unsigned char *block) {
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7] + (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
}

static void block_add(uint32_t state[8], const unsigned char *block) {
    uint32_t w[64], v[8];
    schedule_fill(w, block);
    memcpy(v, state, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t sum1 = rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25), choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
        uint32_t t1 = v[7] + sum1 + choice + round_constant[i] + w[i];
        uint32_t sum0 = rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22), majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += t1;
        v[0] = t1 + sum0 + majority;
    }
    for (int i = 0; i < 8; i++) state[i] += v[i];
}

void sha256_add(Sha256 *hash, const void *data, size_t bytes) {
    const unsigned char *at = data;
    hash->length += bytes;
    while (bytes) {
        if (hash->used == 0 && bytes >= 64) {
            block_add(hash->state, at);
            at += 64, bytes -= 64;
            continue;
        }
        size_t piece = 64 - hash->used < bytes ? 64 - hash->used : bytes;
        memcpy(hash->block + hash->used, at, piece);
        hash->used += piece, at += piece, bytes -= piece;
        if (hash->used == 64) {
            block_add(hash->state, hash->block);
            hash->used = 0;
        }
    }
}

void sha256_add_text(Sha256 *hash, const char *text) { sha256_add(hash, text, strlen(text) + 1); }

void sha256_end(Sha256 *hash, unsigned char digest[32]) {
    uint64_t bits = hash->length * 8;
    unsigned char tail[72] = {0x80};
    size_t padding = hash->used < 56 ? 56 - hash->used : 120 - hash->used;
    for (int i = 0; i < 8; i++) tail[padding + (size_t)i] = (unsigned char)(bits >> (56 - 8 * i));
    sha256_add(hash, tail, padding + 8);
    for (int i = 0; i < 32; i++) digest[i] = (unsigned char)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
}
