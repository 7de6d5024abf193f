/* Guards: what must still be true for a compiled entry to serve a call. Built during capture, checked on each call.
 *
 *     guard_add(&set, (Guard){.kind = GUARD_TENSOR, .source = L['x'], .meta = …});
 *     if (guards_check(&set, vm, frame) == NULL) run the entry;
 *
 * A check reads values without running any code of the program and without changing a reference count.
 * To add a kind: a row in guard.def, and its check, text and failure in guards.c. */
#ifndef VITRINE_DYNAMO_GUARDS_H
#define VITRINE_DYNAMO_GUARDS_H
#include "dynamo/source.h"
#include "vm/tensor.h"

typedef enum GuardKind {
#define GUARD(id, ...) GUARD_##id,
#include "dynamo/guard.def"
#undef GUARD
    GUARD_KIND_COUNT
} GuardKind;

typedef struct Guard {
    GuardKind kind;
    const char *id;                 /* "g3" */
    const Source *source;
    const Source *other;            /* SAME */
    const Source *const *sources; int source_count; /* NO_ALIAS */
    Value expected;                 /* EQUALS: the value; TYPE: the class; IDENTITY: the object; KEYS: a tuple. Held by the set */
    int64_t length;
    const char *name;               /* ABSENT */
    Meta meta;                      /* TENSOR */
    bool requires_grad, is_parameter;
    bool grad_enabled; DType default_dtype; /* GLOBAL_STATE */
    Span span;                      /* the user's line that caused it */
    const char *why;
    int64_t checks, failures;
} Guard;

typedef struct GuardSet { Arena *arena; VEC(Guard) all; int source_count; } GuardSet;

/* Adds unless an equal guard is there; takes references of `expected`. */
void guard_add(GuardSet *set, VM *vm, Guard guard);
void guards_release(GuardSet *set, VM *vm);
/* Value of a source in a frame, borrowed; V_NULL when the path does not lead anywhere now. values: memo by source id, zeroed. */
typedef struct SourceValues { VM *vm; const Frame *frame; Value *memo; bool *known; } SourceValues;
Value source_value(SourceValues *values, const Source *source);
/* First guard that fails, or NULL. */
const Guard *guards_check(GuardSet *set, VM *vm, const Frame *frame);
/* One failed property, as :recompiles and --summary name it; a tensor guard may give several. */
typedef struct GuardFailure { const Guard *guard; const char *kind; const char *text; } GuardFailure;
typedef VEC(GuardFailure) GuardFailures;
void guards_explain(GuardSet *set, VM *vm, const Frame *frame, Arena *arena, GuardFailures *failures);
void guard_print(Text *text, VM *vm, const Guard *guard);
const char *guard_kind_name(GuardKind kind);
#endif
