/* Emit statements: dispatch, expression statements, assignments, imports, assert, raise, delete; entry points.
 *
 * In: statement nodes. Out: code with no net effect on the stack.
 *
 *     a[i] += 1  ->  LOAD a; LOAD i; COPY 2; COPY 2; BINARY_SUBSCR; LOAD_CONST 1; BINARY_OP +=; SWAP 3; SWAP 2; STORE_SUBSCR
 *
 * Invariant: each statement leaves at least one instruction (or NOP) with its line, so that it can be stopped at. */
#include "lang/emit.h"
#include <string.h>

static void emit_expression_statement(Emitter *emitter, Node *node) {
    Const value;
    if (emitter->interactive && !emitter->unit->parent) {
        emit_expression(emitter, node->left);
        emit_arg(emitter, OPCODE_CALL_INTRINSIC_1, INTRINSIC_PRINT, node->span);
        emit_op(emitter, OPCODE_POP_TOP, NOWHERE);
    } else if (node_constant(emitter->session->arena, node->left, &value)) {
        emit_op(emitter, OPCODE_NOP, node->span);
    } else {
        emit_expression(emitter, node->left);
        emit_op(emitter, OPCODE_POP_TOP, NOWHERE);
    }
}

static void emit_assign(Emitter *emitter, Node *node) {
    const NodeList *targets = &node->assign.targets;
    emit_expression(emitter, node->assign.value);
    for (int i = 0; i < targets->count; i++) {
        if (i + 1 < targets->count) emit_arg(emitter, OPCODE_COPY, 1, node->span);
        emit_target(emitter, targets->at[i]);
    }
}

static void emit_copies(Emitter *emitter, int depth, int times, Span span) {
    for (int i = 0; i < times; i++) emit_arg(emitter, OPCODE_COPY, depth, span);
}

static void load_augmented(Emitter *emitter, Node *target) {
    Span span = target->span;
    if (target->kind == NODE_NAME) {
        emit_variable(emitter, target->name.id, CONTEXT_LOAD, span);
        return;
    }
    emit_expression(emitter, target->left);
    if (target->kind == NODE_ATTRIBUTE) {
        emit_arg(emitter, OPCODE_COPY, 1, span);
        emit_attribute_op(emitter, OPCODE_LOAD_ATTR, target->name.id, 0, 1, attribute_span(target, span));
    } else if (is_plain_slice(target->subscript.index)) {
        emit_slice_parts(emitter, target->subscript.index);
        emit_copies(emitter, 3, 3, span);
        emit_op(emitter, OPCODE_BINARY_SLICE, span);
    } else {
        emit_expression(emitter, target->subscript.index);
        emit_copies(emitter, 2, 2, span);
        emit_op(emitter, OPCODE_BINARY_SUBSCR, span);
    }
}

/* Brings the value below what the store needs. */
static void store_augmented(Emitter *emitter, Node *target) {
    Span span = target->span;
    if (target->kind == NODE_NAME) {
        emit_variable(emitter, target->name.id, CONTEXT_STORE, span);
    } else if (target->kind == NODE_ATTRIBUTE) {
        emit_arg(emitter, OPCODE_SWAP, 2, attribute_span(target, span));
        emit_name_op(emitter, OPCODE_STORE_ATTR, target->name.id, attribute_span(target, span));
    } else {
        bool slice = is_plain_slice(target->subscript.index);
        if (slice) emit_arg(emitter, OPCODE_SWAP, 4, span);
        emit_arg(emitter, OPCODE_SWAP, 3, span);
        emit_arg(emitter, OPCODE_SWAP, 2, span);
        emit_op(emitter, slice ? OPCODE_STORE_SLICE : OPCODE_STORE_SUBSCR, span);
    }
}

static void emit_augmented(Emitter *emitter, Node *node) {
    load_augmented(emitter, node->left);
    emit_expression(emitter, node->operation.right);
    emit_arg(emitter, OPCODE_BINARY_OP, node->operation.op, node->span);
    store_augmented(emitter, node->left);
}

/* Fields of a class are kept in its __annotations__, for dataclasses. */
static void emit_field(Emitter *emitter, Node *node) {
    const Node *target = node->walrus.target, *annotation = node->left;
    bool as_text = emitter->unit->scope->node->definition.future_annotations;
    if (as_text) {
        const char *text = annotation->span.file->text + annotation->span.start;
        uint32_t length = annotation->span.end - annotation->span.start;
        emit_const(emitter, (Const){.kind = CONST_STR, .s = {arena_strndup(emitter->session->arena, text, length), length}}, annotation->span);
    } else {
        emit_expression(emitter, node->left);
    }
    emit_name_op(emitter, OPCODE_LOAD_NAME, emit_intern(emitter, "__annotations__"), node->span);
    emit_const(emitter, const_string(emitter, emit_mangle(emitter, target->name.id)), node->span);
    emit_op(emitter, OPCODE_STORE_SUBSCR, node->span);
}

/* Without a value the target is only looked at: "self.x: int" evaluates self. */
static void emit_bare_target(Emitter *emitter, Node *target) {
    if (target->kind == NODE_NAME) return;
    emit_expression(emitter, target->left);
    emit_op(emitter, OPCODE_POP_TOP, target->span);
    if (target->kind != NODE_SUBSCRIPT) return;
    emit_expression(emitter, target->subscript.index);
    emit_op(emitter, OPCODE_POP_TOP, target->span);
}

static void emit_annotated(Emitter *emitter, Node *node) {
    Node *target = node->walrus.target;
    if (node->walrus.value) {
        emit_expression(emitter, node->walrus.value);
        emit_target(emitter, target);
    } else {
        emit_bare_target(emitter, target);
    }
    bool field = target->kind == NODE_NAME && !target->parenthesized && emitter->unit->scope->kind == SCOPE_CLASS;
    if (field) emit_field(emitter, node);
}

static void emit_delete(Emitter *emitter, Node *node) {
    for (int i = 0; i < node->assign.targets.count; i++) emit_target(emitter, node->assign.targets.at[i]);
}

static void emit_raise(Emitter *emitter, Node *node) {
    if (node->left) emit_expression(emitter, node->left);
    if (node->raise.cause) emit_expression(emitter, node->raise.cause);
    emit_arg(emitter, OPCODE_RAISE_VARARGS, node->raise.cause ? 2 : node->left ? 1 : 0, node->span);
}

static void emit_assert(Emitter *emitter, Node *node) {
    Block *end = emit_label(emitter);
    emit_jump_if(emitter, node->left, end, true);
    emit_op(emitter, OPCODE_LOAD_ASSERTION_ERROR, node->span);
    if (node->raise.cause) {
        emit_expression(emitter, node->raise.cause);
        emit_arg(emitter, OPCODE_CALL, 0, node->span);
    }
    emit_arg(emitter, OPCODE_RAISE_VARARGS, 1, node->left->span);
    emit_place(emitter, end);
}

/* "import a.b.c as d": from the module a down to c. */
static void emit_import_as(Emitter *emitter, const Alias *alias, Span span) {
    const char *dot = strchr(alias->name, '.');
    while (dot) {
        const char *start = dot + 1;
        dot = strchr(start, '.');
        size_t length = dot ? (size_t)(dot - start) : strlen(start);
        emit_name_op(emitter, OPCODE_IMPORT_FROM, intern_n(emitter->session->names, start, length), span);
        if (!dot) break;
        emit_arg(emitter, OPCODE_SWAP, 2, span);
        emit_op(emitter, OPCODE_POP_TOP, span);
    }
    emit_variable(emitter, alias->as, CONTEXT_STORE, span);
    if (strchr(alias->name, '.')) emit_op(emitter, OPCODE_POP_TOP, span);
}

void emit_import(Emitter *emitter, Node *node) {
    for (int i = 0; i < node->import.aliases.count; i++) {
        const Alias *alias = &node->import.aliases.at[i];
        emit_const(emitter, const_int(0), node->span);
        emit_none(emitter, node->span);
        emit_name_op(emitter, OPCODE_IMPORT_NAME, alias->name, node->span);
        if (alias->as) emit_import_as(emitter, alias, node->span);
        else emit_variable(emitter, intern_n(emitter->session->names, alias->name, strcspn(alias->name, ".")), CONTEXT_STORE, node->span);
    }
}

void emit_import_from(Emitter *emitter, Node *node) {
    int count = node->import.aliases.count;
    Const *names = ARENA_ARRAY(emitter->session->arena, Const, count);
    for (int i = 0; i < count; i++) names[i] = const_string(emitter, node->import.aliases.at[i].name);
    emit_const(emitter, const_int(node->import.level), node->span);
    emit_const(emitter, (Const){.kind = CONST_TUPLE, .tuple = {names, count}}, node->span);
    emit_name_op(emitter, OPCODE_IMPORT_NAME, node->import.module ? node->import.module : emit_intern(emitter, ""), node->span);
    for (int i = 0; i < count; i++) {
        const Alias *alias = &node->import.aliases.at[i];
        if (strcmp(alias->name, "*") == 0) {
            emit_arg(emitter, OPCODE_CALL_INTRINSIC_1, INTRINSIC_IMPORT_STAR, node->span);
            emit_op(emitter, OPCODE_POP_TOP, NOWHERE);
            return;
        }
        emit_name_op(emitter, OPCODE_IMPORT_FROM, alias->name, node->span);
        emit_variable(emitter, alias->as ? alias->as : alias->name, CONTEXT_STORE, node->span);
    }
    emit_op(emitter, OPCODE_POP_TOP, node->span);
}

void emit_statement(Emitter *emitter, Node *node) {
    switch (node->kind) {
    case NODE_EXPRESSION: emit_expression_statement(emitter, node); break;
    case NODE_ASSIGN: emit_assign(emitter, node); break;
    case NODE_AUG_ASSIGN: emit_augmented(emitter, node); break;
    case NODE_ANN_ASSIGN: emit_annotated(emitter, node); break;
    case NODE_RETURN: emit_return(emitter, node); break;
    case NODE_DELETE: emit_delete(emitter, node); break;
    case NODE_PASS: emit_op(emitter, OPCODE_NOP, node->span); break;
    case NODE_BREAK: emit_break(emitter, node); break;
    case NODE_CONTINUE: emit_continue(emitter, node); break;
    case NODE_RAISE: emit_raise(emitter, node); break;
    case NODE_ASSERT: emit_assert(emitter, node); break;
    case NODE_IMPORT: emit_import(emitter, node); break;
    case NODE_IMPORT_FROM: emit_import_from(emitter, node); break;
    case NODE_IF: emit_if(emitter, node); break;
    case NODE_WHILE: emit_while(emitter, node); break;
    case NODE_FOR: emit_for(emitter, node); break;
    case NODE_TRY: emit_try(emitter, node); break;
    case NODE_WITH: emit_with(emitter, node); break;
    case NODE_DEF: emit_def(emitter, node); break;
    case NODE_CLASS: emit_class(emitter, node); break;
    default: break; /* global and nonlocal are the scope's matter */
    }
}

void emit_statements(Emitter *emitter, const NodeList *list) {
    for (int i = 0; i < list->count; i++) emit_statement(emitter, list->at[i]);
}

Code *emit_module_statement(Emitter *emitter, Node *statement, Scope *scope) {
    Span first = {statement->span.file, statement->span.start, statement->span.start};
    unit_open(emitter, scope, emit_intern(emitter, "<module>"), first, statement->span);
    emit_statement(emitter, statement);
    return unit_close(emitter);
}

Code *emit_expression_code(Emitter *emitter, Node *expression, Scope *scope, const char *name, const char **params, int param_count) {
    unit_open(emitter, scope, emit_intern(emitter, name), expression->span, expression->span);
    emitter->unit->code->argcount = param_count;
    for (int i = 0; i < param_count; i++) name_index(emitter, &emitter->unit->locals, emit_intern(emitter, params[i]));
    emit_expression(emitter, expression);
    emit_op(emitter, OPCODE_RETURN_VALUE, expression->span);
    return unit_close(emitter);
}
