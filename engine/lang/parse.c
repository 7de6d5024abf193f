/* Parse: the token window, errors, and the file as a list of statements.
 *
 * In: a source file. Out: its top-level statements and the '#:' command lines between them.
 *
 *     "x = 1\n#:graph\ny = 2\n"  ->  list [ASSIGN, ASSIGN], commands [{":graph", before 1}]
 *
 * Invariant: every message names a span of the file, and the search for a better message never changes the position. */
#include "lang/parser.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void note_comment(void *state, Span comment) {
    Parser *parser = state;
    const char *text = comment.file->text + comment.start;
    uint32_t length = comment.end - comment.start;
    if (length < 2 || text[1] != ':') return;
    uint32_t colon = 1, second = 2; /* "#: :graph" is ":graph" too; "#: words" is a comment, as documentation tools write them */
    while (second < length && (text[second] == ' ' || text[second] == '\t')) second++;
    if (second < length && text[second] == ':') colon = second;
    else if (second > 2) return;
    CommandLine line = {arena_strndup(parser->arena, text + colon, length - colon), comment, parser->tokens.count};
    vec_push_in(parser->arena, &parser->comments, line);
}

Parser parser_open(LangSession *session, const SourceFile *file) {
    return (Parser){.session = session, .arena = session->arena, .file = file};
}

void parser_read(Parser *parser) {
    Lexer lexer = lexer_open(parser->session, parser->file);
    lexer.on_comment = note_comment;
    lexer.comment_state = parser;
    Token token;
    do {
        token = lexer_next(&lexer);
        vec_push_in(parser->arena, &parser->tokens, token);
    } while (token.kind != TOKEN_END);
    if (lexer.unfinished == LEX_IN_BRACKET) parser->unclosed = lexer.brackets[lexer.bracket_count - 1].span;
}

TokenKind parser_kind_after(const Parser *parser, int ahead) {
    int last = parser->tokens.count - 1, i = parser->at + ahead;
    return parser->tokens.at[i < last ? i : last].kind;
}

TokenKind parser_kind(const Parser *parser) { return parser_kind_after(parser, 0); }
Span parser_here(const Parser *parser) { return parser->tokens.at[parser->at].span; }

Token parser_take(Parser *parser) {
    Token token = parser->tokens.at[parser->at];
    if (token.kind != TOKEN_END) parser->at++;
    return token;
}

bool parser_accept(Parser *parser, TokenKind kind) {
    if (parser_kind(parser) != kind) return false;
    parser_take(parser);
    return true;
}

Span parser_span_from(const Parser *parser, uint32_t start) {
    uint32_t end = parser->at ? parser->tokens.at[parser->at - 1].span.end : start;
    return (Span){parser->file, start, end > start ? end : start};
}

Span parser_block_span(const Parser *parser, uint32_t start) {
    int i = parser->at - 1;
    for (; i > 0; i--) {
        TokenKind kind = parser->tokens.at[i].kind;
        if (kind != TOKEN_DEDENT && kind != TOKEN_NEWLINE && kind != TOKEN_SEMI) break;
    }
    return (Span){parser->file, start, parser->tokens.at[i].span.end};
}

Node *parser_node(Parser *parser, NodeKind kind, Span span) {
    Node *node = ARENA_NEW(parser->arena, Node);
    node->kind = kind;
    node->span = span;
    return node;
}

void parser_push(Parser *parser, NodeList *list, Node *node) { vec_push_in(parser->arena, list, node); }

/* A bracket that is never closed is to blame for whatever goes wrong on later lines. */
static void blame_unclosed(Parser *parser, Span span) {
    if (!parser->unclosed.file || parser->trial) return;
    if (span_line(span) <= span_line(parser->unclosed) && parser_kind(parser) != TOKEN_END) return;
    fail(parser->session->failure, parser->unclosed, "SyntaxError: '%c' was never closed", parser->file->text[parser->unclosed.start]);
}

void parser_fail(Parser *parser, Span span, const char *format, ...) {
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    blame_unclosed(parser, parser_here(parser));
    fail(parser->session->failure, span, "%s", message);
}

void parser_fail_here(Parser *parser) {
    Span span = parser_here(parser);
    if (parser_kind(parser) == TOKEN_INDENT) parser_fail(parser, span, "IndentationError: unexpected indent");
    if (parser_kind(parser) == TOKEN_DEDENT) parser_fail(parser, span, "IndentationError: unexpected unindent");
    parser_fail(parser, span, "SyntaxError: invalid syntax");
}

Token parser_expect(Parser *parser, TokenKind kind) {
    if (parser_kind(parser) == kind) return parser_take(parser);
    parser_fail_here(parser);
}

void parser_enter(Parser *parser) {
    if (++parser->depth > PARSE_DEPTH_LIMIT) parser_fail(parser, parser_here(parser), "SyntaxError: too many nested expressions");
}

void parser_leave(Parser *parser) { parser->depth--; }

typedef struct Trial { Parser *parser; Node *(*body)(Parser *); Node *node; } Trial;

static void run_trial(void *state) {
    Trial *trial = state;
    trial->node = trial->body(trial->parser);
}

Node *parser_try(Parser *parser, Node *(*body)(Parser *)) {
    Failure *outer = parser->session->failure;
    Failure failure = {0};
    Parser saved = *parser;
    Trial trial = {parser, body, NULL};
    parser->trial = true;
    parser->session->failure = &failure;
    bool parses = fail_catch(&failure, run_trial, &trial);
    parser->session->failure = outer;
    *parser = saved;
    return parses ? trial.node : NULL;
}

/* Command lines up to the present token stand before the next statement. */
static void take_commands(Parser *parser, Statements *statements, int *next) {
    for (; *next < parser->comments.count && parser->comments.at[*next].before <= parser->at; ++*next) {
        CommandLine line = parser->comments.at[*next];
        line.before = statements->list.count;
        vec_push_in(parser->arena, &statements->commands, line);
    }
}

/* Inside a statement they are comments like any other. A statement ends where its last line does, before its dedents. */
static void skip_inner_commands(const Parser *parser, int *next) {
    int end = parser->at;
    while (end > 0 && parser->tokens.at[end - 1].kind == TOKEN_DEDENT) end--;
    while (*next < parser->comments.count && parser->comments.at[*next].before < end) ++*next;
}

Statements parse_file(Parser *parser) {
    Statements statements = {0};
    int next = 0;
    parser_read(parser);
    while (parser_kind(parser) != TOKEN_END) {
        take_commands(parser, &statements, &next);
        parse_statement(parser, &statements.list);
        skip_inner_commands(parser, &next);
    }
    if (parser->unclosed.file) parser_fail_here(parser);
    take_commands(parser, &statements, &next);
    return statements;
}
