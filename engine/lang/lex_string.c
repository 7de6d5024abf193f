/* Lex strings: plain literals whole, f-strings piece by piece (PEP 701).
 *
 * In: the lexer at a prefix, a quote, or inside an f-string. Out: STRING, or FSTRING_START … FSTRING_END.
 *
 *     f"{x:>{w}}!"  ->  FSTRING_START LBRACE NAME COLON MIDDLE(">") LBRACE NAME RBRACE RBRACE MIDDLE("!") FSTRING_END
 *
 * Invariant: what is inside a literal is not looked at here beyond finding its end; literal.c decodes escapes.
 * To add a prefix: lex_string_prefix. */
#include "lang/lex.h"
#include <string.h>

static char at(const Lexer *lexer, uint32_t offset) { return offset < lexer->length ? lexer->text[offset] : '\0'; }

static bool prefix_has(const Lexer *lexer, uint32_t start, uint32_t quote, char letter) {
    for (uint32_t i = start; i < quote; i++)
        if ((lexer->text[i] | 0x20) == letter) return true;
    return false;
}

bool lex_string_prefix(const Lexer *lexer, uint32_t *quote) {
    uint32_t i = lexer->at;
    while (i < lexer->at + 2 && i < lexer->length && strchr("rRbBuUfF", lexer->text[i]) && lexer->text[i]) i++;
    if (at(lexer, i) != '"' && at(lexer, i) != '\'') return false;
    *quote = i;
    if (i < lexer->at + 2) return true;
    bool raw = prefix_has(lexer, lexer->at, i, 'r');
    return raw && (prefix_has(lexer, lexer->at, i, 'b') || prefix_has(lexer, lexer->at, i, 'f'));
}

static bool is_tripled(const Lexer *lexer, uint32_t quote) {
    char c = at(lexer, quote);
    return at(lexer, quote + 1) == c && at(lexer, quote + 2) == c;
}

/* A string that opens with the quotes of the f-string round it and never ends: it was meant to be that f-string's end. */
static void check_missing_brace(Lexer *lexer, Span opening, bool triple) {
    const FstringMode *mode = lexer->fstring_count ? &lexer->fstrings[lexer->fstring_count - 1] : NULL;
    if (!mode || !mode->in_field || mode->triple != triple || at(lexer, opening.start) != mode->quote) return;
    fail(lexer->session->failure, (Span){opening.file, opening.start, opening.start + 1}, "SyntaxError: f-string: expecting '}'");
}

static _Noreturn void fail_unterminated(Lexer *lexer, Span opening, uint32_t end, bool triple, const char *kind) {
    if (end >= lexer->length && (triple || (end >= 2 && lexer->text[end - 2] == '\\'))) lexer->unfinished = LEX_IN_STRING;
    Span start = {opening.file, opening.start, opening.start + 1};
    int line = span_line(lexer_span(lexer, end > lexer->length ? lexer->length : end, end));
    if (triple && end && lexer->text[end - 1] == '\n') line--;
    fail(lexer->session->failure, start, "SyntaxError: unterminated %s%s literal (detected at line %d)", triple ? "triple-quoted " : "", kind, line);
}

/* Offset just behind the closing quotes. */
static uint32_t find_string_end(Lexer *lexer, uint32_t quote, bool triple) {
    char c = at(lexer, quote);
    Span opening = lexer_span(lexer, lexer->at, quote + 1);
    for (uint32_t i = quote + (triple ? 3 : 1);; i++) {
        if (i >= lexer->length || (!triple && lexer->text[i] == '\n')) {
            check_missing_brace(lexer, opening, triple);
            fail_unterminated(lexer, opening, i, triple, "string");
        }
        if (lexer->text[i] == '\\') i++;
        else if (lexer->text[i] == c && (!triple || is_tripled(lexer, i))) return i + (triple ? 3 : 1);
    }
}

static Token start_fstring(Lexer *lexer, uint32_t quote) {
    bool triple = is_tripled(lexer, quote);
    Span opening = lexer_span(lexer, lexer->at, quote + (triple ? 3 : 1));
    if (lexer->fstring_count == LEX_FSTRING_LIMIT) fail(lexer->session->failure, opening, "SyntaxError: too many nested f-strings");
    bool raw = prefix_has(lexer, lexer->at, quote, 'r');
    lexer->fstrings[lexer->fstring_count++] =
        (FstringMode){.opening = opening, .quote = at(lexer, quote), .triple = triple, .raw = raw, .brackets = lexer->bracket_count};
    lexer->at = opening.end;
    return (Token){.kind = TOKEN_FSTRING_START, .span = opening, .raw = raw};
}

Token lex_string(Lexer *lexer) {
    uint32_t quote = lexer->at, start = lexer->at;
    lex_string_prefix(lexer, &quote);
    if (prefix_has(lexer, start, quote, 'b')) fail(lexer->session->failure, lexer_span(lexer, start, quote + 1), "unsupported: bytes literals");
    if (prefix_has(lexer, start, quote, 'f')) return start_fstring(lexer, quote);
    lexer->at = find_string_end(lexer, quote, is_tripled(lexer, quote));
    return (Token){.kind = TOKEN_STRING, .span = lexer_span(lexer, start, lexer->at), .raw = prefix_has(lexer, start, quote, 'r')};
}

bool fstring_field_ends(const Lexer *lexer) {
    const FstringMode *mode = &lexer->fstrings[lexer->fstring_count - 1];
    return mode->in_field && lexer->bracket_count == mode->field_brackets[mode->fields - 1];
}

static Token open_field(Lexer *lexer, FstringMode *mode) {
    Span span = lexer_span(lexer, lexer->at, lexer->at + 1);
    if (mode->fields == 3) fail(lexer->session->failure, span, "SyntaxError: f-string: expressions nested too deeply");
    if (lexer->bracket_count == LEX_BRACKET_LIMIT) fail(lexer->session->failure, span, "SyntaxError: too many nested parentheses");
    lexer->brackets[lexer->bracket_count++] = (OpenBracket){'{', span};
    mode->field_brackets[mode->fields++] = lexer->bracket_count;
    mode->in_field = true;
    lexer->at++;
    return (Token){.kind = TOKEN_LBRACE, .span = span};
}

static Token close_spec(Lexer *lexer, FstringMode *mode) {
    Span span = lexer_span(lexer, lexer->at, lexer->at + 1);
    lexer->bracket_count--;
    mode->specs--;
    mode->fields--;
    lexer->at++;
    return (Token){.kind = TOKEN_RBRACE, .span = span};
}

static Token end_fstring(Lexer *lexer, FstringMode *mode) {
    Span span = lexer_span(lexer, lexer->at, lexer->at + (mode->triple ? 3 : 1));
    if (mode->specs) fail(lexer->session->failure, span, "SyntaxError: f-string: expecting '}', or format specs");
    lexer->fstring_count--;
    lexer->at = span.end;
    return (Token){.kind = TOKEN_FSTRING_END, .span = span};
}

/* How many bytes to pass over at `i`, 0 where the literal text ends. */
static uint32_t step_text(Lexer *lexer, const FstringMode *mode, uint32_t i) {
    char c = at(lexer, i), next = at(lexer, i + 1);
    if (c == mode->quote && (!mode->triple || is_tripled(lexer, i))) return 0;
    if (c == '{' || c == '}') {
        if (!mode->specs && next == c) return 2;
        if (c == '}' && !mode->specs) fail(lexer->session->failure, lexer_span(lexer, i, i + 1), "SyntaxError: f-string: single '}' is not allowed");
        return 0;
    }
    if (c != '\\' || next == '{' || next == '}') return 1;
    if (mode->raw || next != 'N' || at(lexer, i + 2) != '{') return 2;
    const char *close = memchr(lexer->text + i, '}', lexer->length - i);
    return close ? (uint32_t)(close - lexer->text) - i + 1 : 2;
}

static uint32_t find_text_end(Lexer *lexer, const FstringMode *mode) {
    uint32_t i = lexer->at;
    for (;;) {
        if (i >= lexer->length || (!mode->triple && lexer->text[i] == '\n'))
            fail_unterminated(lexer, mode->opening, i > lexer->length ? lexer->length : i, mode->triple, "f-string");
        uint32_t step = step_text(lexer, mode, i);
        if (!step) return i;
        i += step;
    }
}

Token lex_fstring_text(Lexer *lexer) {
    FstringMode *mode = &lexer->fstrings[lexer->fstring_count - 1];
    uint32_t start = lexer->at, end = find_text_end(lexer, mode);
    if (end > start) {
        lexer->at = end;
        return (Token){.kind = TOKEN_FSTRING_MIDDLE, .span = lexer_span(lexer, start, end), .spec = mode->specs > 0, .raw = mode->raw};
    }
    if (lexer->text[start] == '{') return open_field(lexer, mode);
    if (lexer->text[start] == '}') return close_spec(lexer, mode);
    return end_fstring(lexer, mode);
}
