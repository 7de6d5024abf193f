/* Emit: units (one for each code object), instructions, names.
 *
 * In: names and where they stand. Out: LOAD_FAST, LOAD_DEREF, LOAD_GLOBAL, LOAD_NAME, … by the scope's word.
 *
 *     emit_variable(emitter, "x", CONTEXT_LOAD, span)  ->  LOAD_FAST x in a function that binds x
 *
 * Invariant: indices of locals, cells and free names are those of three tables until assemble.c joins them; a cell's index
 * counts from LOCAL_CELLS, a free name's from LOCAL_FREES. */
#include "lang/emit.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void emit_fail(Emitter *emitter, Span span, const char *format, ...) {
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    fail(emitter->session->failure, span, "%s", message);
}

const char *emit_intern(const Emitter *emitter, const char *text) { return intern(emitter->session->names, text); }

const char *emit_mangle(const Emitter *emitter, const char *name) {
    return mangle_name(emitter->session, emitter->unit->scope->class_name, name);
}

Const const_int(int64_t value) { return (Const){.kind = CONST_INT, .i = value}; }

Const const_string(Emitter *emitter, const char *text) {
    const char *interned = emit_intern(emitter, text);
    return (Const){.kind = CONST_STR, .s = {interned, (uint32_t)strlen(interned)}};
}

/* Nested finally blocks are copied to each way out, so that code can grow out of all proportion to its source. */
static void count_instr(Emitter *emitter) {
    if (++emitter->unit->instr_count > INSTR_LIMIT)
        emit_fail(emitter, emitter->unit->code->span,
                  "SyntaxError: code too large: more than %d instructions in '%s'", INSTR_LIMIT, emitter->unit->code->name);
}

void emit_arg(Emitter *emitter, int opcode, int arg, Span span) {
    count_instr(emitter);
    flow_add(&emitter->unit->flow, opcode, arg, span);
}

void emit_op(Emitter *emitter, int opcode, Span span) { emit_arg(emitter, opcode, 0, span); }

void emit_jump(Emitter *emitter, int opcode, Block *target, Span span) {
    count_instr(emitter);
    flow_jump(&emitter->unit->flow, opcode, target, span);
}

void emit_place(Emitter *emitter, Block *label) { flow_place(&emitter->unit->flow, label); }
Block *emit_label(Emitter *emitter) { return flow_label(&emitter->unit->flow); }

void emit_const(Emitter *emitter, Const value, Span span) {
    emit_arg(emitter, OPCODE_LOAD_CONST, flow_const(&emitter->unit->flow, value), span);
}

void emit_none(Emitter *emitter, Span span) { emit_const(emitter, (Const){.kind = CONST_NONE}, span); }

int name_index(Emitter *emitter, NameTable *table, const char *name) {
    intptr_t found = (intptr_t)map_get(table->index, name); /* index + 1 */
    if (found) return (int)found - 1;
    vec_push_in(emitter->session->arena, &table->names, name);
    map_put(table->index, name, (void *)(intptr_t)table->names.count);
    return table->names.count - 1;
}

void emit_attribute_op(Emitter *emitter, int opcode, const char *name, int flags, int shift, Span span) {
    int index = name_index(emitter, &emitter->unit->names, emit_mangle(emitter, name));
    emit_arg(emitter, opcode, index << shift | flags, span);
}

void emit_name_op(Emitter *emitter, int opcode, const char *name, Span span) { emit_attribute_op(emitter, opcode, name, 0, 0, span); }

/* For a name known to be a local, a cell or a free name of this unit. */
void emit_local_op(Emitter *emitter, int opcode, const char *name, Span span) {
    Unit *unit = emitter->unit;
    emit_arg(emitter, opcode, name_index(emitter, &unit->locals, name), span);
}

typedef enum Access { ACCESS_FAST, ACCESS_GLOBAL, ACCESS_CELL, ACCESS_FREE, ACCESS_NAME } Access;

static Access find_access(const Unit *unit, const char *name) {
    bool function = scope_is_function(unit->scope);
    switch (scope_place(unit->scope, name)) {
    case PLACE_FREE: return ACCESS_FREE;
    case PLACE_CELL: return ACCESS_CELL;
    case PLACE_LOCAL: return function || map_get(unit->hidden, name) ? ACCESS_FAST : ACCESS_NAME;
    case PLACE_GLOBAL_IMPLICIT: return function ? ACCESS_GLOBAL : ACCESS_NAME;
    case PLACE_GLOBAL_EXPLICIT: return ACCESS_GLOBAL;
    default: return ACCESS_NAME;
    }
}

static int pick(Context context, int load, int store, int delete) {
    return context == CONTEXT_LOAD ? load : context == CONTEXT_STORE ? store : delete;
}

/* A free name of a class body may be set in the body's own namespace first. */
static void emit_cell(Emitter *emitter, const char *name, Context context, Access access, Span span) {
    Unit *unit = emitter->unit;
    int opcode = pick(context, OPCODE_LOAD_DEREF, OPCODE_STORE_DEREF, OPCODE_DELETE_DEREF);
    if (context == CONTEXT_LOAD && unit->scope->kind == SCOPE_CLASS && !unit->inlined) {
        emit_op(emitter, OPCODE_LOAD_LOCALS, span);
        opcode = OPCODE_LOAD_FROM_DICT_OR_DEREF;
    }
    int index = access == ACCESS_CELL ? LOCAL_CELLS + name_index(emitter, &unit->cells, name) : LOCAL_FREES + name_index(emitter, &unit->frees, name);
    emit_arg(emitter, opcode, index, span);
}

void emit_variable(Emitter *emitter, const char *id, Context context, Span span) {
    Unit *unit = emitter->unit;
    const char *name = emit_mangle(emitter, id);
    Access access = find_access(unit, name);
    if (access == ACCESS_NAME && context == CONTEXT_LOAD && unit->scope->kind == SCOPE_CLASS && unit->inlined) access = ACCESS_GLOBAL;
    if (access == ACCESS_FAST) {
        emit_local_op(emitter, pick(context, OPCODE_LOAD_FAST, OPCODE_STORE_FAST, OPCODE_DELETE_FAST), name, span);
    } else if (access == ACCESS_CELL || access == ACCESS_FREE) {
        emit_cell(emitter, name, context, access, span);
    } else {
        int index = name_index(emitter, &unit->names, name);
        if (access == ACCESS_NAME) emit_arg(emitter, pick(context, OPCODE_LOAD_NAME, OPCODE_STORE_NAME, OPCODE_DELETE_NAME), index, span);
        else if (context == CONTEXT_LOAD) emit_arg(emitter, OPCODE_LOAD_GLOBAL, index << 1, span);
        else emit_arg(emitter, context == CONTEXT_STORE ? OPCODE_STORE_GLOBAL : OPCODE_DELETE_GLOBAL, index, span);
    }
}

static NameTable table_new(Emitter *emitter) { return (NameTable){.index = map_new(emitter->session->arena)}; }

static int compare_names(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

/* Cells, and free names, in alphabetical order. */
static void collect_names(Emitter *emitter, NameTable *table, const Scope *scope, Place place, int flag) {
    VEC(const char *) names = {0};
    for (int i = 0; i < map_count(scope->symbols); i++) {
        const Symbol *symbol = map_at(scope->symbols, i).value;
        if (symbol->place == place || (symbol->flags & flag)) vec_push_in(emitter->session->arena, &names, symbol->name);
    }
    if (names.count) qsort(names.at, (size_t)names.count, sizeof *names.at, compare_names);
    for (int i = 0; i < names.count; i++) name_index(emitter, table, names.at[i]);
}

/* "outer.<locals>.name", as CPython qualifies names. */
static const char *qualified_name(Emitter *emitter, const char *name) {
    const Unit *parent = emitter->unit->parent;
    if (!parent || parent->scope->kind == SCOPE_MODULE) return name;
    bool declared_global = emitter->unit->scope->node && (emitter->unit->scope->node->kind == NODE_DEF || emitter->unit->scope->node->kind == NODE_CLASS) &&
                           scope_place(parent->scope, mangle_name(emitter->session, parent->scope->class_name, name)) == PLACE_GLOBAL_EXPLICIT;
    if (declared_global) return name;
    const char *middle = scope_is_function(parent->scope) && !parent->scope->comprehension ? ".<locals>." : ".";
    return emit_intern(emitter, arena_printf(emitter->session->arena, "%s%s%s", parent->code->qualname, middle, name));
}

static Code *code_new(Emitter *emitter, const char *name, Span whole) {
    const Scope *scope = emitter->unit->scope;
    Code *code = ARENA_NEW(emitter->keep, Code);
    code->name = name;
    code->qualname = qualified_name(emitter, name);
    code->file = emitter->file;
    code->span = whole;
    code->id = emitter->session->next_code_id++;
    if (scope_is_function(scope)) code->flags = CODE_OPTIMIZED | CODE_NEWLOCALS;
    if (scope_is_function(scope) && scope->nested) code->flags |= CODE_NESTED;
    if (scope_is_function(scope) && scope->generator) code->flags |= CODE_GENERATOR;
    return code;
}

void unit_open(Emitter *emitter, Scope *scope, const char *name, Span first, Span whole) {
    Unit *unit = ARENA_NEW(emitter->session->arena, Unit);
    unit->parent = emitter->unit;
    unit->scope = scope;
    unit->flow = flow_new(emitter->session->arena);
    unit->locals = table_new(emitter);
    unit->cells = table_new(emitter);
    unit->frees = table_new(emitter);
    unit->names = table_new(emitter);
    unit->hidden = map_new(emitter->session->arena);
    unit->first = (Span){first.file, first.start, first.start};
    emitter->unit = unit;
    if (scope->needs_class_cell) name_index(emitter, &unit->cells, emit_intern(emitter, "__class__"));
    else collect_names(emitter, &unit->cells, scope, PLACE_CELL, SYMBOL_COMPREHENSION_CELL);
    collect_names(emitter, &unit->frees, scope, PLACE_FREE, SYMBOL_FREE_CLASS);
    unit->code = code_new(emitter, name, whole);
    emit_arg(emitter, OPCODE_RESUME, 0, unit->first);
}

Code *unit_close(Emitter *emitter) {
    Unit *unit = emitter->unit;
    emit_none(emitter, NOWHERE); /* code that runs off its end returns None */
    emit_op(emitter, OPCODE_RETURN_VALUE, NOWHERE);
    assemble(emitter, unit);
    emitter->unit = unit->parent;
    return unit->code;
}
