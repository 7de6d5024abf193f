/* Emit control: if, while, for, break, continue, return, and what leaving blocks undoes.
 *
 * In: statement nodes; the frames that are open. Out: jumps; the clean-up of each frame that is left.
 *
 *     for x in y:
 *         with z: return 1   ->  … POP_BLOCK, exit of z, POP_TOP of the iterator, RETURN_CONST 1
 *
 * Invariant: emit_unwind leaves the frames as it found them. */
#include "lang/emit.h"

Frame *frame_push(Emitter *emitter, FrameKind kind, Span span) {
    Unit *unit = emitter->unit;
    if (unit->frame_count == FRAME_LIMIT) emit_fail(emitter, span, "SyntaxError: too many statically nested blocks");
    Frame *frame = &unit->frames[unit->frame_count++];
    *frame = (Frame){.kind = kind, .span = span};
    return frame;
}

void frame_pop(Emitter *emitter) { emitter->unit->frame_count--; }

static void swap_top(Emitter *emitter, bool keep_top, Span span) {
    if (keep_top) emit_arg(emitter, OPCODE_SWAP, 2, span);
}

static void unwind_pop(Emitter *emitter, Span span, bool keep_top) {
    swap_top(emitter, keep_top, span);
    emit_op(emitter, OPCODE_POP_TOP, span);
}

/* The finally block runs here too; what follows it belongs to no line. */
static void unwind_finally(Emitter *emitter, const Frame *frame, Span *span, bool keep_top) {
    emit_op(emitter, PSEUDO_POP_BLOCK, *span);
    if (keep_top) frame_push(emitter, FRAME_POP_VALUE, *span);
    emit_statements(emitter, frame->finally);
    if (keep_top) frame_pop(emitter);
    *span = NOWHERE;
}

static void unwind_with(Emitter *emitter, const Frame *frame, Span *span, bool keep_top) {
    *span = frame->span;
    emit_op(emitter, PSEUDO_POP_BLOCK, *span);
    swap_top(emitter, keep_top, *span);
    emit_exit_call(emitter, *span);
    emit_op(emitter, OPCODE_POP_TOP, *span);
    *span = NOWHERE;
}

static void unwind_handler(Emitter *emitter, const Frame *frame, Span span, bool keep_top) {
    if (frame->name) emit_op(emitter, PSEUDO_POP_BLOCK, span);
    swap_top(emitter, keep_top, span);
    emit_op(emitter, PSEUDO_POP_BLOCK, span);
    emit_op(emitter, OPCODE_POP_EXCEPT, span);
    if (!frame->name) return;
    emit_none(emitter, span);
    emit_variable(emitter, frame->name, CONTEXT_STORE, span);
    emit_variable(emitter, frame->name, CONTEXT_DELETE, span);
}

void emit_unwind_frame(Emitter *emitter, const Frame *frame, Span *span, bool keep_top) {
    switch (frame->kind) {
    case FRAME_WHILE: case FRAME_HANDLER: break;
    case FRAME_FOR: case FRAME_POP_VALUE: unwind_pop(emitter, *span, keep_top); break;
    case FRAME_TRY_EXCEPT: emit_op(emitter, PSEUDO_POP_BLOCK, *span); break;
    case FRAME_FINALLY_TRY: unwind_finally(emitter, frame, span, keep_top); break;
    case FRAME_FINALLY_END:
        unwind_pop(emitter, *span, keep_top);
        swap_top(emitter, keep_top, *span);
        emit_op(emitter, PSEUDO_POP_BLOCK, *span);
        emit_op(emitter, OPCODE_POP_EXCEPT, *span);
        break;
    case FRAME_WITH: unwind_with(emitter, frame, span, keep_top); break;
    case FRAME_HANDLER_CLEANUP: unwind_handler(emitter, frame, *span, keep_top); break;
    }
}

/* A frame is off the list while its own clean-up is emitted: a return in a finally block does not run that block again. */
Frame *emit_unwind(Emitter *emitter, Span *span, bool keep_top, bool to_loop) {
    Unit *unit = emitter->unit;
    if (!unit->frame_count) return NULL;
    Frame *top = &unit->frames[unit->frame_count - 1];
    if (to_loop && (top->kind == FRAME_WHILE || top->kind == FRAME_FOR)) return top;
    Frame copy = *top;
    unit->frame_count--;
    emit_unwind_frame(emitter, &copy, span, keep_top);
    Frame *loop = emit_unwind(emitter, span, keep_top, to_loop);
    unit->frames[unit->frame_count++] = copy;
    return loop;
}

void emit_break(Emitter *emitter, Node *node) {
    Span span = node->span;
    emit_op(emitter, OPCODE_NOP, span);
    Frame *loop = emit_unwind(emitter, &span, false, true);
    if (!loop) emit_fail(emitter, node->span, "SyntaxError: 'break' outside loop");
    emit_unwind_frame(emitter, loop, &span, false);
    emit_jump(emitter, PSEUDO_JUMP, loop->exit, span);
}

void emit_continue(Emitter *emitter, Node *node) {
    Span span = node->span;
    emit_op(emitter, OPCODE_NOP, span);
    Frame *loop = emit_unwind(emitter, &span, false, true);
    if (!loop) emit_fail(emitter, node->span, "SyntaxError: 'continue' not properly in loop");
    emit_jump(emitter, PSEUDO_JUMP, loop->start, span);
}

void emit_return(Emitter *emitter, Node *node) {
    Node *value = node->left;
    Span span = node->span;
    Const constant = {.kind = CONST_NONE};
    bool keep_top = value && !node_constant(emitter->session->arena, value, &constant);
    if (!scope_is_function(emitter->unit->scope)) emit_fail(emitter, span, "SyntaxError: 'return' outside function");
    if (keep_top) {
        emit_expression(emitter, value);
    } else if (value) {
        span = value->span;
        emit_op(emitter, OPCODE_NOP, span);
    }
    if (!value || span_line(value->span) != span_line(node->span)) {
        span = node->span;
        emit_op(emitter, OPCODE_NOP, span);
    }
    emit_unwind(emitter, &span, keep_top, false);
    if (!keep_top) emit_const(emitter, constant, span);
    emit_op(emitter, OPCODE_RETURN_VALUE, span);
}

/* A chain of elifs is a loop here; all branches jump to one end. */
void emit_if(Emitter *emitter, Node *node) {
    Block *end = emit_label(emitter);
    for (;;) {
        const NodeList *orelse = &node->block.orelse;
        Block *next = orelse->count ? emit_label(emitter) : end;
        emit_jump_if(emitter, node->left, next, false);
        emit_statements(emitter, &node->block.body);
        if (!orelse->count) break;
        emit_jump(emitter, PSEUDO_JUMP, end, NOWHERE);
        emit_place(emitter, next);
        if (orelse->count == 1 && orelse->at[0]->kind == NODE_IF) {
            node = orelse->at[0];
            continue;
        }
        emit_statements(emitter, orelse);
        break;
    }
    emit_place(emitter, end);
}

/* The test stands at both ends of the loop, so that each round jumps once. */
void emit_while(Emitter *emitter, Node *node) {
    Block *loop = emit_label(emitter), *body = emit_label(emitter), *end = emit_label(emitter), *anchor = emit_label(emitter);
    emit_place(emitter, loop);
    Frame *frame = frame_push(emitter, FRAME_WHILE, node->span);
    frame->start = loop;
    frame->exit = end;
    emit_jump_if(emitter, node->left, anchor, false);
    emit_place(emitter, body);
    emit_statements(emitter, &node->block.body);
    emit_jump_if(emitter, node->left, body, true);
    frame_pop(emitter);
    emit_place(emitter, anchor);
    emit_statements(emitter, &node->block.orelse);
    emit_place(emitter, end);
}

void emit_for(Emitter *emitter, Node *node) {
    Block *start = emit_label(emitter), *body = emit_label(emitter), *cleanup = emit_label(emitter), *end = emit_label(emitter);
    Frame *frame = frame_push(emitter, FRAME_FOR, node->span);
    frame->start = start;
    frame->exit = end;
    emit_iterable(emitter, node->left);
    emit_op(emitter, OPCODE_GET_ITER, node->left->span);
    emit_place(emitter, start);
    emit_jump(emitter, OPCODE_FOR_ITER, cleanup, node->left->span);
    emit_place(emitter, body);
    emit_target(emitter, node->block.target);
    emit_statements(emitter, &node->block.body);
    emit_jump(emitter, PSEUDO_JUMP, start, NOWHERE);
    emit_place(emitter, cleanup);
    emit_op(emitter, OPCODE_END_FOR, NOWHERE);
    frame_pop(emitter);
    emit_statements(emitter, &node->block.orelse);
    emit_place(emitter, end);
}
