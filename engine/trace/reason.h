/* Reason: why something was decided, with the numbers. Kept in the compile entry; `:why` only searches them.
 *
 * Invariant: a deciding pass adds one Reason for each choice and each refusal, naming the policy that decided. */
#ifndef VITRINE_TRACE_REASON_H
#define VITRINE_TRACE_REASON_H
#include "base/span.h"
#include "base/vec.h"

typedef enum ReasonKind {
    REASON_BREAK, REASON_GUARD, REASON_SPECIALIZED, REASON_RECOMPILE, REASON_SAVED, REASON_RECOMPUTED, REASON_FUSED,
    REASON_NOT_FUSED, REASON_EXTERN, REASON_EPILOGUE, REASON_MATERIALIZED, REASON_REUSED_BUFFER, REASON_SKIPPED, REASON_DYNAMIC, REASON_NOTE
} ReasonKind;

typedef struct Reason {
    ReasonKind kind;
    const char *code;    /* stable, for scripts: "fused.vertical", "saved.cut", "break.data_dependent_branch" */
    const char *subject; /* name of the thing decided about: "%relu", "k0", "g3", "buf2" */
    const char *other;   /* the second thing of a pair, or NULL */
    const char *text;    /* one sentence with its numbers */
    const char *policy;  /* name of the policy that decided, or NULL */
    Span span;
} Reason;

typedef struct ReasonLog { Arena *arena; VEC(Reason) all; } ReasonLog;

/* Returns the record, to which the caller may add `policy` before the next reason_add moves it. Strings are copied. */
Reason *reason_add(ReasonLog *log, ReasonKind kind, const char *code, const char *subject, const char *other, Span span,
                   const char *format, ...) __attribute__((format(printf, 7, 8)));
const char *reason_kind_name(ReasonKind kind); /* "fused", "not fused", "saved", … */
#endif
