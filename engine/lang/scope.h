/* Scope: what each name of a function, class body or comprehension is: local, cell, free, global.
 *
 * In: AST statements. Out: a Scope on every node that opens one, with a Symbol for each name in it.
 *
 *     def f(a):            f: a is a CELL (captured), g LOCAL
 *         def g(): return a + b        g: a FREE, b GLOBAL_IMPLICIT
 *
 * Comprehensions other than generator expressions are inlined (PEP 709): their names join the outer scope's.
 *
 * Invariant: after scope_build every symbol has its place, and errors of declarations have been raised.
 * To add a node kind: its case in scope_visit.c. */
#ifndef VITRINE_LANG_SCOPE_H
#define VITRINE_LANG_SCOPE_H
#include "base/map.h"
#include "lang/ast.h"

typedef enum ScopeKind { SCOPE_MODULE, SCOPE_CLASS, SCOPE_FUNCTION } ScopeKind;
typedef enum Place { PLACE_NONE, PLACE_LOCAL, PLACE_GLOBAL_EXPLICIT, PLACE_GLOBAL_IMPLICIT, PLACE_FREE, PLACE_CELL } Place;

enum {
    SYMBOL_GLOBAL = 1, SYMBOL_LOCAL = 2, SYMBOL_PARAMETER = 4, SYMBOL_NONLOCAL = 8, SYMBOL_USE = 16,
    SYMBOL_ANNOTATED = 32,
    SYMBOL_IMPORT = 64,
    SYMBOL_ITERATION = 128,        /* target of a comprehension's for */
    SYMBOL_FREE_CLASS = 256,       /* a class's own name that its methods capture from outside the class */
    SYMBOL_COMPREHENSION_CELL = 512,
    SYMBOL_BOUND = SYMBOL_LOCAL | SYMBOL_PARAMETER | SYMBOL_IMPORT
};

typedef struct Symbol { const char *name; int flags; Place place; } Symbol;

struct Scope {
    ScopeKind kind;
    Scope *parent;
    const Node *node;
    const char *class_name;        /* innermost class, for the mangling of __private names; NULL outside */
    Map *symbols;                  /* name -> Symbol, in order of appearance */
    VEC(Scope *) children;
    Map *directives;               /* name -> the global or nonlocal statement's Node */
    bool nested, generator, comprehension, generator_expression, inlined, needs_class_cell;
    bool in_iterable, in_target;   /* while visiting a comprehension's clauses */
};

/* Scopes of one top-level statement, with a module scope round it. `top` gathers the flags of the module's names over all
 * statements of one text: its imports decide the form of calls. */
Scope *scope_build(LangSession *session, Scope *top, Node *statement);
Scope *scope_module(LangSession *session);
/* A function scope with these parameters round one expression. */
Scope *scope_build_expression(LangSession *session, const char **params, int param_count, Node *expression);

Symbol *scope_symbol(const Scope *scope, const char *name); /* NULL when the name does not occur */
Place scope_place(const Scope *scope, const char *name);
static inline bool scope_is_function(const Scope *scope) { return scope->kind == SCOPE_FUNCTION; }
/* __name in a class body becomes _Class__name. */
const char *mangle_name(LangSession *session, const char *class_name, const char *name);

/* Between scope_visit.c (which names are bound and used where) and scope.c (what follows from it). */
typedef struct ScopeBuilder { LangSession *session; Scope *current; } ScopeBuilder;
void scope_visit_statement(ScopeBuilder *builder, Node *node);
void scope_visit_expression(ScopeBuilder *builder, Node *node);
void scope_add(ScopeBuilder *builder, const char *name, int flags, Span span);
Scope *scope_enter(ScopeBuilder *builder, ScopeKind kind, Node *node);
void scope_leave(ScopeBuilder *builder);
void scope_resolve(LangSession *session, Scope *top); /* scope_resolve.c */
#endif
