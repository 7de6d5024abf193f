/* Module random: Python's own numbers. MT19937 seeded by arrays, 53-bit floats, rejection sampling for integers.
 *
 *     random.seed(7); random.random()      # 0.32383276483316237, as in CPython
 *
 * The state of a generator is the payload of a Random instance: a str object whose bytes are a Twister. The module's functions are the
 * methods of one hidden generator, bound. Algorithms: the published MT19937; Kinderman-Monahan for normalvariate; Box-Muller for gauss.
 * To add a distribution: a function, a row in the table. */
#include "vm/modules.h"
#include "vm/sha512.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N = 624, M = 397 };
typedef struct Twister { uint32_t state[N]; int at; bool has_gauss; double gauss; } Twister;

static void seed_word(Twister *t, uint32_t seed) {
    t->state[0] = seed;
    for (uint32_t i = 1; i < N; i++) t->state[i] = 1812433253u * (t->state[i - 1] ^ t->state[i - 1] >> 30) + i;
    t->at = N;
}

static void seed_array(Twister *t, const uint32_t *key, int length) {
    seed_word(t, 19650218u);
    uint32_t i = 1;
    int j = 0;
    for (int k = length > N ? length : N; k > 0; k--) {
        t->state[i] = (t->state[i] ^ (t->state[i - 1] ^ t->state[i - 1] >> 30) * 1664525u) + key[j] + (uint32_t)j;
        if (++i >= N) t->state[0] = t->state[N - 1], i = 1;
        if (++j >= length) j = 0;
    }
    for (int k = N - 1; k > 0; k--) {
        t->state[i] = (t->state[i] ^ (t->state[i - 1] ^ t->state[i - 1] >> 30) * 1566083941u) - i;
        if (++i >= N) t->state[0] = t->state[N - 1], i = 1;
    }
    t->state[0] = 0x80000000u;
}

static void refill(Twister *t) {
    for (int i = 0; i < N; i++) {
        uint32_t y = (t->state[i] & 0x80000000u) | (t->state[(i + 1) % N] & 0x7fffffffu);
        t->state[i] = t->state[(i + M) % N] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
    }
    t->at = 0;
}

static uint32_t draw(Twister *t) {
    if (t->at >= N) refill(t);
    uint32_t y = t->state[t->at++];
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    return y ^ y >> 18;
}

static double draw_unit(Twister *t) {
    uint32_t a = draw(t) >> 5, b = draw(t) >> 6;
    return (a * 67108864.0 + b) * (1.0 / 9007199254740992.0);
}

static uint64_t draw_bits(Twister *t, int bits) {
    if (bits <= 32) return draw(t) >> (32 - bits);
    uint64_t low = draw(t);
    return low | (uint64_t)(draw(t) >> (64 - bits)) << 32;
}

static uint64_t draw_below(Twister *t, uint64_t n) {
    int bits = 64 - __builtin_clzll(n);
    uint64_t r = draw_bits(t, bits);
    while (r >= n) r = draw_bits(t, bits);
    return r;
}

static void seed_integer(Twister *t, int64_t seed) {
    uint64_t magnitude = seed < 0 ? 0 - (uint64_t)seed : (uint64_t)seed;
    uint32_t key[2] = {(uint32_t)magnitude, (uint32_t)(magnitude >> 32)};
    seed_array(t, key, key[1] ? 2 : 1);
    t->has_gauss = false;
}

/* ---- as values ---- */

static Twister *twister_of(Value holder) { return (Twister *)(void *)((uintptr_t)(str_of(holder)->text + 15) & ~(uintptr_t)15); }

static Value holder_new(VM *vm) {
    Str *s = str_alloc(vm, sizeof(Twister) + 32);
    return value_object(s);
}

#define SELF twister_of(args[0])

static void seed_by_time(Twister *t) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    seed_integer(t, (int64_t)now.tv_sec * 1000000007 + now.tv_nsec);
}

/* A text's bytes and their digest, read as one large number, lowest word first. */
static void seed_text(Twister *t, const Str *text) {
    size_t length = text->length + 64u;
    unsigned char *bytes = malloc(length);
    uint32_t *key = calloc(length / 4 + 1, sizeof *key);
    if (!bytes || !key) vm_out_of_memory();
    memcpy(bytes, text->text, text->length);
    sha512(text->text, text->length, bytes + text->length);
    for (size_t i = 0; i < length; i++) key[i / 4] |= (uint32_t)bytes[length - 1 - i] << 8 * (i % 4);
    int words = (int)(length / 4 + 1);
    while (words > 1 && key[words - 1] == 0) words--;
    seed_array(t, key, words);
    t->has_gauss = false;
    free(bytes);
    free(key);
}

static Value random_seed(METHOD) {
    static const char *const names[] = {"a", "version"};
    Value out[2];
    uint64_t hash;
    if (!vm_parse_args(vm, "seed", args + 1, nargs - 1, kwnames, names, 2, 0, out)) return VALUE_ERROR;
    if (out[0].tag == V_NULL || out[0].tag == V_NONE) return seed_by_time(SELF), VALUE_NONE;
    if (value_is_integer(out[0])) return seed_integer(SELF, integer_of(out[0])), VALUE_NONE;
    if (value_is(vm_unwrap(out[0]), OBJ_STR)) return seed_text(SELF, str_of(vm_unwrap(out[0]))), VALUE_NONE;
    if (out[0].tag != V_FLOAT) return vm_raise(vm, "TypeError", "The only supported seed types are: None,\nint, float, str, bytes, and bytearray.");
    if (!vm_hash(vm, out[0], &hash)) return VALUE_ERROR;
    seed_integer(SELF, (int64_t)hash);
    return VALUE_NONE;
}

static Value random_random(METHOD) { UNUSED; return value_float(draw_unit(SELF)); }

static Value random_uniform(METHOD) {
    static const char *const names[] = {"a", "b"};
    Value out[2];
    double a, b;
    if (!vm_parse_args(vm, "uniform", args + 1, nargs - 1, kwnames, names, 2, 2, out) || !vm_number(vm, out[0], &a) || !vm_number(vm, out[1], &b)) return VALUE_ERROR;
    return value_float(a + (b - a) * draw_unit(SELF));
}

static Value in_range(VM *vm, Twister *t, int64_t start, int64_t stop, int64_t step) {
    Range range = {.start = start, .stop = stop, .step = step};
    int64_t n = range_length(&range);
    if (n <= 0) return vm_raise(vm, "ValueError", step == 1 ? "empty range in randrange(%lld, %lld)" : "empty range in randrange(%lld, %lld, %lld)", (long long)start, (long long)stop, (long long)step);
    return range_item(&range, (int64_t)draw_below(t, (uint64_t)n));
}

static Value random_randint(METHOD) {
    static const char *const names[] = {"a", "b"};
    Value out[2];
    int64_t a, b;
    if (!vm_parse_args(vm, "randint", args + 1, nargs - 1, kwnames, names, 2, 2, out) || !vm_as_int(vm, out[0], &a) || !vm_as_int(vm, out[1], &b)) return VALUE_ERROR;
    if (b == INT64_MAX) return vm_raise(vm, "OverflowError", "integer overflow in randint()");
    return in_range(vm, SELF, a, b + 1, 1);
}

static Value random_randrange(METHOD) {
    UNUSED;
    int64_t bounds[3] = {0, 0, 1};
    for (int i = 1; i < nargs; i++)
        if (!vm_as_int(vm, args[i], &bounds[nargs == 2 ? 1 : i - 1])) return VALUE_ERROR;
    if (bounds[2] == 0) return vm_raise(vm, "ValueError", "zero step for randrange()");
    if (nargs == 2 && bounds[1] <= 0) return vm_raise(vm, "ValueError", "empty range for randrange()");
    return in_range(vm, SELF, bounds[0], bounds[1], bounds[2]);
}

static Value random_getrandbits(METHOD) {
    UNUSED;
    int64_t k;
    if (!vm_as_int(vm, args[1], &k)) return VALUE_ERROR;
    if (k < 0) return vm_raise(vm, "ValueError", "number of bits must be non-negative");
    if (k > 63) return vm_raise(vm, "OverflowError", "integer overflow in getrandbits(): at most 63 bits fit");
    return value_int(k ? (int64_t)draw_bits(SELF, (int)k) : 0);
}

static Value random_choice(METHOD) {
    UNUSED;
    int64_t n = vm_length(vm, args[1]);
    if (n < 0) return VALUE_ERROR;
    if (n == 0) return vm_raise(vm, "IndexError", "Cannot choose from an empty sequence");
    return vm_subscript(vm, args[1], value_int((int64_t)draw_below(SELF, (uint64_t)n)));
}

static Value random_shuffle(METHOD) {
    UNUSED;
    int64_t n = vm_length(vm, args[1]);
    if (n < 0) return VALUE_ERROR;
    for (int64_t i = n - 1; i >= 1; i--) {
        int64_t j = (int64_t)draw_below(SELF, (uint64_t)i + 1);
        Value a = vm_subscript(vm, args[1], value_int(i)), b = value_is_error(a) ? a : vm_subscript(vm, args[1], value_int(j));
        bool ok = !value_is_error(b) && vm_store_subscript(vm, args[1], value_int(i), b) && vm_store_subscript(vm, args[1], value_int(j), a);
        value_unref(vm, a);
        value_unref(vm, b);
        if (!ok) return VALUE_ERROR;
    }
    return VALUE_NONE;
}

/* Few out of many: places already drawn, in a table with twice the room. */
typedef struct Places { int64_t *at; uint64_t mask; } Places;

static bool take_place(Places *places, int64_t place) {
    uint64_t i = ((uint64_t)place * 0x9e3779b97f4a7c15u) >> 32 & places->mask;
    while (places->at[i] >= 0) {
        if (places->at[i] == place) return false;
        i = (i + 1) & places->mask;
    }
    places->at[i] = place;
    return true;
}

static Value sample_by_place(VM *vm, Twister *t, Value population, int64_t n, int64_t k) {
    Places places = {NULL, 8};
    while (places.mask < (uint64_t)k * 2) places.mask *= 2;
    places.at = malloc(places.mask-- * sizeof *places.at);
    if (!places.at) vm_out_of_memory();
    memset(places.at, 0xff, (places.mask + 1) * sizeof *places.at);
    Value result = list_new(vm, NULL, 0);
    for (int64_t i = 0; i < k && !value_is_error(result); i++) {
        int64_t j = (int64_t)draw_below(t, (uint64_t)n);
        while (!take_place(&places, j)) j = (int64_t)draw_below(t, (uint64_t)n);
        Value item = vm_subscript(vm, population, value_int(j));
        if (value_is_error(item)) value_unref(vm, result), result = VALUE_ERROR;
        else list_append(vm, list_of(result), item);
        value_unref(vm, item);
    }
    free(places.at);
    return result;
}

/* Many out of not so many: by drawing from a shrinking copy. */
static Value sample_by_copy(VM *vm, Twister *t, Value population, int64_t n, int64_t k) {
    Value pool = vm_list_of(vm, population);
    if (value_is_error(pool)) return pool;
    Value result = list_new(vm, NULL, 0), *items = list_of(pool)->items;
    for (int64_t i = 0; i < k && n <= list_of(pool)->count; i++) {
        int64_t j = (int64_t)draw_below(t, (uint64_t)(n - i));
        list_append(vm, list_of(result), items[j]);
        Value last = items[n - i - 1];
        items[n - i - 1] = items[j];
        items[j] = last;
    }
    value_unref(vm, pool);
    return result;
}

static Value sample_from(VM *vm, Twister *t, Value population, int64_t k) {
    int64_t n = vm_length(vm, population), set_size = 21;
    if (n < 0) return VALUE_ERROR;
    if (k < 0 || k > n) return vm_raise(vm, "ValueError", "Sample larger than population or is negative");
    if (!vm_reserve(vm, k * 2, (int64_t)sizeof(Value))) return VALUE_ERROR;
    if (k > 5) set_size += (int64_t)pow(4, ceil(log((double)k * 3) / log(4)));
    return n <= set_size ? sample_by_copy(vm, t, population, n, k) : sample_by_place(vm, t, population, n, k);
}

/* Each item as often as its count says: the draws are those from the list written out. */
static bool repeat_by(VM *vm, List *pool, Value counts) {
    Value list = vm_list_of(vm, counts), all = list_new(vm, NULL, 0);
    bool ok = !value_is_error(list) && (list_of(list)->count == pool->count || (vm_raise(vm, "ValueError", "The number of counts does not match the population"), false));
    for (int i = 0; ok && i < pool->count; i++) {
        int64_t n;
        ok = vm_as_int(vm, list_of(list)->items[i], &n) && (n >= 0 || (vm_raise(vm, "ValueError", "Counts must be non-negative"), false)) && vm_reserve(vm, n + list_of(all)->count, (int64_t)sizeof(Value));
        for (int64_t k = 0; ok && k < n; k++) list_append(vm, list_of(all), pool->items[i]);
    }
    if (ok) {
        List swap = *pool;
        pool->items = list_of(all)->items, pool->count = list_of(all)->count, pool->capacity = list_of(all)->capacity;
        list_of(all)->items = swap.items, list_of(all)->count = swap.count, list_of(all)->capacity = swap.capacity;
    }
    value_unref(vm, list);
    value_unref(vm, all);
    return ok;
}

static Value random_sample(METHOD) {
    static const char *const names[] = {"population", "k", "counts"};
    Value out[3];
    int64_t k;
    if (!vm_parse_args(vm, "sample", args + 1, nargs - 1, kwnames, names, 3, 2, out) || !vm_as_int(vm, out[1], &k)) return VALUE_ERROR;
    if (class_lookup(vm, class_of(vm, out[0]), vm->own->names.getitem_).tag == V_NULL || value_is(vm_unwrap(out[0]), OBJ_DICT))
        return vm_raise(vm, "TypeError", "Population must be a sequence.  For dicts or sets, use sorted(d).");
    if (out[2].tag <= V_NONE) return sample_from(vm, SELF, out[0], k);
    Value pool = vm_list_of(vm, out[0]);
    if (value_is_error(pool)) return pool;
    Value result = repeat_by(vm, list_of(pool), out[2]) ? sample_from(vm, SELF, pool, k) : VALUE_ERROR;
    value_unref(vm, pool);
    return result;
}

static bool running_sums(VM *vm, Value weights, double *sums, int count, bool cumulative) {
    Value list = vm_list_of(vm, weights);
    if (value_is_error(list)) return false;
    bool ok = list_of(list)->count == count;
    if (!ok) vm_raise(vm, "ValueError", "The number of weights does not match the population");
    double total = 0, w;
    for (int i = 0; ok && i < count; i++) {
        ok = vm_number(vm, list_of(list)->items[i], &w);
        total = cumulative ? w : total + w;
        sums[i] = total;
    }
    if (ok && total <= 0) ok = (vm_raise(vm, "ValueError", "Total of weights must be greater than zero"), false);
    value_unref(vm, list);
    return ok;
}

static int place_in(const double *sums, int count, double x) { /* first sum above x, at most the last */
    int low = 0, high = count - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (x < sums[middle]) high = middle;
        else low = middle + 1;
    }
    return low;
}

static Value random_choices(METHOD) {
    static const char *const names[] = {"population", "weights", "cum_weights", "k"};
    Value out[4];
    int64_t k = 1;
    if (!vm_parse_args(vm, "choices", args + 1, nargs - 1, kwnames, names, 4, 1, out) || (out[3].tag != V_NULL && !vm_as_int(vm, out[3], &k))) return VALUE_ERROR;
    Value pool = vm_list_of(vm, out[0]), result = VALUE_ERROR;
    if (value_is_error(pool)) return pool;
    int n = list_of(pool)->count;
    bool weighted = out[1].tag > V_NONE, cumulative = out[2].tag > V_NONE, ok = n > 0;
    if (!ok) vm_raise(vm, "IndexError", "list index out of range");
    double *sums = calloc((size_t)n + 1, sizeof *sums);
    if (!sums) vm_out_of_memory();
    if (ok && (weighted || cumulative)) ok = running_sums(vm, weighted ? out[1] : out[2], sums, n, !weighted);
    if (ok) {
        result = list_new(vm, NULL, 0);
        for (int64_t i = 0; i < k; i++) {
            double u = draw_unit(SELF);
            int at = weighted || cumulative ? place_in(sums, n, u * sums[n - 1]) : (int)floor(u * n);
            list_append(vm, list_of(result), list_of(pool)->items[at]);
        }
    }
    free(sums);
    value_unref(vm, pool);
    return result;
}

/* ---- distributions ---- */

static bool two_numbers(VM *vm, const char *name, Value *args, int nargs, Tuple *kwnames, const char *first, const char *second, double *a, double *b) {
    const char *names[] = {first, second};
    Value out[2];
    return vm_parse_args(vm, name, args + 1, nargs - 1, kwnames, names, 2, 0, out) && (out[0].tag == V_NULL || vm_number(vm, out[0], a)) && (out[1].tag == V_NULL || vm_number(vm, out[1], b));
}

static Value random_gauss(METHOD) {
    double mu = 0, sigma = 1;
    if (!two_numbers(vm, "gauss", args, nargs, kwnames, "mu", "sigma", &mu, &sigma)) return VALUE_ERROR;
    Twister *t = SELF;
    double z = t->gauss;
    if (!t->has_gauss) {
        double angle = draw_unit(t) * 2 * M_PI, radius = sqrt(-2.0 * log(1.0 - draw_unit(t)));
        z = cos(angle) * radius;
        t->gauss = sin(angle) * radius;
    }
    t->has_gauss = !t->has_gauss;
    return value_float(mu + z * sigma);
}

static double draw_normal(Twister *t) {
    const double magic = 4 * exp(-0.5) / sqrt(2.0);
    for (;;) {
        double u1 = draw_unit(t), u2 = 1.0 - draw_unit(t), z = magic * (u1 - 0.5) / u2;
        if (z * z / 4.0 <= -log(u2)) return z;
    }
}

static Value random_normalvariate(METHOD) {
    double mu = 0, sigma = 1;
    if (!two_numbers(vm, "normalvariate", args, nargs, kwnames, "mu", "sigma", &mu, &sigma)) return VALUE_ERROR;
    return value_float(mu + draw_normal(SELF) * sigma);
}

static Value random_lognormvariate(METHOD) {
    double mu = 0, sigma = 1;
    if (!two_numbers(vm, "lognormvariate", args, nargs, kwnames, "mu", "sigma", &mu, &sigma)) return VALUE_ERROR;
    return value_float(exp(mu + draw_normal(SELF) * sigma));
}

static Value random_expovariate(METHOD) {
    double rate = 1, unused = 0;
    if (!two_numbers(vm, "expovariate", args, nargs, kwnames, "lambd", "", &rate, &unused)) return VALUE_ERROR;
    return value_float(-log(1.0 - draw_unit(SELF)) / rate);
}

static Value random_triangular(METHOD) {
    UNUSED;
    double low = 0, high = 1, mode;
    if ((nargs > 1 && !vm_number(vm, args[1], &low)) || (nargs > 2 && !vm_number(vm, args[2], &high))) return VALUE_ERROR;
    double u = draw_unit(SELF), c = 0.5;
    if (nargs > 3 && args[3].tag != V_NONE) {
        if (!vm_number(vm, args[3], &mode)) return VALUE_ERROR;
        if (high == low) return value_float(low);
        c = (mode - low) / (high - low);
    }
    if (u > c) {
        double swap = low;
        u = 1.0 - u;
        c = 1.0 - c;
        low = high;
        high = swap;
    }
    return value_float(low + (high - low) * sqrt(u * c));
}

static Value random_getstate(METHOD) {
    UNUSED;
    Value copy = holder_new(vm);
    *twister_of(copy) = *SELF;
    Value state = tuple_new(vm, (Value[]){value_int(3), copy}, 2);
    value_unref(vm, copy);
    return state;
}

static Value random_setstate(METHOD) {
    UNUSED;
    bool ok = value_is(args[1], OBJ_TUPLE) && tuple_of(args[1])->count == 2 && value_is(tuple_of(args[1])->items[1], OBJ_STR) &&
              str_of(tuple_of(args[1])->items[1])->length == sizeof(Twister) + 32;
    if (!ok) return vm_raise(vm, "TypeError", "setstate() needs what getstate() gave");
    *SELF = *twister_of(tuple_of(args[1])->items[1]);
    return VALUE_NONE;
}

enum { E = BUILTIN_METHOD | BUILTIN_EFFECT, EP = E | BUILTIN_POSITIONAL };

static const BuiltinDef methods[] = {
    {"seed", random_seed, 1, 3, E}, {"random", random_random, 1, 1, EP}, {"uniform", random_uniform, 1, 3, E}, {"randint", random_randint, 1, 3, E},
    {"randrange", random_randrange, 2, 4, EP}, {"getrandbits", random_getrandbits, 2, 2, EP}, {"choice", random_choice, 2, 2, EP},
    {"shuffle", random_shuffle, 2, 2, EP}, {"sample", random_sample, 1, 4, E}, {"choices", random_choices, 1, 5, E}, {"gauss", random_gauss, 1, 3, E},
    {"normalvariate", random_normalvariate, 1, 3, E}, {"lognormvariate", random_lognormvariate, 1, 3, E}, {"expovariate", random_expovariate, 1, 2, E},
    {"triangular", random_triangular, 1, 4, EP}, {"getstate", random_getstate, 1, 1, EP}, {"setstate", random_setstate, 2, 2, EP},
};

/* Random(seed) */
static Value new_random(METHOD) {
    UNUSED;
    Value holder = holder_new(vm);
    Value both[2] = {holder, nargs > 1 ? args[1] : VALUE_NONE};
    Value seeded = random_seed(vm, both, 2, NULL);
    if (value_is_error(seeded)) return value_unref(vm, holder), seeded;
    return instance_with_payload(vm, (Class *)args[0].o, holder);
}

void module_random(VM *vm, Dict *dict) {
    Class *cls = class_builtin(vm, "Random", vm->class_object, OBJ_INSTANCE);
    value_set(vm, &cls->module_name, str_from(vm, "random"));
    vm_define_methods(vm, cls, methods, COUNT_OF(methods));
    module_set(vm, cls->dict, "__new__", builtin_new(vm, "Random", new_random, 1, 2, BUILTIN_EFFECT));
    module_set(vm, dict, "Random", value_object(cls));
    Value hidden = holder_new(vm);
    seed_by_time(twister_of(hidden));
    vm_define(vm, dict, "random", methods, COUNT_OF(methods));
    for (int i = 0; i < COUNT_OF(methods); i++) {
        Builtin *builtin = (Builtin *)dict_get_name(vm, dict, vm_intern(vm, methods[i].name)).o;
        builtin->self = value_ref(hidden);
    }
    value_unref(vm, hidden);
}
