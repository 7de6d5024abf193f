/* Parser: shared between the parse_*.c files.
 *
 * In: the tokens of a whole file. Out: AST statements; or fail() with Python's message at Python's place.
 *
 *     Parser parser = parser_open(session, file);
 *     NodeList statements = parse_file(&parser);
 *
 * Invariant: `at` stands on the first token not taken; functions named parse_X start on X's first token and end behind its
 * last. Recursion is bounded by `depth`; chains to the left are loops.
 * To add a statement: parse_statement.c; an operator: the table of parse_expression.c; an atom: parse_atom.c. */
#ifndef VITRINE_LANG_PARSER_H
#define VITRINE_LANG_PARSER_H
#include "lang/ast.h"
#include "lang/lex.h"
#include "lang/literal.h"

enum { PARSE_DEPTH_LIMIT = 500 };

typedef struct Parser {
    LangSession *session;
    Arena *arena;
    const SourceFile *file;
    VEC(Token) tokens;
    int at;
    int depth;
    bool trial;            /* parsing only to see whether it would: no search for a better message */
    bool future_annotations;
    Span unclosed;         /* innermost bracket that never closes; file NULL: none */
    Node *operand;         /* the disjunction parsed last, for "Perhaps you forgot a comma?" */
    VEC(CommandLine) comments; /* lines "#:…" at the margin; `before` is the index of the token that follows */
} Parser;

typedef struct Statements { NodeList list; VEC(CommandLine) commands; } Statements;

/* parse.c */
Parser parser_open(LangSession *session, const SourceFile *file);
void parser_read(Parser *parser);                /* lexes the file */
Statements parse_file(Parser *parser);           /* reads and parses it */
TokenKind parser_kind(const Parser *parser);
TokenKind parser_kind_after(const Parser *parser, int ahead);
Token parser_take(Parser *parser);
bool parser_accept(Parser *parser, TokenKind kind);
Token parser_expect(Parser *parser, TokenKind kind); /* or "invalid syntax" */
Span parser_here(const Parser *parser);
Span parser_span_from(const Parser *parser, uint32_t start); /* from there to the end of the token taken last */
Span parser_block_span(const Parser *parser, uint32_t start); /* the same, without line ends and dedents */
Node *parser_node(Parser *parser, NodeKind kind, Span span);
void parser_push(Parser *parser, NodeList *list, Node *node);
_Noreturn void parser_fail(Parser *parser, Span span, const char *format, ...) __attribute__((format(printf, 3, 4)));
_Noreturn void parser_fail_here(Parser *parser); /* "invalid syntax" at the present token, or something better known */
void parser_enter(Parser *parser);               /* counts nesting; fails when too deep */
void parser_leave(Parser *parser);
/* Would `body` parse from here? Leaves the position as it was; the node is kept when it would. */
Node *parser_try(Parser *parser, Node *(*body)(Parser *));

/* parse_expression.c */
Node *parse_expression(Parser *parser);          /* conditional or lambda */
Node *parse_named(Parser *parser);               /* expression, or name := expression */
Node *parse_star_expressions(Parser *parser);    /* a, *b, c: a tuple when there is a comma */
Node *parse_disjunction(Parser *parser);
Node *parse_bitwise(Parser *parser);             /* no comparison: what may stand before `in` in a for */
Node *parse_unary(Parser *parser);
Node *parse_list_item(Parser *parser);           /* named expression, or *bitwise */
Node *parse_yield(Parser *parser);
Node *parse_star_or_yield(Parser *parser);
bool starts_expression(TokenKind kind);
/* Inside brackets, where a comma or the end is due: complains when another expression follows. */
void check_forgotten_comma(Parser *parser);
/* An equals sign where none may stand: Python's guess at what was meant. */
void check_stray_equal(Parser *parser, Node *left);

/* parse_atom.c, parse_call.c, parse_string.c */
Node *parse_primary(Parser *parser);
Node *parse_atom(Parser *parser);
Node *parse_strings(Parser *parser);
void parse_arguments(Parser *parser, Node *call);  /* behind the '(' up to and with the ')' */
Node *parse_subscripts(Parser *parser);            /* behind the '[' up to the ']' */
Node *parse_comprehension(Parser *parser, NodeKind kind, Node *element, Node *value, uint32_t start);
void parse_comprehension_clauses(Parser *parser, Node *node);
bool at_comprehension(const Parser *parser);

/* parse_target.c */
Node *parse_targets(Parser *parser);             /* target list of `for` and comprehensions */
Node *parse_with_target(Parser *parser);
/* Checks that the expression can be a target, and sets the context down the tree; `hint`: "here. Maybe you meant '=='…". */
Node *make_target(Parser *parser, Node *node, Context context);

/* parse_statement.c, parse_simple.c, parse_compound.c, parse_definition.c */
void parse_statement(Parser *parser, NodeList *into);
void parse_simple_line(Parser *parser, NodeList *into);
Node *parse_simple(Parser *parser);
Node *parse_compound(Parser *parser);            /* NULL when the token starts none */
Node *parse_decorated(Parser *parser);
Node *parse_def(Parser *parser, const NodeList *decorators);
Node *parse_class(Parser *parser, const NodeList *decorators);
Parameters *parse_parameters(Parser *parser, TokenKind end, bool annotated);
Node *parse_lambda(Parser *parser);
/* ':' and its block; `after`: "'if' statement", "function definition"; `line`: of its keyword. */
NodeList parse_block(Parser *parser, const char *after, int line);
#endif
