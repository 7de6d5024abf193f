/* Row: the type of one row of the op table, and of the arguments an op is called with.
 *
 * Stages ask a row for its family and traits, never for its name. The rows themselves, their lookup and the families' code are in op/.
 * An op is called with one Arg for each parameter of its signature, in order, defaults filled in. */
#ifndef VITRINE_IR_ROW_H
#define VITRINE_IR_ROW_H
#include "base/map.h"
#include "ir/meta.h"
#include "ir/scalar.h"
#include "lang/code.h"

typedef enum Family {
    FAMILY_POINTWISE, FAMILY_REDUCE, FAMILY_VIEW, FAMILY_CONTRACT, FAMILY_INDEX, FAMILY_CREATE, FAMILY_MUTATE, FAMILY_SCAN,
    FAMILY_RANDOM, FAMILY_COMPOSITE /* language body; a leaf of the dynamo graph, expanded when the joint graph is built */,
    FAMILY_DECOMPOSED /* has a gradient row and its own aten name, and a body in torch/decompositions.py that runs it: softmax, layer_norm */
} Family;
const char *family_name(Family family);

enum OpTrait {
    TRAIT_COMMUTES = 1 << 0, TRAIT_FLOAT_RESULT = 1 << 1 /* integers promote to the default float: exp, div */, TRAIT_BOOL_RESULT = 1 << 2,
    TRAIT_HEAVY = 1 << 3 /* never recomputed: matmul, conv */, TRAIT_RANDOM = 1 << 4, TRAIT_INPLACE = 1 << 5 /* writes its first input */,
    TRAIT_ALIAS = 1 << 6 /* output shares storage with its first input */, TRAIT_METHOD = 1 << 7 /* reachable as Tensor.name */,
    TRAIT_FUNCTION = 1 << 8 /* reachable as torch.name */, TRAIT_NN = 1 << 9 /* reachable as torch.nn.functional.name */,
    TRAIT_HIDDEN = 1 << 10 /* aten-level only: _softmax, threshold_backward */, TRAIT_SYNC = 1 << 11 /* result's shape or value depends on data: nonzero, item */,
    TRAIT_EFFECT = 1 << 12 /* not removable although unused */, TRAIT_NO_LOWER = 1 << 13 /* no loop form: the plan calls the eager kernel */,
    TRAIT_CARD = 1 << 14 /* on a card it is made of other rows: torch/card.py */,
    TRAIT_KEPT = 1 << 15 /* PyTorch's min-cut never has it computed twice, cheap as it may be */, TRAIT_JOINS = 1 << 16 /* can always be fused with what it is made from: cat */
};

typedef struct Op Op;
typedef struct Arg Arg;
typedef struct OpTable OpTable; /* op/op.h */
struct Body; struct BodyBuilder; struct Reduction; /* ir/body.h */

typedef enum ArgTag { ARG_NONE, ARG_TENSOR, ARG_TENSORS /* list or tuple of tensors, or of None and tensors (index) */, ARG_BOOL, ARG_INT /* a Dim */, ARG_FLOAT, ARG_INTS /* Dims */,
                      ARG_FLOATS, ARG_STR, ARG_DTYPE, ARG_DEVICE, ARG_OBJECT /* anything else a composite takes: Object* of vm/value.h, borrowed */ } ArgTag;
struct Arg {
    ArgTag tag;
    union {
        struct { const Meta *meta; void *data; void *owner; } tensor; /* owner: Tensor* in the VM, Node* in a graph, NULL in a plan. data: the element at meta->offset 0 of the storage (offset NOT added); NULL when fake */
        struct { const Arg *items; int count; } list;                 /* TENSORS: items are TENSOR or NONE. */
        bool b; Dim i; double f;
        struct { const Dim *at; int count; } ints;
        struct { const double *at; int count; } floats;
        const char *s;
        DType dtype; Device device;
        void *object;
    };
};

typedef enum ErrorType { ERROR_RUNTIME, ERROR_TYPE, ERROR_VALUE, ERROR_INDEX, ERROR_NOT_IMPLEMENTED, ERROR_ZERO_DIVISION, ERROR_MEMORY } ErrorType;
typedef struct OpError { ErrorType type; char message[512]; } OpError;
bool op_error_dtype(OpError *error, const char *op, DType dtype); /* "abs_cpu" not implemented for 'Bool' */
bool op_error(OpError *error, ErrorType type, const char *format, ...) __attribute__((format(printf, 3, 4))); /* fills in; returns false */

typedef struct Generator Generator;             /* op/random.h: MT19937 as PyTorch's CPU generator */
typedef struct OpContext {
    SymTable *syms;                             /* NULL in eager work */
    DType default_dtype;                        /* torch.get_default_dtype() */
    Device default_device;
    Generator *generator;
    int threads;
    Dim (*unbacked)(void *state, int64_t least, int64_t most); void *unbacked_state; /* capture: a new symbol for a size that depends on data; NULL: such a shape is an error */
} OpContext;

struct Op {
    const char *name;              /* "add"; in-place twins have their underscore: "add_" */
    Family family;
    const char *signature_text;    /* "input, other, *, alpha=1" */
    const char *scalar;            /* POINTWISE: meaning in scalar primitives over signature names; REDUCE: see ops.def */
    const char *grad;              /* formulas in the language, one for each differentiable input in order, separated by ';'. "" = not differentiable (undefined), NULL = no gradient row */
    const char *made_of;           /* body in the language (expression over the signature's names), or "@name": function `name` of torch/decompositions.py */
    const char *functional;        /* MUTATE: name of the op it is the in-place twin of ("add" for add_) */
    const char *inverse;           /* VIEW: formula in the language that writes a changed view `src` back into its `input`: "select_scatter(input, src, dim, index)", "permute(src, …)"; variables as in grad. NULL: views that cannot be written through */
    const char *grad_name;         /* "ReluBackward0" */
    const char *shared;            /* family-specific word: reducer's init/combine, view kind … */
    const char *refuses;           /* what PyTorch refuses. Dtypes without a kernel: "bool ints half bf16 floats", with a `!` where a RuntimeError says so ("bool": what the operands of a POINTWISE
                                      row meet in; else the first tensor's). "mixed": tensors of several dtypes; "meet": the first two's common dtype is what counts;
                                      "bool-operand"; "bool-pair": two bool tensors; "integer-ratio"; "numbers", "number-first": Python numbers for tensors; "out": out= of another dtype */
    const char *binary;            /* REDUCE: op that is meant when the second argument is a tensor (max(a, b)) */
    unsigned traits;
    double flops;                  /* a scalar op's cost by element */
    int outputs;                   /* 1, or more (sort: 2); -1: a tuple, its length decided by infer (split, unbind); 0: infer gives one (a tensor), or several (max with dim: values, indices) */
    /* filled in when the table is made */
    const struct FamilyOps *family_ops;
    Signature *signature;
    int index;                     /* place in the table, stable */
    int tensor_inputs;             /* POINTWISE: how many leading parameters are operands (tensor or number) */
    const ScalarExpr *expr;        /* POINTWISE: parsed `scalar`; with several variants the last, unconditional one: see op_scalar in op/op.h */
    const struct ScalarVariant *variants; int variant_count; /* POINTWISE: all of `scalar`'s alternatives */
    int first_kernel;              /* POINTWISE: place of its first variant in the table of eager kernels */
    int bool_operand;              /* POINTWISE: operand that is a condition and takes no part in promotion; -1 */
    bool result_like_first;        /* POINTWISE: the result has the first operand's dtype and shape, whatever the others are */
    int nparams;                   /* Args of a call: the signature's names, and one (ARG_INTS) for `*size` */
    const Op *functional_op, *inplace_op, *binary_op;
    /* language-side parts, made and cached by the VM on first use (Object* of vm/value.h) */
    void *grad_functions, *body_function;
};

/* What a family knows for all its ops. One struct a family, in the family's file. */
typedef struct FamilyOps {
    /* Output metas from the arguments; *count on entry the room, on return the number. Rules are PyTorch's. */
    bool (*infer)(const Op *op, const Arg *args, int nargs, Meta *outs, int *count, const OpContext *context, OpError *error);
    /* Computes into allocated outputs (ARG_TENSOR with data). NULL for VIEW (the VM makes the view), COMPOSITE, DECOMPOSED. */
    bool (*run_cpu)(const Op *op, const Arg *args, int nargs, const Arg *outs, int nouts, const OpContext *context, OpError *error);
    /* The op as a pure function of the index (ir/body.h): value of output `which` at logical index[0..rank). Pointwise, views, creation, gathers,
     * cat … NULL when the family has none; returns NULL for a row that has none (then the plan calls the eager kernel). */
    const struct Body *(*value_at)(struct BodyBuilder *builder, const Op *op, const Arg *args, int nargs, const Meta *outs, int which, const Dim *index);
    /* REDUCE: which dims, by what. The value reduced is value_at's, called with the *input's* index. false: not a simple reduction. */
    bool (*reduction)(const Op *op, const Arg *args, int nargs, struct Reduction *reduction);
    /* VIEW: fills `out` (strides and offset over the input's storage) when the result can alias the input; false: a copy is needed (reshape). */
    bool (*alias)(const Op *op, const Arg *args, int nargs, Meta *out, const OpContext *context);
    /* Stores of an op that writes where its index operands say (index_put, scatter_add, …): see op/index.c. NULL for the others. */
    bool (*scatter)(struct BodyBuilder *builder, const Op *op, const Arg *args, int nargs, const Dim *source_index, Dim *target_index, const struct Body **value, bool *accumulate);
    /* With scatter: the sizes that source_index runs over, and what the output holds before: the first argument's values, or zeros. false: the row's
     * arguments have no such form (then the plan calls the eager kernel). */
    bool (*scatter_space)(const Op *op, const Arg *args, int nargs, const Meta *out, int *rank, Dim *sizes, bool *zeros);
    /* DECOMPOSED: has the CPU a loop for these arguments, so that run_cpu may be called in place of the body? */
    bool (*runs_natively)(const Op *op, const Arg *args);
} FamilyOps;

static inline bool op_has(const Op *op, unsigned traits) { return (op->traits & traits) == traits; }
/* Shapes and dtypes of the results. Refused where 64 bits cannot count a result's bytes: nobody behind has to look again. */
static inline bool op_infer(const Op *op, const Arg *args, int nargs, Meta *outs, int *count, const OpContext *context, OpError *error) {
    if (!op->family_ops->infer(op, args, nargs, outs, count, context, error)) return false;
    for (int i = 0; i < *count; i++)
        if (!meta_is_countable(&outs[i])) return op_error(error, ERROR_RUNTIME, "%s(): the sizes of the result multiply to more bytes than 64 bits count", op->name);
    return true;
}
static inline bool op_run_cpu(const Op *op, const Arg *args, int nargs, const Arg *outs, int nouts, const OpContext *context, OpError *error) {
    return op->family_ops->run_cpu(op, args, nargs, outs, nouts, context, error);
}
void arg_print(Text *text, const Arg *arg, const char *(*tensor_name)(void *owner, void *state), void *state); /* FX style: "[1, 0]", "dim = -1" is the caller's */
static inline Arg arg_none(void) { return (Arg){.tag = ARG_NONE}; }
static inline Arg arg_int(Dim i) { return (Arg){.tag = ARG_INT, .i = i}; }
static inline Arg arg_float(double f) { return (Arg){.tag = ARG_FLOAT, .f = f}; }
static inline Arg arg_bool(bool b) { return (Arg){.tag = ARG_BOOL, .b = b}; }
static inline Arg arg_tensor(const Meta *meta, void *data, void *owner) { return (Arg){.tag = ARG_TENSOR, .tensor = {meta, data, owner}}; }
#endif
