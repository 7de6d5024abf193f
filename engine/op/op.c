/* Op table: rows from ops.def, their in-place twins, and lookup by name.
 *
 * In: ops.def. Out: an array of Op, a name table.
 *
 *     OpTable *table = op_table_new(arena, lang);
 *     op_find(table, "add_")->functional_op == op_find(table, "add")            // twins are made here, not written
 *
 * Invariant: a row's place (`index`) and the numbers of its eager kernels are the same in every build of the same ops.def: the program that
 * prints the eager kernels walks the same table. To add a row: ops.def. */
#include "op/op.h"
#include "base/vec.h"
#include "op/family.h"
#include "op/scalar_row.h"
#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct OpTable { Arena *arena; LangSession *lang; VEC(Op *) ops; Map *by_name; };

enum { TWIN = 1 << 29 /* has an in-place twin: name + "_" */, METHOD = TRAIT_METHOD, FUNCTION = TRAIT_FUNCTION, NN = TRAIT_NN, HIDDEN = TRAIT_HIDDEN };

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init" /* a row may say another number of outputs than 1 */
static const Op rows[] = {
#define OP(family_id, op_name, signature, ...) {.family = FAMILY_##family_id, .name = op_name, .signature_text = signature, .outputs = 1, .bool_operand = -1, __VA_ARGS__},
#include "op/ops.def"
#undef OP
};
#pragma GCC diagnostic pop
enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

static const FamilyOps *family_of(const Op *op) {
    switch (op->family) {
    case FAMILY_POINTWISE: return &pointwise_family;
    case FAMILY_REDUCE: return &reduce_family;
    case FAMILY_VIEW: return &view_family;
    case FAMILY_CONTRACT: return &contract_family;
    case FAMILY_INDEX: return index_is_scatter(op) ? &scatter_family : &index_family;
    case FAMILY_CREATE: return &create_family;
    case FAMILY_MUTATE: return &mutate_family;
    case FAMILY_SCAN: return &scan_family;
    case FAMILY_RANDOM: return &random_family;
    case FAMILY_DECOMPOSED: return &decomposed_family;
    case FAMILY_COMPOSITE: break;
    }
    return &composite_family;
}

/* "_softmax" -> "SoftmaxBackward0", "native_layer_norm" -> "NativeLayerNormBackward0": PyTorch's names of gradient nodes. */
static const char *make_grad_name(Arena *arena, const char *name) {
    char *camel = arena_alloc(arena, strlen(name) + sizeof "Backward0"), *at = camel;
    bool upper = true;
    for (const char *c = name; *c; c++) {
        if (*c != '_') *at++ = (char)(upper ? toupper((unsigned char)*c) : *c);
        upper = *c == '_';
    }
    memcpy(at, "Backward0", sizeof "Backward0");
    return camel;
}

static int count_operands(const Signature *signature) {
    int count = 0;
    while (count < signature->positional && !signature->has_default[count]) count++;
    return count;
}

static void finish_row(OpTable *table, Op *op) {
    op->family_ops = family_of(op);
    if (!op->signature) op->signature = lang_parse_signature(table->lang, op->signature_text);
    op->nparams = op->signature->count + (op->signature->varargs ? 1 : 0);
    if (!op->grad && (op->family == FAMILY_CREATE || op->family == FAMILY_RANDOM)) op->grad = ""; /* nothing flows back, and nobody need be told */
    if (!op->grad_name && op->grad) op->grad_name = make_grad_name(table->arena, op->name);
    if (op->family == FAMILY_POINTWISE && op->tensor_inputs == 0) op->tensor_inputs = count_operands(op->signature);
}

static Op *add_row(OpTable *table, const Op *row) {
    Op *op = arena_copy(table->arena, row, sizeof *row);
    op->name = intern(table->lang->names, row->name);
    op->traits &= ~(unsigned)TWIN;
    op->index = table->ops.count;
    vec_push_in(table->arena, &table->ops, op);
    finish_row(table, op);
    map_put(table->by_name, op->name, op);
    return op;
}

/* relu_ from relu: same signature and gradient, written into its first input. */
static void add_twin(OpTable *table, Op *op) {
    Op twin = *op;
    twin.name = arena_printf(table->arena, "%s_", op->name);
    twin.family = FAMILY_MUTATE;
    twin.functional = op->name;
    twin.functional_op = op;
    twin.traits = (op->traits & (TRAIT_METHOD | TRAIT_NN | TRAIT_FUNCTION | TRAIT_RANDOM)) | TRAIT_INPLACE | TRAIT_EFFECT;
    if (!(op->traits & TRAIT_HIDDEN)) twin.traits |= TRAIT_METHOD;
    twin.traits &= ~(unsigned)TRAIT_HIDDEN;
    op->inplace_op = add_row(table, &twin);
}

OpTable *op_table_new(Arena *arena, LangSession *lang) {
    OpTable *table = ARENA_NEW(arena, OpTable);
    *table = (OpTable){.arena = arena, .lang = lang, .by_name = map_new(arena)};
    int next_kernel = 0;
    for (int i = 0; i < ROW_COUNT; i++) {
        Op *op = add_row(table, &rows[i]);
        scalar_row_parse(arena, op);
        op->first_kernel = next_kernel;
        next_kernel += op->variant_count;
    }
    int row_count = table->ops.count;
    for (int i = 0; i < row_count; i++)
        if (rows[i].traits & TWIN) add_twin(table, table->ops.at[i]);
    for (int i = 0; i < row_count; i++) {
        Op *op = table->ops.at[i];
        if (op->functional) op->functional_op = op_find(table, op->functional);
        if (op->binary) op->binary_op = op_find(table, op->binary);
        assert((!op->functional || op->functional_op) && "ops.def names a functional form that has no row");
    }
    return table;
}

const Op *op_find(const OpTable *table, const char *name) { return map_get(table->by_name, intern(table->lang->names, name)); }

int op_count(const OpTable *table) { return table->ops.count; }

const Op *op_at(const OpTable *table, int i) { return table->ops.at[i]; }

Op *op_add_composite(OpTable *table, const char *name, Signature *signature, const char *grad_name) {
    Op row = {.name = name, .family = FAMILY_COMPOSITE, .signature = signature, .signature_text = "", .outputs = -1, .grad_name = grad_name, .traits = TRAIT_NN, .bool_operand = -1};
    return add_row(table, &row);
}

const char *op_param(const Op *op, int i) {
    const Signature *signature = op->signature;
    if (!signature->varargs || i < signature->positional) return signature->names[i];
    return i == signature->positional ? signature->varargs_name : signature->names[i - 1];
}

int op_param_index(const Op *op, const char *name) {
    for (int i = 0; i < op->nparams; i++)
        if (strcmp(op_param(op, i), name) == 0) return i;
    return -1;
}

const Arg *op_arg(const Op *op, const Arg *args, const char *name) {
    static const Arg none = {.tag = ARG_NONE};
    int i = op_param_index(op, name);
    return i < 0 ? &none : &args[i];
}

DType op_first_dtype(const Op *op, const Arg *args) {
    for (int i = 0; i < op->nparams; i++) {
        if (args[i].tag == ARG_TENSOR) return args[i].tensor.meta->dtype;
        if (args[i].tag == ARG_TENSORS && args[i].list.count && args[i].list.items[0].tag == ARG_TENSOR) return args[i].list.items[0].tensor.meta->dtype;
    }
    return DTYPE_F32;
}

/* ---- refusals ---- */

static bool has_word(const char *words, const char *word) {
    size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += length) {
        bool begins = at == words || at[-1] == ' ', ends = at[length] == 0 || at[length] == ' ' || at[length] == '!';
        if (begins && ends) return true;
    }
    return false;
}

static bool refuses(const Op *op, const char *word, DType dtype, OpError *error) {
    if (!has_word(op->refuses, word)) return false;
    if (strstr(op->refuses, word)[strlen(word)] == '!') op_error(error, ERROR_RUNTIME, "%s does not take %s tensors", op->name, dtype_info[dtype].name);
    else op_error_dtype(error, op->name, dtype);
    return true;
}

static int operand_count(const Op *op) { return op->family == FAMILY_POINTWISE ? op->tensor_inputs : op->nparams; }

static bool is_bool(const Arg *arg) { return arg->tag == ARG_BOOL || (arg->tag == ARG_TENSOR && arg->tensor.meta->dtype == DTYPE_BOOL); }

static bool arg_is_float(const Arg *arg) { return arg->tag == ARG_FLOAT || (arg->tag == ARG_TENSOR && dtype_is_float(arg->tensor.meta->dtype)); }

static bool check_mixture(const Op *op, const Arg *args, DType common, OpError *error) {
    DType first = op_first_dtype(op, args);
    if (has_word(op->refuses, "bool-pair") && common == DTYPE_BOOL && args[1].tag == ARG_TENSOR) return op_error_dtype(error, op->name, common);
    bool ratio = has_word(op->refuses, "integer-ratio") && !arg_is_float(&args[1]) && !arg_is_float(&args[2]);
    if (ratio) return op_error(error, ERROR_RUNTIME, "%s of integers is not supported: divide first, or cast the operands to a floating dtype", op->name);
    for (int i = 0; i < operand_count(op); i++) {
        if (has_word(op->refuses, "bool-operand") && is_bool(&args[i]) && i < op->tensor_inputs)
            return op_error(error, ERROR_RUNTIME, "%s with a bool operand is not supported: use the `^` or `logical_xor()` operator, or `~`, instead.", op->name);
        if (args[i].tag == ARG_TENSOR && i != op->bool_operand && strcmp(op_param(op, i), "mask") && args[i].tensor.meta->dtype != first && has_word(op->refuses, "mixed"))
            return op_error(error, ERROR_RUNTIME, "%s(): the tensors must have one dtype, but `%s` is %s and the first is %s", op->name, op_param(op, i),
                            dtype_info[args[i].tensor.meta->dtype].name, dtype_info[first].name);
    }
    return true;
}

bool op_takes_dtypes(const Op *op, const Arg *args, DType common, OpError *error) {
    if (!op->refuses) return true;
    if (!check_mixture(op, args, common, error)) return false;
    DType first = op_first_dtype(op, args);
    if (has_word(op->refuses, "mixed")) common = first;
    if (has_word(op->refuses, "meet")) common = first = op_result_type(args, 2, DTYPE_F32);
    if (common == DTYPE_BOOL) return !refuses(op, "bool", common, error);
    if (first == DTYPE_BF16 && refuses(op, "bf16", first, error)) return false;
    if (first == DTYPE_F16 || first == DTYPE_BF16) return !refuses(op, "half", first, error);
    if (dtype_is_float(first)) return !refuses(op, "floats", first, error);
    return dtype_is_float(common) || !refuses(op, "ints", first, error);
}

bool op_fixes_out(const Op *op) { return op->family == FAMILY_CONTRACT || (op->refuses && has_word(op->refuses, "out")); }

bool op_takes_numbers(const Op *op, const Arg *args, OpError *error) {
    if (!op->refuses || !strstr(op->refuses, "number")) return true;
    int last = has_word(op->refuses, "number-first") ? 1 : op->family == FAMILY_POINTWISE ? op->tensor_inputs : 2;
    for (int i = 0; i < last; i++)
        if (args[i].tag == ARG_BOOL || args[i].tag == ARG_INT || args[i].tag == ARG_FLOAT)
            return op_error(error, ERROR_TYPE, "%s(): argument '%s' (position %d) must be Tensor, not %s", op->name, op_param(op, i), i + 1,
                            args[i].tag == ARG_BOOL ? "bool" : args[i].tag == ARG_INT ? "int" : "float");
    return true;
}
