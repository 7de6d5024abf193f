/* Scope: making scopes and adding names to them.
 *
 * In: the statement to compile. Out: its scopes, resolved.
 *
 *     scope_build(session, module, <def f(): …>)  ->  module piece's Scope; node->scope of the def is f's
 *
 * Invariant: symbols keep the order of their first appearance: the emitter's order of locals rests on it. */
#include "lang/scope.h"
#include <string.h>

static Scope *scope_new(LangSession *session, ScopeKind kind, Node *node) {
    Scope *scope = ARENA_NEW(session->arena, Scope);
    scope->kind = kind;
    scope->node = node;
    scope->symbols = map_new(session->arena);
    scope->directives = map_new(session->arena);
    return scope;
}

Scope *scope_module(LangSession *session) { return scope_new(session, SCOPE_MODULE, NULL); }

Symbol *scope_symbol(const Scope *scope, const char *name) { return map_get(scope->symbols, name); }

Place scope_place(const Scope *scope, const char *name) {
    const Symbol *symbol = scope_symbol(scope, name);
    return symbol ? symbol->place : PLACE_NONE;
}

const char *mangle_name(LangSession *session, const char *class_name, const char *name) {
    size_t length = strlen(name);
    if (!class_name || length < 3 || name[0] != '_' || name[1] != '_') return name;
    if ((name[length - 1] == '_' && name[length - 2] == '_') || strchr(name, '.')) return name;
    while (*class_name == '_') class_name++;
    return *class_name ? intern(session->names, arena_printf(session->arena, "_%s%s", class_name, name)) : name;
}

Scope *scope_enter(ScopeBuilder *builder, ScopeKind kind, Node *node) {
    Scope *scope = scope_new(builder->session, kind, node), *parent = builder->current;
    scope->parent = parent;
    if (parent) {
        scope->class_name = parent->class_name;
        scope->nested = parent->nested || scope_is_function(parent);
        vec_push_in(builder->session->arena, &parent->children, scope);
    }
    if (node) node->scope = scope;
    builder->current = scope;
    return scope;
}

void scope_leave(ScopeBuilder *builder) { builder->current = builder->current->parent; }

static void add_flags(ScopeBuilder *builder, Scope *scope, const char *name, int flags) {
    Symbol *symbol = scope_symbol(scope, name);
    if (!symbol) {
        symbol = ARENA_NEW(builder->session->arena, Symbol);
        symbol->name = name;
        map_put(scope->symbols, name, symbol);
    }
    symbol->flags |= flags;
}

void scope_add(ScopeBuilder *builder, const char *name, int flags, Span span) {
    Scope *scope = builder->current;
    name = mangle_name(builder->session, scope->class_name, name);
    const Symbol *symbol = scope_symbol(scope, name);
    int before = symbol ? symbol->flags : 0;
    Failure *failure = builder->session->failure;
    if ((flags & SYMBOL_PARAMETER) && (before & SYMBOL_PARAMETER))
        fail(failure, span, "SyntaxError: duplicate argument '%s' in function definition", name);
    if ((flags & SYMBOL_BOUND) && strcmp(name, "__debug__") == 0) fail(failure, span, "SyntaxError: cannot assign to __debug__");
    if (scope->in_target && (flags & SYMBOL_LOCAL)) {
        if (before & (SYMBOL_GLOBAL | SYMBOL_NONLOCAL))
            fail(failure, span, "SyntaxError: comprehension inner loop cannot rebind assignment expression target '%s'", name);
        flags |= SYMBOL_ITERATION;
    }
    add_flags(builder, scope, name, flags);
}

Scope *scope_build(LangSession *session, Scope *top, Node *statement) {
    Scope *piece = scope_new(session, SCOPE_MODULE, NULL);
    ScopeBuilder builder = {session, piece};
    scope_visit_statement(&builder, statement);
    builder.current = top;
    for (int i = 0; i < map_count(piece->symbols); i++) {
        const Symbol *symbol = map_at(piece->symbols, i).value;
        add_flags(&builder, top, symbol->name, symbol->flags);
    }
    scope_resolve(session, piece);
    return piece;
}

Scope *scope_build_expression(LangSession *session, const char **params, int param_count, Node *expression) {
    ScopeBuilder builder = {session, scope_module(session)};
    Scope *top = builder.current, *function = scope_enter(&builder, SCOPE_FUNCTION, NULL);
    for (int i = 0; i < param_count; i++) scope_add(&builder, params[i], SYMBOL_PARAMETER, expression->span);
    scope_visit_expression(&builder, expression);
    scope_resolve(session, top);
    return function;
}
