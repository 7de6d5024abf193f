/* Parse definitions: def, class, lambda, parameters, decorators.
 *
 * In: tokens at `def`, `class`, `lambda`, '@'. Out: their nodes.
 *
 *     "def f(a, /, b=1, *c, d, **e): …"  ->  DEF {positional [a, b=1], posonly 1, varargs c, keyword_only [d], varkeywords e}
 *
 * Invariant: annotations are parsed and kept, though only those of class fields mean anything later. */
#include "lang/parser.h"
#include <string.h>

static Parameter parse_parameter(Parser *parser, bool annotated) {
    if (parser_kind(parser) == TOKEN_LPAR)
        parser_fail(parser, parser_here(parser), "SyntaxError: %s parameters cannot be parenthesized", annotated ? "Function" : "Lambda expression");
    if (parser_kind(parser) != TOKEN_NAME) parser_fail_here(parser);
    Token name = parser_take(parser);
    Parameter parameter = {.name = name.name, .span = name.span};
    if (annotated && parser_accept(parser, TOKEN_COLON)) parameter.annotation = parse_expression(parser);
    parameter.span = parser_span_from(parser, name.span.start);
    return parameter;
}

static void parse_default(Parser *parser, Parameter *parameter, TokenKind end) {
    if (parser_kind(parser) != TOKEN_EQUAL) return;
    Span equal = parser_take(parser).span;
    if (parser_kind(parser) == end || parser_kind(parser) == TOKEN_COMMA)
        parser_fail(parser, equal, "SyntaxError: expected default value expression");
    parameter->initial = parse_expression(parser);
}

static void add_positional(Parser *parser, Parameters *parameters, TokenKind end, bool annotated) {
    Parameter parameter = parse_parameter(parser, annotated);
    parse_default(parser, &parameter, end);
    int count = parameters->positional.count;
    if (!parameter.initial && count && parameters->positional.at[count - 1].initial)
        parser_fail(parser, parameter.span, "SyntaxError: parameter without a default follows parameter with a default");
    vec_push_in(parser->arena, &parameters->positional, parameter);
}

/* "*args: *Ts" has a starred annotation. */
static Parameter parse_varargs(Parser *parser, bool annotated) {
    bool starred = annotated && parser_kind_after(parser, 1) == TOKEN_COLON && parser_kind_after(parser, 2) == TOKEN_STAR;
    if (!starred) return parse_parameter(parser, annotated);
    Token name = parser_take(parser);
    parser_take(parser);
    return (Parameter){.name = name.name, .span = name.span, .annotation = parse_list_item(parser)};
}

static void parse_star(Parser *parser, Parameters *parameters, TokenKind end, bool annotated, bool *starred) {
    Span star = parser_take(parser).span;
    if (*starred) parser_fail(parser, star, "SyntaxError: * argument may appear only once");
    *starred = true;
    if (parser_kind(parser) == TOKEN_NAME) {
        parameters->varargs = parse_varargs(parser, annotated);
        if (parser_kind(parser) == TOKEN_EQUAL)
            parser_fail(parser, parser_here(parser), "SyntaxError: var-positional argument cannot have default value");
        return;
    }
    bool named = parser_kind(parser) == TOKEN_COMMA && parser_kind_after(parser, 1) != end && parser_kind_after(parser, 1) != TOKEN_DOUBLE_STAR;
    if (!named) parser_fail(parser, star, "SyntaxError: named arguments must follow bare *");
}

static void parse_slash(Parser *parser, Parameters *parameters, bool starred) {
    Span slash = parser_take(parser).span;
    if (parameters->posonly) parser_fail(parser, slash, "SyntaxError: / may appear only once");
    if (starred) parser_fail(parser, slash, "SyntaxError: / must be ahead of *");
    if (!parameters->positional.count) parser_fail(parser, slash, "SyntaxError: at least one argument must precede /");
    parameters->posonly = parameters->positional.count;
}

static void parse_varkeywords(Parser *parser, Parameters *parameters, TokenKind end, bool annotated) {
    parser_take(parser);
    parameters->varkeywords = parse_parameter(parser, annotated);
    if (parser_kind(parser) == TOKEN_EQUAL) parser_fail(parser, parser_here(parser), "SyntaxError: var-keyword argument cannot have default value");
    if (parser_accept(parser, TOKEN_COMMA) && parser_kind(parser) != end)
        parser_fail(parser, parser_here(parser), "SyntaxError: arguments cannot follow var-keyword argument");
}

static void add_keyword_only(Parser *parser, Parameters *parameters, TokenKind end, bool annotated) {
    Parameter parameter = parse_parameter(parser, annotated);
    parse_default(parser, &parameter, end);
    vec_push_in(parser->arena, &parameters->keyword_only, parameter);
}

/* Up to `end`, which is not taken. */
Parameters *parse_parameters(Parser *parser, TokenKind end, bool annotated) {
    Parameters *parameters = ARENA_NEW(parser->arena, Parameters);
    bool starred = false;
    while (parser_kind(parser) != end) {
        TokenKind kind = parser_kind(parser);
        if (kind == TOKEN_STAR) parse_star(parser, parameters, end, annotated, &starred);
        else if (kind == TOKEN_SLASH) parse_slash(parser, parameters, starred);
        else if (kind == TOKEN_DOUBLE_STAR) {
            parse_varkeywords(parser, parameters, end, annotated);
            break;
        } else if (starred) add_keyword_only(parser, parameters, end, annotated);
        else add_positional(parser, parameters, end, annotated);
        if (!parser_accept(parser, TOKEN_COMMA)) break;
    }
    return parameters;
}

Node *parse_lambda(Parser *parser) {
    uint32_t start = parser_here(parser).start;
    parser_enter(parser);
    parser_take(parser);
    Parameters *parameters = parse_parameters(parser, TOKEN_COLON, false);
    parser_expect(parser, TOKEN_COLON);
    Node *body = parse_expression(parser);
    parser_leave(parser);
    Node *node = parser_node(parser, NODE_LAMBDA, parser_span_from(parser, start));
    node->lambda.parameters = parameters;
    node->lambda.body = body;
    return node;
}

/* The first statement's string, when it is a plain literal. It stays in the body; the emitter passes over it. */
static const char *docstring(const NodeList *body) {
    const Node *first = body->at[0];
    bool text = first->kind == NODE_EXPRESSION && first->left->kind == NODE_CONST && first->left->constant.kind == CONST_STR && !first->left->original;
    return text ? first->left->constant.s.text : NULL;
}

static Token parse_definition_name(Parser *parser) {
    if (parser_kind(parser) != TOKEN_NAME) parser_fail_here(parser);
    Token name = parser_take(parser);
    if (parser_kind(parser) == TOKEN_LSQB) parser_fail(parser, parser_here(parser), "unsupported: type parameters");
    return name;
}

Node *parse_def(Parser *parser, const NodeList *decorators) {
    Token keyword = parser_take(parser), name = parse_definition_name(parser);
    Node *node = parser_node(parser, NODE_DEF, keyword.span);
    if (decorators) node->definition.decorators = *decorators;
    node->definition.name = name.name;
    if (parser_kind(parser) != TOKEN_LPAR) parser_fail(parser, parser_here(parser), "SyntaxError: expected '('");
    parser_take(parser);
    node->definition.parameters = parse_parameters(parser, TOKEN_RPAR, true);
    parser_expect(parser, TOKEN_RPAR);
    if (parser_accept(parser, TOKEN_ARROW)) node->definition.returns = parse_expression(parser);
    node->definition.body = parse_block(parser, "function definition", span_line(keyword.span));
    node->definition.doc = docstring(&node->definition.body);
    node->span = parser_block_span(parser, keyword.span.start);
    return node;
}

Node *parse_class(Parser *parser, const NodeList *decorators) {
    Token keyword = parser_take(parser), name = parse_definition_name(parser);
    Node *node = parser_node(parser, NODE_CLASS, keyword.span);
    Node *bases = parser_node(parser, NODE_CALL, name.span);
    if (decorators) node->definition.decorators = *decorators;
    node->definition.name = name.name;
    if (parser_accept(parser, TOKEN_LPAR)) parse_arguments(parser, bases);
    node->definition.bases = bases->call.arguments;
    node->definition.keywords = bases->call.keywords;
    node->definition.future_annotations = parser->future_annotations;
    node->definition.body = parse_block(parser, "class definition", span_line(keyword.span));
    node->definition.doc = docstring(&node->definition.body);
    node->span = parser_block_span(parser, keyword.span.start);
    return node;
}

Node *parse_decorated(Parser *parser) {
    NodeList decorators = {0};
    while (parser_accept(parser, TOKEN_AT)) {
        parser_push(parser, &decorators, parse_named(parser));
        if (!parser_accept(parser, TOKEN_NEWLINE)) parser_fail_here(parser);
    }
    if (parser_kind(parser) == TOKEN_DEF) return parse_def(parser, &decorators);
    if (parser_kind(parser) == TOKEN_CLASS) return parse_class(parser, &decorators);
    if (parser_kind(parser) == TOKEN_ASYNC) parser_fail(parser, parser_here(parser), "unsupported: async functions");
    parser_fail_here(parser);
}
