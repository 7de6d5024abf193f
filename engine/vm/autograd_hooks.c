/* Hooks on what the tape saves: torch.autograd.graph.saved_tensors_hooks.
 *
 * In: a tensor that a node saves while a pair of hooks is entered. Out: pack(tensor) is kept in its place, and unpack of that when the backward reads it.
 *
 *     with saved_tensors_hooks(lambda x: x.to("cpu"), lambda x: x.to("cuda")):
 *         y = x.exp()                 ->   the node keeps (unpack, pack(y), nothing); its backward reads unpack(pack(y))
 *
 * Invariant: pack runs with the tape off, on a tensor without a link to it; what unpack gives is linked to the tape as the saved tensor was, so second derivatives follow. In other
 * domains than eager work nothing is packed. To add a thing that the tape keeps of a packed tensor: an item of the tuple that saved_pack makes. */
#include "vm/autograd.h"
#include "vm/autograd_hooks.h"
#include "vm/domain.h"
#include "vm/torch_state.h"
#include "vm/vm.h"

enum { PACKED_UNPACK, PACKED_VALUE, PACKED_LINK, PACKED_INDEX, PACKED_ITEMS };

bool saved_hooks_entered(VM *vm) { return vm->torch->saved_hooks.tag != V_NULL && vm->domain == &concrete_domain; }

/* A leaf itself, the node that made the tensor, or None. Owned. */
static Value link_of(VM *vm, Tensor *t) {
    GradNode *node = tensor_grad_node(vm, t);
    if (node) return value_object(&grad_node_ref(node)->head);
    return t->requires_grad ? value_ref(value_tensor(t)) : VALUE_NONE;
}

Value saved_pack(VM *vm, Tensor *t, bool is_output) {
    Value pair = value_ref(vm->torch->saved_hooks), alias = value_tensor(tensor_alias(vm, t));
    bool former = vm->grad_enabled;
    vm->grad_enabled = false;
    Value packed = vm_call(vm, ((Tuple *)pair.o)->items[0], &alias, 1, NULL);
    vm->grad_enabled = former;
    value_unref(vm, alias);
    Value result = VALUE_ERROR;
    if (!value_is_error(packed)) {
        Value items[PACKED_ITEMS] = {((Tuple *)pair.o)->items[1], packed, is_output ? VALUE_NONE : link_of(vm, t), value_int(is_output ? 0 : t->grad_index)};
        result = tuple_new(vm, items, PACKED_ITEMS);
        value_unref(vm, items[PACKED_LINK]);
        value_unref(vm, packed);
    }
    value_unref(vm, pair);
    return result;
}

static Value linked_to(VM *vm, Value tensor, GradNode *node, int index) {
    Tensor *linked = tensor_alias(vm, tensor_of(tensor));
    autograd_attach(vm, linked, node, index);
    value_unref(vm, tensor);
    return value_tensor(linked);
}

Value saved_unpack(VM *vm, Value saved, GradNode *node, int output) {
    Value *items = ((Tuple *)saved.o)->items;
    Value tensor = vm_call(vm, items[PACKED_UNPACK], &items[PACKED_VALUE], 1, NULL);
    if (value_is_error(tensor)) return tensor;
    if (!value_is_tensor(tensor)) {
        vm_raise(vm, "TypeError", "Output of saved tensor unpack_hook expected to be a Tensor but got result of type %s", type_name(vm, tensor));
        value_unref(vm, tensor);
        return VALUE_ERROR;
    }
    if (!vm->grad_enabled) return tensor;
    if (output >= 0) return linked_to(vm, tensor, node, output);
    Value link = items[PACKED_LINK];
    if (value_is(link, OBJ_GRAD_NODE)) return linked_to(vm, tensor, (GradNode *)link.o, (int)items[PACKED_INDEX].i);
    if (!value_is_tensor(link)) return tensor;
    value_unref(vm, tensor);
    return value_ref(link);
}

/* ---- torch._C ---- */

/* _set_saved_hooks((pack, unpack) or None): gives what was entered before. */
static Value set_saved_hooks(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)nargs, (void)kwnames;
    Value former = vm->torch->saved_hooks;
    bool pair = value_is(args[0], OBJ_TUPLE) && ((Tuple *)args[0].o)->count == 2;
    vm->torch->saved_hooks = pair ? value_ref(args[0]) : VALUE_NULL;
    return former.tag == V_NULL ? VALUE_NONE : former;
}

void torch_define_saved_hooks(VM *vm, Dict *dict) {
    static const BuiltinDef functions[] = {{"_set_saved_hooks", set_saved_hooks, 1, 1, BUILTIN_BREAK}};
    vm_define(vm, dict, "torch._C", functions, 1);
}
