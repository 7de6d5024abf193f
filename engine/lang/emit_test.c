/* Emit tests: and, or, comparisons, conditionals, and jumps on the truth of an expression.
 *
 * In: an expression and where to go when it is true (or false). Out: jumps, without making a bool where none is needed.
 *
 *     if a and not b: …  ->  LOAD a; POP_JUMP_IF_FALSE end; LOAD b; POP_JUMP_IF_TRUE end; …
 *
 * Invariant: emit_jump_if leaves the stack as it was on both ways. */
#include "lang/emit.h"

static void emit_comparison_op(Emitter *emitter, int op, Span span) {
    switch (op) {
    case COMPARE_IS: emit_arg(emitter, OPCODE_IS_OP, 0, span); break;
    case COMPARE_IS_NOT: emit_arg(emitter, OPCODE_IS_OP, 1, span); break;
    case COMPARE_IN: emit_arg(emitter, OPCODE_CONTAINS_OP, 0, span); break;
    case COMPARE_NOT_IN: emit_arg(emitter, OPCODE_CONTAINS_OP, 1, span); break;
    default: emit_arg(emitter, OPCODE_COMPARE_OP, op << 4, span); break;
    }
}

/* Operand i + 1 of the comparison. What `in` looks through last may be a constant tuple or frozenset. */
static void emit_operand(Emitter *emitter, Node *node, int i) {
    int op = node->compare.ops[i];
    bool last = i == node->compare.operands.count - 2;
    Node *operand = node->compare.operands.at[i + 1];
    if (last && (op == COMPARE_IN || op == COMPARE_NOT_IN)) emit_iterable(emitter, operand);
    else emit_expression(emitter, operand);
}

/* a < b: the operand is kept below the result, for the next comparison of the chain. */
static void emit_chain_link(Emitter *emitter, Node *node, int i) {
    emit_operand(emitter, node, i);
    emit_arg(emitter, OPCODE_SWAP, 2, node->span);
    emit_arg(emitter, OPCODE_COPY, 2, node->span);
    emit_comparison_op(emitter, node->compare.ops[i], node->span);
}

void emit_compare(Emitter *emitter, Node *node) {
    int last = node->compare.operands.count - 2;
    Block *cleanup = emit_label(emitter), *end = emit_label(emitter);
    emit_expression(emitter, node->compare.operands.at[0]);
    for (int i = 0; i < last; i++) {
        emit_chain_link(emitter, node, i);
        emit_arg(emitter, OPCODE_COPY, 1, node->span);
        emit_jump(emitter, OPCODE_POP_JUMP_IF_FALSE, cleanup, node->span);
        emit_op(emitter, OPCODE_POP_TOP, node->span);
    }
    emit_operand(emitter, node, last);
    emit_comparison_op(emitter, node->compare.ops[last], node->span);
    if (!last) return;
    emit_jump(emitter, PSEUDO_JUMP, end, NOWHERE);
    emit_place(emitter, cleanup);
    emit_arg(emitter, OPCODE_SWAP, 2, node->span);
    emit_op(emitter, OPCODE_POP_TOP, node->span);
    emit_place(emitter, end);
}

void emit_boolean(Emitter *emitter, Node *node) {
    Block *end = emit_label(emitter);
    int last = node->boolean.values.count - 1;
    for (int i = 0; i < last; i++) {
        emit_expression(emitter, node->boolean.values.at[i]);
        emit_arg(emitter, OPCODE_COPY, 1, node->span);
        emit_jump(emitter, node->boolean.is_or ? OPCODE_POP_JUMP_IF_TRUE : OPCODE_POP_JUMP_IF_FALSE, end, node->span);
        emit_op(emitter, OPCODE_POP_TOP, node->span);
    }
    emit_expression(emitter, node->boolean.values.at[last]);
    emit_place(emitter, end);
}

void emit_conditional(Emitter *emitter, Node *node) {
    Block *end = emit_label(emitter), *otherwise = emit_label(emitter);
    emit_jump_if(emitter, node->conditional.test, otherwise, false);
    emit_expression(emitter, node->conditional.yes);
    emit_jump(emitter, PSEUDO_JUMP, end, NOWHERE);
    emit_place(emitter, otherwise);
    emit_expression(emitter, node->conditional.no);
    emit_place(emitter, end);
}

static void jump_if_boolean(Emitter *emitter, Node *test, Block *target, bool condition) {
    bool is_or = test->boolean.is_or, other_way = is_or != condition;
    Block *early = other_way ? emit_label(emitter) : target; /* where an operand that decides goes */
    int last = test->boolean.values.count - 1;
    for (int i = 0; i < last; i++) emit_jump_if(emitter, test->boolean.values.at[i], early, is_or);
    emit_jump_if(emitter, test->boolean.values.at[last], target, condition);
    if (other_way) emit_place(emitter, early);
}

static void jump_if_conditional(Emitter *emitter, Node *test, Block *target, bool condition) {
    Block *end = emit_label(emitter), *otherwise = emit_label(emitter);
    emit_jump_if(emitter, test->conditional.test, otherwise, false);
    emit_jump_if(emitter, test->conditional.yes, target, condition);
    emit_jump(emitter, PSEUDO_JUMP, end, NOWHERE);
    emit_place(emitter, otherwise);
    emit_jump_if(emitter, test->conditional.no, target, condition);
    emit_place(emitter, end);
}

static void jump_if_chain(Emitter *emitter, Node *test, Block *target, bool condition) {
    int last = test->compare.operands.count - 2;
    Block *cleanup = emit_label(emitter), *end = emit_label(emitter);
    emit_expression(emitter, test->compare.operands.at[0]);
    for (int i = 0; i < last; i++) {
        emit_chain_link(emitter, test, i);
        emit_jump(emitter, OPCODE_POP_JUMP_IF_FALSE, cleanup, test->span);
    }
    emit_operand(emitter, test, last);
    emit_comparison_op(emitter, test->compare.ops[last], test->span);
    emit_jump(emitter, condition ? OPCODE_POP_JUMP_IF_TRUE : OPCODE_POP_JUMP_IF_FALSE, target, test->span);
    emit_jump(emitter, PSEUDO_JUMP, end, NOWHERE);
    emit_place(emitter, cleanup);
    emit_op(emitter, OPCODE_POP_TOP, test->span);
    if (!condition) emit_jump(emitter, PSEUDO_JUMP, target, NOWHERE);
    emit_place(emitter, end);
}

void emit_jump_if(Emitter *emitter, Node *test, Block *target, bool condition) {
    bool chain = test->kind == NODE_COMPARE && test->compare.operands.count > 2;
    if (test->kind == NODE_UNARY && test->operation.op == UNARY_LOGICAL_NOT) {
        emit_jump_if(emitter, test->left, target, !condition);
    } else if (test->kind == NODE_BOOL) {
        jump_if_boolean(emitter, test, target, condition);
    } else if (test->kind == NODE_CONDITIONAL) {
        jump_if_conditional(emitter, test, target, condition);
    } else if (chain) {
        jump_if_chain(emitter, test, target, condition);
    } else {
        emit_expression(emitter, test);
        emit_jump(emitter, condition ? OPCODE_POP_JUMP_IF_TRUE : OPCODE_POP_JUMP_IF_FALSE, target, test->span);
    }
}
