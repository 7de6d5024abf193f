/* Domain: what an instruction does with values that are not plain data.
 *
 * One interpreter, several domains. concrete: tensors are run. tracing: fake tensors become graph nodes (derivatives, decompositions,
 * shape inference of language-side bodies). symbolic (dynamo/capture.c): tracing, and inputs are tracked, guarded and shadowed.
 * A hook that is NULL means: as in the concrete domain.
 *
 * A hook that cannot go on in capture calls vm_stop() and returns VALUE_ERROR / false / -1: an ordinary result, not an exception. */
#ifndef VITRINE_VM_DOMAIN_H
#define VITRINE_VM_DOMAIN_H
#include "ir/row.h"
#include "vm/value.h"

typedef struct Frame Frame;
typedef struct Tensor Tensor;
typedef struct Generator Generator;

enum { DOMAIN_COMPARE = 64 };

typedef struct Domain {
    const char *name;
    /* One op, arguments bound to its signature (ARG_TENSOR.owner is a Tensor*). Owned result: a Tensor, or a tuple/list of them. */
    Value (*op)(VM *vm, const Op *op, const Arg *args, int nargs);
    /* A function of functional.py (or a DECOMPOSED row): run its body, or record it as one node. args are bound to its signature. NULL: run the body. */
    Value (*leaf)(VM *vm, Function *function, Value *args, int nargs);
    Value (*force)(VM *vm, Tracked *tracked);                   /* *borrowed* result, memoized by the domain */
    Value (*force_keyed)(VM *vm, Tracked *tracked);             /* the same where of a dict only single keys are asked for: looked_up() tells which */
    void (*looked_up)(VM *vm, Dict *dict, Value key, bool found);
    Value (*type_only)(VM *vm, Tracked *tracked);               /* something of the same class, borrowed, where only that is asked for */
    int (*truth)(VM *vm, Tensor *tensor);                       /* 1, 0, -1 */
    Value (*item)(VM *vm, Tensor *tensor);                      /* .item() and int(), float(), index of a tensor */
    Value (*load_attr)(VM *vm, Value object, const char *name); /* INSTANCE, CLASS, MODULE, FUNCTION; V_NULL: no such attribute (the caller raises) */
    Value (*load_global)(VM *vm, Frame *frame, const char *name);
    void (*operands)(VM *vm, int op, Value *a, Value *b);       /* before + - * / (op: BinaryOp) and comparisons (op: DOMAIN_COMPARE + CompareOp) force their operands: may replace one (borrowed) */
    Value (*unchanged)(VM *vm, int op, Value a, Value b);       /* after `operands`: what the domain knows without forcing them (x + 0, numbers of the graph); owned. V_NULL: compute */
    /* Instead of a binary operator (op: BinaryOp) or comparison (DOMAIN_COMPARE + CompareOp) on operands not looked at yet: an owned result, or V_NULL: as usual. */
    Value (*computes)(VM *vm, int op, Value a, Value b);
    Value (*arithmetic)(VM *vm, int op, Value a, Value b);      /* for -x as x * -1: the same, of symbolic numbers alone */
    Value (*number_call)(VM *vm, Builtin *builtin, Value *args, int nargs, Tuple *kwnames); /* the same for a builtin function of numbers, its arguments not forced */
    bool (*undecided)(VM *vm, Dim relation);                    /* a comparison of symbolic integers that is a value of its own: nobody knows the answer yet */
    Value (*replace_call)(VM *vm, Builtin *builtin, Value *args, int nargs, Tuple *kwnames); /* of a builtin with effects; args[0] is self. V_NULL: call it */
    Value (*load_tensor_attr)(VM *vm, Tensor *tensor, const char *name);             /* V_NULL: as in the concrete domain */
    int (*store_tensor_attr)(VM *vm, Tensor *tensor, const char *name, Value value); /* 1: taken, 0: as in the concrete domain, -1: error; value V_NULL: deleted */
    void (*compared)(VM *vm, Value a, Value b);                 /* `a is b` was asked of two objects (forced), or a function was hashed or compared */
    bool (*store_global)(VM *vm, Frame *frame, const char *name, Value value); /* value V_NULL: deleted */
    Value (*load_cell)(VM *vm, Cell *cell);                     /* owned */
    bool (*store_cell)(VM *vm, Cell *cell, Value value);
    bool (*will_mutate)(VM *vm, Object *object);                /* before a container, instance, class, module or function attribute changes */
    Value (*key)(VM *vm, Value tensor);                         /* a tensor as the key of a dict or set; borrowed */
    bool (*advanced)(VM *vm, Iterator *iterator);               /* an iterator gave an item */
    bool (*sent)(VM *vm, Generator *generator);                 /* before send() to a generator that delegates by `yield from` */
    bool (*delete_attr)(VM *vm, Object *instance, const char *name); /* before an attribute of an instance is deleted, after will_mutate */
    bool (*may_call)(VM *vm, Value callee);                     /* before a builtin with effects, or a function, is called */
    /* Symbolic integers. NULL: decided by ranges, else by the variables' hints, without a guard. */
    int (*decide)(VM *vm, Dim relation);                        /* truth of a relation (or of a Dim != 0): 1, 0, -1 */
    void (*computed)(VM *vm);                                   /* a Python operator or comparison met a symbolic integer */
    bool (*specialize)(VM *vm, Dim dim, int64_t *value);        /* the value of a symbolic integer where only a plain one will do */
    Value (*cast)(VM *vm, Tensor *tensor, DType dtype);         /* that autocast asks for; owned. NULL: an op like others */
    /* A symbolic integer was computed (spelled as in Python's operator module, or torch.sym_*), or one was read from a tensor's sizes: for the captured graph's listing. */
    void (*number)(VM *vm, const char *spelled, const Value *operands, int count, Dim result);
    void (*sized)(VM *vm, const Dim *dims, int count);
} Domain;

extern const Domain concrete_domain, tracing_domain;
#endif
