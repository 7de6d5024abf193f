/* Emit comprehensions: inlined (list, set, dict: PEP 709), or a generator function of their own.
 *
 * In: comprehension nodes. Out: code that leaves the collection, or the generator.
 *
 *     [x for x in y]  ->  LOAD y; GET_ITER; LOAD_FAST_AND_CLEAR x; SWAP 2; BUILD_LIST 0; SWAP 2; FOR_ITER …; SWAP 2; STORE_FAST x
 *
 * Invariant: variables of an inlined comprehension that the scope round it has too are saved on the stack and put back,
 * on exceptions as well. */
#include "lang/emit.h"

/* What inlining changed, to be undone behind the comprehension. */
typedef struct Inlining {
    VEC(const char *) saved;      /* locals saved on the stack, in order */
    VEC(Symbol) replaced;         /* symbols of the scope as they were */
    VEC(const char *) hidden;     /* names that became fast locals of a module or class body */
    Block *cleanup, *end;
} Inlining;

static void emit_element(Emitter *emitter, Node *node, int depth) {
    Node *element = node->comprehension.element, *value = node->comprehension.value;
    emit_expression(emitter, element);
    switch (node->kind) {
    case NODE_LIST_COMP: emit_arg(emitter, OPCODE_LIST_APPEND, depth + 1, element->span); break;
    case NODE_SET_COMP: emit_arg(emitter, OPCODE_SET_ADD, depth + 1, element->span); break;
    case NODE_DICT_COMP:
        emit_expression(emitter, value);
        emit_arg(emitter, OPCODE_MAP_ADD, depth + 1, span_join(element->span, value->span));
        break;
    default:
        emit_yield_op(emitter, element->span);
        emit_op(emitter, OPCODE_POP_TOP, element->span);
        break;
    }
}

/* `for y in [f(x)]` is an assignment. */
static Node *single_item(Emitter *emitter, Node *iterable) {
    Const value;
    bool display = iterable->kind == NODE_LIST || iterable->kind == NODE_TUPLE;
    if (!display || iterable->collection.items.count != 1) return NULL;
    Node *item = iterable->collection.items.at[0];
    if (item->kind == NODE_STARRED || node_constant(emitter->session->arena, item, &value)) return NULL;
    return item;
}

static void emit_clauses(Emitter *emitter, Node *node, int index, int depth);

static void emit_clause_body(Emitter *emitter, Node *node, int index, int depth, Block *skip) {
    const Generator *generator = &node->comprehension.generators.at[index];
    emit_target(emitter, generator->target);
    for (int i = 0; i < generator->conditions.count; i++) emit_jump_if(emitter, generator->conditions.at[i], skip, false);
    if (index + 1 < node->comprehension.generators.count) emit_clauses(emitter, node, index + 1, depth);
    else emit_element(emitter, node, depth);
    emit_place(emitter, skip);
}

/* The iterator of the first clause is on the stack already. `depth` counts iterators above the collection. */
static void emit_clauses(Emitter *emitter, Node *node, int index, int depth) {
    const Generator *generator = &node->comprehension.generators.at[index];
    Block *start = emit_label(emitter), *skip = emit_label(emitter), *anchor = emit_label(emitter);
    Node *single = index ? single_item(emitter, generator->iterable) : NULL;
    if (single) {
        emit_expression(emitter, single);
        emit_clause_body(emitter, node, index, depth, skip);
        return;
    }
    if (index) {
        emit_iterable(emitter, generator->iterable);
        emit_op(emitter, OPCODE_GET_ITER, node->span);
    }
    emit_place(emitter, start);
    emit_jump(emitter, OPCODE_FOR_ITER, anchor, node->span);
    emit_clause_body(emitter, node, index, depth + 1, skip);
    bool innermost = index + 1 == node->comprehension.generators.count;
    Span element = node->comprehension.element->span;
    if (innermost && node->kind == NODE_DICT_COMP) element = span_join(element, node->comprehension.value->span);
    emit_jump(emitter, PSEUDO_JUMP, start, element);
    emit_place(emitter, anchor);
    emit_op(emitter, OPCODE_END_FOR, NOWHERE);
}

/* In a module or class body the name is a fast local while the comprehension runs. */
static void hide_name(Emitter *emitter, Inlining *inlining, const char *name) {
    Unit *unit = emitter->unit;
    if (scope_is_function(unit->scope) || map_get(unit->hidden, name)) return;
    map_put(unit->hidden, name, unit);
    vec_push_in(emitter->session->arena, &inlining->hidden, name);
}

/* Inside the comprehension the name has the comprehension's place. */
static void replace_symbol(Emitter *emitter, Inlining *inlining, const Symbol *symbol) {
    Symbol *outer = scope_symbol(emitter->unit->scope, symbol->name);
    if (outer && outer->place == symbol->place) return;
    Symbol before = outer ? *outer : (Symbol){symbol->name, 0, PLACE_NONE};
    vec_push_in(emitter->session->arena, &inlining->replaced, before);
    if (!outer) {
        outer = ARENA_NEW(emitter->session->arena, Symbol);
        map_put(emitter->unit->scope->symbols, symbol->name, outer);
    }
    *outer = *symbol;
}

static void save_local(Emitter *emitter, Inlining *inlining, const Symbol *symbol, Place outer, Span span) {
    emit_local_op(emitter, OPCODE_LOAD_FAST_AND_CLEAR, symbol->name, span);
    if (symbol->place == PLACE_CELL) {
        Unit *unit = emitter->unit;
        int index = outer == PLACE_FREE ? LOCAL_FREES + name_index(emitter, &unit->frees, symbol->name)
                                        : LOCAL_CELLS + name_index(emitter, &unit->cells, symbol->name);
        emit_arg(emitter, OPCODE_MAKE_CELL, index, span);
    }
    vec_push_in(emitter->session->arena, &inlining->saved, symbol->name);
}

static void inline_symbol(Emitter *emitter, Inlining *inlining, const Symbol *symbol, bool in_class, Span span) {
    bool bound = (symbol->flags & SYMBOL_LOCAL) && !(symbol->flags & SYMBOL_NONLOCAL);
    if ((symbol->flags & SYMBOL_PARAMETER) || (!bound && !in_class)) return;
    Place outer = scope_place(emitter->unit->scope, symbol->name);
    hide_name(emitter, inlining, symbol->name);
    replace_symbol(emitter, inlining, symbol);
    if (bound) save_local(emitter, inlining, symbol, outer, span);
}

static void open_inlining(Emitter *emitter, Node *node, Inlining *inlining) {
    const Scope *scope = node->scope;
    bool in_class = emitter->unit->scope->kind == SCOPE_CLASS && !emitter->unit->inlined;
    emitter->unit->inlined++;
    for (int i = 0; i < map_count(scope->symbols); i++) inline_symbol(emitter, inlining, map_at(scope->symbols, i).value, in_class, node->span);
    if (!inlining->saved.count) return;
    emit_arg(emitter, OPCODE_SWAP, inlining->saved.count + 1, node->span);
    inlining->cleanup = emit_label(emitter);
    inlining->end = emit_label(emitter);
    emit_jump(emitter, PSEUDO_SETUP_FINALLY, inlining->cleanup, node->span);
}

static void restore_locals(Emitter *emitter, const Inlining *inlining, Span span) {
    emit_arg(emitter, OPCODE_SWAP, inlining->saved.count + 1, span);
    for (int i = inlining->saved.count - 1; i >= 0; i--) emit_local_op(emitter, PSEUDO_STORE_FAST_MAYBE_NULL, inlining->saved.at[i], span);
}

static void close_inlining(Emitter *emitter, Node *node, Inlining *inlining) {
    emitter->unit->inlined--;
    if (inlining->saved.count) {
        emit_op(emitter, PSEUDO_POP_BLOCK, NOWHERE);
        emit_jump(emitter, PSEUDO_JUMP, inlining->end, NOWHERE);
        emit_place(emitter, inlining->cleanup);
        emit_arg(emitter, OPCODE_SWAP, 2, NOWHERE); /* the unfinished collection is below the exception */
        emit_op(emitter, OPCODE_POP_TOP, NOWHERE);
        restore_locals(emitter, inlining, node->span);
        emit_arg(emitter, OPCODE_RERAISE, 0, NOWHERE);
        emit_place(emitter, inlining->end);
        restore_locals(emitter, inlining, node->span);
    }
    for (int i = 0; i < inlining->replaced.count; i++) *scope_symbol(emitter->unit->scope, inlining->replaced.at[i].name) = inlining->replaced.at[i];
    for (int i = 0; i < inlining->hidden.count; i++) map_put(emitter->unit->hidden, inlining->hidden.at[i], NULL);
}

static void emit_inlined(Emitter *emitter, Node *node) {
    static const int build[] = {OPCODE_BUILD_LIST, OPCODE_BUILD_SET, OPCODE_BUILD_MAP};
    Inlining inlining = {0};
    emit_iterable(emitter, node->comprehension.generators.at[0].iterable);
    emit_op(emitter, OPCODE_GET_ITER, node->span);
    open_inlining(emitter, node, &inlining);
    emit_arg(emitter, build[node->kind - NODE_LIST_COMP], 0, node->span);
    emit_arg(emitter, OPCODE_SWAP, 2, node->span);
    emit_clauses(emitter, node, 0, 0);
    close_inlining(emitter, node, &inlining);
}

static void emit_generator(Emitter *emitter, Node *node) {
    unit_open(emitter, node->scope, emit_intern(emitter, "<genexpr>"), node->span, node->span);
    const char *argument = emit_intern(emitter, ".0");
    emitter->unit->code->argcount = 1;
    emit_local_op(emitter, OPCODE_LOAD_FAST, argument, node->span);
    emit_clauses(emitter, node, 0, 0);
    emit_generator_end(emitter);
    Code *code = unit_close(emitter);
    emit_closure(emitter, code, 0, node->span);
    emit_iterable(emitter, node->comprehension.generators.at[0].iterable);
    emit_op(emitter, OPCODE_GET_ITER, node->span);
    emit_arg(emitter, OPCODE_CALL, 0, node->span);
}

void emit_comprehension(Emitter *emitter, Node *node) {
    if (node->kind == NODE_GENERATOR) emit_generator(emitter, node);
    else emit_inlined(emitter, node);
}
