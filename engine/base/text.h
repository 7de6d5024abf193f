/* Text: growing text, with indentation for code and listings.
 *
 *     Text text = {0};
 *     text_printf(&text, "for (%s) {\n", head);
 *     text_indent(&text, 4); ... text_indent(&text, -4);
 *     puts(text_cstr(&text)); text_free(&text);
 *
 * Invariant: `data` is NUL-terminated once anything was put. */
#ifndef VITRINE_BASE_TEXT_H
#define VITRINE_BASE_TEXT_H
#include "base/arena.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct Text { char *data; size_t length, capacity; int indent; } Text;

void text_put(Text *text, const char *string);
void text_put_n(Text *text, const char *string, size_t length);
void text_char(Text *text, char c);
void text_printf(Text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_line(Text *text, const char *format, ...) __attribute__((format(printf, 2, 3))); /* indent + line + newline */
void text_indent(Text *text, int columns);                                                 /* relative; never below 0 */
const char *text_cstr(const Text *text);                                                   /* "" when empty */
char *text_in(const Text *text, Arena *arena);                                             /* copy into an arena */
void text_clear(Text *text);
void text_free(Text *text);

void text_vprintf(Text *text, const char *format, va_list arguments);

/* `string` in double quotes with C/JSON-safe escapes: what is put can stand in C, CUDA, DOT and JSON.
 * Those four share no escape for control characters other than \b \t \n \f \r, which therefore become their pictures
 * (U+2400 and on); bytes that are no UTF-8 become U+FFFD. */
void text_quoted(Text *text, const char *string);
/* Name made safe to stand as an identifier in C, CUDA and DOT: [A-Za-z0-9_], never empty, no leading digit, no keyword
 * (a keyword gets a `_` behind it). Different names may become the same identifier. */
void text_identifier(Text *text, const char *name);
/* Control characters and terminal escapes made visible (`\x1b`, `\u202e`): for user text printed to a terminal.
 * Newlines and tabs stay. */
void text_visible(Text *text, const char *string);

/* Decodes the UTF-8 character at `at` (of at most `length` bytes): its bytes, and its code point in *code.
 * 0 for malformed, overlong or surrogate; length 0 gives 0. */
int utf8_decode(const char *at, size_t length, uint32_t *code);
int utf8_width(uint32_t code); /* terminal columns: 0 (combining), 1 or 2 (East Asian wide, emoji) */
#endif
