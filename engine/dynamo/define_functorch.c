/* torch._functorch.config: what the partition goes by, as the language sees it.
 *
 *     torch._functorch.config.activation_memory_budget = 0.5            torch._functorch.config.aggressive_recomputation = True
 *
 * A module whose attributes are read when a frame is captured, as PyTorch does. An attribute that has PyTorch's default says nothing: what `:set` said stays.
 * To add a switch: a row in `bans`, or a line in functorch_policy. */
#include "dynamo/dynamo.h"
#include "vm/native.h"
#include <string.h>

typedef struct Ban { const char *name; size_t place; } Ban; /* a bool of Policy */
#define BAN(field) {#field, offsetof(Policy, field)}
static const Ban bans[] = {BAN(ban_recompute_used_far_apart), BAN(ban_recompute_long_fusible_chains), BAN(ban_recompute_materialized_backward), BAN(ban_recompute_not_in_allowlist),
                           BAN(ban_recompute_reductions)};
enum { BANS = sizeof bans / sizeof *bans };

static void put(VM *vm, Dict *dict, const char *name, Value value) { dict_set_name(vm, dict, intern(vm->lang->names, name), value); }

static void define_config(VM *vm, Dict *functorch) {
    Value config = module_new(vm, "torch._functorch.config");
    Dict *dict = ((ModuleObject *)config.o)->dict;
    for (int i = 0; i < BANS; i++) put(vm, dict, bans[i].name, value_bool(true));
    put(vm, dict, "aggressive_recomputation", value_bool(false));
    put(vm, dict, "activation_memory_budget", value_float(1.0));
    put(vm, functorch, "config", config);
    put(vm, vm->modules, "torch._functorch.config", config);
    value_unref(vm, config);
}

void functorch_define(Dynamo *dynamo) {
    VM *vm = dynamo->vm;
    Value torch = vm_import(vm, "torch", (Span){0});
    if (!value_is(torch, OBJ_MODULE)) {
        vm_clear_exception(vm);
        return;
    }
    Value functorch = module_new(vm, "torch._functorch");
    define_config(vm, ((ModuleObject *)functorch.o)->dict);
    put(vm, ((ModuleObject *)torch.o)->dict, "_functorch", functorch);
    put(vm, vm->modules, "torch._functorch", functorch);
    value_unref(vm, functorch);
    value_unref(vm, torch);
}

static Value config_value(VM *vm, const char *name) {
    Value config = dict_get_name(vm, vm->modules, intern(vm->lang->names, "torch._functorch.config"));
    return value_is(config, OBJ_MODULE) ? dict_get_name(vm, ((ModuleObject *)config.o)->dict, intern(vm->lang->names, name)) : VALUE_NULL;
}

void functorch_policy(const Dynamo *dynamo, Policy *policy) {
    VM *vm = dynamo->vm;
    for (int i = 0; i < BANS; i++) {
        Value v = config_value(vm, bans[i].name);
        if (v.tag == V_BOOL && !v.b) *(bool *)((char *)policy + bans[i].place) = false;
    }
    Value aggressive = config_value(vm, "aggressive_recomputation"), budget = config_value(vm, "activation_memory_budget");
    if (aggressive.tag == V_BOOL && aggressive.b) policy->partition = PARTITION_AGGRESSIVE;
    double share = budget.tag == V_FLOAT ? budget.f : budget.tag == V_INT ? (double)budget.i : 1;
    if (share != 1) policy->memory_budget = share;
    if (dynamo->options.backend && !strcmp(dynamo->options.backend, "aot_eager")) policy->partition = PARTITION_SAVE_ALL;
}
