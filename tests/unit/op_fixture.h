/* Op fixture: the op table, tensors of any dtype and layout filled with small numbers, and reading them back: for the unit tests of engine/op.
 *
 *     Arg x = fixture_tensor(DTYPE_F32, 2, (Dim[]){3, 4}, true, false, 0);   // transposed in memory
 *     double first = fixture_get(&x, (int64_t[]){0, 0});
 *
 * All memory is given back by fixture_reset and fixture_close. */
#ifndef VITRINE_TESTS_OP_FIXTURE_H
#define VITRINE_TESTS_OP_FIXTURE_H
#include "base/intern.h"
#include "op/convert.h"
#include "op/family.h"
#include "op/random.h"
#include <string.h>

static Arena *fixture_arena, *fixture_scratch;
static OpTable *fixture_table;
static OpContext fixture_context;
static Failure fixture_failure;
static LangSession fixture_lang;

static void fixture_open(void) {
    fixture_arena = arena_new("fixture");
    fixture_scratch = arena_new("scratch");
    fixture_lang = (LangSession){.arena = fixture_arena, .names = interner_new(fixture_arena), .failure = &fixture_failure};
    fixture_table = op_table_new(fixture_arena, &fixture_lang);
    fixture_context = (OpContext){.default_dtype = DTYPE_F32, .generator = rng_new(fixture_arena), .threads = 2};
}

static void fixture_close(void) {
    arena_free(fixture_scratch);
    arena_free(fixture_arena);
}

static inline void fixture_reset(void) { arena_reset(fixture_scratch); }

static inline char *fixture_place(const Arg *tensor, const int64_t *at) {
    const Meta *meta = arg_meta(tensor);
    int64_t offset = meta->offset;
    for (int i = 0; i < meta->rank; i++) offset += at[i] * meta->strides[i];
    return (char *)tensor->tensor.data + offset * dtype_size(meta->dtype);
}

static inline double fixture_get(const Arg *tensor, const int64_t *at) { return load_double(arg_meta(tensor)->dtype, fixture_place(tensor, at)); }

static inline void fixture_set(const Arg *tensor, const int64_t *at, double value) { store_values(DTYPE_F64, arg_meta(tensor)->dtype, 1, &value, fixture_place(tensor, at), 0); }

/* To the next place in logical order. */
static inline void fixture_step(const Meta *meta, int64_t *at) {
    for (int i = meta->rank - 1; i >= 0; i--) {
        if (++at[i] < meta->sizes[i]) return;
        at[i] = 0;
    }
}

/* Values that all dtypes hold: quarters between -3 and 3, for integers whole numbers; `salt` tells operands apart. */
static inline void fixture_fill(const Arg *tensor, int salt) {
    const Meta *meta = arg_meta(tensor);
    int64_t at[MAX_RANK] = {0}, n = 0;
    for (int64_t left = meta_numel(meta); left > 0; left--, n++, fixture_step(meta, at)) {
        int64_t quarters = (n * 7 + salt * 5 + n * n % 11) % 25 - 12;
        fixture_set(tensor, at, dtype_is_float(meta->dtype) ? (double)quarters / 4 : meta->dtype == DTYPE_BOOL ? (double)(quarters & 1) : meta->dtype == DTYPE_U8 ? (double)(quarters + 12) : (double)(quarters % 6));
    }
}

/* transposed: the first two dims (of rank 3: all) lie in reverse order; gaps: every element has one of padding behind it, and the data starts at offset 3. */
static inline Arg fixture_tensor(DType dtype, int rank, const Dim *sizes, bool transposed, bool gaps, int salt) {
    Meta *meta = ARENA_NEW(fixture_scratch, Meta);
    *meta = meta_new(dtype, (Device){DEVICE_CPU, 0}, rank, sizes);
    if (transposed) {
        Dim stride = 1;
        for (int i = 0; i < rank; i++) {
            meta->strides[i] = stride;
            stride *= sizes[i] > 1 ? sizes[i] : 1;
        }
    }
    for (int i = 0; i < rank && gaps; i++) meta->strides[i] *= 2;
    meta->offset = gaps ? 3 : 0;
    Arg tensor = arg_tensor(meta, arena_alloc(fixture_scratch, (size_t)((meta_storage_span(meta) + 4) * dtype_size(dtype))), NULL);
    fixture_fill(&tensor, salt);
    return tensor;
}

static inline Arg fixture_output(const Meta *meta) {
    Meta *copy = arena_copy(fixture_scratch, meta, sizeof *meta);
    return arg_tensor(copy, arena_alloc(fixture_scratch, (size_t)((meta_storage_span(meta) + 4) * dtype_size(meta->dtype))), NULL);
}

static inline Arg fixture_values(DType dtype, int count, const double *values) {
    Arg tensor = fixture_tensor(dtype, 1, (Dim[]){count}, false, false, 0);
    for (int64_t i = 0; i < count; i++) fixture_set(&tensor, &i, values[i]);
    return tensor;
}

/* Every parameter its default; those without one: None. */
static inline void fixture_defaults(const Op *op, Arg *args) {
    for (int i = 0; i < op->nparams; i++) {
        args[i] = arg_none();
        int at = op->signature->varargs && i > op->signature->positional ? i - 1 : i;
        if ((op->signature->varargs && i == op->signature->positional) || !op->signature->has_default[at]) continue;
        const Const *c = &op->signature->defaults[at];
        if (c->kind == CONST_INT) args[i] = arg_int(c->i);
        else if (c->kind == CONST_FLOAT) args[i] = arg_float(c->f);
        else if (c->kind == CONST_TRUE || c->kind == CONST_FALSE) args[i] = arg_bool(c->kind == CONST_TRUE);
        else if (c->kind == CONST_STR) args[i] = (Arg){.tag = ARG_STR, .s = c->s.text};
        else if (c->kind == CONST_TUPLE) args[i] = (Arg){.tag = ARG_INTS};
    }
}
#endif
