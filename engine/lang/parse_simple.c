/* Parse simple statements that begin with a keyword: return, del, imports, global, raise, assert, …
 *
 * In: tokens at a keyword. Out: its node; NULL where the token starts an expression statement.
 *
 *     "from ..a import b as c, d"  ->  IMPORT_FROM {module "a", level 2, aliases [b as c, d]}
 *
 * Invariant: nothing is taken when NULL comes back. To add one: a case of parse_simple. */
#include "lang/parser.h"
#include <string.h>

static bool line_ends(const Parser *parser) {
    TokenKind kind = parser_kind(parser);
    return kind == TOKEN_NEWLINE || kind == TOKEN_SEMI || kind == TOKEN_END;
}

static Node *parse_keyword_alone(Parser *parser, NodeKind kind) { return parser_node(parser, kind, parser_take(parser).span); }

static Node *parse_return(Parser *parser) {
    uint32_t start = parser_take(parser).span.start;
    Node *value = line_ends(parser) ? NULL : parse_star_expressions(parser);
    Node *node = parser_node(parser, NODE_RETURN, parser_span_from(parser, start));
    node->left = value;
    return node;
}

static Node *parse_delete(Parser *parser) {
    uint32_t start = parser_take(parser).span.start;
    Node *node = parser_node(parser, NODE_DELETE, parser_span_from(parser, start));
    do {
        Node *target = parser_kind(parser) == TOKEN_STAR ? parse_list_item(parser) : parse_bitwise(parser);
        parser_push(parser, &node->assign.targets, make_target(parser, target, CONTEXT_DELETE));
    } while (parser_accept(parser, TOKEN_COMMA) && !line_ends(parser));
    if (!line_ends(parser)) parser_fail_here(parser);
    node->span = parser_span_from(parser, start);
    return node;
}

static Node *parse_names(Parser *parser, NodeKind kind) {
    uint32_t start = parser_take(parser).span.start;
    Node *node = parser_node(parser, kind, parser_span_from(parser, start));
    do {
        if (parser_kind(parser) != TOKEN_NAME) parser_fail_here(parser);
        vec_push_in(parser->arena, &node->names.ids, parser_take(parser).name);
    } while (parser_accept(parser, TOKEN_COMMA));
    node->span = parser_span_from(parser, start);
    return node;
}

static Node *parse_raise(Parser *parser) {
    uint32_t start = parser_take(parser).span.start;
    Node *exception = line_ends(parser) ? NULL : parse_expression(parser), *cause = NULL;
    if (exception && parser_accept(parser, TOKEN_FROM)) cause = parse_expression(parser);
    Node *node = parser_node(parser, NODE_RAISE, parser_span_from(parser, start));
    node->left = exception;
    node->raise.cause = cause;
    return node;
}

static Node *parse_assert(Parser *parser) {
    uint32_t start = parser_take(parser).span.start;
    Node *test = parse_expression(parser), *message = NULL;
    if (parser_accept(parser, TOKEN_COMMA)) message = parse_expression(parser);
    Node *node = parser_node(parser, NODE_ASSERT, parser_span_from(parser, start));
    node->left = test;
    node->raise.cause = message;
    return node;
}

/* "a.b.c" as one interned name. */
static const char *parse_dotted(Parser *parser) {
    Text text = {0};
    for (;;) {
        if (parser_kind(parser) != TOKEN_NAME) {
            text_free(&text);
            parser_fail_here(parser);
        }
        text_put(&text, parser_take(parser).name);
        if (!parser_accept(parser, TOKEN_DOT)) break;
        text_char(&text, '.');
    }
    const char *name = intern(parser->session->names, text_cstr(&text));
    text_free(&text);
    return name;
}

static const char *parse_as(Parser *parser) {
    if (!parser_accept(parser, TOKEN_AS)) return NULL;
    if (parser_kind(parser) != TOKEN_NAME) parser_fail_here(parser);
    return parser_take(parser).name;
}

static Node *parse_import(Parser *parser) {
    uint32_t start = parser_take(parser).span.start;
    Node *node = parser_node(parser, NODE_IMPORT, parser_span_from(parser, start));
    do {
        uint32_t from = parser_here(parser).start;
        Alias alias = {.name = parse_dotted(parser)};
        alias.as = parse_as(parser);
        alias.span = parser_span_from(parser, from);
        vec_push_in(parser->arena, &node->import.aliases, alias);
    } while (parser_accept(parser, TOKEN_COMMA));
    node->span = parser_span_from(parser, start);
    return node;
}

static void parse_aliases(Parser *parser, Node *node, bool parenthesized) {
    do {
        uint32_t start = parser_here(parser).start;
        if (parenthesized && node->import.aliases.count && parser_kind(parser) == TOKEN_RPAR) return;
        if (!parenthesized && node->import.aliases.count && parser_kind(parser) == TOKEN_NEWLINE)
            parser_fail(parser, parser_here(parser), "SyntaxError: trailing comma not allowed without surrounding parentheses");
        if (parser_kind(parser) != TOKEN_NAME) parser_fail_here(parser);
        Alias alias = {.name = parser_take(parser).name};
        alias.as = parse_as(parser);
        alias.span = parser_span_from(parser, start);
        vec_push_in(parser->arena, &node->import.aliases, alias);
    } while (parser_accept(parser, TOKEN_COMMA));
}

static void parse_imported(Parser *parser, Node *node) {
    if (parser_kind(parser) == TOKEN_STAR) {
        Alias star = {.name = intern(parser->session->names, "*"), .span = parser_take(parser).span};
        vec_push_in(parser->arena, &node->import.aliases, star);
    } else if (parser_accept(parser, TOKEN_LPAR)) {
        parse_aliases(parser, node, true);
        parser_expect(parser, TOKEN_RPAR);
    } else {
        parse_aliases(parser, node, false);
    }
}

/* A future feature other than annotations is either always on in 3.12 or unknown. */
static void note_future(Parser *parser, const Node *node) {
    if (!node->import.module || node->import.level || strcmp(node->import.module, "__future__") != 0) return;
    static const char *const old[] = {"nested_scopes", "generators", "division", "absolute_import", "with_statement", "print_function",
                                      "unicode_literals", "generator_stop"};
    for (int i = 0; i < node->import.aliases.count; i++) {
        const Alias *alias = &node->import.aliases.at[i];
        bool known = strcmp(alias->name, "annotations") == 0;
        if (known) parser->future_annotations = true;
        for (size_t k = 0; k < sizeof old / sizeof *old; k++) known = known || strcmp(alias->name, old[k]) == 0;
        if (strcmp(alias->name, "braces") == 0) parser_fail(parser, node->span, "SyntaxError: not a chance");
        if (!known) parser_fail(parser, node->span, "SyntaxError: future feature %s is not defined", alias->name);
    }
}

static Node *parse_import_from(Parser *parser) {
    uint32_t start = parser_take(parser).span.start;
    Node *node = parser_node(parser, NODE_IMPORT_FROM, parser_span_from(parser, start));
    for (;;) {
        if (parser_accept(parser, TOKEN_DOT)) node->import.level++;
        else if (parser_accept(parser, TOKEN_ELLIPSIS)) node->import.level += 3;
        else break;
    }
    if (!node->import.level || parser_kind(parser) != TOKEN_IMPORT) node->import.module = parse_dotted(parser);
    parser_expect(parser, TOKEN_IMPORT);
    parse_imported(parser, node);
    note_future(parser, node);
    node->span = parser_span_from(parser, start);
    return node;
}

Node *parse_simple(Parser *parser) {
    switch (parser_kind(parser)) {
    case TOKEN_PASS: return parse_keyword_alone(parser, NODE_PASS);
    case TOKEN_BREAK: return parse_keyword_alone(parser, NODE_BREAK);
    case TOKEN_CONTINUE: return parse_keyword_alone(parser, NODE_CONTINUE);
    case TOKEN_RETURN: return parse_return(parser);
    case TOKEN_DEL: return parse_delete(parser);
    case TOKEN_GLOBAL: return parse_names(parser, NODE_GLOBAL);
    case TOKEN_NONLOCAL: return parse_names(parser, NODE_NONLOCAL);
    case TOKEN_RAISE: return parse_raise(parser);
    case TOKEN_ASSERT: return parse_assert(parser);
    case TOKEN_IMPORT: return parse_import(parser);
    case TOKEN_FROM: return parse_import_from(parser);
    default: return NULL;
    }
}
