/* Literal: decoding of numbers and strings.
 *
 * In: tokens. Out: Consts, and text with its escapes decoded.
 *
 *     literal_number(session, <1_000>, false)  ->  {CONST_INT, 1000}
 *
 * Invariant: text is UTF-8 with line ends as "\n"; strings may hold NULs, so lengths count.
 * To add an escape: a row of `simple_escapes`, or a case of decode_escape. */
#include "lang/literal.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static int digit_value(char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; }

static bool is_float_text(const char *text) {
    if (text[0] == '0' && strchr("xXoObB", text[1]) && text[1]) return false;
    return strpbrk(text, ".eE") != NULL;
}

/* False when the value does not fit 64 bits without sign. */
static bool read_integer(const char *digits, uint64_t *value) {
    uint64_t base = 10;
    if (digits[0] == '0' && digits[1]) {
        char mark = (char)(digits[1] | 0x20);
        base = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 10;
        if (base != 10) digits += 2;
    }
    *value = 0;
    for (; *digits; digits++) {
        uint64_t digit = (uint64_t)digit_value(*digits);
        if (*value > (UINT64_MAX - digit) / base) return false;
        *value = *value * base + digit;
    }
    return true;
}

static Const integer_const(LangSession *session, Token token, const char *digits, bool negative) {
    uint64_t value, limit = negative ? (uint64_t)INT64_MAX + 1 : INT64_MAX;
    if (!read_integer(digits, &value) || value > limit)
        fail(session->failure, token.span, "OverflowError: integer literal %s%.40s%s does not fit in 64 bits", negative ? "-" : "", digits,
             strlen(digits) > 40 ? "…" : "");
    return (Const){.kind = CONST_INT, .i = negative ? (int64_t)(0 - value) : (int64_t)value};
}

Const literal_number(LangSession *session, Token token, bool negative) {
    Text digits = {0};
    for (uint32_t i = token.span.start; i < token.span.end; i++)
        if (token.span.file->text[i] != '_') text_char(&digits, token.span.file->text[i]);
    const char *text = text_in(&digits, session->arena);
    text_free(&digits); /* before anything can fail */
    if (!is_float_text(text)) return integer_const(session, token, text, negative);
    double value = strtod(text, NULL);
    return (Const){.kind = CONST_FLOAT, .f = negative ? -value : value};
}

void text_utf8(Text *text, uint32_t code) {
    if (code < 0x80) {
        text_char(text, (char)code);
    } else if (code < 0x800) {
        text_char(text, (char)(0xc0 | code >> 6));
        text_char(text, (char)(0x80 | (code & 0x3f)));
    } else {
        if (code < 0x10000) {
            text_char(text, (char)(0xe0 | code >> 12));
        } else {
            text_char(text, (char)(0xf0 | code >> 18));
            text_char(text, (char)(0x80 | (code >> 12 & 0x3f)));
        }
        text_char(text, (char)(0x80 | (code >> 6 & 0x3f)));
        text_char(text, (char)(0x80 | (code & 0x3f)));
    }
}

typedef struct Decoder {
    LangSession *session;
    Text *text;
    Span span; /* the literal */
    const char *at, *end;
    const char *body; /* where the text begins */
} Decoder;

/* The text may be owned by the caller's stack frame, which fail() leaves: give its memory back first. */
static _Noreturn void fail_escape(Decoder *decoder, const char *start, const char *message) {
    text_free(decoder->text);
    Span span = decoder->span;
    span.end = (uint32_t)(decoder->at - span.file->text);
    int first = (int)(start - decoder->body), last = (int)(decoder->at - decoder->body) - 1;
    if (*message == 'u') fail(decoder->session->failure, span, "%s", message);
    fail(decoder->session->failure, span,
         "SyntaxError: (unicode error) 'unicodeescape' codec can't decode bytes in position %d-%d: %s", first, last, message);
}

/* \xhh, \uhhhh, \Uhhhhhhhh; `at` is behind the letter. */
static void decode_hex(Decoder *decoder, const char *start, char letter) {
    int digits = letter == 'x' ? 2 : letter == 'u' ? 4 : 8;
    uint32_t code = 0;
    for (int i = 0; i < digits; i++, decoder->at++) {
        char c = decoder->at < decoder->end ? *decoder->at : '\0';
        bool hex = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
        if (!hex)
            fail_escape(decoder, start, letter == 'x' ? "truncated \\xXX escape" : letter == 'u' ? "truncated \\uXXXX escape" : "truncated \\UXXXXXXXX escape");
        code = code << 4 | (uint32_t)digit_value(c);
    }
    if (code > 0x10ffff) fail_escape(decoder, start, "illegal Unicode character");
    if (code >= 0xd800 && code <= 0xdfff) fail_escape(decoder, start, "unsupported: surrogate code points in strings");
    text_utf8(decoder->text, code);
}

static void decode_octal(Decoder *decoder, char first) {
    uint32_t code = (uint32_t)(first - '0');
    for (int i = 0; i < 2 && decoder->at < decoder->end && *decoder->at >= '0' && *decoder->at <= '7'; i++)
        code = code * 8 + (uint32_t)(*decoder->at++ - '0');
    text_utf8(decoder->text, code);
}

/* At a backslash. An unknown escape stays as it is. */
static void decode_escape(Decoder *decoder) {
    static const char letters[] = "\\'\"abfnrtv", values[] = "\\'\"\a\b\f\n\r\t\v";
    const char *start = decoder->at++;
    char c = decoder->at < decoder->end ? *decoder->at++ : '\0';
    const char *simple = c ? strchr(letters, c) : NULL;
    if (simple) text_char(decoder->text, values[simple - letters]);
    else if (c == '\n') return;
    else if (c == '\r' && decoder->at < decoder->end && *decoder->at == '\n') decoder->at++;
    else if (c >= '0' && c <= '7') decode_octal(decoder, c);
    else if (c == 'x' || c == 'u' || c == 'U') decode_hex(decoder, start, c);
    else if (c == 'N') fail_escape(decoder, start, "unsupported: named Unicode escapes");
    else {
        text_char(decoder->text, '\\');
        decoder->at = start + 1;
    }
}

static void decode_text(Decoder *decoder, bool raw, bool doubled_braces) {
    while (decoder->at < decoder->end) {
        char c = *decoder->at;
        if (c == '\\' && !raw) {
            decode_escape(decoder);
            continue;
        }
        decoder->at++;
        if (c == '\r' && decoder->at < decoder->end && *decoder->at == '\n') continue;
        text_char(decoder->text, c);
        if (doubled_braces && (c == '{' || c == '}')) decoder->at++;
    }
}

void literal_string(LangSession *session, Token token, Text *text) {
    const char *start = token.span.file->text + token.span.start, *end = token.span.file->text + token.span.end;
    while (*start != '"' && *start != '\'') start++;
    uint32_t quotes = end - start >= 6 && start[1] == *start && start[2] == *start ? 3 : 1;
    Decoder decoder = {session, text, token.span, start + quotes, end - quotes, start + quotes};
    decode_text(&decoder, token.raw, false);
}

void literal_fstring_text(LangSession *session, Token token, Text *text) {
    const char *base = token.span.file->text;
    const char *start = base + token.span.start;
    Decoder decoder = {session, text, token.span, start, base + token.span.end, start};
    decode_text(&decoder, token.raw, !token.spec);
}
