/* Reason: appends to a log and names the kinds.
 *
 * In: a decision with its numbers. Out: one record in the log, all of whose strings are the log's own. */
#include "trace/reason.h"
#include <stdarg.h>

Reason *reason_add(ReasonLog *log, ReasonKind kind, const char *code, const char *subject, const char *other, Span span,
                   const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    Reason reason = {.kind = kind, .span = span};
    reason.code = arena_strdup(log->arena, code);
    reason.subject = arena_strdup(log->arena, subject);
    reason.other = arena_strdup(log->arena, other);
    reason.text = arena_vprintf(log->arena, format, arguments);
    va_end(arguments);
    vec_push_in(log->arena, &log->all, reason);
    return &vec_last(&log->all);
}

const char *reason_kind_name(ReasonKind kind) {
    switch (kind) {
    case REASON_BREAK: return "break";
    case REASON_GUARD: return "guard";
    case REASON_SPECIALIZED: return "specialized";
    case REASON_RECOMPILE: return "recompile";
    case REASON_SAVED: return "saved";
    case REASON_RECOMPUTED: return "recomputed";
    case REASON_FUSED: return "fused";
    case REASON_NOT_FUSED: return "not fused";
    case REASON_EXTERN: return "extern";
    case REASON_EPILOGUE: return "epilogue";
    case REASON_MATERIALIZED: return "materialized";
    case REASON_REUSED_BUFFER: return "reused buffer";
    case REASON_SKIPPED: return "skipped";
    case REASON_DYNAMIC: return "dynamic";
    case REASON_NOTE: return "note";
    }
    return "unknown";
}
