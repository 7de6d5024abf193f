/* Fail: one setjmp, one longjmp.
 *
 * In: a body to run, or a mistake with its span. Out: whether the body came to its end, else span and message.
 * Invariant: a Failure is armed exactly while a fail_catch with it is running. */
#include "base/fail.h"
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool fail_catch(Failure *failure, void (*body)(void *), void *state) {
    assert(!failure->armed && "a Failure catches once at a time: use another one for a nested catch");
    failure->armed = true;
    if (setjmp(failure->target) == 0) {
        body(state);
        failure->armed = false;
        return true;
    }
    failure->armed = false;
    return false;
}

/* A cut message ends in "..." and not inside a UTF-8 character. */
static void mark_cut(char *message, size_t size) {
    size_t end = size - 4;
    while (end > 0 && ((unsigned char)message[end] & 0xc0) == 0x80) end--;
    memcpy(message + end, "...", 4);
}

_Noreturn void fail(Failure *failure, Span span, const char *format, ...) {
    /* The arguments may point into failure->message (a failure passed on), so it is written last. */
    char message[sizeof failure->message];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (length >= (int)sizeof message) mark_cut(message, sizeof message);
    if (!failure->armed) {
        fprintf(stderr, "vitrine: a failure that nobody catches: %s\n", message);
        abort();
    }
    failure->span = span;
    memcpy(failure->message, message, sizeof message);
    longjmp(failure->target, 1);
}
