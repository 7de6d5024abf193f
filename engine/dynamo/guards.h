/* Guards: what must still be true for a compiled entry to serve a call. Built during capture, checked on each call.
 *
 *     guard_add(&set, (Guard){.kind = GUARD_TENSOR, .source = L['x'], .meta = …});
 *     if (guards_check(&set, vm, frame) == NULL) run the entry;
 *
 * A check reads values without running any code of the program and without changing a reference count.
 * To add a kind: a row in guard.def, its check in guard_check.c, its text and failure in guards.c. */
#ifndef VITRINE_DYNAMO_GUARDS_H
#define VITRINE_DYNAMO_GUARDS_H
#include "dynamo/modes.h"
#include "dynamo/source.h"
#include "run/dimcode.h"
#include "vm/tensor.h"

typedef enum GuardKind {
#define GUARD(id, ...) GUARD_##id,
#include "dynamo/guard.def"
#undef GUARD
    GUARD_KIND_COUNT
} GuardKind;

/* L['x'].size()[0], L['x'].stride()[1], the int L['n']: where the value of a symbol, or of an expression of symbols, stands in a frame. */
typedef enum SizeProperty { SIZE_OF, STRIDE_OF, VALUE_OF } SizeProperty;
typedef struct SizeSource { const Source *source; SizeProperty property; int dim; } SizeSource;

typedef struct Guard {
    GuardKind kind;
    const char *id;                 /* "g3" */
    const Source *source;
    const Source *other;            /* SAME */
    const Source *const *sources; int source_count; /* NO_ALIAS */
    Value expected;                 /* EQUALS: the value; TYPE: the class; IDENTITY: the object; CODE: a function, or a builtin method; KEYS: a tuple; CONTAINS: the key. Held by the set */
    int64_t length;                 /* LENGTH; KEYS: 1: of a set; CONTAINS: 1 or 0; CODE: defaults, -1: None; COMPARED: 2 * CompareOp + the answer; NO_OVERLAP: how many of the sources are written to, the first ones */
    int64_t changes;                /* TYPE, and IDENTITY of a class: the class's at the capture */
    const char *name;               /* ABSENT */
    bool in_class;                  /* ABSENT: the class has it, and only the object's own attributes are asked */
    Meta meta;                      /* TENSOR; a size or stride that is no integer may have any value */
    bool requires_grad, is_parameter, of_inference;
    unsigned marks;                 /* TENSOR: dims that were marked dynamic; a tensor with others marked is compiled for itself */
    const char *expression, *brief; /* SHAPE_EXPR: "2 <= L['x'].size()[0]"; the same as failures name it, "2 <= x.size()[0]" */
    int slot; DimCode code;         /* SHAPE_EXPR: over the set's slots; slot >= 0: that slot has the code's value; -1: the code is not 0 */
    bool is_range; int64_t low, high; /* SHAPE_EXPR: instead of a code, the slot's bounds */
    Modes modes;                    /* GLOBAL_STATE */
    Span span;                      /* the user's line that caused it */
    const char *why;
    int64_t failures;
    double cost_ns;                 /* of its check alone, measured when the entry was made; 0: not measured */
} Guard;

typedef struct GuardSet {
    Arena *arena; VEC(Guard) all; int source_count;
    const SizeSource *slots; int slot_count;    /* what SHAPE_EXPR guards compute with */
    struct GuardProgram *program;               /* the guards as they are checked; made at the first check */
    int64_t checks;
    double cost_ns;                 /* of a whole check that holds, measured when the entry was made */
} GuardSet;

/* Adds unless an equal guard is there; takes references of `expected`. */
void guard_add(GuardSet *set, VM *vm, Guard guard);
void guards_release(GuardSet *set, VM *vm);
/* Takes away the guards of one kind (those of shapes are made anew when more is known). */
void guards_drop(GuardSet *set, VM *vm, GuardKind kind);
/* Value of a source in a frame, borrowed; V_NULL when the path does not lead anywhere now. values: memo by source id, zeroed. */
/* What a source gave when it was last read of a dict: good as long as the dict's version is this one (no two dicts share a version). */
typedef struct SourceRead { uint64_t version; Value value; } SourceRead;
typedef struct SourceValues { VM *vm; const Frame *frame; Value *memo; bool *known; const GuardSet *set; int64_t *slots; /* values of the set's slots, once read */ SourceRead *reads; /* by source id, kept from check to check; or NULL */ } SourceValues;
Value source_value(SourceValues *values, const Source *source);
Value frame_value(VM *vm, const Frame *frame, const Source *source);     /* without a memo */
/* A slot's value; false: not there now (no tensor, another rank, no int). */
bool slot_value(SourceValues *values, const SizeSource *slot, int64_t *value);
/* Same type and same bits: True is not 1, -0.0 is not 0.0, nan is nan. */
bool value_same(Value a, Value b);
bool guard_class_changed(const Guard *guard);                            /* has the class that a TYPE or IDENTITY guard expects got other methods since? */
Value named_items(Value object);                                         /* the tuple of a named tuple, borrowed; V_NULL otherwise */
Value attribute_value(VM *vm, Value object, const char *name);           /* borrowed, no code of the program is run */
/* May an element of one be an element of the other? By ranges of memory, and by columns where rows are equally far apart; never a wrong no. */
bool tensors_meet(const Tensor *a, const Tensor *b);
bool guard_holds(const Guard *guard, SourceValues *values);
/* A guard that fails, or NULL. */
const Guard *guards_check(GuardSet *set, VM *vm, const Frame *frame);
/* The same, and nothing is counted: a command asks. */
bool guards_hold_uncounted(GuardSet *set, VM *vm, const Frame *frame);
/* Nanoseconds of a check of all of them, and of each by itself (set in Guard.cost_ns), on a frame for which they hold; measured now. */
double guards_cost(GuardSet *set, VM *vm, const Frame *frame);
/* The guards in the order in which they are checked: for each its place, by its index in `all`. */
void guards_order(GuardSet *set, int *places);
/* One failed property, as :recompiles and --summary name it; a tensor guard may give several. */
typedef struct GuardFailure { const Guard *guard; const char *kind; const char *text; } GuardFailure;
typedef VEC(GuardFailure) GuardFailures;
void guards_explain(GuardSet *set, VM *vm, const Frame *frame, Arena *arena, GuardFailures *failures);
void guard_print(Text *text, VM *vm, const Guard *guard);
bool float_compares(double a, CompareOp op, double b);
const char *guard_kind_name(GuardKind kind);
#endif
