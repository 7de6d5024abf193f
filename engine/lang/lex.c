/* Lex: the driver: lines, indentation, brackets, names and operators. Strings are in lex_string.c, numbers in lex_number.c.
 *
 * In: a SourceFile. Out: tokens, as lex.h says.
 *
 *     "if x:\n  y\n" -> IF NAME COLON NEWLINE INDENT NAME NEWLINE DEDENT END
 *
 * Invariant: `at` only grows; inside brackets line ends and indentation are white space. */
#include "lang/lex.h"
#include <string.h>

static const struct { const char *text; uint32_t length; TokenKind kind; } operators[] = {
#define X(name, text) {text, sizeof text - 1, TOKEN_##name},
    TOKEN_OPERATORS(X)
#undef X
}, keywords[] = {
#define X(name, text) {text, sizeof text - 1, TOKEN_##name},
    TOKEN_KEYWORDS(X)
#undef X
};
enum { OPERATOR_COUNT = sizeof operators / sizeof *operators, KEYWORD_COUNT = sizeof keywords / sizeof *keywords };

const char *token_text(TokenKind kind) {
    static const char *const others[] = {"end of file", "newline", "indent", "dedent", "name", "number", "string",
                                         "f-string", "f-string text", "end of f-string"};
    if (kind < TOKEN_LPAR) return others[kind];
    if (kind < TOKEN_FALSE) return operators[kind - TOKEN_LPAR].text;
    return keywords[kind - TOKEN_FALSE].text;
}

Span lexer_span(const Lexer *lexer, uint32_t start, uint32_t end) { return (Span){lexer->file, start, end}; }

Lexer lexer_open(LangSession *session, const SourceFile *file) {
    Lexer lexer = {.session = session, .file = file, .text = file->text, .length = file->length, .line_start = true,
                   .indent_count = 1};
    if (file->length >= 3 && memcmp(file->text, "\xef\xbb\xbf", 3) == 0) lexer.at = 3; /* byte order mark */
    return lexer;
}

static char peek(const Lexer *lexer, uint32_t ahead) {
    return lexer->at + ahead < lexer->length ? lexer->text[lexer->at + ahead] : '\0';
}

static bool at_line_end(const Lexer *lexer) {
    char c = peek(lexer, 0);
    return lexer->at >= lexer->length || c == '\n' || (c == '\r' && peek(lexer, 1) == '\n');
}

static void skip_comment(Lexer *lexer, bool at_margin) {
    uint32_t start = lexer->at;
    while (!at_line_end(lexer)) lexer->at++;
    if (at_margin && lexer->on_comment) lexer->on_comment(lexer->comment_state, lexer_span(lexer, start, lexer->at));
}

static void skip_line_end(Lexer *lexer) {
    if (peek(lexer, 0) == '\r') lexer->at++;
    if (peek(lexer, 0) == '\n') lexer->at++;
}

/* A backslash before a line end joins the lines. */
static void skip_continuation(Lexer *lexer) {
    uint32_t start = lexer->at++;
    if (!at_line_end(lexer))
        fail(lexer->session->failure, lexer_span(lexer, start + 1, start + 2),
             "SyntaxError: unexpected character after line continuation character");
    skip_line_end(lexer);
    if (lexer->at < lexer->length) return;
    lexer->unfinished = LEX_AFTER_BACKSLASH;
    fail(lexer->session->failure, lexer_span(lexer, start, start + 1), "SyntaxError: unexpected EOF while parsing");
}

static void skip_blanks(Lexer *lexer) {
    for (;;) {
        char c = peek(lexer, 0);
        if (c == ' ' || c == '\t' || c == '\f') lexer->at++;
        else if (c == '\\') skip_continuation(lexer);
        else if (c == '#') skip_comment(lexer, false);
        else if (lexer->bracket_count && lexer->at < lexer->length && at_line_end(lexer)) skip_line_end(lexer);
        else return;
    }
}

/* Columns of the indentation at `at`, with tabs of eight and of one. */
static int measure_indent(Lexer *lexer, int *tabs_as_one) {
    int columns = 0, narrow = 0;
    for (;; lexer->at++) {
        char c = peek(lexer, 0);
        if (c == ' ') columns++, narrow++;
        else if (c == '\t') columns = (columns / 8 + 1) * 8, narrow++;
        else if (c == '\f') columns = narrow = 0;
        else break;
    }
    *tabs_as_one = narrow;
    return columns;
}

static _Noreturn void fail_tabs(Lexer *lexer) {
    uint32_t start = lexer->at;
    while (start > 0 && lexer->text[start - 1] != '\n') start--;
    fail(lexer->session->failure, lexer_span(lexer, start, lexer->at), "TabError: inconsistent use of tabs and spaces in indentation");
}

static void open_indent(Lexer *lexer, int columns, int narrow) {
    if (lexer->indent_count == LEX_INDENT_LIMIT)
        fail(lexer->session->failure, lexer_span(lexer, lexer->at, lexer->at), "IndentationError: too many levels of indentation");
    if (narrow <= lexer->tabbed_indents[lexer->indent_count - 1]) fail_tabs(lexer);
    lexer->indents[lexer->indent_count] = columns;
    lexer->tabbed_indents[lexer->indent_count++] = narrow;
    lexer->pending = 1;
}

static void close_indents(Lexer *lexer, int columns, int narrow) {
    while (lexer->indents[lexer->indent_count - 1] > columns) {
        lexer->indent_count--;
        lexer->pending--;
    }
    if (lexer->indents[lexer->indent_count - 1] != columns)
        fail(lexer->session->failure, lexer_span(lexer, lexer->at, lexer->at),
             "IndentationError: unindent does not match any outer indentation level");
    if (lexer->tabbed_indents[lexer->indent_count - 1] != narrow) fail_tabs(lexer);
}

static void change_indent(Lexer *lexer, int columns, int narrow) {
    int top = lexer->indents[lexer->indent_count - 1];
    if (columns > top) open_indent(lexer, columns, narrow);
    else if (columns < top) close_indents(lexer, columns, narrow);
    else if (narrow != lexer->tabbed_indents[lexer->indent_count - 1]) fail_tabs(lexer);
}

/* At the start of a line: skips blank and comment lines, then counts the indentation of the line that has a token. */
static void start_line(Lexer *lexer) {
    for (;;) {
        uint32_t margin = lexer->at;
        int narrow, columns = measure_indent(lexer, &narrow);
        if (peek(lexer, 0) == '#') skip_comment(lexer, lexer->at == margin);
        if (!at_line_end(lexer)) {
            change_indent(lexer, columns, narrow);
            break;
        }
        if (lexer->at >= lexer->length) {
            close_indents(lexer, 0, 0);
            break;
        }
        skip_line_end(lexer);
    }
    lexer->line_start = false;
    lexer->any = false;
}

static Token give(Lexer *lexer, TokenKind kind, uint32_t length) {
    Token token = {.kind = kind, .span = lexer_span(lexer, lexer->at, lexer->at + length)};
    lexer->at += length;
    return token;
}

static Token give_indentation(Lexer *lexer) {
    bool deeper = lexer->pending > 0;
    lexer->pending += deeper ? -1 : 1;
    return give(lexer, deeper ? TOKEN_INDENT : TOKEN_DEDENT, 0);
}

static Token lex_name(Lexer *lexer) {
    uint32_t start = lexer->at;
    int bytes;
    while (name_part(lexer->text + lexer->at, lexer->length - lexer->at, &bytes)) lexer->at += (uint32_t)bytes;
    uint32_t length = lexer->at - start;
    Token token = {.kind = TOKEN_NAME, .span = lexer_span(lexer, start, lexer->at)};
    for (int i = 0; i < KEYWORD_COUNT && length <= 8; i++)
        if (keywords[i].length == length && *keywords[i].text == lexer->text[start] && memcmp(keywords[i].text, lexer->text + start, length) == 0)
            token.kind = keywords[i].kind;
    if (token.kind == TOKEN_NAME) token.name = intern_n(lexer->session->names, lexer->text + start, length);
    return token;
}

static void open_bracket(Lexer *lexer, char kind, Span span) {
    if (lexer->bracket_count == LEX_BRACKET_LIMIT) fail(lexer->session->failure, span, "SyntaxError: too many nested parentheses");
    lexer->brackets[lexer->bracket_count++] = (OpenBracket){kind, span};
}

static void close_bracket(Lexer *lexer, char kind, Span span) {
    Failure *failure = lexer->session->failure;
    int outer = lexer->fstring_count ? lexer->fstrings[lexer->fstring_count - 1].brackets : 0;
    if (lexer->bracket_count == outer)
        fail(failure, span, lexer->fstring_count ? "SyntaxError: f-string: unmatched '%c'" : "SyntaxError: unmatched '%c'", kind);
    OpenBracket open = lexer->brackets[--lexer->bracket_count];
    char wanted = open.kind == '(' ? ')' : open.kind == '[' ? ']' : '}';
    if (kind == wanted) return;
    const char *head = lexer->fstring_count ? "f-string: " : "";
    if (span_line(open.span) != span_line(span))
        fail(failure, span,
             "SyntaxError: %sclosing parenthesis '%c' does not match opening parenthesis '%c' on line %d", head, kind, open.kind, span_line(open.span));
    fail(failure, span, "SyntaxError: %sclosing parenthesis '%c' does not match opening parenthesis '%c'", head, kind, open.kind);
}

static _Noreturn void fail_character(Lexer *lexer) {
    uint32_t code = 0;
    int bytes = utf8_decode(lexer->text + lexer->at, lexer->length - lexer->at, &code);
    Span span = lexer_span(lexer, lexer->at, lexer->at + (uint32_t)(bytes ? bytes : 1));
    Failure *failure = lexer->session->failure;
    if (!bytes) fail(failure, span, "SyntaxError: (unicode error) 'utf-8' codec can't decode byte 0x%02x", (unsigned char)peek(lexer, 0));
    if (code < 128)
        fail(failure, span, code < 32 || code == 127 ? "SyntaxError: invalid non-printable character U+%04X" : "SyntaxError: invalid syntax", code);
    if (utf8_width(code) == 0 || code == 0xa0 || (code >= 0x2000 && code <= 0x200f))
        fail(failure, span, "SyntaxError: invalid non-printable character U+%04X", code);
    fail(failure, span, "SyntaxError: invalid character '%.*s' (U+%04X)", bytes, lexer->text + lexer->at, code);
}

static Token lex_operator(Lexer *lexer) {
    int best = -1;
    uint32_t best_length = 0, left = lexer->length - lexer->at;
    for (int i = 0; i < OPERATOR_COUNT; i++) {
        uint32_t length = operators[i].length;
        if (*operators[i].text != peek(lexer, 0) || length <= best_length || left < length) continue;
        if (memcmp(lexer->text + lexer->at, operators[i].text, length) == 0) best = i, best_length = length;
    }
    bool lone_exclaim = best >= 0 && operators[best].kind == TOKEN_EXCLAIM && !lexer->fstring_count;
    if (best < 0 || lone_exclaim) fail_character(lexer);
    Token token = give(lexer, operators[best].kind, best_length);
    char c = lexer->text[token.span.start];
    if (c == '(' || c == '[' || c == '{') open_bracket(lexer, c, token.span);
    if (c == ')' || c == ']' || c == '}') close_bracket(lexer, c, token.span);
    return token;
}

/* Inside a replacement field a colon at its own level starts the format specification, whatever follows it; a closing
 * brace ends it. */
static Token lex_field_mark(Lexer *lexer, char c) {
    FstringMode *mode = &lexer->fstrings[lexer->fstring_count - 1];
    if (c == ':') {
        mode->in_field = false;
        mode->specs++;
        return give(lexer, TOKEN_COLON, 1);
    }
    Token token = give(lexer, TOKEN_RBRACE, 1);
    close_bracket(lexer, '}', token.span);
    mode->fields--;
    mode->in_field = false;
    return token;
}

static Token lex_line_end(Lexer *lexer) {
    lexer->line_start = true;
    lexer->any = false;
    Token token = give(lexer, TOKEN_NEWLINE, lexer->at < lexer->length ? 1 : 0);
    if (lexer->at < lexer->length && lexer->text[lexer->at - 1] == '\r') skip_line_end(lexer);
    return token;
}

static Token lex_end(Lexer *lexer) {
    if (lexer->bracket_count) lexer->unfinished = LEX_IN_BRACKET;
    return give(lexer, TOKEN_END, 0);
}

static Token lex_token(Lexer *lexer) {
    char c = peek(lexer, 0);
    uint32_t quote;
    int bytes;
    if (lexer->fstring_count && (c == ':' || c == '}') && fstring_field_ends(lexer)) return lex_field_mark(lexer, c);
    if (lex_string_prefix(lexer, &quote)) return lex_string(lexer);
    if ((c >= '0' && c <= '9') || (c == '.' && peek(lexer, 1) >= '0' && peek(lexer, 1) <= '9')) return lex_number(lexer);
    if (name_start(lexer->text + lexer->at, lexer->length - lexer->at, &bytes)) return lex_name(lexer);
    return lex_operator(lexer);
}

/* At the end of the text inside brackets, or with no token on the line. */
static Token lex_last(Lexer *lexer) {
    if (lexer->bracket_count || lexer->indent_count == 1) return lex_end(lexer);
    close_indents(lexer, 0, 0);
    return give_indentation(lexer);
}

Token lexer_next(Lexer *lexer) {
    if (lexer->fstring_count && !lexer->fstrings[lexer->fstring_count - 1].in_field) return lex_fstring_text(lexer);
    for (;;) {
        if (lexer->line_start && !lexer->bracket_count) start_line(lexer);
        if (lexer->pending) return give_indentation(lexer);
        skip_blanks(lexer);
        if (lexer->at >= lexer->length && (lexer->bracket_count || !lexer->any)) return lex_last(lexer);
        if (lexer->bracket_count || !at_line_end(lexer)) break;
        if (lexer->any) return lex_line_end(lexer);
        skip_line_end(lexer); /* nothing but a continuation */
        lexer->line_start = true;
    }
    lexer->any = true;
    return lex_token(lexer);
}
