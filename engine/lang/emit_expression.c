/* Emit expressions: the dispatch, operators, attributes, subscripts, f-strings, yields.
 *
 * In: an expression node with context LOAD (or one of those the target emitter hands on). Out: code that pushes its value.
 *
 *     a.b + c[1:]  ->  LOAD a; LOAD_ATTR b; LOAD c; LOAD_CONST 1; LOAD_CONST None; BINARY_SLICE; BINARY_OP +
 *
 * Invariant: the net effect on the stack is one value. The left spine is a loop, so a chain of any length is safe. */
#include "lang/emit.h"
#include <string.h>

/* Where an attribute's name stands on another line than its expression begins, tracebacks and lines go with the name. */
Span attribute_span(const Node *attribute, Span span) {
    Span name = attribute->name.id_span;
    if (span_line(span) == span_line((Span){name.file, name.end, name.end})) return span;
    return (Span){span.file, name.start, span.end};
}

/* `up` is the call when the attribute is the callee of a method call, which then finds its self below it. */
static void emit_attribute_rest(Emitter *emitter, Node *node) {
    bool method = node->up && node->up->kind == NODE_CALL && is_method_call(emitter, node->up);
    if (is_super_attribute(emitter, node)) emit_super_attribute(emitter, node, method);
    else emit_attribute_op(emitter, OPCODE_LOAD_ATTR, node->name.id, method, 1, attribute_span(node, node->span));
}

bool is_plain_slice(const Node *index) { return index->kind == NODE_SLICE && !index->slice.step; }

static void emit_slice_part(Emitter *emitter, Node *part, Span span) {
    if (part) emit_expression(emitter, part);
    else emit_none(emitter, span);
}

void emit_slice_parts(Emitter *emitter, const Node *slice) {
    emit_slice_part(emitter, slice->slice.lower, slice->span);
    emit_slice_part(emitter, slice->slice.upper, slice->span);
    if (slice->slice.step) emit_expression(emitter, slice->slice.step);
}

static void emit_subscript_rest(Emitter *emitter, Node *node) {
    if (is_plain_slice(node->subscript.index)) {
        emit_slice_parts(emitter, node->subscript.index);
        emit_op(emitter, OPCODE_BINARY_SLICE, node->span);
    } else {
        emit_expression(emitter, node->subscript.index);
        emit_op(emitter, OPCODE_BINARY_SUBSCR, node->span);
    }
}

static void emit_unary(Emitter *emitter, Node *node) {
    emit_expression(emitter, node->left);
    switch ((UnaryOp)node->operation.op) {
    case UNARY_NEGATE: emit_op(emitter, OPCODE_UNARY_NEGATIVE, node->span); break;
    case UNARY_INVERSE: emit_op(emitter, OPCODE_UNARY_INVERT, node->span); break;
    case UNARY_LOGICAL_NOT: emit_op(emitter, OPCODE_UNARY_NOT, node->span); break;
    case UNARY_PLUS: emit_arg(emitter, OPCODE_CALL_INTRINSIC_1, INTRINSIC_UNARY_POSITIVE, node->span); break;
    }
}

static void emit_walrus(Emitter *emitter, Node *node) {
    emit_expression(emitter, node->walrus.value);
    emit_arg(emitter, OPCODE_COPY, 1, node->span);
    emit_target(emitter, node->walrus.target);
}

/* A long f-string is joined from a list, so that the stack stays small. */
static void emit_fstring(Emitter *emitter, Node *node) {
    int count = node->fstring.count;
    if (count > STACK_GUIDE) {
        emit_const(emitter, const_string(emitter, ""), node->span);
        emit_attribute_op(emitter, OPCODE_LOAD_ATTR, emit_intern(emitter, "join"), 1, 1, node->span);
        emit_arg(emitter, OPCODE_BUILD_LIST, 0, node->span);
    }
    for (int i = 0; i < count; i++) {
        emit_expression(emitter, node->fstring.at[i]);
        if (count > STACK_GUIDE) emit_arg(emitter, OPCODE_LIST_APPEND, 1, node->span);
    }
    if (count > STACK_GUIDE) emit_arg(emitter, OPCODE_CALL, 1, node->span);
    else if (count != 1) emit_arg(emitter, OPCODE_BUILD_STRING, count, node->span);
}

static void emit_formatted(Emitter *emitter, Node *node) {
    char conversion = node->formatted.conversion;
    int arg = conversion == 's' ? FORMAT_STR : conversion == 'r' ? FORMAT_REPR : conversion == 'a' ? FORMAT_ASCII : 0;
    emit_expression(emitter, node->left);
    if (node->formatted.spec) {
        emit_expression(emitter, node->formatted.spec);
        arg |= FORMAT_SPEC;
    }
    emit_arg(emitter, OPCODE_FORMAT_VALUE, arg, node->span);
}

void emit_yield_op(Emitter *emitter, Span span) {
    emit_arg(emitter, OPCODE_YIELD_VALUE, 0, span); /* its depth of handlers is filled in by flow_except.c */
    emit_arg(emitter, OPCODE_RESUME, 1, span);
}

/* The loop of `yield from`: an exception thrown in goes to the receiver; StopIteration from it ends the loop. */
static void emit_yield_from(Emitter *emitter, Span span) {
    Block *send = emit_label(emitter), *failed = emit_label(emitter), *done = emit_label(emitter);
    emit_op(emitter, OPCODE_GET_YIELD_FROM_ITER, span);
    emit_none(emitter, span);
    emit_place(emitter, send);
    emit_jump(emitter, OPCODE_SEND, done, span);
    emit_jump(emitter, PSEUDO_SETUP_FINALLY, failed, span);
    emit_arg(emitter, OPCODE_YIELD_VALUE, 0, span);
    emit_op(emitter, PSEUDO_POP_BLOCK, NOWHERE);
    emit_arg(emitter, OPCODE_RESUME, 2, span);
    emit_jump(emitter, PSEUDO_JUMP_NO_INTERRUPT, send, span);
    emit_place(emitter, failed);
    emit_op(emitter, OPCODE_CLEANUP_THROW, span);
    emit_place(emitter, done);
    emit_op(emitter, OPCODE_END_SEND, span);
}

static void emit_yield(Emitter *emitter, Node *node) {
    const char *what = node->kind == NODE_YIELD ? "'yield'" : "'yield from'";
    if (!scope_is_function(emitter->unit->scope)) emit_fail(emitter, node->span, "SyntaxError: %s outside function", what);
    if (node->left) emit_expression(emitter, node->left);
    else emit_none(emitter, node->span);
    if (node->kind == NODE_YIELD) emit_yield_op(emitter, node->span);
    else emit_yield_from(emitter, node->span);
}

static void emit_slice(Emitter *emitter, Node *node) {
    emit_slice_parts(emitter, node);
    emit_arg(emitter, OPCODE_BUILD_SLICE, node->slice.step ? 3 : 2, node->span);
}

static void emit_name(Emitter *emitter, Node *node) {
    if (strcmp(node->name.id, "__debug__") == 0) emit_const(emitter, (Const){.kind = CONST_TRUE}, node->span);
    else emit_variable(emitter, node->name.id, CONTEXT_LOAD, node->span);
}

/* A node whose left operand, if it has one, is on the stack. */
static void emit_rest(Emitter *emitter, Node *node) {
    switch (node->kind) {
    case NODE_CONST: emit_const(emitter, node->constant, node->span); break;
    case NODE_NAME: emit_name(emitter, node); break;
    case NODE_ATTRIBUTE: emit_attribute_rest(emitter, node); break;
    case NODE_SUBSCRIPT: emit_subscript_rest(emitter, node); break;
    case NODE_CALL: emit_call_rest(emitter, node); break;
    case NODE_BINARY:
        emit_expression(emitter, node->operation.right);
        emit_arg(emitter, OPCODE_BINARY_OP, node->operation.op, node->span);
        break;
    case NODE_UNARY: emit_unary(emitter, node); break;
    case NODE_BOOL: emit_boolean(emitter, node); break;
    case NODE_COMPARE: emit_compare(emitter, node); break;
    case NODE_CONDITIONAL: emit_conditional(emitter, node); break;
    case NODE_WALRUS: emit_walrus(emitter, node); break;
    case NODE_LAMBDA: emit_lambda(emitter, node); break;
    case NODE_TUPLE: case NODE_LIST: case NODE_SET: emit_display(emitter, node); break;
    case NODE_DICT: emit_dict(emitter, node); break;
    case NODE_LIST_COMP: case NODE_SET_COMP: case NODE_DICT_COMP: case NODE_GENERATOR: emit_comprehension(emitter, node); break;
    case NODE_FSTRING: emit_fstring(emitter, node); break;
    case NODE_FORMATTED: emit_formatted(emitter, node); break;
    case NODE_YIELD: case NODE_YIELD_FROM: emit_yield(emitter, node); break;
    case NODE_SLICE: emit_slice(emitter, node); break;
    default: emit_fail(emitter, node->span, "SyntaxError: can't use starred expression here");
    }
}

static bool descends(Emitter *emitter, const Node *node) {
    if (node->kind == NODE_ATTRIBUTE) return !is_super_attribute(emitter, node);
    return node->kind == NODE_BINARY || node->kind == NODE_SUBSCRIPT || node->kind == NODE_CALL;
}

/* Down the left spine, then back up. What must stand below a callee is emitted on the way down. */
void emit_expression(Emitter *emitter, Node *node) {
    Node *at = node;
    node->up = NULL;
    while (descends(emitter, at)) {
        if (at->kind == NODE_CALL) emit_before_call(emitter, at);
        at->left->up = at;
        at = at->left;
    }
    for (Node *up; at; at = up) {
        up = at->up;
        emit_rest(emitter, at);
    }
}
