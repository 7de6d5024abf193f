/* Parse strings: implicit concatenation, and the fields of f-strings.
 *
 * In: STRING and f-string tokens. Out: one CONST, or one FSTRING with its constant pieces joined.
 *
 *     'a' f'b{x!r:>{w}}'  ->  FSTRING ["ab", FORMATTED x r {spec FSTRING [">", FORMATTED w]}]
 *
 * Invariant: no two constants stand side by side in an FSTRING, and none is empty.
 * To add a conversion: take_conversion. */
#include "lang/parser.h"
#include <string.h>

typedef struct Piece { const char *text; size_t length; } Piece;
/* The literal being put together; `pending` is text not yet made a constant. */
typedef struct Pieces { NodeList list; VEC(Piece) pending; size_t pending_length; Span span; bool formatted; } Pieces;

static Node *string_node(Parser *parser, const Pieces *pieces) {
    Node *node = parser_node(parser, NODE_CONST, pieces->span);
    char *text = arena_alloc(parser->arena, pieces->pending_length + 1), *at = text;
    for (int i = 0; i < pieces->pending.count; i++) {
        memcpy(at, pieces->pending.at[i].text, pieces->pending.at[i].length);
        at += pieces->pending.at[i].length;
    }
    node->constant = (Const){.kind = CONST_STR, .s = {text, (uint32_t)pieces->pending_length}};
    return node;
}

static void flush_text(Parser *parser, Pieces *pieces) {
    if (pieces->pending_length) parser_push(parser, &pieces->list, string_node(parser, pieces));
    pieces->pending.count = 0;
    pieces->pending_length = 0;
    pieces->span = (Span){0};
}

static void add_text(Parser *parser, Pieces *pieces, const char *start, size_t length, Span span) {
    Piece piece = {arena_strndup(parser->arena, start, length), length};
    if (!length) return;
    vec_push_in(parser->arena, &pieces->pending, piece);
    pieces->pending_length += length;
    pieces->span = span_join(pieces->span, span);
}

static void add_token_text(Parser *parser, Pieces *pieces, Token token) {
    Text text = {0};
    if (token.kind == TOKEN_STRING) literal_string(parser->session, token, &text);
    else literal_fstring_text(parser->session, token, &text);
    add_text(parser, pieces, text_cstr(&text), text.length, token.span);
    text_free(&text);
}

static void parse_fstring_pieces(Parser *parser, Pieces *pieces);

static Node *fstring_node(Parser *parser, Pieces *pieces, Span span) {
    flush_text(parser, pieces);
    Node *node = parser_node(parser, NODE_FSTRING, span);
    node->fstring = pieces->list;
    return node;
}

/* Behind the colon, up to the closing brace. */
static Node *parse_spec(Parser *parser) {
    Pieces pieces = {0};
    uint32_t start = parser_here(parser).start;
    parse_fstring_pieces(parser, &pieces);
    return fstring_node(parser, &pieces, parser_span_from(parser, start));
}

static char take_conversion(Parser *parser) {
    if (!parser_accept(parser, TOKEN_EXCLAIM)) return 0;
    Token token = parser_take(parser);
    bool missing = token.kind == TOKEN_RBRACE || token.kind == TOKEN_COLON;
    if (token.kind != TOKEN_NAME) parser_fail(parser, token.span, "SyntaxError: f-string: %s conversion character", missing ? "missing" : "invalid");
    if (strcmp(token.name, "r") == 0 || strcmp(token.name, "s") == 0 || strcmp(token.name, "a") == 0) return *token.name;
    parser_fail(parser, token.span, "SyntaxError: f-string: invalid conversion character '%s': expected 's', 'r', or 'a'", token.name);
}

static void check_field_start(Parser *parser) {
    static const TokenKind marks[] = {TOKEN_RBRACE, TOKEN_EXCLAIM, TOKEN_COLON, TOKEN_EQUAL};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (parser_kind(parser) == marks[i])
            parser_fail(parser, parser_here(parser), "SyntaxError: f-string: valid expression required before '%s'", token_text(marks[i]));
    if (parser_kind(parser) == TOKEN_LAMBDA)
        parser_fail(parser, parser_here(parser), "SyntaxError: f-string: lambda expressions are not allowed without parentheses");
    if (!starts_expression(parser_kind(parser)) && parser_kind(parser) != TOKEN_YIELD && parser_kind(parser) != TOKEN_STAR)
        parser_fail(parser, parser_here(parser), "SyntaxError: f-string: expecting a valid expression after '{'");
}

static _Noreturn void fail_field_end(Parser *parser, bool only_brace, bool after_equal) {
    check_forgotten_comma(parser);
    parser_fail(parser, parser_here(parser), "SyntaxError: f-string: expecting %s",
                only_brace ? "'}'" : after_equal ? "'!', or ':', or '}'" : "'=', or '!', or ':', or '}'");
}

/* "{value = !r:spec}": the text of a field with '=' is shown before its value. */
static void parse_field(Parser *parser, Pieces *pieces) {
    Span brace = parser_take(parser).span;
    check_field_start(parser);
    Node *value = parse_star_or_yield(parser);
    bool show = parser_accept(parser, TOKEN_EQUAL);
    if (show) {
        Span text = {brace.file, brace.end, parser_here(parser).start};
        add_text(parser, pieces, brace.file->text + text.start, text.end - text.start, text);
    }
    char conversion = take_conversion(parser);
    Node *spec = NULL;
    if (parser_accept(parser, TOKEN_COLON)) spec = parse_spec(parser);
    if (parser_kind(parser) != TOKEN_RBRACE) fail_field_end(parser, conversion || spec, show);
    parser_take(parser);
    Node *node = parser_node(parser, NODE_FORMATTED, parser_span_from(parser, brace.start));
    node->left = value;
    node->formatted.conversion = conversion ? conversion : show && !spec ? 'r' : 0;
    node->formatted.spec = spec;
    flush_text(parser, pieces);
    parser_push(parser, &pieces->list, node);
}

static void parse_fstring_pieces(Parser *parser, Pieces *pieces) {
    for (;;) {
        if (parser_kind(parser) == TOKEN_FSTRING_MIDDLE) add_token_text(parser, pieces, parser_take(parser));
        else if (parser_kind(parser) == TOKEN_LBRACE) parse_field(parser, pieces);
        else return;
    }
}

Node *parse_strings(Parser *parser) {
    uint32_t start = parser_here(parser).start;
    Pieces pieces = {0};
    for (;;) {
        if (parser_kind(parser) == TOKEN_STRING) {
            add_token_text(parser, &pieces, parser_take(parser));
        } else if (parser_accept(parser, TOKEN_FSTRING_START)) {
            pieces.formatted = true;
            parse_fstring_pieces(parser, &pieces);
            parser_expect(parser, TOKEN_FSTRING_END);
        } else {
            break;
        }
    }
    Span span = parser_span_from(parser, start);
    if (pieces.formatted) return fstring_node(parser, &pieces, span);
    pieces.span = span;
    return string_node(parser, &pieces);
}
