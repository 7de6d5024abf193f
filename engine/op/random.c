/* Random: the Mersenne Twister (Matsumoto and Nishimura 1998) and PyTorch's ways of drawing from it. See random.h. */
#include "op/random.h"
#include <math.h>
#include <string.h>

struct Generator {
    uint64_t seed, stream_seed, stream; /* stream: counters taken from the card's stream */
    uint32_t words[GENERATOR_WORDS];
    int next;                      /* words used up; GENERATOR_WORDS: all */
    bool has_normal;
    double normal;
};

static const double two_pi = 6.283185307179586476925286766559;

void rng_seed_stream(Generator *generator, uint64_t seed) {
    generator->stream_seed = seed;
    generator->stream = 0;
}

void rng_seed(Generator *generator, uint64_t seed) {
    generator->seed = seed;
    rng_seed_stream(generator, seed);
    generator->words[0] = (uint32_t)seed;
    for (uint32_t i = 1; i < GENERATOR_WORDS; i++) {
        uint32_t before = generator->words[i - 1];
        generator->words[i] = 1812433253u * (before ^ (before >> 30)) + i;
    }
    generator->next = GENERATOR_WORDS;
    generator->has_normal = false;
}

uint64_t rng_initial_seed(const Generator *generator) { return generator->seed; }

Generator *rng_new(Arena *arena) {
    Generator *generator = ARENA_NEW(arena, Generator);
    rng_seed(generator, 67280421310721u);
    return generator;
}

static void make_words(Generator *generator) {
    uint32_t *w = generator->words;
    for (int i = 0; i < GENERATOR_WORDS; i++) {
        uint32_t mixed = (w[i] & 0x80000000u) | (w[(i + 1) % GENERATOR_WORDS] & 0x7fffffffu);
        w[i] = w[(i + 397) % GENERATOR_WORDS] ^ (mixed >> 1) ^ (mixed & 1 ? 0x9908b0dfu : 0);
    }
    generator->next = 0;
}

uint32_t rng_next(Generator *generator) {
    if (generator->next == GENERATOR_WORDS) make_words(generator);
    uint32_t y = generator->words[generator->next++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}

uint64_t rng_next64(Generator *generator) {
    uint64_t high = rng_next(generator);
    return high << 32 | rng_next(generator);
}

double rng_uniform_float(Generator *generator) { return (double)(rng_next(generator) & 0xffffffu) / 0x1p24; }

double rng_uniform_double(Generator *generator) { return (double)(rng_next64(generator) & ((UINT64_C(1) << 53) - 1)) / 0x1p53; }

double rng_normal(Generator *generator) {
    if (generator->has_normal) {
        generator->has_normal = false;
        return generator->normal;
    }
    double u1 = rng_uniform_double(generator), u2 = rng_uniform_double(generator);
    double radius = sqrt(-2 * log1p(-u2)), angle = two_pi * u1;
    generator->normal = radius * sin(angle);
    generator->has_normal = true;
    return radius * cos(angle);
}

void rng_stream(Generator *generator, uint64_t draws, uint64_t *seed, uint64_t *offset) {
    *seed = generator->stream_seed;
    *offset = generator->stream;
    generator->stream += draws;
}

void rng_save(const Generator *generator, unsigned char *bytes) {
    int32_t next = generator->next;
    memcpy(bytes, &generator->seed, 8);
    memcpy(bytes + 8, generator->words, sizeof generator->words);
    memcpy(bytes + 8 + sizeof generator->words, &next, 4);
    bytes[12 + sizeof generator->words] = generator->has_normal;
    memcpy(bytes + 13 + sizeof generator->words, &generator->normal, 8);
    memcpy(bytes + 21 + sizeof generator->words, &generator->stream_seed, 8);
    memcpy(bytes + 29 + sizeof generator->words, &generator->stream, 8);
}

bool rng_load(Generator *generator, const unsigned char *bytes, int64_t count) {
    int32_t next;
    if (count != GENERATOR_STATE_BYTES) return false;
    memcpy(&next, bytes + 8 + sizeof generator->words, 4);
    if (next < 0 || next > GENERATOR_WORDS) return false;
    memcpy(&generator->seed, bytes, 8);
    memcpy(generator->words, bytes + 8, sizeof generator->words);
    generator->next = next;
    generator->has_normal = bytes[12 + sizeof generator->words] != 0;
    memcpy(&generator->normal, bytes + 13 + sizeof generator->words, 8);
    memcpy(&generator->stream_seed, bytes + 21 + sizeof generator->words, 8);
    memcpy(&generator->stream, bytes + 29 + sizeof generator->words, 8);
    return true;
}
