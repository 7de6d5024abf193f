/* Emit try and with: protected code and its handlers.
 *
 * In: TRY and WITH nodes. Out: set-ups, the body, the handlers with the stack layout of CPython 3.12.
 *
 *     try: a
 *     except E: b      ->  SETUP h; a; POP_BLOCK; JUMP end; h: PUSH_EXC_INFO; LOAD E; CHECK_EXC_MATCH; POP_JUMP_IF_FALSE n;
 *                          POP_TOP; b; POP_EXCEPT; JUMP end; n: RERAISE 0; c: COPY 3; POP_EXCEPT; RERAISE 1
 *
 * Invariant: a handler runs protected by a clean-up of its own, which restores the exception that was handled before. */
#include "lang/emit.h"

void emit_reraise(Emitter *emitter) {
    emit_arg(emitter, OPCODE_COPY, 3, NOWHERE);
    emit_op(emitter, OPCODE_POP_EXCEPT, NOWHERE);
    emit_arg(emitter, OPCODE_RERAISE, 1, NOWHERE);
}

/* The name is set to None first, so that deleting it succeeds even when the body deleted it. */
static void forget_name(Emitter *emitter, const char *name) {
    emit_none(emitter, NOWHERE);
    emit_variable(emitter, name, CONTEXT_STORE, NOWHERE);
    emit_variable(emitter, name, CONTEXT_DELETE, NOWHERE);
}

static void emit_named_handler(Emitter *emitter, const Handler *handler, Block *end) {
    Block *cleanup = emit_label(emitter), *body = emit_label(emitter);
    emit_variable(emitter, handler->name, CONTEXT_STORE, handler->span);
    emit_jump(emitter, PSEUDO_SETUP_CLEANUP, cleanup, handler->span);
    emit_place(emitter, body);
    frame_push(emitter, FRAME_HANDLER_CLEANUP, handler->span)->name = handler->name;
    emit_statements(emitter, &handler->body);
    frame_pop(emitter);
    emit_op(emitter, PSEUDO_POP_BLOCK, NOWHERE);
    emit_op(emitter, PSEUDO_POP_BLOCK, NOWHERE);
    emit_op(emitter, OPCODE_POP_EXCEPT, NOWHERE);
    forget_name(emitter, handler->name);
    emit_jump(emitter, PSEUDO_JUMP, end, NOWHERE);
    emit_place(emitter, cleanup);
    forget_name(emitter, handler->name);
    emit_arg(emitter, OPCODE_RERAISE, 1, NOWHERE);
}

static void emit_plain_handler(Emitter *emitter, const Handler *handler, Block *end) {
    Block *body = emit_label(emitter);
    emit_op(emitter, OPCODE_POP_TOP, handler->span);
    emit_place(emitter, body);
    frame_push(emitter, FRAME_HANDLER_CLEANUP, handler->span);
    emit_statements(emitter, &handler->body);
    frame_pop(emitter);
    emit_op(emitter, PSEUDO_POP_BLOCK, NOWHERE);
    emit_op(emitter, OPCODE_POP_EXCEPT, NOWHERE);
    emit_jump(emitter, PSEUDO_JUMP, end, NOWHERE);
}

static void emit_handlers(Emitter *emitter, Node *node, Block *cleanup, Block *end) {
    emit_jump(emitter, PSEUDO_SETUP_CLEANUP, cleanup, NOWHERE);
    emit_op(emitter, OPCODE_PUSH_EXC_INFO, NOWHERE);
    frame_push(emitter, FRAME_HANDLER, node->span);
    for (int i = 0; i < node->try_block.handlers.count; i++) {
        const Handler *handler = &node->try_block.handlers.at[i];
        Block *next = emit_label(emitter);
        if (handler->type) {
            emit_expression(emitter, handler->type);
            emit_op(emitter, OPCODE_CHECK_EXC_MATCH, handler->span);
            emit_jump(emitter, OPCODE_POP_JUMP_IF_FALSE, next, handler->span);
        }
        if (handler->name) emit_named_handler(emitter, handler, end);
        else emit_plain_handler(emitter, handler, end);
        emit_place(emitter, next);
    }
    frame_pop(emitter);
    emit_arg(emitter, OPCODE_RERAISE, 0, NOWHERE);
}

static void emit_try_except(Emitter *emitter, Node *node) {
    Block *body = emit_label(emitter), *except = emit_label(emitter), *end = emit_label(emitter), *cleanup = emit_label(emitter);
    emit_jump(emitter, PSEUDO_SETUP_FINALLY, except, node->span);
    emit_place(emitter, body);
    frame_push(emitter, FRAME_TRY_EXCEPT, node->span);
    emit_statements(emitter, &node->try_block.body);
    frame_pop(emitter);
    emit_op(emitter, PSEUDO_POP_BLOCK, NOWHERE);
    emit_statements(emitter, &node->try_block.orelse);
    emit_jump(emitter, PSEUDO_JUMP, end, NOWHERE);
    emit_place(emitter, except);
    emit_handlers(emitter, node, cleanup, end);
    emit_place(emitter, cleanup);
    emit_reraise(emitter);
    emit_place(emitter, end);
}

static void emit_protected(Emitter *emitter, Node *node) {
    frame_push(emitter, FRAME_FINALLY_TRY, node->span)->finally = &node->try_block.finally;
    if (node->try_block.handlers.count) emit_try_except(emitter, node);
    else emit_statements(emitter, &node->try_block.body);
    emit_op(emitter, PSEUDO_POP_BLOCK, NOWHERE);
    frame_pop(emitter);
}

/* The finally block stands twice: for the ordinary end, and for exceptions. */
static void emit_try_finally(Emitter *emitter, Node *node) {
    Block *body = emit_label(emitter), *end = emit_label(emitter), *exit = emit_label(emitter), *cleanup = emit_label(emitter);
    emit_jump(emitter, PSEUDO_SETUP_FINALLY, end, node->span);
    emit_place(emitter, body);
    emit_protected(emitter, node);
    emit_statements(emitter, &node->try_block.finally);
    emit_jump(emitter, PSEUDO_JUMP, exit, NOWHERE);
    emit_place(emitter, end);
    frame_push(emitter, FRAME_FINALLY_END, node->span);
    emit_jump(emitter, PSEUDO_SETUP_CLEANUP, cleanup, NOWHERE);
    emit_op(emitter, OPCODE_PUSH_EXC_INFO, NOWHERE);
    emit_statements(emitter, &node->try_block.finally);
    frame_pop(emitter);
    emit_arg(emitter, OPCODE_RERAISE, 0, NOWHERE);
    emit_place(emitter, cleanup);
    emit_reraise(emitter);
    emit_place(emitter, exit);
}

void emit_try(Emitter *emitter, Node *node) {
    if (node->try_block.finally.count) emit_try_finally(emitter, node);
    else emit_try_except(emitter, node);
}

void emit_exit_call(Emitter *emitter, Span span) {
    for (int i = 0; i < 3; i++) emit_none(emitter, span);
    emit_arg(emitter, OPCODE_CALL, 2, span);
}

/* __exit__ has been asked about the exception: true means it is dealt with. */
static void emit_with_except_end(Emitter *emitter, Block *cleanup) {
    Block *suppress = emit_label(emitter), *exit = emit_label(emitter);
    emit_jump(emitter, OPCODE_POP_JUMP_IF_TRUE, suppress, NOWHERE);
    emit_arg(emitter, OPCODE_RERAISE, 2, NOWHERE);
    emit_place(emitter, suppress);
    emit_op(emitter, OPCODE_POP_TOP, NOWHERE);
    emit_op(emitter, PSEUDO_POP_BLOCK, NOWHERE);
    emit_op(emitter, OPCODE_POP_EXCEPT, NOWHERE);
    emit_op(emitter, OPCODE_POP_TOP, NOWHERE);
    emit_op(emitter, OPCODE_POP_TOP, NOWHERE);
    emit_jump(emitter, PSEUDO_JUMP, exit, NOWHERE);
    emit_place(emitter, cleanup);
    emit_reraise(emitter);
    emit_place(emitter, exit);
}

static void emit_with_item(Emitter *emitter, Node *node, int i);

static void emit_with_body(Emitter *emitter, Node *node, int i) {
    const WithItem *item = &node->with.items.at[i];
    if (item->target) emit_target(emitter, item->target);
    else emit_op(emitter, OPCODE_POP_TOP, item->manager->span);
    if (i + 1 < node->with.items.count) emit_with_item(emitter, node, i + 1);
    else emit_statements(emitter, &node->with.body);
}

/* Several items are nested statements; the limit on frames bounds the recursion. */
static void emit_with_item(Emitter *emitter, Node *node, int i) {
    Block *block = emit_label(emitter), *final = emit_label(emitter), *exit = emit_label(emitter), *cleanup = emit_label(emitter);
    Node *manager = node->with.items.at[i].manager;
    emit_expression(emitter, manager);
    emit_op(emitter, OPCODE_BEFORE_WITH, manager->span);
    emit_jump(emitter, PSEUDO_SETUP_WITH, final, manager->span);
    emit_place(emitter, block);
    frame_push(emitter, FRAME_WITH, node->span);
    emit_with_body(emitter, node, i);
    emit_op(emitter, PSEUDO_POP_BLOCK, NOWHERE);
    frame_pop(emitter);
    emit_exit_call(emitter, node->span);
    emit_op(emitter, OPCODE_POP_TOP, node->span);
    emit_jump(emitter, PSEUDO_JUMP, exit, node->span);
    emit_place(emitter, final);
    emit_jump(emitter, PSEUDO_SETUP_CLEANUP, cleanup, node->span);
    emit_op(emitter, OPCODE_PUSH_EXC_INFO, node->span);
    emit_op(emitter, OPCODE_WITH_EXCEPT_START, node->span);
    emit_with_except_end(emitter, cleanup);
    emit_place(emitter, exit);
}

void emit_with(Emitter *emitter, Node *node) { emit_with_item(emitter, node, 0); }
