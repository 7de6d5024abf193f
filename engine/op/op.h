/* Op: the table, one row an op. Everything that differs between two ops of a family stands in ops.def.
 *
 *     const Op *op = op_find(table, "relu");
 *     Meta out; int n = 1; op_infer(op, args, 1, &out, &n, &context, &error);   // shape and dtype rules, from the family
 *     op_run_cpu(op, args, 1, outs, 1, &context, &error);                      // eager CPU kernel: raw pointers, sizes, strides
 *
 * Arguments stand in the order of the signature's names, defaults filled in; `*size` is one ARG_INTS at the place where it is written
 * (index signature->positional). In-place ops (TRAIT_INPLACE) write args[0]; their outs may be args[0] again, or none.
 * To add a pointwise op: one row in ops.def; `make check` then tests it. */
#ifndef VITRINE_OP_OP_H
#define VITRINE_OP_OP_H
#include "ir/row.h"

/* Builds the table: parses signatures and scalar texts. Rows' language parts are parsed by the VM on first use. */
OpTable *op_table_new(Arena *arena, LangSession *lang);
const Op *op_find(const OpTable *table, const char *name);      /* NULL when there is none; name need not be interned */
int op_count(const OpTable *table);
const Op *op_at(const OpTable *table, int i);
/* Adds an op whose body is a function of the language (torch/functional.py's leaves). */
Op *op_add_composite(OpTable *table, const char *name, Signature *signature, const char *grad_name);

/* Promotion of pointwise operands (tensors, zero-dim tensors, Python numbers): PyTorch's result_type, before FLOAT_RESULT/BOOL_RESULT. */
DType op_result_type(const Arg *args, int count, DType default_dtype);

/* The same for a pointwise row's operands, with its own rules (FLOAT_RESULT, operands that are conditions). */
DType op_meeting_type(const Op *op, const Arg *args, DType default_dtype);

/* Parameters by place: "input", …, "size" for `*size`. -1: no such parameter. */
const char *op_param(const Op *op, int i);
int op_param_index(const Op *op, const char *name);
/* The argument of a parameter; an ARG_NONE when the op has no such parameter. */
const Arg *op_arg(const Op *op, const Arg *args, const char *name);

/* Has PyTorch a kernel for these dtypes (the row's `refuses`)? `common`: what pointwise operands meet in. false: error filled in. */
bool op_takes_dtypes(const Op *op, const Arg *args, DType common, OpError *error);
/* fill_, zero_: an in-place row that writes the same value everywhere, so that elements may lie on one another. */
bool op_writes_one_value(const Op *op, const Arg *args);
/* Must a tensor given to out= have the first operand's dtype? */
bool op_fixes_out(const Op *op);
/* Does it take Python numbers where these args have some? The program's calls are asked; the library may. */
bool op_takes_numbers(const Op *op, const Arg *args, OpError *error);
DType op_first_dtype(const Op *op, const Arg *args); /* of the first tensor among args, or in the first list of them; DTYPE_F32 without one */

/* One alternative of a pointwise row's meaning: `approximate='tanh': expr`, `min,max: expr` (both are given), `exponent=2: expr`. */
typedef struct ScalarCondition { int param; const char *string; bool is_number; double number; } ScalarCondition;
typedef struct ScalarVariant { ScalarCondition conditions[3]; int condition_count; const char *text; const ScalarExpr *expr; } ScalarVariant;
/* The first alternative whose conditions hold for these arguments; inputs of its expression are the op's parameters. NULL: none does. */
const ScalarVariant *op_scalar(const Op *op, const Arg *args);
#endif
