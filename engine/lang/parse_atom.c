/* Parse atoms: names, literals, displays, comprehensions, and the attributes, items and calls that follow them.
 *
 * In: tokens. Out: nodes.
 *
 *     "[x.y for x in z if x]"  ->  LIST_COMP {element ATTRIBUTE y, generators [{x, z, [x]}]}
 *
 * Invariant: a bracket's nesting counts as depth (through parse_expression); a chain of suffixes is a loop.
 * To add an atom: a case of parse_atom, and its token in starts_expression. */
#include "lang/parser.h"

static Node *constant_node(Parser *parser, ConstKind kind) {
    Node *node = parser_node(parser, NODE_CONST, parser_take(parser).span);
    node->constant.kind = kind;
    return node;
}

static Node *parse_name(Parser *parser) {
    Token token = parser_take(parser);
    Node *node = parser_node(parser, NODE_NAME, token.span);
    node->name.id = token.name;
    node->name.id_span = token.span;
    return node;
}

static Node *parse_number(Parser *parser) {
    Token token = parser_take(parser);
    Node *node = parser_node(parser, NODE_CONST, token.span);
    node->constant = literal_number(parser->session, token, false);
    return node;
}

bool at_comprehension(const Parser *parser) {
    return parser_kind(parser) == TOKEN_FOR || (parser_kind(parser) == TOKEN_ASYNC && parser_kind_after(parser, 1) == TOKEN_FOR);
}

/* A disjunction: a conditional would swallow the next `if`. */
static Node *parse_condition(Parser *parser) {
    parser_enter(parser);
    Node *node = parse_disjunction(parser);
    parser_leave(parser);
    return node;
}

static void parse_clause(Parser *parser, Node *node) {
    if (parser_kind(parser) == TOKEN_ASYNC) parser_fail(parser, parser_here(parser), "unsupported: async comprehensions");
    parser_take(parser);
    Generator generator = {.target = parse_targets(parser)};
    parser_expect(parser, TOKEN_IN);
    generator.iterable = parse_condition(parser);
    while (parser_accept(parser, TOKEN_IF)) parser_push(parser, &generator.conditions, parse_condition(parser));
    vec_push_in(parser->arena, &node->comprehension.generators, generator);
}

void parse_comprehension_clauses(Parser *parser, Node *node) {
    while (at_comprehension(parser)) parse_clause(parser, node);
}

/* At the first `for`; takes the clauses, not the closing bracket. */
Node *parse_comprehension(Parser *parser, NodeKind kind, Node *element, Node *value, uint32_t start) {
    Node *node = parser_node(parser, kind, element->span);
    if (element->kind == NODE_STARRED) parser_fail(parser, element->span, "SyntaxError: iterable unpacking cannot be used in comprehension");
    node->comprehension.element = element;
    node->comprehension.value = value;
    parse_comprehension_clauses(parser, node);
    node->span = parser_span_from(parser, start);
    return node;
}

static void check_closing(Parser *parser, TokenKind close, Node *last) {
    if (parser_kind(parser) == close) return;
    if (last) check_stray_equal(parser, last);
    if (last) check_forgotten_comma(parser);
    parser_fail_here(parser);
}

/* Items after the first, each behind a comma; at the closing bracket when done. */
static void parse_items(Parser *parser, NodeList *items, TokenKind close) {
    while (parser_accept(parser, TOKEN_COMMA)) {
        if (parser_kind(parser) == close) break;
        parser_push(parser, items, parse_list_item(parser));
    }
    if (at_comprehension(parser) && items->count > 1 && close != TOKEN_RPAR)
        parser_fail(parser, span_join(items->at[0]->span, items->at[items->count - 1]->span),
                    "SyntaxError: did you forget parentheses around the comprehension target?");
    check_closing(parser, close, vec_last(items));
}

static Node *parse_list(Parser *parser) {
    uint32_t start = parser_take(parser).span.start;
    Node *node = parser_node(parser, NODE_LIST, parser_span_from(parser, start));
    if (parser_kind(parser) != TOKEN_RSQB) {
        Node *first = parse_list_item(parser);
        if (at_comprehension(parser)) {
            node = parse_comprehension(parser, NODE_LIST_COMP, first, NULL, start);
            check_closing(parser, TOKEN_RSQB, NULL);
        } else {
            parser_push(parser, &node->collection.items, first);
            parse_items(parser, &node->collection.items, TOKEN_RSQB);
        }
    }
    parser_expect(parser, TOKEN_RSQB);
    node->span = parser_span_from(parser, start);
    return node;
}

static Node *parse_group(Parser *parser, Node *first) {
    check_closing(parser, TOKEN_RPAR, first);
    if (first->kind == NODE_STARRED) parser_fail(parser, first->span, "SyntaxError: cannot use starred expression here");
    parser_take(parser);
    first->parenthesized = true;
    return first;
}

static Node *parse_parenthesized(Parser *parser) {
    uint32_t start = parser_take(parser).span.start;
    Node *node = parser_node(parser, NODE_TUPLE, parser_span_from(parser, start));
    if (parser_kind(parser) == TOKEN_DOUBLE_STAR) parser_fail(parser, parser_here(parser), "SyntaxError: cannot use double starred expression here");
    if (parser_kind(parser) == TOKEN_YIELD) return parse_group(parser, parse_yield(parser));
    if (parser_kind(parser) != TOKEN_RPAR) {
        Node *first = parse_list_item(parser);
        if (at_comprehension(parser)) {
            node = parse_comprehension(parser, NODE_GENERATOR, first, NULL, start);
            check_closing(parser, TOKEN_RPAR, NULL);
        } else if (parser_kind(parser) != TOKEN_COMMA) {
            return parse_group(parser, first);
        } else {
            parser_push(parser, &node->collection.items, first);
            parse_items(parser, &node->collection.items, TOKEN_RPAR);
        }
    }
    parser_expect(parser, TOKEN_RPAR);
    node->span = parser_span_from(parser, start);
    node->parenthesized = true;
    return node;
}

static void parse_value(Parser *parser, Node *dict, Node *key) {
    if (parser_kind(parser) != TOKEN_COLON) {
        check_forgotten_comma(parser);
        parser_fail(parser, key->span, "SyntaxError: ':' expected after dictionary key");
    }
    Span colon = parser_take(parser).span;
    TokenKind kind = parser_kind(parser);
    if (kind == TOKEN_RBRACE || kind == TOKEN_COMMA) parser_fail(parser, colon, "SyntaxError: expression expected after dictionary key and ':'");
    if (kind == TOKEN_STAR) parser_fail(parser, parser_here(parser), "SyntaxError: cannot use a starred expression in a dictionary value");
    parser_push(parser, &dict->collection.items, key);
    parser_push(parser, &dict->collection.values, parse_expression(parser));
}

/* One "key: value" or "**mapping". */
static void parse_pair(Parser *parser, Node *dict) {
    if (parser_accept(parser, TOKEN_DOUBLE_STAR)) {
        parser_push(parser, &dict->collection.items, NULL);
        parser_push(parser, &dict->collection.values, parse_bitwise(parser));
    } else {
        parse_value(parser, dict, parse_expression(parser));
    }
}

/* Behind the first pair. */
static Node *parse_dict(Parser *parser, Node *dict, uint32_t start) {
    if (at_comprehension(parser)) {
        if (!dict->collection.items.at[0])
            parser_fail(parser, parser_here(parser), "SyntaxError: dict unpacking cannot be used in dict comprehension");
        Node *node = parse_comprehension(parser, NODE_DICT_COMP, dict->collection.items.at[0], dict->collection.values.at[0], start);
        check_closing(parser, TOKEN_RBRACE, NULL);
        return node;
    }
    while (parser_accept(parser, TOKEN_COMMA) && parser_kind(parser) != TOKEN_RBRACE) parse_pair(parser, dict);
    check_closing(parser, TOKEN_RBRACE, vec_last(&dict->collection.values));
    return dict;
}

static Node *parse_set(Parser *parser, Node *set, Node *first, uint32_t start) {
    if (at_comprehension(parser)) {
        Node *node = parse_comprehension(parser, NODE_SET_COMP, first, NULL, start);
        check_closing(parser, TOKEN_RBRACE, NULL);
        return node;
    }
    set->kind = NODE_SET;
    parser_push(parser, &set->collection.items, first);
    parse_items(parser, &set->collection.items, TOKEN_RBRACE);
    return set;
}

/* A dict or a set? Known once the first element is read. */
static Node *parse_braced(Parser *parser, Node *node, uint32_t start) {
    if (parser_kind(parser) == TOKEN_DOUBLE_STAR) {
        parse_pair(parser, node);
        return parse_dict(parser, node, start);
    }
    Node *first = parse_list_item(parser);
    if (parser_kind(parser) != TOKEN_COLON || first->kind == NODE_STARRED || (first->kind == NODE_WALRUS && !first->parenthesized))
        return parse_set(parser, node, first, start);
    parse_value(parser, node, first);
    return parse_dict(parser, node, start);
}

static Node *parse_braces(Parser *parser) {
    uint32_t start = parser_take(parser).span.start;
    Node *node = parser_node(parser, NODE_DICT, parser_span_from(parser, start));
    if (parser_kind(parser) != TOKEN_RBRACE) node = parse_braced(parser, node, start);
    parser_expect(parser, TOKEN_RBRACE);
    node->span = parser_span_from(parser, start);
    return node;
}

Node *parse_atom(Parser *parser) {
    switch (parser_kind(parser)) {
    case TOKEN_NAME: return parse_name(parser);
    case TOKEN_NUMBER: return parse_number(parser);
    case TOKEN_STRING: case TOKEN_FSTRING_START: return parse_strings(parser);
    case TOKEN_TRUE: return constant_node(parser, CONST_TRUE);
    case TOKEN_FALSE: return constant_node(parser, CONST_FALSE);
    case TOKEN_NONE: return constant_node(parser, CONST_NONE);
    case TOKEN_ELLIPSIS: return constant_node(parser, CONST_ELLIPSIS);
    case TOKEN_LPAR: return parse_parenthesized(parser);
    case TOKEN_LSQB: return parse_list(parser);
    case TOKEN_LBRACE: return parse_braces(parser);
    case TOKEN_AWAIT: parser_fail(parser, parser_here(parser), "unsupported: await expressions");
    default: parser_fail_here(parser);
    }
}

static Node *parse_attribute(Parser *parser, Node *value, uint32_t start) {
    parser_take(parser);
    if (parser_kind(parser) != TOKEN_NAME) parser_fail_here(parser);
    Token name = parser_take(parser);
    Node *node = parser_node(parser, NODE_ATTRIBUTE, parser_span_from(parser, start));
    node->left = value;
    node->name.id = name.name;
    node->name.id_span = name.span;
    return node;
}

static Node *parse_call(Parser *parser, Node *callee, uint32_t start) {
    parser_take(parser);
    Node *node = parser_node(parser, NODE_CALL, callee->span);
    node->left = callee;
    parse_arguments(parser, node);
    node->span = parser_span_from(parser, start);
    return node;
}

static Node *parse_subscript(Parser *parser, Node *container, uint32_t start) {
    parser_take(parser);
    Node *node = parser_node(parser, NODE_SUBSCRIPT, container->span);
    node->left = container;
    node->subscript.index = parse_subscripts(parser);
    check_closing(parser, TOKEN_RSQB, node->subscript.index);
    parser_take(parser);
    node->span = parser_span_from(parser, start);
    return fold_subscript(parser->session, node);
}

Node *parse_primary(Parser *parser) {
    uint32_t start = parser_here(parser).start;
    Node *node = parse_atom(parser);
    for (;;) {
        TokenKind kind = parser_kind(parser);
        if (kind == TOKEN_DOT) node = parse_attribute(parser, node, start);
        else if (kind == TOKEN_LPAR) node = parse_call(parser, node, start);
        else if (kind == TOKEN_LSQB) node = parse_subscript(parser, node, start);
        else return node;
    }
}
