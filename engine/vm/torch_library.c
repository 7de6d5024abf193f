/* The torch package as modules: C parts from tables, language parts from the files of engine/torch/ that the binary carries.
 *
 *     import torch.nn.functional as F   ->   torch, torch.nn (torch/nn.py), torch.nn.functional (torch/nn/functional.py)
 *
 * Module a.b.c is the file a/b/c.py. A module with both parts gets its C part first, then the file runs in its dict. Files are loaded when
 * first imported or first asked for as an attribute; functions of functional.py become composite ops then (leaves of a captured graph).
 * Invariant: a library file runs in the concrete domain with gradients on, whoever asked for it. To add a C module: a line in `native_modules`. */
#include "vm/autograd_hooks.h"
#include "vm/torch_library.h"
#include "torch/library.h"
#include "vm/autograd.h"
#include "vm/dispatch.h"
#include "vm/internal.h"
#include "vm/tensor_method.h"
#include "vm/torch_state.h"
#include <stdio.h>
#include <string.h>

/* ---- C parts ---- */

static void define_aten(VM *vm, Dict *dict) {
    for (int i = 0; i < op_count(vm->ops); i++) {
        const Op *op = op_at(vm->ops, i);
        if (i >= vm->torch->row_count) break; /* composites of the library are no aten rows */
        define_value(vm, dict, op->name, op_object_new(vm, op, arena_printf(vm->arena, "torch.ops.aten.%s", op->name)));
    }
}

static void define_rows_with(VM *vm, Dict *dict, unsigned trait, const char *prefix) {
    for (int i = 0; i < vm->torch->row_count; i++) {
        const Op *op = op_at(vm->ops, i);
        if (op_has(op, trait)) define_value(vm, dict, op->name, op_object_new(vm, op, arena_printf(vm->arena, "%s.%s", prefix, op->name)));
    }
}
static void define_functional(VM *vm, Dict *dict) { define_rows_with(vm, dict, TRAIT_NN, "torch.nn.functional"); }
static void define_nothing(VM *vm, Dict *dict) { (void)vm; (void)dict; }
/* Until dynamo defines its own (a VM without a compiler: tests, tools). */
static Value never_compiling(VM *vm, Value *args, int nargs, Tuple *kwnames) { (void)vm; (void)args; (void)nargs; (void)kwnames; return value_bool(false); }
static void define_compiler(VM *vm, Dict *dict) {
    static const BuiltinDef functions[] = {{"is_compiling", never_compiling, 0, 0, 0}, {"is_dynamo_compiling", never_compiling, 0, 0, 0}};
    vm_define(vm, dict, "torch.compiler", functions, COUNT_OF(functions));
}
static void define_native(VM *vm, Dict *dict) { torch_define_native(vm, dict); torch_define_autograd(vm, dict); torch_define_saved_hooks(vm, dict); }
static void define_cudnn(VM *vm, Dict *dict) {
    static const struct { const char *name; bool value; } flags[] = {{"enabled", true}, {"benchmark", false}, {"deterministic", false}, {"allow_tf32", true}};
    for (int i = 0; i < COUNT_OF(flags); i++) define_value(vm, dict, flags[i].name, value_bool(flags[i].value));
}
static void define_matmul(VM *vm, Dict *dict) {
    define_value(vm, dict, "allow_tf32", value_bool(vm->torch->matmul_allow_tf32));
    define_value(vm, dict, "allow_bf16_reduced_precision_reduction", value_bool(true));
    define_value(vm, dict, "allow_fp16_reduced_precision_reduction", value_bool(true));
}

/* torch.backends.cuda.matmul.allow_tf32 is a plain attribute of that module; set_float32_matmul_precision says the same. */
bool torch_allows_tf32(VM *vm) {
    Value module = vm->torch ? dict_get_name(vm, vm->modules, vm_intern(vm, "torch.backends.cuda.matmul")) : VALUE_NULL;
    Value flag = value_is(module, OBJ_MODULE) ? dict_get_name(vm, ((ModuleObject *)module.o)->dict, vm_intern(vm, "allow_tf32")) : VALUE_NULL;
    return (flag.tag == V_BOOL && flag.b) || (vm->torch && vm->torch->matmul_allow_tf32);
}

static const struct { const char *name; void (*define)(VM *vm, Dict *dict); } native_modules[] = {
    {"torch", torch_define_root}, {"torch._C", define_native}, {"torch.ops", define_nothing}, {"torch.ops.aten", define_aten}, {"torch.cuda", torch_define_cuda},
    {"torch._dynamo", define_compiler}, {"torch.compiler", define_compiler}, {"torch.random", torch_define_random}, {"torch.backends", define_nothing},
    {"torch.backends.cuda", define_nothing}, {"torch.backends.cudnn", define_cudnn}, {"torch.backends.cuda.matmul", define_matmul}, {"torch.backends.mps", define_nothing}, {"torch.nn.functional", define_functional},
    {"torch.utils", define_nothing}, {"torch.version", define_nothing},
};

static int native_index(const char *name) {
    for (int i = 0; i < COUNT_OF(native_modules); i++)
        if (strcmp(native_modules[i].name, name) == 0) return i;
    return -1;
}

/* ---- files ---- */

static const EmbeddedFile *file_of(const char *dotted) {
    char path[256];
    int length = snprintf(path, sizeof path, "%s.py", dotted);
    if (length < 0 || length >= (int)sizeof path) return NULL;
    for (char *c = path; c < path + length - 3; c++)
        if (*c == '.') *c = '/';
    return embedded_file(path);
}

bool torch_has_module(VM *vm, const char *dotted) { return native_index(dotted) >= 0 || file_of(dotted) || dict_get_name(vm, vm->modules, vm_intern(vm, dotted)).tag != V_NULL; }

typedef struct Mode { const Domain *domain; void *state; FrameEvaluator evaluator; InstructionHook hook; bool grad; } Mode;
static Mode enter_plain(VM *vm) {
    Mode mode = {vm->domain, vm->domain_state, vm->evaluator, vm->instruction_hook, vm->grad_enabled};
    vm->domain = &concrete_domain;
    vm->evaluator = NULL;
    vm->instruction_hook = NULL;
    vm->grad_enabled = true;
    return mode;
}
static void leave_plain(VM *vm, const Mode *mode) {
    vm->domain = mode->domain;
    vm->domain_state = mode->state;
    vm->evaluator = mode->evaluator;
    vm->instruction_hook = mode->hook;
    vm->grad_enabled = mode->grad;
}

/* ---- functional.py ---- */

static bool const_of_value(Value v, Const *out) {
    switch (v.tag) {
    case V_NONE: *out = (Const){.kind = CONST_NONE}; return true;
    case V_BOOL: *out = (Const){.kind = v.b ? CONST_TRUE : CONST_FALSE}; return true;
    case V_INT: *out = (Const){.kind = CONST_INT, .i = v.i}; return true;
    case V_FLOAT: *out = (Const){.kind = CONST_FLOAT, .f = v.f}; return true;
    default: break;
    }
    *out = (Const){.kind = CONST_NONE};
    if (value_is(v, OBJ_STR)) *out = (Const){.kind = CONST_STR, .s = {str_text(v), ((Str *)v.o)->length}};
    return value_is(v, OBJ_STR);
}

/* An empty or integer tuple as a default. */
static Const const_of_default(VM *vm, Value v) {
    Const c;
    if (const_of_value(v, &c) || !value_is(v, OBJ_TUPLE)) return c;
    const Tuple *tuple = (const Tuple *)v.o;
    Const *items = ARENA_ARRAY(vm->arena, Const, tuple->count + 1);
    for (int i = 0; i < tuple->count; i++) const_of_value(tuple->items[i], &items[i]);
    return (Const){.kind = CONST_TUPLE, .tuple = {items, tuple->count}};
}

static Signature *signature_of(VM *vm, const Function *function) {
    const Code *code = function->code;
    Signature *s = ARENA_NEW(vm->arena, Signature);
    s->count = code->argcount + code->kwonlyargcount;
    s->positional = code->argcount;
    s->names = code->localsplus;
    s->defaults = ARENA_ARRAY(vm->arena, Const, s->count + 1);
    s->has_default = ARENA_ARRAY(vm->arena, bool, s->count + 1);
    s->varargs = code->flags & CODE_VARARGS;
    s->varargs_name = s->varargs ? code->localsplus[s->count] : NULL;
    int given = value_is(function->defaults, OBJ_TUPLE) ? ((Tuple *)function->defaults.o)->count : 0;
    for (int i = 0; i < given; i++) {
        int at = code->argcount - given + i;
        s->has_default[at] = true;
        s->defaults[at] = const_of_default(vm, ((Tuple *)function->defaults.o)->items[i]);
    }
    for (int i = code->argcount; i < s->count && value_is(function->kwdefaults, OBJ_DICT); i++) {
        Value v = dict_get_name(vm, (Dict *)function->kwdefaults.o, s->names[i]);
        s->has_default[i] = v.tag != V_NULL;
        if (s->has_default[i]) s->defaults[i] = const_of_default(vm, v);
    }
    return s;
}

/* Written in the module's own file, or in a file of the folder of that name. */
static bool is_public_def(Value value, const char *name, const char *folder) {
    if (!value_is(value, OBJ_FUNCTION) || name[0] == '_' || ((Function *)value.o)->leaf) return false;
    const char *file = ((Function *)value.o)->code->file->name;
    return strncmp(file, folder, strlen(folder)) == 0 && strchr("./", file[strlen(folder)]);
}

/* The op that stands for a function in graphs. A row of the same name keeps its place in the table. */
static void make_leaf(VM *vm, Function *function, const char *prefix, unsigned traits) {
    const char *name = function->name, *key = op_find(vm->ops, name) ? arena_printf(vm->arena, "%s.%s", prefix, name) : name;
    Op *op = op_add_composite(vm->ops, vm_intern(vm, key), signature_of(vm, function), NULL);
    op->name = vm_intern(vm, name);
    op->traits = traits;
    op->body_function = value_ref(value_object(function)).o;
    function->leaf = op;
}

static void make_leaves(VM *vm, Dict *dict, const char *folder, const char *prefix, unsigned traits) {
    int position = 0;
    Value key, value;
    while (dict_next(dict, &position, &key, &value))
        if (is_public_def(value, str_text(key), folder)) make_leaf(vm, (Function *)value.o, prefix, traits);
}

/* ---- modules ---- */

static Value module_getattr(VM *vm, Value *args, int nargs, Tuple *kwnames);

static ModuleObject *module_make(VM *vm, const char *dotted) {
    Value module = module_new(vm, dotted), getter = builtin_new(vm, "__getattr__", module_getattr, 2, 2, 0);
    ModuleObject *made = (ModuleObject *)module.o;
    made->shipped = true;
    ((Builtin *)getter.o)->self = str_interned(vm, vm_intern(vm, dotted));
    dict_set_name(vm, made->dict, vm->own->names.getattr_, getter);
    value_unref(vm, getter);
    dict_set_name(vm, vm->modules, vm_intern(vm, dotted), module);
    value_unref(vm, module); /* sys.modules holds it */
    return made;
}

static void bind_in_parent(VM *vm, const char *dotted, ModuleObject *module) {
    const char *dot = strrchr(dotted, '.');
    if (!dot) return;
    ModuleObject *parent = torch_module(vm, arena_strndup(vm->arena, dotted, (size_t)(dot - dotted)));
    if (parent) dict_set_name(vm, parent->dict, vm_intern(vm, dot + 1), value_object(module));
}

/* Files whose functions are leaves of a captured graph: those defined in the folder, and in files of the folder that they import. */
static const struct { const char *module, *folder, *prefix; unsigned traits; } leaf_files[] = {
    {"torch.nn.functional", "torch/nn/functional", "nn.functional", TRAIT_NN}, {"torch.functional", "torch/functional", "functional", TRAIT_FUNCTION},
    {"torch.functional.further", "torch/functional", "functional", TRAIT_FUNCTION}, {"torch.tensor_library", "torch/tensor_library", "Tensor", TRAIT_METHOD},
};

static bool load_parts(VM *vm, const char *dotted, ModuleObject *module) {
    int native = native_index(dotted);
    if (native >= 0) native_modules[native].define(vm, module->dict);
    const EmbeddedFile *file = file_of(dotted);
    if (!file) return true;
    Mode mode = enter_plain(vm);
    bool ok = vm_run_shipped(vm, file, module->dict);
    leave_plain(vm, &mode);
    for (int i = 0; ok && i < COUNT_OF(leaf_files); i++)
        if (strcmp(dotted, leaf_files[i].module) == 0) make_leaves(vm, module->dict, leaf_files[i].folder, leaf_files[i].prefix, leaf_files[i].traits);
    return ok;
}

ModuleObject *torch_module(VM *vm, const char *dotted) {
    Value known = dict_get_name(vm, vm->modules, vm_intern(vm, dotted));
    if (value_is(known, OBJ_MODULE)) return (ModuleObject *)known.o;
    if (!torch_has_module(vm, dotted)) return NULL;
    const char *dot = strrchr(dotted, '.');
    if (dot && !torch_module(vm, arena_strndup(vm->arena, dotted, (size_t)(dot - dotted)))) return NULL;
    known = dict_get_name(vm, vm->modules, vm_intern(vm, dotted)); /* the parent may have imported it */
    if (value_is(known, OBJ_MODULE)) return (ModuleObject *)known.o;
    ModuleObject *module = module_make(vm, dotted);
    bind_in_parent(vm, dotted, module);
    if (load_parts(vm, dotted, module)) return module;
    bool found;
    Value key = str_interned(vm, vm_intern(vm, dotted));
    dict_delete(vm, vm->modules, key, &found);
    value_unref(vm, key);
    return NULL;
}

/* ---- functions of the library that are names of torch and methods of tensors ---- */

static void add_methods(VM *vm, Dict *dict) {
    Value names = dict_get_name(vm, dict, vm_intern(vm, "METHODS")), *items;
    int count;
    if (!sequence_view(names, &items, &count)) return;
    for (int i = 0; i < count; i++) {
        const char *name = vm_intern(vm, str_text(items[i]));
        Value function = dict_get_name(vm, dict, name);
        if (function.tag == V_OBJECT && !map_has(vm->torch->tensor_methods, name)) map_put(vm->torch->tensor_methods, name, value_ref(function).o);
    }
}

static bool add_library_file(VM *vm, const char *dotted) {
    if (!file_of(dotted)) return true;
    ModuleObject *module = torch_module(vm, dotted);
    if (module) add_methods(vm, module->dict);
    return module != NULL;
}

bool torch_library_load(VM *vm) {
    if (vm->torch->library_loaded) return true;
    vm->torch->library_loaded = true;
    return add_library_file(vm, "torch.tensor_library") && add_library_file(vm, "torch.functional");
}

bool torch_library_load_further(VM *vm) {
    if (vm->torch->further_loaded) return true;
    vm->torch->further_loaded = true;
    return torch_library_load(vm) && add_library_file(vm, "torch.functional.further");
}

static Value function_of(VM *vm, const char *dotted, const char *name) {
    Value library = dict_get_name(vm, vm->modules, vm_intern(vm, dotted));
    if (!value_is(library, OBJ_MODULE)) return VALUE_NULL;
    Value found = dict_get_name(vm, ((ModuleObject *)library.o)->dict, name);
    return value_is(found, OBJ_FUNCTION) || value_is(found, OBJ_CLASS) ? found : VALUE_NULL;
}

Value torch_function(VM *vm, const char *name) {
    if (name[0] == '_' || !torch_library_load(vm)) return VALUE_NULL;
    Value found = function_of(vm, "torch.functional", name);
    if (found.tag != V_NULL || !torch_library_load_further(vm)) return found;
    return function_of(vm, "torch.functional.further", name);
}

Value torch_attribute(VM *vm, const char *name) {
    ModuleObject *torch = torch_module(vm, "torch");
    return torch ? dict_get_name(vm, torch->dict, vm_intern(vm, name)) : VALUE_NULL;
}

/* What a module does not have yet: a submodule, or (torch alone) a function of functional.py. */
static Value module_getattr(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)nargs; (void)kwnames;
    const char *owner = str_text(args[0]), *name = str_text(args[1]);
    const char *dotted = arena_printf(vm->arena, "%s.%s", owner, name);
    if (name[0] != '_' || native_index(dotted) >= 0) {
        ModuleObject *module = torch_module(vm, dotted);
        if (module) return value_ref(value_object(module));
        if (vm->exception.tag != V_NULL) return VALUE_ERROR;
    }
    if (strcmp(owner, "torch") == 0) {
        Value function = torch_function(vm, vm_intern(vm, name));
        if (vm->exception.tag != V_NULL) return VALUE_ERROR;
        if (function.tag != V_NULL) {
            dict_set_name(vm, torch_module(vm, "torch")->dict, vm_intern(vm, name), function);
            return value_ref(function);
        }
    }
    return vm_raise(vm, "AttributeError", "module '%s' has no attribute '%s'", owner, name);
}

/* ---- entry ---- */

static void free_arena(void *arena) { arena_free(arena); }

void torch_state_make(VM *vm) {
    if (vm->torch) return;
    TorchState *torch = ARENA_NEW(vm->arena, TorchState);
    vm->torch = torch;
    torch->print = print_options_default;
    torch->autocast = (Autocast){.dtype = {DTYPE_BF16, DTYPE_F16}, .cache = true};
    torch->gradients = map_new(vm->arena);
    torch->inverses = map_new(vm->arena);
    torch->named_formulas = map_new(vm->arena);
    torch->bodies = map_new(vm->arena);
    torch->return_types = map_new(vm->arena);
    torch->tensor_attributes = map_new(vm->arena);
    torch->tensor_methods = map_new(vm->arena);
    torch->scratch = arena_new("arguments");
    arena_defer(vm->arena, free_arena, torch->scratch);
    torch->matmul_precision = "highest";
    torch->row_count = op_count(vm->ops);
    tensor_attributes_init(vm);
    tensor_methods_init(vm);
    tensor_specials_init(vm);
    autograd_native_init(vm);
    torch_random_init(vm);
}

Value torch_module_init(VM *vm) {
    torch_state_make(vm);
    ModuleObject *module = torch_module(vm, "torch");
    return module ? value_ref(value_object(module)) : VALUE_ERROR;
}

Value torch_submodule_init(VM *vm, const char *dotted_name) {
    torch_state_make(vm);
    ModuleObject *module = torch_module(vm, dotted_name);
    if (module) return value_ref(value_object(module));
    return vm->exception.tag == V_NULL ? VALUE_NULL : VALUE_ERROR;
}
