/* Emit definitions: def, lambda, class.
 *
 * In: DEF, LAMBDA and CLASS nodes. Out: a Code for the body, and code that makes the function or class of it.
 *
 *     @d
 *     def f(a=1): return b  ->  LOAD d; LOAD_CONST (1,); LOAD_CLOSURE b; BUILD_TUPLE 1; LOAD_CONST <code f>;
 *                               MAKE_FUNCTION (defaults, closure); CALL 0; STORE f
 *
 * Invariant: arguments are the first locals, in the order positional, keyword-only, *varargs, **varkeywords. */
#include "lang/emit.h"

void emit_decorators(Emitter *emitter, const NodeList *decorators) {
    for (int i = 0; i < decorators->count; i++) emit_expression(emitter, decorators->at[i]);
}

/* The decorated object stands where a method call has its self: CALL 0 passes it. */
void emit_decorator_calls(Emitter *emitter, const NodeList *decorators) {
    for (int i = decorators->count - 1; i >= 0; i--) emit_arg(emitter, OPCODE_CALL, 0, decorators->at[i]->span);
}

void emit_generator_end(Emitter *emitter) {
    Unit *unit = emitter->unit;
    Block *handler = emit_label(emitter);
    FlowInstr setup = flow_instr(PSEUDO_SETUP_CLEANUP, 0, NOWHERE);
    setup.target = handler;
    flow_insert(emitter->session->arena, unit->flow.entry, 0, setup);
    emit_none(emitter, NOWHERE);
    emit_op(emitter, OPCODE_RETURN_VALUE, NOWHERE);
    emit_place(emitter, handler);
    emit_arg(emitter, OPCODE_CALL_INTRINSIC_1, INTRINSIC_STOPITERATION_ERROR, NOWHERE);
    emit_arg(emitter, OPCODE_RERAISE, 1, NOWHERE);
}

static int closure_index(Emitter *emitter, const char *name) {
    Unit *unit = emitter->unit;
    bool cell = map_has(unit->cells.index, name) && (scope_place(unit->scope, name) == PLACE_CELL || unit->scope->kind == SCOPE_CLASS);
    if (cell || !map_has(unit->frees.index, name)) return LOCAL_CELLS + name_index(emitter, &unit->cells, name);
    return LOCAL_FREES + name_index(emitter, &unit->frees, name);
}

void emit_closure(Emitter *emitter, Code *code, int flags, Span span) {
    if (code->nfrees) {
        const char **frees = code->localsplus + code->nlocals + code->ncells;
        for (int i = 0; i < code->nfrees; i++) emit_arg(emitter, OPCODE_LOAD_CLOSURE, closure_index(emitter, frees[i]), span);
        emit_arg(emitter, OPCODE_BUILD_TUPLE, code->nfrees, span);
        flags |= MAKE_FUNCTION_CLOSURE;
    }
    emit_const(emitter, (Const){.kind = CONST_CODE, .code = code}, span);
    emit_arg(emitter, OPCODE_MAKE_FUNCTION, flags, span);
}

static bool emit_positional_defaults(Emitter *emitter, const Parameters *parameters, Span span) {
    int count = 0;
    for (int i = 0; i < parameters->positional.count; i++) {
        if (!parameters->positional.at[i].initial) continue;
        emit_expression(emitter, parameters->positional.at[i].initial);
        count++;
    }
    if (count) emit_arg(emitter, OPCODE_BUILD_TUPLE, count, span);
    return count != 0;
}

static bool emit_keyword_defaults(Emitter *emitter, const Parameters *parameters, Span span) {
    int count = 0;
    Const *names = ARENA_ARRAY(emitter->session->arena, Const, parameters->keyword_only.count);
    for (int i = 0; i < parameters->keyword_only.count; i++) {
        const Parameter *parameter = &parameters->keyword_only.at[i];
        if (!parameter->initial) continue;
        emit_expression(emitter, parameter->initial);
        names[count++] = const_string(emitter, emit_mangle(emitter, parameter->name));
    }
    if (!count) return false;
    emit_const(emitter, (Const){.kind = CONST_TUPLE, .tuple = {names, count}}, span);
    emit_arg(emitter, OPCODE_BUILD_CONST_KEY_MAP, count, span);
    return true;
}

static int emit_defaults(Emitter *emitter, const Parameters *parameters, Span span) {
    int flags = emit_positional_defaults(emitter, parameters, span) ? MAKE_FUNCTION_DEFAULTS : 0;
    return emit_keyword_defaults(emitter, parameters, span) ? flags | MAKE_FUNCTION_KEYWORD_DEFAULTS : flags;
}

static void add_parameter(Emitter *emitter, const Parameter *parameter) {
    if (parameter->name) name_index(emitter, &emitter->unit->locals, emit_mangle(emitter, parameter->name));
}

static void add_parameters(Emitter *emitter, const Parameters *parameters) {
    Code *code = emitter->unit->code;
    for (int i = 0; i < parameters->positional.count; i++) add_parameter(emitter, &parameters->positional.at[i]);
    for (int i = 0; i < parameters->keyword_only.count; i++) add_parameter(emitter, &parameters->keyword_only.at[i]);
    add_parameter(emitter, &parameters->varargs);
    add_parameter(emitter, &parameters->varkeywords);
    code->argcount = parameters->positional.count;
    code->posonlyargcount = parameters->posonly;
    code->kwonlyargcount = parameters->keyword_only.count;
    if (parameters->varargs.name) code->flags |= CODE_VARARGS;
    if (parameters->varkeywords.name) code->flags |= CODE_VARKEYWORDS;
}

/* The first line of a definition is that of its first decorator. */
static Span first_span(const Node *node) {
    const NodeList *decorators = &node->definition.decorators;
    return decorators->count ? decorators->at[0]->span : node->span;
}

/* Constant 0 of a function is its docstring, or None. */
static void set_docstring(Emitter *emitter, const Node *node) {
    const char *doc = node->definition.doc;
    emitter->unit->code->doc = doc;
    flow_const(&emitter->unit->flow, doc ? node->definition.body.at[0]->left->constant : (Const){.kind = CONST_NONE});
}

static Code *emit_function_code(Emitter *emitter, Node *node) {
    unit_open(emitter, node->scope, node->definition.name, first_span(node), node->span);
    set_docstring(emitter, node);
    add_parameters(emitter, node->definition.parameters);
    for (int i = node->definition.doc ? 1 : 0; i < node->definition.body.count; i++) emit_statement(emitter, node->definition.body.at[i]);
    if (node->scope->generator) emit_generator_end(emitter);
    return unit_close(emitter);
}

void emit_def(Emitter *emitter, Node *node) {
    emit_decorators(emitter, &node->definition.decorators);
    int flags = emit_defaults(emitter, node->definition.parameters, node->span);
    Code *code = emit_function_code(emitter, node);
    emit_closure(emitter, code, flags, node->span);
    emit_decorator_calls(emitter, &node->definition.decorators);
    emit_variable(emitter, node->definition.name, CONTEXT_STORE, node->span);
}

void emit_lambda(Emitter *emitter, Node *node) {
    int flags = emit_defaults(emitter, node->lambda.parameters, node->span);
    unit_open(emitter, node->scope, emit_intern(emitter, "<lambda>"), node->span, node->span);
    flow_const(&emitter->unit->flow, (Const){.kind = CONST_NONE}); /* no docstring */
    add_parameters(emitter, node->lambda.parameters);
    emit_expression(emitter, node->lambda.body);
    emit_op(emitter, OPCODE_RETURN_VALUE, node->lambda.body->span);
    if (node->scope->generator) emit_generator_end(emitter);
    Code *code = unit_close(emitter);
    emit_closure(emitter, code, flags, node->span);
}

static bool has_fields(const NodeList *statements);

static bool statement_has_fields(const Node *node) {
    switch (node->kind) {
    case NODE_ANN_ASSIGN: return true;
    case NODE_WITH: return has_fields(&node->with.body);
    case NODE_WHILE: case NODE_FOR: return has_fields(&node->block.body) || has_fields(&node->block.orelse);
    case NODE_IF:
        for (;; node = node->block.orelse.at[0]) {
            if (has_fields(&node->block.body)) return true;
            if (node->block.orelse.count != 1 || node->block.orelse.at[0]->kind != NODE_IF) return has_fields(&node->block.orelse);
        }
    case NODE_TRY:
        for (int i = 0; i < node->try_block.handlers.count; i++)
            if (has_fields(&node->try_block.handlers.at[i].body)) return true;
        return has_fields(&node->try_block.body) || has_fields(&node->try_block.orelse) || has_fields(&node->try_block.finally);
    default: return false;
    }
}

static bool has_fields(const NodeList *statements) {
    for (int i = 0; i < statements->count; i++)
        if (statement_has_fields(statements->at[i])) return true;
    return false;
}

static void emit_class_statements(Emitter *emitter, Node *node, Span span) {
    const NodeList *body = &node->definition.body;
    if (has_fields(body)) emit_op(emitter, OPCODE_SETUP_ANNOTATIONS, span);
    int i = 0;
    if (node->definition.doc) {
        emit_expression(emitter, body->at[i++]->left);
        emit_variable(emitter, emit_intern(emitter, "__doc__"), CONTEXT_STORE, NOWHERE);
    }
    for (; i < body->count; i++) emit_statement(emitter, body->at[i]);
}

/* A class whose methods use __class__ (through super) hands out the cell for it. */
static void emit_class_result(Emitter *emitter) {
    if (emitter->unit->scope->needs_class_cell) {
        emit_arg(emitter, OPCODE_LOAD_CLOSURE, LOCAL_CELLS + name_index(emitter, &emitter->unit->cells, emit_intern(emitter, "__class__")), NOWHERE);
        emit_arg(emitter, OPCODE_COPY, 1, NOWHERE);
        emit_variable(emitter, emit_intern(emitter, "__classcell__"), CONTEXT_STORE, NOWHERE);
    } else {
        emit_none(emitter, NOWHERE);
    }
    emit_op(emitter, OPCODE_RETURN_VALUE, NOWHERE);
}

static Code *emit_class_code(Emitter *emitter, Node *node) {
    Span first = first_span(node), start = {first.file, first.start, first.start};
    unit_open(emitter, node->scope, node->definition.name, first, node->span);
    emit_variable(emitter, emit_intern(emitter, "__name__"), CONTEXT_LOAD, start);
    emit_variable(emitter, emit_intern(emitter, "__module__"), CONTEXT_STORE, start);
    emit_const(emitter, const_string(emitter, emitter->unit->code->qualname), start);
    emit_variable(emitter, emit_intern(emitter, "__qualname__"), CONTEXT_STORE, start);
    emit_class_statements(emitter, node, start);
    emit_class_result(emitter);
    emitter->unit->code->doc = node->definition.doc;
    return unit_close(emitter);
}

void emit_class(Emitter *emitter, Node *node) {
    emit_decorators(emitter, &node->definition.decorators);
    Code *code = emit_class_code(emitter, node);
    emit_op(emitter, OPCODE_PUSH_NULL, node->span);
    emit_op(emitter, OPCODE_LOAD_BUILD_CLASS, node->span);
    emit_closure(emitter, code, 0, node->span);
    emit_const(emitter, const_string(emitter, node->definition.name), node->span);
    emit_call_arguments(emitter, 2, &node->definition.bases, &node->definition.keywords, node->span);
    emit_decorator_calls(emitter, &node->definition.decorators);
    emit_variable(emitter, node->definition.name, CONTEXT_STORE, node->span);
}
