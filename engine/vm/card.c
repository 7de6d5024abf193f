/* Card: rows that have no loop of their own on a card are made of rows that have one, by the functions of torch/card.py.
 *
 *     x.nonzero()     a scan of x != 0, then a search for each place       torch/card.py: nonzero
 *     x[x > 0]        x[(x > 0).nonzero().unbind(1)]
 *
 * In: a row and its arguments. Out: what the row would give.
 * Invariant: on the CPU nothing of this runs. To add one: TRAIT_CARD in its row, a function of its name there. */
#include "vm/card.h"
#include "op/index.h"
#include "vm/body.h"
#include "vm/dispatch.h"
#include "vm/internal.h"
#include "vm/torch_state.h"
#include "vm/tracing.h"
#include <string.h>

static DeviceKind device_of_call(VM *vm, const Arg *args, int nargs) {
    for (int i = 0; i < nargs; i++) {
        if (args[i].tag == ARG_TENSOR) return args[i].tensor.meta->device.kind;
        if (args[i].tag == ARG_DEVICE) return args[i].device.kind;
    }
    return vm->default_device.kind;
}

/* Borrowed; NULL with an exception. */
static Object *card_body(VM *vm, const Op *op) {
    Value module = vm_import(vm, vm_intern(vm, "torch.card"), (Span){0});
    if (value_is_error(module)) return NULL;
    Value found = dict_get_name(vm, ((ModuleObject *)module.o)->dict, vm_intern(vm, op->name));
    value_unref(vm, module); /* sys.modules holds it */
    if (found.tag == V_OBJECT) return found.o;
    vm_raise(vm, "NotImplementedError", "torch/card.py has no function '%s'", op->name);
    return NULL;
}

Value card_run(VM *vm, const Op *op, const Arg *args, int nargs) {
    if (!op_has(op, TRAIT_CARD) || device_of_call(vm, args, nargs) != DEVICE_CUDA) return VALUE_NULL;
    Object *body = card_body(vm, op);
    if (!body) return VALUE_ERROR;
    bool former = vm->grad_enabled;
    vm->grad_enabled = false;
    Value result = op_call_function(vm, op, body, args, nargs);
    vm->grad_enabled = former;
    return result.tag == V_NOTIMPLEMENTED ? VALUE_NULL : result;
}

/* ---- masks among indices ---- */

bool card_has_masks(const Op *op, const Arg *args, int nargs) {
    if (op->family != FAMILY_INDEX && op->family != FAMILY_MUTATE) return false;
    return nargs > 1 && args[0].tag == ARG_TENSOR && args[0].tensor.meta->device.kind == DEVICE_CUDA && args[1].tag == ARG_TENSORS && strncmp(op->name, "index", 5) == 0 && has_mask(&args[1]);
}

/* One mask of rank r becomes r columns of places, held in *columns. */
static bool add_places(VM *vm, const Arg *mask, Arg *items, int *count, Value *columns) {
    Value table = vm_op_args(vm, "nonzero", mask, 1);
    *columns = VALUE_NULL;
    if (value_is_error(table)) return false;
    *columns = vm_op_args(vm, "unbind", (Arg[]){arg_of_tensor(tensor_of(table)), arg_int(1)}, 2);
    value_unref(vm, table);
    if (value_is_error(*columns)) return false;
    Value *parts;
    int number;
    if (!sequence_view(*columns, &parts, &number)) return false;
    for (int i = 0; i < number && *count < MAX_RANK; i++) items[(*count)++] = arg_of_tensor(tensor_of(parts[i]));
    return true;
}

static bool is_mask(const Arg *item) { return item->tag == ARG_TENSOR && (item->tensor.meta->dtype == DTYPE_BOOL || item->tensor.meta->dtype == DTYPE_U8); }

Value card_run_masks(VM *vm, const Op *op, const Arg *args, int nargs) {
    Arg items[MAX_RANK], moved[DISPATCH_MAX_PARAMS];
    Value held[MAX_RANK];
    int count = 0, holds = 0;
    bool good = true;
    for (int i = 0; i < args[1].list.count && count < MAX_RANK && good; i++) {
        const Arg *item = &args[1].list.items[i];
        if (is_mask(item) && holds < MAX_RANK) good = add_places(vm, item, items, &count, &held[holds++]);
        else items[count++] = *item;
    }
    memcpy(moved, args, (size_t)nargs * sizeof *moved);
    moved[1].list.items = items, moved[1].list.count = count;
    Value result = good ? vm_run_op(vm, op, moved, nargs) : VALUE_ERROR;
    for (int i = 0; i < holds; i++) value_unref(vm, held[i]);
    return result;
}
