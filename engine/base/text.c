/* Text: growing text on the heap; escape.c holds the ways to make foreign text safe.
 *
 * In: pieces. Out: one NUL-terminated text.
 * Invariant: capacity > length whenever data is set, and data[length] is NUL. */
#include "base/text.h"
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for `more` bytes and the NUL behind them. */
static void reserve(Text *text, size_t more) {
    size_t needed = text->length + more + 1;
    if (needed <= text->capacity) return;
    size_t capacity = text->capacity ? text->capacity : 64;
    while (capacity < needed && capacity <= SIZE_MAX / 4) capacity *= 2;
    char *data = capacity >= needed ? realloc(text->data, capacity) : NULL;
    if (!data) {
        fprintf(stderr, "vitrine: out of memory: a text of %zu bytes\n", needed);
        abort();
    }
    text->data = data;
    text->capacity = capacity;
}

void text_put_n(Text *text, const char *string, size_t length) {
    reserve(text, length);
    if (length) memcpy(text->data + text->length, string, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void text_put(Text *text, const char *string) { text_put_n(text, string, strlen(string)); }

void text_char(Text *text, char c) { text_put_n(text, &c, 1); }

void text_vprintf(Text *text, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    assert(length >= 0);
    reserve(text, (size_t)length);
    vsnprintf(text->data + text->length, (size_t)length + 1, format, arguments);
    text->length += (size_t)length;
}

void text_printf(Text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    text_vprintf(text, format, arguments);
    va_end(arguments);
}

static void put_indent(Text *text) {
    for (int i = 0; i < text->indent; i++) text_char(text, ' ');
}

void text_line(Text *text, const char *format, ...) {
    if (*format) put_indent(text); /* an empty line gets no trailing blanks */
    va_list arguments;
    va_start(arguments, format);
    text_vprintf(text, format, arguments);
    va_end(arguments);
    text_char(text, '\n');
}

void text_indent(Text *text, int columns) {
    text->indent += columns;
    if (text->indent < 0) text->indent = 0;
}

const char *text_cstr(const Text *text) { return text->data ? text->data : ""; }

char *text_in(const Text *text, Arena *arena) { return arena_strndup(arena, text_cstr(text), text->length); }

void text_clear(Text *text) {
    text->length = 0;
    if (text->data) text->data[0] = '\0';
}

void text_free(Text *text) {
    free(text->data);
    *text = (Text){0};
}
