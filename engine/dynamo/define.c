/* torch.compile and its relatives as the language sees them. In: a Dynamo. Out: names in the modules torch, torch._dynamo, torch.compiler.
 *
 *     @torch.compile            torch.compile(model, fullgraph=True)            @torch.compile(dynamic=False)
 *
 * A function, or an object that is no module, gets a wrapper that forwards attributes; a module becomes an OptimizedModule (torch/_dynamo/eval_frame.py),
 * which holds such a wrapper for its calls. */
#include "dynamo/unbacked.h"
#include "dynamo/shapes.h"
#include "vm/internal.h"
#include "vm/native.h"
#include <string.h>

typedef struct Compiled { Object head; Dynamo *dynamo; Value inner; CompileOptions options; } Compiled;

/* The wrapper itself, or the one that an OptimizedModule (torch/_dynamo/eval_frame.py) holds. NULL: neither. */
static const Compiled *compiled_of(Value callee) {
    if (value_is(callee, OBJ_COMPILED)) return (const Compiled *)callee.o;
    if (!value_is(callee, OBJ_INSTANCE) || strcmp(((const Instance *)callee.o)->cls->name, "OptimizedModule")) return NULL;
    const Dict *dict = ((const Instance *)callee.o)->dict;
    int position = 0;
    for (Value key, value; dict && dict_next(dict, &position, &key, &value);)
        if (value_is(value, OBJ_COMPILED) && value_is(key, OBJ_STR) && !strcmp(str_text(key), "_compiled")) return (const Compiled *)value.o;
    return NULL;
}

bool dynamo_is_compiled(Value callee) { return compiled_of(callee) != NULL; }

Value dynamo_inner(Value callee) {
    const Compiled *compiled = compiled_of(callee);
    return compiled ? compiled->inner : callee;
}

CompileOptions dynamo_options(Value callee) {
    const Compiled *compiled = compiled_of(callee);
    return compiled ? compiled->options : (CompileOptions){.backend = "inductor"};
}

static Value compiled_new(VM *vm, Value inner, const CompileOptions *options) {
    Compiled *compiled = (Compiled *)object_new(vm, OBJ_COMPILED, sizeof *compiled);
    compiled->dynamo = vm->dynamo;
    compiled->inner = value_ref(dynamo_inner(inner));
    compiled->options = *options;
    value_ref(options->function);
    return value_object(compiled);
}

static Value compiled_call(VM *vm, Object *self, Value *args, int nargs, Tuple *kwnames) {
    Compiled *compiled = (Compiled *)self;
    if (compiled->inner.tag == V_NULL) { /* torch.compile(fullgraph=True) without a model: a decorator */
        if (nargs != 1 || kwnames) return vm_raise(vm, "TypeError", "torch.compile(...) used as a decorator takes one function");
        return compiled_new(vm, args[0], &compiled->options);
    }
    return dynamo_call(compiled->dynamo, &compiled->options, compiled->inner, args, nargs, kwnames);
}

static Value compiled_attr(VM *vm, Object *self, const char *name) {
    Compiled *compiled = (Compiled *)self;
    if (compiled->inner.tag == V_NULL) return VALUE_NULL;
    if (!strcmp(name, "_orig_mod") || !strcmp(name, "__wrapped__") || !strcmp(name, "_torchdynamo_orig_callable")) return value_ref(compiled->inner);
    return vm_load_attr(vm, compiled->inner, name);
}

static bool compiled_store(VM *vm, Object *self, const char *name, Value value) { return vm_store_attr(vm, ((Compiled *)self)->inner, name, value); }

static Value compiled_repr(VM *vm, Object *self) {
    if (((Compiled *)self)->inner.tag == V_NULL) return str_from(vm, "<torch.compile decorator>");
    return vm_repr(vm, ((Compiled *)self)->inner);
}

static void compiled_free(VM *vm, Object *self) {
    value_unref(vm, ((Compiled *)self)->inner);
    value_unref(vm, ((Compiled *)self)->options.function);
}
static void compiled_visit(Object *self, ObjectVisit visit, void *state) {
    visit(state, ((Compiled *)self)->inner);
    visit(state, ((Compiled *)self)->options.function);
}
static void compiled_clear(VM *vm, Object *self) {
    value_unref(vm, ((Compiled *)self)->inner);
    ((Compiled *)self)->inner = VALUE_NONE;
    value_unref(vm, ((Compiled *)self)->options.function);
    ((Compiled *)self)->options.function = VALUE_NULL;
}

static const NativeType compiled_type = {.name = "OptimizedFunction", .module = "torch._dynamo.eval_frame", .call = compiled_call, .load_attr = compiled_attr,
                                         .store_attr = compiled_store, .repr = compiled_repr, .free = compiled_free, .visit = compiled_visit, .clear = compiled_clear};

Value dynamo_graph_call(VM *vm, Object *self, Value *args, int nargs, Tuple *kwnames);
static const NativeType graph_type = {.name = "CompiledGraph", .module = "torch._dynamo", .call = dynamo_graph_call};

static Dict *module_dict(VM *vm, const char *name) {
    Value module = vm_import(vm, name, (Span){0});
    if (!value_is(module, OBJ_MODULE)) {
        vm_clear_exception(vm);
        return NULL;
    }
    Dict *dict = ((ModuleObject *)module.o)->dict;
    value_unref(vm, module);
    return dict;
}

static Dynamo *dynamo_of(VM *vm) { return vm->dynamo; }

static bool option_bool(Value v, bool otherwise) { return v.tag == V_BOOL ? v.b : otherwise; }

static const char *option_text(VM *vm, Value v, const char *otherwise) { return value_is(v, OBJ_STR) ? intern(vm->lang->names, str_text(v)) : otherwise; }

static bool backend_known(VM *vm, Value backend) {
    if (backend.tag == V_NULL || backend.tag == V_NONE || vm_callable(vm, backend)) return true;
    if (!value_is(backend, OBJ_STR)) return vm_raise(vm, "TypeError", "torch.compile: backend is a name or a function, not %s", type_name(vm, backend)), false;
    const char *name = str_text(backend);
    if (!strcmp(name, "inductor") || !strcmp(name, "eager") || !strcmp(name, "aot_eager")) return true;
    vm_raise(vm, "RuntimeError", "torch.compile has no backend '%s' (inductor, aot_eager, eager)", name);
    return false;
}

/* Inductor knows its modes; other backends are given whatever was said. */
static bool mode_known(VM *vm, Value backend, Value mode, Value options) {
    static const char *const modes[] = {"default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"};
    bool said = mode.tag != V_NULL && mode.tag != V_NONE;
    if (said && options.tag != V_NULL && options.tag != V_NONE)
        return vm_raise(vm, "RuntimeError", "Either mode or options can be specified, but both can't be specified at the same time."), false;
    bool inductor = backend.tag == V_NULL || backend.tag == V_NONE || (value_is(backend, OBJ_STR) && !strcmp(str_text(backend), "inductor"));
    if (!said || !inductor) return true;
    if (!value_is(mode, OBJ_STR)) return vm_raise(vm, "TypeError", "torch.compile: mode is a name, not %s", type_name(vm, mode)), false;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (!strcmp(str_text(mode), modes[i])) return true;
    vm_raise(vm, "RuntimeError", "Unrecognized mode=%s, should be one of: default, reduce-overhead, max-autotune, max-autotune-no-cudagraphs", str_text(mode));
    return false;
}

enum { OPTION_COUNT = 6 };

/* Of the values of fullgraph, dynamic, backend, mode, options, disable. false: exception set. */
static bool read_options(VM *vm, const Value *v, CompileOptions *options) {
    if (!backend_known(vm, v[2]) || !mode_known(vm, v[2], v[3], v[4])) return false;
    *options = (CompileOptions){.fullgraph = option_bool(v[0], false), .dynamic_set = v[1].tag == V_BOOL, .dynamic = option_bool(v[1], false),
                                .backend = option_text(vm, v[2], "inductor"), .mode = option_text(vm, v[3], NULL)};
    if (v[2].tag == V_OBJECT && !value_is(v[2], OBJ_STR)) options->function = v[2], options->backend = "custom";
    return true;
}

/* compiled_callable(mod, fullgraph, …): what an OptimizedModule calls. */
static Value compiled_callable(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    CompileOptions options;
    (void)nargs; (void)kwnames;
    return read_options(vm, args + 1, &options) ? compiled_new(vm, args[0], &options) : VALUE_ERROR;
}

/* The OptimizedModule of a module; V_NULL for what is none. Modules are made by a file that is loaded by then. */
static Value optimized_module(VM *vm, Value model, const Value *options) {
    if (!value_is(model, OBJ_INSTANCE) || dict_get_name(vm, vm->modules, intern(vm->lang->names, "torch.nn")).tag == V_NULL) return VALUE_NULL;
    Value module = vm_import(vm, "torch._dynamo.eval_frame", (Span){0});
    if (value_is_error(module)) return module;
    Value items[OPTION_COUNT];
    for (int i = 0; i < OPTION_COUNT; i++) items[i] = options[i].tag == V_NULL ? VALUE_NONE : options[i];
    Value wrapped = vm_load_attr(vm, module, intern(vm->lang->names, "wrapped")), tuple = tuple_new(vm, items, OPTION_COUNT), args[] = {model, tuple};
    Value made = value_is_error(wrapped) ? wrapped : vm_call(vm, wrapped, args, 2, NULL);
    value_unref(vm, tuple), value_unref(vm, wrapped), value_unref(vm, module);
    return made.tag == V_NONE ? VALUE_NULL : made;
}

static Value torch_compile(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    static const char *const names[] = {"model", "fullgraph", "dynamic", "backend", "mode", "options", "disable"};
    Value v[1 + OPTION_COUNT];
    CompileOptions options;
    if (!vm_parse_args(vm, "compile", args, nargs, kwnames, names, 1 + OPTION_COUNT, 0, v) || !read_options(vm, v + 1, &options)) return VALUE_ERROR;
    bool given = v[0].tag != V_NULL && v[0].tag != V_NONE;
    if (!dynamo_of(vm)->copying) dynamo_of(vm)->told_from = dynamo_of(vm)->breaks.count;
    if (option_bool(v[6], false)) return given ? value_ref(v[0]) : vm_raise(vm, "TypeError", "torch.compile(disable=True) needs a model");
    Value module = given ? optimized_module(vm, v[0], v + 1) : VALUE_NULL;
    return module.tag != V_NULL ? module : compiled_new(vm, given ? v[0] : VALUE_NULL, &options);
}

static Value torch_reset(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)args; (void)nargs; (void)kwnames;
    dynamo_reset(dynamo_of(vm));
    return VALUE_NONE;
}

static Value graph_break(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)args; (void)nargs; (void)kwnames;
    if (!dynamo_of(vm)->capturing || dynamo_of(vm)->no_effects) return VALUE_NONE;
    return vm_stop(vm, "call", vm_user_span(vm), "torch._dynamo.graph_break() was called");
}

static Value is_compiling(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)args; (void)nargs; (void)kwnames;
    return value_bool(dynamo_of(vm)->capturing);
}

/* What is captured from here on is of a new checkpoint region; the number of the one around it. */
static Value enter_checkpoint(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)args; (void)nargs; (void)kwnames;
    Capture *capture = capture_now(vm);
    if (!capture) return value_int(0);
    int outer = capture->checkpoint;
    capture->checkpoint = ++capture->checkpoints;
    return value_int(outer);
}

static Value leave_checkpoint(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)nargs; (void)kwnames;
    Capture *capture = capture_now(vm);
    if (capture && args[0].tag == V_INT) capture->checkpoint = (int)args[0].i;
    return VALUE_NONE;
}

static Value same(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)vm; (void)nargs; (void)kwnames;
    return value_ref(args[0]);
}

/* An exception of torch._dynamo.exc, RuntimeError's child. Made as the language would: type(name, bases, {}). */
static void define_exception(VM *vm, Dict *in, const char *text) {
    const char *name = intern(vm->lang->names, text);
    Value base = dict_get_name(vm, vm->exceptions, intern(vm->lang->names, "RuntimeError"));
    Value args[3] = {str_from(vm, name), tuple_new(vm, &base, 1), dict_new(vm)};
    Value cls = vm_call(vm, value_object(vm->class_type), args, 3, NULL);
    if (value_is(cls, OBJ_CLASS)) {
        dict_set_name(vm, vm->exceptions, name, cls);
        dict_set_name(vm, in, name, cls);
    } else vm_clear_exception(vm);
    value_unref(vm, cls);
    for (int i = 0; i < 3; i++) value_unref(vm, args[i]);
}

/* Unsupported: what fullgraph=True raises at the first break. FailOnRecompileLimitHit: what it raises where a function has too many entries. */
static void define_exceptions(VM *vm, Dict *in) {
    static const char *const names[] = {"Unsupported", "FailOnRecompileLimitHit", "BackendCompilerFailed", "RecompileError"};
    Value module = module_new(vm, "torch._dynamo.exc");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) define_exception(vm, ((ModuleObject *)module.o)->dict, names[i]);
    if (in) dict_set_name(vm, in, intern(vm->lang->names, "exc"), module);
    value_unref(vm, module);
}

void dynamo_define(Dynamo *dynamo) {
    VM *vm = dynamo->vm;
    static const BuiltinDef in_torch[] = {{"compile", torch_compile, 0, 3, 0}};
    static const BuiltinDef in_dynamo[] = {{"reset", torch_reset, 0, 0, BUILTIN_EFFECT}, {"graph_break", graph_break, 0, 0, 0}, {"compiled_callable", compiled_callable, 1 + OPTION_COUNT, 1 + OPTION_COUNT, 0}, {"is_compiling", is_compiling, 0, 0, 0}, {"allow_in_graph", same, 1, 1, 0},
                                            {"enter_checkpoint", enter_checkpoint, 0, 0, 0}, {"leave_checkpoint", leave_checkpoint, 1, 1, 0}};
    static const BuiltinDef in_compiler[] = {{"reset", torch_reset, 0, 0, BUILTIN_EFFECT}, {"is_compiling", is_compiling, 0, 0, 0}, {"is_dynamo_compiling", is_compiling, 0, 0, 0}, {"allow_in_graph", same, 1, 1, 0}};
    vm_native_register(vm, OBJ_COMPILED, &compiled_type);
    vm_native_register(vm, OBJ_GRAPH, &graph_type);
    Dict *torch = module_dict(vm, "torch"), *in = module_dict(vm, "torch._dynamo"), *compiler = module_dict(vm, "torch.compiler");
    if (torch) vm_define(vm, torch, "torch", in_torch, 1), checks_define(vm, torch);
    if (in) vm_define(vm, in, "torch._dynamo", in_dynamo, (int)(sizeof in_dynamo / sizeof *in_dynamo));
    if (compiler) vm_define(vm, compiler, "torch.compiler", in_compiler, (int)(sizeof in_compiler / sizeof *in_compiler));
    define_exceptions(vm, in);
    shapes_define(dynamo);
    functorch_define(dynamo);
    explain_define(dynamo);
    Dict *config = module_dict(vm, "torch._dynamo.config");
    if (in && config && compiler) tools_define(dynamo, in, config, compiler);
}
