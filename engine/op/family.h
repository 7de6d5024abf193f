/* Family: what the families' files give to the table, and what they share in reading arguments.
 *
 *     int dim;
 *     if (!read_dim(op, args, "dim", input->rank, &dim, error)) return false;      // -1 wraps; IndexError with the range otherwise
 *
 * To add a family: its FamilyOps here, its name in Family (ir/row.h), a line in op.c's `family_of`. */
#ifndef VITRINE_OP_FAMILY_H
#define VITRINE_OP_FAMILY_H
#include "op/op.h"

extern const FamilyOps pointwise_family, reduce_family, view_family, contract_family, index_family, scatter_family, create_family, mutate_family,
    scan_family, random_family, composite_family, decomposed_family;

/* ---- arguments ---- */
static inline bool arg_is_tensor(const Arg *arg) { return arg->tag == ARG_TENSOR; }
static inline bool arg_is_number(const Arg *arg) { return arg->tag == ARG_BOOL || arg->tag == ARG_INT || arg->tag == ARG_FLOAT; }
static inline const Meta *arg_meta(const Arg *arg) { return arg->tensor.meta; }
double arg_as_double(const Arg *arg);                  /* of a number; symbolic: its hint */
int64_t arg_as_int(const Arg *arg);
bool arg_truth(const Arg *arg, bool absent);           /* of a flag: bool or int; `absent` for None */
static inline int tensor_rank(const Arg *arg) { return arg_is_tensor(arg) ? arg_meta(arg)->rank : 0; }

/* Tensor argument 0, or a TypeError that names op and parameter. */
bool need_tensor(const Op *op, const Arg *args, int index, OpError *error);
/* All sizes and strides are integers; otherwise an error that says that a symbolic shape came. */
bool need_static(const Op *op, const Meta *meta, OpError *error);
/* A dim of a tensor of `rank` (0 counts as 1), wrapped; IndexError otherwise. */
bool wrap_dim(int64_t dim, int rank, int *out, OpError *error);
bool read_dim(const Op *op, const Arg *args, const char *name, int rank, int *dim, OpError *error);
/* An int parameter, possibly symbolic; TypeError for anything else. */
bool read_integer(const Op *op, const Arg *args, const char *name, Dim *out, OpError *error);
/* `dim=None`, an int or a list: marks[0..rank) says which are named; None or (): all. Twice the same: RuntimeError. *all: none was named. */
bool read_dims(const Op *op, const Arg *args, const char *name, int rank, bool *marks, bool *all, OpError *error);
/* A size list given as ints, or one int. count ≤ MAX_RANK or an error. */
bool read_sizes(const Op *op, const Arg *arg, Dim *sizes, int *count, OpError *error);
/* dtype= and device= of a creation op, with the defaults given. */
DType read_dtype(const Op *op, const Arg *args, DType otherwise);
Device read_device(const Op *op, const Arg *args, Device otherwise);
void shape_text(const Meta *meta, char *text, size_t size); /* "[3, 4]" for messages */

/* ---- symbolic arithmetic that needs no table while both are integers ---- */
static inline Dim dim_plus(SymTable *syms, Dim a, Dim b) { return dim_is_int(a) && dim_is_int(b) ? dim_int_add(a, b) : dim_add(syms, a, b); }
static inline Dim dim_minus(SymTable *syms, Dim a, Dim b) { return dim_is_int(a) && dim_is_int(b) ? dim_clamped((__int128)a - b) : dim_sub(syms, a, b); }
static inline Dim dim_times(SymTable *syms, Dim a, Dim b) { return dim_is_int(a) && dim_is_int(b) ? dim_int_mul(a, b) : dim_mul(syms, a, b); }

/* ---- layout of outputs ---- */
/* Strides of the output of a pointwise op over these operands (already broadcast to out->sizes): TensorIterator's rule. */
void layout_pointwise(Meta *out, const Meta *const *operands, int count, SymTable *syms);
/* Broadcast sizes of tensor arguments [0, count) into out (rank, sizes); RuntimeError with both shapes otherwise. */
bool broadcast_args(const Op *op, const Arg *args, int count, Meta *out, OpError *error);
/* The device of the tensors among args; zero-dim CPU tensors go along with CUDA ones. */
bool common_device(const Op *op, const Arg *args, int count, Device *device, OpError *error);

/* ---- defined in pointwise.c, used by mutate ---- */
bool pointwise_infer(const Op *op, const Arg *args, int nargs, Meta *outs, int *count, const OpContext *context, OpError *error);
/* out: where to write (any strides; may be args[0] itself). */
bool pointwise_run(const Op *op, const Arg *args, int nargs, const Arg *out, const OpContext *context, OpError *error);
bool pointwise_run_family(const Op *op, const Arg *args, int nargs, const Arg *outs, int nouts, const OpContext *context, OpError *error);
int64_t dtype_wrap(DType dtype, int64_t value); /* what an integer is in an integer dtype: an operand of uint8 tensors that is -1 is 255 */
double dtype_limit(DType dtype, bool low);                                        /* largest, or lowest, finite value of a floating dtype; 0 of others */
DType pointwise_common_type(const Op *op, const Arg *args, DType default_dtype); /* dtype in which the operands meet */

bool index_is_scatter(const Op *op); /* does it store where its index operands say (index.c)? */

/* ---- defined in create.c ---- */
void fill_elements(const Meta *meta, void *data, double value, int64_t integer, int threads); /* integer: what integer and bool dtypes get */
#endif
