/* Numbers and modes: nodes of a captured graph that are no tensors: Python's arithmetic on symbolic numbers (numbers.c), grad mode and autocast (modes.c).
 *
 *     capture_number(vm, "add", operands, 2, result);     // hooks of the symbolic domain
 *     capture_settle_numbers(capture);                     // at the end, when the graph's outputs are known
 */
#ifndef VITRINE_DYNAMO_NUMBERS_H
#define VITRINE_DYNAMO_NUMBERS_H
#include "dynamo/capture.h"

void capture_number(VM *vm, const char *spelled, const Value *operands, int count, Dim result);
void capture_sized(VM *vm, const Dim *dims, int count);
const char *capture_operator_name(int op);                       /* BinaryOp, or DOMAIN_COMPARE + CompareOp: as in Python's operator module */
void capture_number_operands(Capture *capture, Node *node);      /* constants among its arguments that are numbers of the graph */
void capture_number_leaves(Capture *capture, Dim d);             /* it is given out by the rewritten code: PyTorch's graph gives it out */
void capture_node_leaves(Capture *capture, Node *number);
void capture_settle_numbers(Capture *capture);                   /* takes out what nothing uses */
/* modes.c */
void capture_note_modes(Capture *capture, const Frame *frame);   /* frame: that the VM is in */
void capture_note_block(Capture *capture);                       /* before each instruction of the root frame */
void capture_leave_blocks(Capture *capture, int depth);          /* the block whose exit method is item `depth - 1` of the stack, and those inside it */
void capture_settle_modes(Capture *capture);
#endif
