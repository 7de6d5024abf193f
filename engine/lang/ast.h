/* AST: what the parser makes and the emitter reads: Python's own tree, with constants folded.
 *
 *     x = a.b(1) + 2   ->   ASSIGN {targets [NAME x]} BINARY + {left CALL {left ATTRIBUTE b {left NAME a}, [CONST 1]}, right CONST 2}
 *
 * `left` is the operand that is evaluated first in kinds that chain to the left without bound (a+b+c…, a.b().c[0]…). Passes
 * walk that spine with a loop (ast_spine_base and `up`); all other nesting is bounded by the parser's depth limit.
 *
 * Invariant: read-only once parsed, but for `context` (set when an expression turns out to be a target), `up` (scratch of one
 * walk) and scopes (set by scope.c). Nodes and lists live in the session's arena.
 * To add a kind: a name here, its case in scope.c and in an emit file. */
#ifndef VITRINE_LANG_AST_H
#define VITRINE_LANG_AST_H
#include "base/vec.h"
#include "lang/code.h"

typedef enum NodeKind {
    NODE_CONST, NODE_NAME, NODE_ATTRIBUTE, NODE_SUBSCRIPT, NODE_SLICE, NODE_CALL, NODE_KEYWORD, NODE_STARRED,
    NODE_UNARY, NODE_BINARY, NODE_BOOL, NODE_COMPARE, NODE_CONDITIONAL, NODE_WALRUS, NODE_LAMBDA,
    NODE_TUPLE, NODE_LIST, NODE_SET, NODE_DICT,
    NODE_LIST_COMP, NODE_SET_COMP, NODE_DICT_COMP, NODE_GENERATOR, /* in this order */
    NODE_FSTRING, NODE_FORMATTED, NODE_YIELD, NODE_YIELD_FROM,
    NODE_EXPRESSION, NODE_ASSIGN, NODE_AUG_ASSIGN, NODE_ANN_ASSIGN, NODE_RETURN, NODE_DELETE, NODE_PASS, NODE_BREAK, NODE_CONTINUE,
    NODE_GLOBAL, NODE_NONLOCAL, NODE_RAISE, NODE_ASSERT, NODE_IMPORT, NODE_IMPORT_FROM,
    NODE_IF, NODE_WHILE, NODE_FOR, NODE_TRY, NODE_WITH, NODE_DEF, NODE_CLASS
} NodeKind;

typedef enum Context { CONTEXT_LOAD, CONTEXT_STORE, CONTEXT_DELETE } Context;
typedef enum UnaryOp { UNARY_NEGATE, UNARY_PLUS, UNARY_INVERSE, UNARY_LOGICAL_NOT } UnaryOp;
/* CompareOp's numbers, then the comparisons that are opcodes of their own. */
enum { COMPARE_IS = 6, COMPARE_IS_NOT, COMPARE_IN, COMPARE_NOT_IN };

typedef struct Node Node;
typedef struct Scope Scope;
typedef VEC(Node *) NodeList;

typedef struct Parameter { const char *name; Span span; Node *annotation, *initial; } Parameter;
typedef struct Parameters {
    VEC(Parameter) positional; /* the first `posonly` of them by position only; defaults (`initial`) at the end */
    int posonly;
    VEC(Parameter) keyword_only;
    Parameter varargs, varkeywords; /* name NULL: absent */
} Parameters;

typedef struct Generator { Node *target, *iterable; NodeList conditions; bool is_async; } Generator;
typedef struct Alias { const char *name, *as; Span span; } Alias;        /* "a.b as c"; `as` NULL when absent */
typedef struct Handler { Node *type; const char *name; NodeList body; Span span; } Handler; /* type NULL: bare except */
typedef struct WithItem { Node *manager, *target; } WithItem;

struct Node {
    NodeKind kind;
    Context context;     /* NAME, ATTRIBUTE, SUBSCRIPT, STARRED, TUPLE, LIST */
    bool parenthesized;
    Span span;           /* Python's: without parentheses, but for a tuple's and a generator's own */
    Node *left, *up;
    Node *original;      /* CONST, FSTRING: what was folded to it, for messages and for targets; else NULL */
    Scope *scope;        /* DEF, CLASS, LAMBDA, comprehensions */
    union {
        Const constant;
        struct { const char *id; Span id_span; } name;                     /* NAME, ATTRIBUTE, KEYWORD (NULL: **) */
        struct { int op; Node *right; } operation;                         /* UNARY (left), BINARY, AUG_ASSIGN (left: target) */
        struct { bool is_or; NodeList values; } boolean;
        struct { NodeList operands; int *ops; } compare;                   /* one op fewer than operands */
        struct { Node *test, *yes, *no; } conditional;
        struct { Node *target, *value; } walrus;                           /* also ANN_ASSIGN, with its annotation in left */
        struct { NodeList arguments, keywords; } call;                     /* callee in left */
        struct { Node *index; } subscript;                                 /* container in left */
        struct { Node *lower, *upper, *step; } slice;
        struct { NodeList items, values; } collection;                     /* DICT: items are keys, NULL for ** */
        struct { Node *element, *value; VEC(Generator) generators; } comprehension; /* value: DICT_COMP's */
        NodeList fstring;
        struct { char conversion; Node *spec; } formatted;                 /* value in left; conversion 0, s, r, a */
        struct { Parameters *parameters; Node *body; } lambda;
        struct { NodeList targets; Node *value; } assign;                  /* also DELETE */
        struct { Node *cause; } raise;                                     /* exception in left; also ASSERT's message */
        struct { VEC(Alias) aliases; const char *module; int level; } import; /* IMPORT_FROM "*": one alias "*" */
        struct { VEC(const char *) ids; } names;                           /* GLOBAL, NONLOCAL */
        struct { NodeList body, orelse; Node *target; } block;             /* IF, WHILE (test in left), FOR (iterable in left) */
        struct { NodeList body, orelse, finally; VEC(Handler) handlers; } try_block;
        struct { VEC(WithItem) items; NodeList body; } with;
        struct {
            const char *name;
            NodeList decorators, body;
            Parameters *parameters;                                        /* DEF */
            NodeList bases, keywords;                                      /* CLASS */
            Node *returns;
            const char *doc;
            bool future_annotations; /* CLASS: `from __future__ import annotations` is in force */
        } definition;
    };
};

/* How a node is called in messages: "function call", "literal", "True", … (Python's words). */
const char *node_description(const Node *node);
/* The innermost node down the left spine of `node`; sets `up` of each node on the way, and NULL on `node`. */
Node *ast_spine_base(Node *node);
/* The value, when the node is a constant or a tuple of such. */
bool node_constant(Arena *arena, const Node *node, Const *value);

bool const_equal(const Const *a, const Const *b); /* same type and bits: 0 and False and 0.0 and -0.0 all differ */
bool const_truth(const Const *value);
Const const_copy(Arena *arena, const Const *value); /* deep, but for code and objects */

/* Folding, as the parser builds nodes (fold.c): the node given back is `node` itself when nothing folds. */
Node *fold_unary(LangSession *session, Node *node);
Node *fold_binary(LangSession *session, Node *node);
Node *fold_subscript(LangSession *session, Node *node);
bool fold_operation(LangSession *session, BinaryOp op, const Const *a, const Const *b, Const *result); /* fold_value.c */
Node *fold_percent(LangSession *session, Node *node); /* "…%s" % (a, b) to an f-string; NULL when it cannot be */
#endif
