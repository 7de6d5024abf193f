/* Scope resolve: from flags to places: which bound names become cells, which used names are free or global.
 *
 * In: the scopes of one top-level statement, visited. Out: `place` of every symbol; free names handed inwards and outwards.
 *
 *     def f():            a is bound in f and free in g: a CELL of f
 *         a = 1
 *         def g(): return a
 *
 * Invariant: a set is a Map whose absent and removed names have no value. Depth is that of nested scopes, which the
 * parser bounds. The order of the work is that of CPython's symbol table, since inlining a comprehension depends on it. */
#include "lang/scope.h"

/* A set of names laid over another one, which it does not change: scopes see their surroundings without a copy. A name without
 * a value is not in the set, though it be in the one below. */
typedef struct Names Names;
struct Names { Map *own; const Names *below; };
/* Names bound in the functions round a scope; names that it and its children need from there. */
typedef struct Sets { Names bound; Map *free; } Sets;

static void set_add(Map *set, const char *name) { map_put(set, name, (void *)(uintptr_t)name); }
static void set_discard(Map *set, const char *name) {
    if (map_get(set, name)) map_put(set, name, NULL);
}
static bool set_has(const Map *set, const char *name) { return map_get(set, name) != NULL; }

static void set_update(Map *set, const Map *other) {
    for (int i = 0; i < map_count(other); i++)
        if (map_at(other, i).value) set_add(set, map_at(other, i).key);
}

static Names names_over(LangSession *session, const Names *below) { return (Names){map_new(session->arena), below}; }

static bool names_have(const Names *names, const char *name) {
    for (; names; names = names->below)
        if (map_has(names->own, name)) return map_get(names->own, name) != NULL;
    return false;
}

static void names_discard(Names *names, const char *name) {
    if (names_have(names, name)) map_put(names->own, name, NULL);
}

static _Noreturn void fail_directive(LangSession *session, const Scope *scope, const Symbol *symbol, const char *format) {
    const Node *directive = map_get(scope->directives, symbol->name);
    fail(session->failure, directive ? directive->span : (Span){0}, format, symbol->name);
}

static void resolve_global(LangSession *session, const Scope *scope, Symbol *symbol, Sets *outer) {
    if (symbol->flags & SYMBOL_NONLOCAL) fail_directive(session, scope, symbol, "SyntaxError: name '%s' is nonlocal and global");
    symbol->place = PLACE_GLOBAL_EXPLICIT;
    names_discard(&outer->bound, symbol->name);
}

static void resolve_nonlocal(LangSession *session, const Scope *scope, Symbol *symbol, Sets *outer) {
    if (scope->kind == SCOPE_MODULE) fail_directive(session, scope, symbol, "SyntaxError: nonlocal declaration not allowed at module level");
    if (!names_have(&outer->bound, symbol->name)) fail_directive(session, scope, symbol, "SyntaxError: no binding for nonlocal '%s' found");
    symbol->place = PLACE_FREE;
    set_add(outer->free, symbol->name);
}

static void resolve_symbol(LangSession *session, const Scope *scope, Symbol *symbol, Map *local, Sets *outer) {
    if (symbol->flags & SYMBOL_GLOBAL) {
        resolve_global(session, scope, symbol, outer);
    } else if (symbol->flags & SYMBOL_NONLOCAL) {
        resolve_nonlocal(session, scope, symbol, outer);
    } else if (symbol->flags & SYMBOL_BOUND) {
        symbol->place = PLACE_LOCAL;
        set_add(local, symbol->name);
    } else if (names_have(&outer->bound, symbol->name)) {
        symbol->place = PLACE_FREE;
        set_add(outer->free, symbol->name);
    } else {
        symbol->place = PLACE_GLOBAL_IMPLICIT;
    }
}

static bool free_in_child(const Scope *scope, const char *name) {
    for (int i = 0; i < scope->children.count; i++)
        if (scope_place(scope->children.at[i], name) == PLACE_FREE) return true;
    return false;
}

/* The names of an inlined comprehension join those of the scope round it. */
static void inline_comprehension(LangSession *session, Scope *scope, Scope *comprehension, Map *child_free, Map *inlined_cells) {
    comprehension->inlined = true;
    for (int i = 0; i < map_count(comprehension->symbols); i++) {
        Symbol *symbol = map_at(comprehension->symbols, i).value;
        if (symbol->flags & SYMBOL_PARAMETER) continue;
        if (symbol->place == PLACE_CELL || (symbol->flags & SYMBOL_COMPREHENSION_CELL)) set_add(inlined_cells, symbol->name);
        Symbol *existing = scope_symbol(scope, symbol->name);
        if (!existing) {
            existing = ARENA_NEW(session->arena, Symbol);
            *existing = *symbol;
            map_put(scope->symbols, symbol->name, existing);
        } else if ((existing->flags & SYMBOL_BOUND) && !free_in_child(comprehension, symbol->name) && scope->kind != SCOPE_CLASS) {
            set_discard(child_free, symbol->name); /* a plain local after all */
        }
    }
}

/* Children of inlined comprehensions become children of the scope itself. */
static void splice_children(LangSession *session, Scope *scope) {
    int count = scope->children.count;
    Scope **children = scope->children.at;
    scope->children.at = NULL;
    scope->children.count = scope->children.capacity = 0;
    for (int i = 0; i < count; i++) {
        if (!children[i]->inlined) {
            vec_push_in(session->arena, &scope->children, children[i]);
            continue;
        }
        for (int k = 0; k < children[i]->children.count; k++) vec_push_in(session->arena, &scope->children, children[i]->children.at[k]);
    }
}

static void resolve_cells(Scope *scope, Map *free, const Map *inlined_cells) {
    for (int i = 0; i < map_count(scope->symbols); i++) {
        Symbol *symbol = map_at(scope->symbols, i).value;
        if (symbol->place != PLACE_LOCAL || !(set_has(free, symbol->name) || set_has(inlined_cells, symbol->name))) continue;
        symbol->place = PLACE_CELL;
        set_discard(free, symbol->name);
    }
}

/* Names free in this scope's children pass through it, unless the scope already has them. */
static void pass_free(LangSession *session, Scope *scope, const Map *free, const Names *bound) {
    for (int i = 0; i < map_count(free); i++) {
        const char *name = map_at(free, i).key;
        if (!map_at(free, i).value) continue;
        Symbol *symbol = scope_symbol(scope, name);
        if (symbol) {
            if (scope->kind == SCOPE_CLASS && (symbol->flags & (SYMBOL_BOUND | SYMBOL_GLOBAL))) symbol->flags |= SYMBOL_FREE_CLASS;
        } else if (names_have(bound, name)) {
            symbol = ARENA_NEW(session->arena, Symbol);
            *symbol = (Symbol){name, 0, PLACE_FREE};
            map_put(scope->symbols, name, symbol);
        }
    }
}

static Map *resolve_scope(LangSession *session, Scope *scope, const Sets *outer);

static void resolve_children(LangSession *session, Scope *scope, const Sets *inner, Map *inlined_cells) {
    for (int i = 0; i < scope->children.count; i++) {
        Scope *child = scope->children.at[i];
        Map *free = resolve_scope(session, child, inner);
        if (child->comprehension && !child->generator_expression) inline_comprehension(session, scope, child, free, inlined_cells);
        set_update(inner->free, free);
    }
    splice_children(session, scope);
}

static void mark_comprehension_cells(Scope *scope, const Map *inlined_cells) {
    for (int i = 0; i < map_count(scope->symbols); i++) {
        Symbol *symbol = map_at(scope->symbols, i).value;
        if (set_has(inlined_cells, symbol->name)) symbol->flags |= SYMBOL_COMPREHENSION_CELL;
    }
}

/* What this scope's children see. A class's own names are not seen from its methods. */
static Sets inner_sets(LangSession *session, const Scope *scope, const Sets *outer, const Sets *own, const Map *local) {
    const Sets *seen = scope->kind == SCOPE_CLASS ? outer : own;
    Sets inner = {names_over(session, &seen->bound), map_new(session->arena)};
    if (scope->kind == SCOPE_CLASS) set_add(inner.bound.own, intern(session->names, "__class__"));
    if (scope_is_function(scope)) set_update(inner.bound.own, local);
    return inner;
}

/* Returns the names that the scope needs from outside. */
static Map *resolve_scope(LangSession *session, Scope *scope, const Sets *outer) {
    const char *class_cell = intern(session->names, "__class__");
    Map *local = map_new(session->arena), *inlined_cells = map_new(session->arena);
    Sets own = {names_over(session, &outer->bound), map_new(session->arena)};
    for (int i = 0; i < map_count(scope->symbols); i++) resolve_symbol(session, scope, map_at(scope->symbols, i).value, local, &own);
    Sets inner = inner_sets(session, scope, outer, &own, local);
    resolve_children(session, scope, &inner, inlined_cells);
    if (scope_is_function(scope)) resolve_cells(scope, inner.free, inlined_cells);
    if (scope->kind == SCOPE_CLASS && set_has(inner.free, class_cell)) {
        scope->needs_class_cell = true;
        set_discard(inner.free, class_cell);
    }
    mark_comprehension_cells(scope, inlined_cells);
    pass_free(session, scope, inner.free, &own.bound);
    set_update(own.free, inner.free);
    return own.free;
}

void scope_resolve(LangSession *session, Scope *top) {
    Sets outside = {names_over(session, NULL), map_new(session->arena)};
    resolve_scope(session, top, &outside);
}
