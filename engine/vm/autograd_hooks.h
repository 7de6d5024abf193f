/* Hooks on what the tape saves (autograd_hooks.c). */
#ifndef VITRINE_VM_AUTOGRAD_HOOKS_H
#define VITRINE_VM_AUTOGRAD_HOOKS_H
#include "vm/autograd.h"

/* Is a pair of hooks entered that a node being made must ask? */
bool saved_hooks_entered(VM *vm);
/* What the node keeps instead of the tensor; owned, VALUE_ERROR: the hook raised. is_output: t is an output of the node itself, to which the node holds no link. */
Value saved_pack(VM *vm, Tensor *t, bool is_output);
/* The tensor again, owned. output: which output of `node` it is, or -1. */
Value saved_unpack(VM *vm, Value saved, GradNode *node, int output);
void torch_define_saved_hooks(VM *vm, Dict *dict);
#endif
