/* State: how far a text that is being typed or piped in has come.
 *
 * In: text. Out: whether it is a complete piece of input; where its first complete statement ends.
 *
 *     lang_state("f(1,")                        ->  LANG_OPEN_BRACKET
 *     lang_state("def f():\n  return 1\n")       ->  LANG_OPEN_BLOCK (a blank line ends it)
 *     lang_next_statement("x = 1\ny = ", false)  ->  6
 *
 * The lexer itself reads the text, so that both always agree with the parser. Text that is wrong counts as complete: the
 * parser then says what is wrong.
 * Invariant: lang_next_statement never ends inside a statement, and at the end of input it takes all that is left at last. */
#include "lang/lex.h"
#include <string.h>

typedef struct Scan {
    Lexer *lexer;
    LangSession session;
    Failure failure;
    SourceFile file;
    bool at_end;
    LangState state;      /* lang_state's answer */
    uint32_t end;         /* lang_next_statement's answer */
} Scan;

/* Runs `body` over the text with a lexer of its own; false when the lexer complained. Needs no line table: spans are not shown. */
static bool run_scan(Scan *scan, const char *text, size_t length, void (*body)(void *)) {
    Arena *arena = arena_new("input state");
    uint32_t no_lines[1] = {0};
    scan->file = (SourceFile){.name = "", .text = text, .length = (uint32_t)length, .line_starts = no_lines, .line_count = 1, .first_line = 1};
    scan->session = (LangSession){.arena = arena, .names = interner_new(arena), .failure = &scan->failure};
    scan->lexer = ARENA_NEW(arena, Lexer);
    *scan->lexer = lexer_open(&scan->session, &scan->file);
    bool whole = fail_catch(&scan->failure, body, scan);
    if (!whole && scan->lexer->unfinished == LEX_IN_STRING) scan->state = LANG_OPEN_STRING;
    if (!whole && scan->lexer->unfinished == LEX_AFTER_BACKSLASH) scan->state = LANG_OPEN_BRACKET;
    if (!whole && scan->lexer->unfinished != LEX_WHOLE) scan->end = 0;
    arena_free(arena);
    return whole;
}

static bool starts_block(TokenKind kind) {
    switch (kind) {
    case TOKEN_IF: case TOKEN_WHILE: case TOKEN_FOR: case TOKEN_TRY: case TOKEN_WITH: case TOKEN_DEF: case TOKEN_CLASS: case TOKEN_AT: case TOKEN_ASYNC:
        return true;
    default: return false;
    }
}

static bool continues_block(TokenKind kind) { return kind == TOKEN_ELSE || kind == TOKEN_ELIF || kind == TOKEN_EXCEPT || kind == TOKEN_FINALLY; }

/* Does the text end with a blank line, or with nothing but its last line's end? */
static bool ends_with_blank_line(const char *text, size_t length) {
    int line_ends = 0;
    for (; length > 0; length--) {
        char c = text[length - 1];
        if (c == '\n') line_ends++;
        else if (c != ' ' && c != '\t' && c != '\r' && c != '\f') break;
    }
    return line_ends >= 2;
}

/* What is known of the last statement that began at the margin. */
typedef struct Last { bool any, block, decorated, header, colon; } Last;

static void start_statement(Last *last, TokenKind kind) {
    *last = (Last){.any = true, .block = starts_block(kind) || continues_block(kind), .decorated = kind == TOKEN_AT, .header = true};
}

/* A header line without a colon is wrong, whatever may follow. */
static void end_line(Last *last) {
    if (last->header && !last->colon && !last->decorated) last->block = false;
    last->header = false;
}

static Last scan_lines(Lexer *lexer) {
    Last last = {0};
    bool line_start = true;
    int depth = 0;
    for (Token token; (token = lexer_next(lexer)).kind != TOKEN_END;) {
        if (token.kind == TOKEN_INDENT) depth++;
        if (token.kind == TOKEN_DEDENT) depth--;
        if (token.kind == TOKEN_INDENT || token.kind == TOKEN_DEDENT) continue;
        if (line_start && depth == 0 && token.kind != TOKEN_NEWLINE) start_statement(&last, token.kind);
        last.any = true;
        if (token.kind == TOKEN_COLON && !lexer->bracket_count) last.colon = true;
        if (token.kind == TOKEN_NEWLINE) end_line(&last);
        line_start = token.kind == TOKEN_NEWLINE;
    }
    return last;
}

/* The last statement at the margin decides: is it a block that may go on? */
static void scan_state(void *state) {
    Scan *scan = state;
    Lexer *lexer = scan->lexer;
    Last last = scan_lines(lexer);
    bool ended = !last.decorated && ends_with_blank_line(lexer->text, lexer->length);
    scan->state = !last.any ? LANG_EMPTY : last.block && !ended ? LANG_OPEN_BLOCK : LANG_COMPLETE;
    if (lexer->unfinished == LEX_IN_BRACKET) scan->state = LANG_OPEN_BRACKET;
}

LangState lang_state(const char *text) {
    Scan *scan = &(Scan){.state = LANG_COMPLETE};
    run_scan(scan, text, strlen(text), scan_state);
    return scan->state;
}

static uint32_t line_end(const Lexer *lexer, uint32_t at) {
    const char *newline = memchr(lexer->text + at, '\n', lexer->length - at);
    return newline ? (uint32_t)(newline - lexer->text) + 1 : lexer->length;
}

/* Passes blank lines and comments. True when that is all there is to run for now: a '#:' line (through its end), a line for
 * the shell (up to it), or the end of the text. */
static bool skip_margin(Scan *scan) {
    Lexer *lexer = scan->lexer;
    uint32_t at = lexer->at;
    while (at < lexer->length) {
        uint32_t first = at, end = line_end(lexer, at);
        while (first < end && strchr(" \t\r\f\n", lexer->text[first]) && lexer->text[first]) first++;
        bool comment = first < end && lexer->text[first] == '#', whole = end > at && lexer->text[end - 1] == '\n';
        if (first < end && !comment) break;
        if (!whole && !scan->at_end) return scan->end = at, true;
        if (comment && first == at && first + 1 < end && lexer->text[first + 1] == ':') return scan->end = end, true;
        at = end;
    }
    scan->end = at;
    if (at == lexer->length) return true;
    if (lexer->text[at] != ':') return false;
    if (at == 0) scan->end = line_end(lexer, at); /* not ours, but never stand still */
    return true;
}

typedef enum NextLine { NEXT_NONE, NEXT_MARGIN, NEXT_CONTINUES, NEXT_INDENTED } NextLine;

static bool starts_with_word(const char *text, uint32_t length, const char *word) {
    size_t size = strlen(word);
    int bytes;
    return length >= size && memcmp(text, word, size) == 0 && !name_part(text + size, length - size, &bytes);
}

static NextLine classify_line(const char *text, uint32_t length) {
    static const char *const words[] = {"else", "elif", "except", "finally"};
    if (*text == ' ' || *text == '\t' || *text == '\f') return NEXT_INDENTED;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (starts_with_word(text, length, words[i])) return NEXT_CONTINUES;
    return NEXT_MARGIN;
}

/* The first line from `at` on that is neither blank nor a comment. One that may still grow counts as none. */
static NextLine find_next_line(const Scan *scan, uint32_t at) {
    const Lexer *lexer = scan->lexer;
    for (uint32_t end; at < lexer->length; at = end) {
        end = line_end(lexer, at);
        uint32_t first = at;
        while (first < end && strchr(" \t\r\f\n", lexer->text[first]) && lexer->text[first]) first++;
        if (first == end || lexer->text[first] == '#') continue;
        if (lexer->text[end - 1] != '\n' && !scan->at_end) return NEXT_NONE;
        return classify_line(lexer->text + at, end - at);
    }
    return NEXT_NONE;
}

/* A decorator's line is followed by its def at the margin. */
static void scan_statement(void *state) {
    Scan *scan = state;
    if (skip_margin(scan)) return;
    scan->end = 0;
    Token token = lexer_next(scan->lexer);
    bool block = starts_block(token.kind), decorator = token.kind == TOKEN_AT;
    for (;;) {
        while (token.kind != TOKEN_NEWLINE && token.kind != TOKEN_END) token = lexer_next(scan->lexer);
        uint32_t end = scan->lexer->at;
        if (token.kind == TOKEN_END || scan->lexer->text[end - 1] != '\n') return; /* more is needed */
        NextLine next = block ? find_next_line(scan, end) : NEXT_MARGIN;
        if (next == NEXT_NONE) return;
        if (next == NEXT_MARGIN && !decorator) {
            scan->end = end;
            return;
        }
        do token = lexer_next(scan->lexer);
        while (token.kind == TOKEN_INDENT || token.kind == TOKEN_DEDENT);
        if (next == NEXT_MARGIN) decorator = token.kind == TOKEN_AT;
    }
}

size_t lang_next_statement(const char *text, bool at_end) {
    size_t length = strlen(text);
    Scan *scan = &(Scan){.at_end = at_end};
    if (!length) return 0;
    bool whole = run_scan(scan, text, length, scan_statement);
    if (scan->end) return scan->end;
    if (at_end) return length;
    /* Text that is wrong, and not for want of more: hand out its lines, so that the parser can complain. */
    const char *last = !whole && scan->state == LANG_COMPLETE ? strrchr(text, '\n') : NULL;
    return last ? (size_t)(last - text) + 1 : 0;
}
