/* Tools: parts of torch._dynamo and torch.compiler that are written in the language (torch/_dynamo/tools.py, utils.py), found by their modules' __getattr__
 * when they are first asked for; and the facts that they are made of.
 *
 *     torch._dynamo.utils.counters["stats"]["unique_graphs"]        torch.compiler.set_stance("force_eager")        torch._dynamo.config.patch(…) */
#include "dynamo/shapes.h"
#include "vm/internal.h"
#include <string.h>

typedef struct ToolName { const char *module, *name, *from; } ToolName; /* from: the file that has it; or, without its last part, a module of that name */
static const ToolName tools[] = {
    {"torch._dynamo", "utils", "torch._dynamo.utils"}, {"torch._dynamo", "testing", "torch._dynamo.testing"}, {"torch._dynamo", "list_backends", NULL}, {"torch._dynamo", "optimize", NULL},
    {"torch._dynamo", "optimize_assert", NULL}, {"torch._dynamo", "run", NULL}, {"torch._dynamo", "is_dynamo_supported", NULL}, {"torch._dynamo", "is_inductor_supported", NULL},
    {"torch._dynamo.config", "patch", NULL}, {"torch.compiler", "set_stance", NULL}, {"torch.compiler", "list_backends", NULL}, {"torch.compiler", "cudagraph_mark_step_begin", NULL},
    {"torch._logging", "set_logs", NULL},
};

/* args: the module's name, what is asked for. */
static Value tool_attribute(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)nargs; (void)kwnames;
    const char *module = str_text(args[0]), *name = value_is(args[1], OBJ_STR) ? str_text(args[1]) : "";
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
        if (strcmp(tools[i].module, module) || strcmp(tools[i].name, name)) continue;
        Value from = vm_import(vm, tools[i].from ? tools[i].from : "torch._dynamo.tools", (Span){0});
        if (tools[i].from || value_is_error(from)) return from;
        Value found = vm_load_attr(vm, from, intern(vm->lang->names, name));
        value_unref(vm, from);
        return found;
    }
    return vm_raise(vm, "AttributeError", "module '%s' has no attribute '%s'", module, name);
}

static void find_tools_in(VM *vm, Dict *dict, const char *module) {
    Value finder = builtin_new(vm, "__getattr__", tool_attribute, 2, 2, 0);
    ((Builtin *)finder.o)->self = str_from(vm, module);
    dict_set_name(vm, dict, vm->own->names.getattr_, finder);
    value_unref(vm, finder);
}

/* (frames, frames that were compiled, graphs, ops in them, a text for each break) */
static Value counts(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)args; (void)nargs; (void)kwnames;
    const Dynamo *dynamo = vm->dynamo;
    Value breaks = list_new(vm, NULL, 0), items[5] = {value_int(dynamo->frames_total), value_int(dynamo->frames_ok), value_int(dynamo->graphs), value_int(dynamo->ops_captured)};
    for (int i = 0; i < dynamo->breaks.count; i++) {
        Value text = str_from(vm, dynamo->breaks.at[i].reason);
        list_append(vm, (List *)breaks.o, text);
        value_unref(vm, text);
    }
    items[4] = tuple_new(vm, ((List *)breaks.o)->items, ((List *)breaks.o)->count);
    value_unref(vm, breaks);
    Value made = tuple_new(vm, items, 5);
    value_unref(vm, items[4]);
    return made;
}

static const char *const stances[] = {[STANCE_DEFAULT] = "default", [STANCE_EAGER] = "force_eager", [STANCE_CACHED] = "eager_on_recompile", [STANCE_FAIL] = "fail_on_recompile"};

/* The former one. */
static Value set_stance(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)nargs; (void)kwnames;
    Dynamo *dynamo = vm->dynamo;
    const char *former = stances[dynamo->stance];
    for (int i = 0; value_is(args[0], OBJ_STR) && i < (int)(sizeof stances / sizeof *stances); i++) {
        if (strcmp(stances[i], str_text(args[0]))) continue;
        dynamo->stance = (Stance)i;
        return str_from(vm, former);
    }
    return vm_raise(vm, "RuntimeError", "invalid torch.compile stance: default, force_eager, eager_on_recompile or fail_on_recompile is one");
}

void tools_define(Dynamo *dynamo, Dict *in_dynamo, Dict *in_config, Dict *in_compiler) {
    VM *vm = dynamo->vm;
    static const BuiltinDef functions[] = {{"_counts", counts, 0, 0, BUILTIN_EFFECT}, {"_set_stance", set_stance, 1, 1, BUILTIN_EFFECT}};
    vm_define(vm, in_dynamo, "torch._dynamo", functions, 2);
    find_tools_in(vm, in_dynamo, "torch._dynamo");
    find_tools_in(vm, in_config, "torch._dynamo.config");
    find_tools_in(vm, in_compiler, "torch.compiler");
    Value logging = module_new(vm, "torch._logging"), torch = vm_import(vm, "torch", (Span){0});
    find_tools_in(vm, ((ModuleObject *)logging.o)->dict, "torch._logging");
    dict_set_name(vm, vm->modules, intern(vm->lang->names, "torch._logging"), logging);
    if (value_is(torch, OBJ_MODULE)) dict_set_name(vm, ((ModuleObject *)torch.o)->dict, intern(vm->lang->names, "_logging"), logging);
    value_unref(vm, torch);
    value_unref(vm, logging);
}
