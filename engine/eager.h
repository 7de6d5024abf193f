/* Eager: single ops compiled once for a class of calls. Private to eager_*.c (eager_class.c, eager_plan.c, eager_cuda.c).
 *
 * A class is what the code of a kernel depends on: the row, dtypes, ranks, which sizes are 0 or 1 or equal, how strides follow from sizes, what
 * vectors fit. What differs inside a class (sizes, strides, numbers) is given at each run:
 *
 *     x[1000, 3] + y[3] * 0.5 and x[17, 8] + y[8] * 2.0     one class, `given` {1000, 3, 0.5} and {17, 8, 2.0}
 *
 * Calls without such a form (library products, ops whose integers are positions) are classes of one: their key holds every size.
 * Invariant: equal keys mean equal plans; the key's bytes are a function of the call alone. */
#ifndef VITRINE_EAGER_H
#define VITRINE_EAGER_H
#include "session.h"

typedef enum GivenKind { GIVEN_SIZE, GIVEN_STRIDE, GIVEN_INDEX /* a place along a dim, from its start */, GIVEN_INT, GIVEN_FLOAT /* its bits */ } GivenKind;
/* A value of one call. Its variable times `multiple` is the value, and lies in the bucket. */
typedef struct Given { int64_t value; uint8_t kind, multiple, bucket; } Given;

typedef enum FormLayout { FORM_CONTIGUOUS, FORM_ORDERED /* strides[] holds the dims from outermost to innermost: dense */, FORM_STRIDED, FORM_EXACT /* integers */ } FormLayout;
/* A size or stride as the key has it: 0 and 1 for themselves, else 2 + its place among `given`. */
typedef struct TensorForm { uint8_t dtype, rank, layout, sizes[MAX_RANK], strides[MAX_RANK]; } TensorForm;

enum { MAX_GIVEN = 200 };

typedef struct OpClass {
    const Op *op;                   /* the row that is compiled: an in-place pointwise op's functional one */
    const Arg *args; int nargs;     /* of the call, borrowed */
    const Arg *outs; int nouts;     /* what is written */
    Device device;
    bool pointwise;                 /* dims joined, order of memory; outputs written with their own strides */
    bool exact;                     /* a class of one */
    bool narrow;                    /* no tensor spans 2^31 elements */
    bool empty;                     /* pointwise over no elements: nothing to run */
    int vector;                     /* elements of 16 bytes of the narrowest dtype */
    int variant;                    /* pointwise: which of the row's meanings */
    unsigned given_args;            /* bit i: the number args[i] is among `given` (in order of i, behind sizes and strides) */
    int index_arg, index_given;     /* an integer argument that is a place along a dim, and which value it is; -1 */
    VEC(unsigned char) key;
    VEC(TensorForm) forms;          /* of the tensor arguments in order, lists' too, then of the outputs */
    VEC(Given) given;
    VEC(void *) inputs;             /* first element of each tensor argument */
    uint64_t hash;
} OpClass;

typedef struct EagerPlan {
    uint64_t hash;
    const unsigned char *key; int key_length;
    const char *error;              /* why there is none */
    bool go_exact;                  /* this class has no plan for all its sizes: calls of it are looked up as classes of one */
    bool loaded, noted;             /* noted: the user was told that there is no plan */
    Compile compile; Failure failure; Policy policy;
    Plan *plan;
    int *order, order_count;        /* plan->size_vars[i] is given[order[i]] */
    int *outputs, output_count;     /* outs[i] is written to the plan's allocated output outputs[i]; -1: not by address */
} EagerPlan;

typedef struct EagerPlans {
    EagerPlan **slots; int slot_count, count;
    OpClass class, exact;           /* room for the call at hand */
    VEC(int64_t) sizes;
    int compiled;                   /* plans made so far: what tests count */
} EagerPlans;

/* Reads a call into `class`, which keeps its memory from call to call. exact: as a class of one. */
void op_classify(OpClass *class, const Op *op, const Arg *args, int nargs, const Arg *outs, int nouts, Device device, bool exact);
void op_class_free(OpClass *class);
/* The plan of a class; never NULL: ->error or ->go_exact when there is none. */
EagerPlan *eager_plan_make(Session *session, const OpClass *class);
void eager_plan_free(Session *session, EagerPlan *plan);
#endif
