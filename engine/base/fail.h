/* Fail: the user's mistakes, thrown once and caught once (per prompt, per compile).
 *
 *     static void parse_it(void *state) { ... fail(p->failure, span, "expected ':'"); ... }
 *     Failure failure = {0};
 *     if (!fail_catch(&failure, parse_it, &state)) show(failure.span, failure.message);
 *
 * Our own bugs are assert()s, graph breaks are ordinary results, Python exceptions are values: none come here.
 * Invariant: nothing on the C stack between catch and fail owns memory outside arenas. */
#ifndef VITRINE_BASE_FAIL_H
#define VITRINE_BASE_FAIL_H
#include "base/span.h"
#include <setjmp.h>

typedef struct Failure {
    jmp_buf target;
    bool armed;
    Span span;
    char message[2048];
} Failure;

/* Runs body(state); false when it failed, and then span and message are set. Calls may nest with separate Failures. */
bool fail_catch(Failure *failure, void (*body)(void *), void *state);
_Noreturn void fail(Failure *failure, Span span, const char *format, ...) __attribute__((format(printf, 3, 4)));
#endif
