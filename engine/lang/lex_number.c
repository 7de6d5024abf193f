/* Lex numbers and the characters of names.
 *
 * In: the lexer at a digit (or a point before one). Out: one NUMBER token, or Python's complaint.
 *
 *     0x_ff   1_000   .5e-3   ->  NUMBER      012, 1__0, 0b2, 1abc  ->  a SyntaxError
 *
 * Invariant: literal.c can read every NUMBER token without another check of its form. */
#include "lang/lex.h"
#include <string.h>

static char here(const Lexer *lexer) { return lexer->at < lexer->length ? lexer->text[lexer->at] : '\0'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static _Noreturn void fail_number(Lexer *lexer, const char *kind) {
    uint32_t last = lexer->at ? lexer->at - 1 : 0;
    fail(lexer->session->failure, lexer_span(lexer, last, last + 1), "SyntaxError: invalid %s literal", kind);
}

/* A number may stand right before a keyword ("1if x else y"), not before another name. */
static void check_end(Lexer *lexer, const char *kind) {
    static const char *const allowed[] = {"and", "else", "for", "if", "in", "is", "not", "or"};
    int bytes;
    if (!name_start(lexer->text + lexer->at, lexer->length - lexer->at, &bytes)) return;
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
        size_t length = strlen(allowed[i]);
        if (lexer->length - lexer->at >= length && memcmp(lexer->text + lexer->at, allowed[i], length) == 0) return;
    }
    fail_number(lexer, kind);
}

static void skip_decimal(Lexer *lexer, const char *kind) {
    for (;;) {
        while (is_digit(here(lexer))) lexer->at++;
        if (here(lexer) != '_') return;
        lexer->at++;
        if (!is_digit(here(lexer))) fail_number(lexer, kind);
    }
}

static bool is_digit_of(char c, int base) {
    if (base == 16) return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
    return c >= '0' && c < '0' + base;
}

static void lex_based(Lexer *lexer, int base, const char *kind) {
    lexer->at += 2;
    do {
        if (here(lexer) == '_') lexer->at++;
        if (!is_digit_of(here(lexer), base)) {
            if (is_digit(here(lexer)))
                fail(lexer->session->failure, lexer_span(lexer, lexer->at, lexer->at + 1),
                     "SyntaxError: invalid digit '%c' in %s literal", here(lexer), kind);
            fail_number(lexer, kind);
        }
        while (is_digit_of(here(lexer), base)) lexer->at++;
    } while (here(lexer) == '_');
    if (is_digit(here(lexer)))
        fail(lexer->session->failure, lexer_span(lexer, lexer->at, lexer->at + 1),
             "SyntaxError: invalid digit '%c' in %s literal", here(lexer), kind);
    check_end(lexer, kind);
}

static void skip_exponent(Lexer *lexer) {
    if ((here(lexer) | 0x20) != 'e') return;
    uint32_t after = lexer->at + 1;
    char sign = after < lexer->length ? lexer->text[after] : '\0';
    if (sign == '+' || sign == '-') after++;
    if (after >= lexer->length || !is_digit(lexer->text[after])) {
        if (sign != '+' && sign != '-') return; /* "1else": no exponent at all */
        lexer->at = after;
        fail_number(lexer, "decimal");
    }
    lexer->at = after;
    skip_decimal(lexer, "decimal");
}

static void check_leading_zeros(Lexer *lexer, uint32_t start, uint32_t digits_end) {
    uint32_t i = start;
    while (i < digits_end && (lexer->text[i] == '0' || lexer->text[i] == '_')) i++;
    if (lexer->text[start] != '0' || i >= digits_end) return;
    fail(lexer->session->failure, lexer_span(lexer, start, i),
         "SyntaxError: leading zeros in decimal integer literals are not permitted; use an 0o prefix for octal integers");
}

static void lex_decimal(Lexer *lexer) {
    uint32_t start = lexer->at;
    skip_decimal(lexer, "decimal");
    uint32_t digits_end = lexer->at;
    if (here(lexer) == '.') {
        lexer->at++;
        if (is_digit(here(lexer))) skip_decimal(lexer, "decimal");
    }
    skip_exponent(lexer);
    if ((here(lexer) | 0x20) == 'j') {
        lexer->at++;
        fail(lexer->session->failure, lexer_span(lexer, start, lexer->at), "unsupported: complex numbers");
    }
    if (lexer->at == digits_end) check_leading_zeros(lexer, start, digits_end);
    check_end(lexer, "decimal");
}

Token lex_number(Lexer *lexer) {
    uint32_t start = lexer->at;
    char second = lexer->at + 1 < lexer->length ? (char)(lexer->text[lexer->at + 1] | 0x20) : '\0';
    if (here(lexer) == '0' && second == 'x') lex_based(lexer, 16, "hexadecimal");
    else if (here(lexer) == '0' && second == 'o') lex_based(lexer, 8, "octal");
    else if (here(lexer) == '0' && second == 'b') lex_based(lexer, 2, "binary");
    else lex_decimal(lexer);
    return (Token){.kind = TOKEN_NUMBER, .span = lexer_span(lexer, start, lexer->at)};
}

/* Characters beyond ASCII that are no letters: signs, punctuation, symbols, pictures. What is not listed counts as a letter
 * (Python asks the Unicode tables; a program that relies on the difference has yet to be seen). */
static bool is_foreign_sign(uint32_t code) {
    static const struct { uint32_t first, last; } signs[] = {
        {0x80, 0xa9}, {0xab, 0xb4}, {0xb6, 0xb9}, {0xbb, 0xbf}, {0xd7, 0xd7}, {0xf7, 0xf7}, {0x2000, 0x203e},
        {0x2041, 0x2053}, {0x2055, 0x2070}, {0x2072, 0x207e}, {0x2080, 0x208f}, {0x20a0, 0x20cf}, {0x2190, 0x2bff},
        {0x2e00, 0x2e7f}, {0x3000, 0x3004}, {0x3008, 0x3020}, {0xd800, 0xf8ff}, {0xfe10, 0xfe1f}, {0xfe30, 0xfe32},
        {0xfe35, 0xfe6f}, {0xfeff, 0xfeff}, {0xff01, 0xff0f}, {0xff1a, 0xff20}, {0xff3b, 0xff40}, {0xff5b, 0xff65},
        {0xffe0, 0xffff}, {0x1f000, 0x1faff}, {0xe0000, 0x10ffff}};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (code >= signs[i].first && code <= signs[i].last) return true;
    return false;
}

bool name_start(const char *text, size_t length, int *bytes) {
    if (!length) return false;
    unsigned char c = (unsigned char)*text;
    *bytes = 1;
    if (c < 0x80) return c == '_' || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
    uint32_t code;
    *bytes = utf8_decode(text, length, &code);
    return *bytes && !is_foreign_sign(code);
}

bool name_part(const char *text, size_t length, int *bytes) {
    if (name_start(text, length, bytes)) return true;
    if (length >= 2 && memcmp(text, "\xc2\xb7", 2) == 0) return *bytes = 2, true; /* middle dot */
    *bytes = 1;
    return length && is_digit(*text);
}
