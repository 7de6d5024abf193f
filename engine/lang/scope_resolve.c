/* Scope resolve: from flags to places: which bound names become cells, which used names are free or global.
 *
 * In: the scopes of one top-level statement, visited. Out: `place` of every symbol; free names handed inwards and outwards.
 *
 *     def f():            a is bound in f and free in g: a CELL of f
 *         a = 1
 *         def g(): return a
 *
 * Invariant: a set of names is a Map whose absent and removed names have no value. Depth is that of nested scopes, which the
 * parser bounds. The order of the work is that of CPython's symbol table, since inlining a comprehension depends on it. */
#include "lang/scope.h"

typedef struct Sets { Map *bound, *free, *global; } Sets;

static void set_add(Map *set, const char *name) { map_put(set, name, (void *)(uintptr_t)name); }
static void set_discard(Map *set, const char *name) {
    if (map_get(set, name)) map_put(set, name, NULL);
}
static bool set_has(const Map *set, const char *name) { return map_get(set, name) != NULL; }

static void set_update(Map *set, const Map *other) {
    for (int i = 0; i < map_count(other); i++)
        if (map_at(other, i).value) set_add(set, map_at(other, i).key);
}

static Map *set_copy(LangSession *session, const Map *other) {
    Map *set = map_new(session->arena);
    set_update(set, other);
    return set;
}

static _Noreturn void fail_directive(LangSession *session, const Scope *scope, const Symbol *symbol, const char *format) {
    const Node *directive = map_get(scope->directives, symbol->name);
    fail(session->failure, directive ? directive->span : (Span){0}, format, symbol->name);
}

static void resolve_global(LangSession *session, const Scope *scope, Symbol *symbol, Sets *outer) {
    if (symbol->flags & SYMBOL_NONLOCAL) fail_directive(session, scope, symbol, "SyntaxError: name '%s' is nonlocal and global");
    symbol->place = PLACE_GLOBAL_EXPLICIT;
    set_add(outer->global, symbol->name);
    set_discard(outer->bound, symbol->name);
}

static void resolve_nonlocal(LangSession *session, const Scope *scope, Symbol *symbol, Sets *outer) {
    if (scope->kind == SCOPE_MODULE) fail_directive(session, scope, symbol, "SyntaxError: nonlocal declaration not allowed at module level");
    if (!set_has(outer->bound, symbol->name)) fail_directive(session, scope, symbol, "SyntaxError: no binding for nonlocal '%s' found");
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
        set_discard(outer->global, symbol->name);
    } else if (set_has(outer->bound, symbol->name)) {
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
static void pass_free(LangSession *session, Scope *scope, const Map *free, const Map *bound) {
    for (int i = 0; i < map_count(free); i++) {
        const char *name = map_at(free, i).key;
        if (!map_at(free, i).value) continue;
        Symbol *symbol = scope_symbol(scope, name);
        if (symbol) {
            if (scope->kind == SCOPE_CLASS && (symbol->flags & (SYMBOL_BOUND | SYMBOL_GLOBAL))) symbol->flags |= SYMBOL_FREE_CLASS;
        } else if (set_has(bound, name)) {
            symbol = ARENA_NEW(session->arena, Symbol);
            *symbol = (Symbol){name, 0, PLACE_FREE};
            map_put(scope->symbols, name, symbol);
        }
    }
}

static void resolve_scope(LangSession *session, Scope *scope, Sets outer);

static void resolve_children(LangSession *session, Scope *scope, const Sets *inner, Map *inlined_cells) {
    for (int i = 0; i < scope->children.count; i++) {
        Scope *child = scope->children.at[i];
        Sets sets = {set_copy(session, inner->bound), map_new(session->arena), set_copy(session, inner->global)};
        resolve_scope(session, child, sets);
        if (child->comprehension && !child->generator_expression) inline_comprehension(session, scope, child, sets.free, inlined_cells);
        set_update(inner->free, sets.free);
    }
    splice_children(session, scope);
}

static void mark_comprehension_cells(Scope *scope, const Map *inlined_cells) {
    for (int i = 0; i < map_count(scope->symbols); i++) {
        Symbol *symbol = map_at(scope->symbols, i).value;
        if (set_has(inlined_cells, symbol->name)) symbol->flags |= SYMBOL_COMPREHENSION_CELL;
    }
}

/* `outer` is this scope's own copy of what is visible from outside; names it needs from there are added to outer.free. */
static void resolve_scope(LangSession *session, Scope *scope, Sets outer) {
    const char *class_cell = intern(session->names, "__class__");
    Map *local = map_new(session->arena), *inlined_cells = map_new(session->arena);
    Sets inner = {map_new(session->arena), map_new(session->arena), map_new(session->arena)};
    if (scope->kind == SCOPE_CLASS) { /* a class's own names are not seen from its methods */
        set_update(inner.global, outer.global);
        set_update(inner.bound, outer.bound);
    }
    for (int i = 0; i < map_count(scope->symbols); i++) resolve_symbol(session, scope, map_at(scope->symbols, i).value, local, &outer);
    if (scope->kind == SCOPE_CLASS) {
        set_add(inner.bound, class_cell);
    } else {
        if (scope_is_function(scope)) set_update(inner.bound, local);
        set_update(inner.bound, outer.bound);
        set_update(inner.global, outer.global);
    }
    resolve_children(session, scope, &inner, inlined_cells);
    if (scope_is_function(scope)) resolve_cells(scope, inner.free, inlined_cells);
    if (scope->kind == SCOPE_CLASS && set_has(inner.free, class_cell)) {
        scope->needs_class_cell = true;
        set_discard(inner.free, class_cell);
    }
    mark_comprehension_cells(scope, inlined_cells);
    pass_free(session, scope, inner.free, outer.bound);
    set_update(outer.free, inner.free);
}

void scope_resolve(LangSession *session, Scope *top) {
    resolve_scope(session, top, (Sets){map_new(session->arena), map_new(session->arena), map_new(session->arena)});
}
