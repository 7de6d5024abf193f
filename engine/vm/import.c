/* Import: from a dotted name to a module.
 *
 *     vm_import(vm, "torch.nn", span)          // owned module, or ModuleNotFoundError
 *
 * Looked for in this order: modules imported before, modules in C, the torch package (torch_submodule_init), files embedded in the binary
 * (a/b.py, or torch/stdlib/a/b.py). A module in C that also has a file gets the file's names on top. Parents are imported first and get
 * the child as an attribute; a module that is being imported already stands in vm->modules.
 * To add a module of the standard library: a file in engine/torch/stdlib/, or a row in c_modules. */
#include "torch/library.h"
#include "vm/modules.h"
#include <stdio.h>
#include <string.h>

typedef struct CModule { const char *name; void (*define)(VM *vm, Dict *dict); } CModule;

static const CModule c_modules[] = {
    {"math", module_math}, {"time", module_time}, {"random", module_random}, {"sys", module_sys}, {"itertools", module_itertools},
    {"collections", module_collections}, {"_support", module_support},
};

static const EmbeddedFile *file_of(const char *dotted) {
    char path[256], in_library[300];
    if (snprintf(path, sizeof path, "%s.py", dotted) >= (int)sizeof path) return NULL;
    for (char *at = path; *at && at < path + strlen(path) - 3; at++)
        if (*at == '.') *at = '/';
    snprintf(in_library, sizeof in_library, "torch/stdlib/%s", path);
    const EmbeddedFile *file = embedded_file(in_library);
    return file || strncmp(path, "torch/", 6) != 0 ? file : embedded_file(path);
}

typedef struct Parsing { VM *vm; const SourceFile *file; Program *program; } Parsing;

static void parse(void *state) {
    Parsing *p = state;
    p->program = lang_compile(p->vm->lang, p->file, false);
}

static bool run_program(VM *vm, const Program *program, Dict *dict) {
    for (int i = 0; i < program->statement_count; i++) {
        Value result = vm_run_statement(vm, program->statements[i], dict);
        if (value_is_error(result)) return false;
        value_unref(vm, result);
    }
    return true;
}

bool vm_run_shipped(VM *vm, const EmbeddedFile *file, Dict *dict) {
    SourceFile *source = source_new(vm->arena, file->name, file->text, file->length, 1);
    source->shipped = true;
    Parsing parsing = {vm, source, NULL};
    Failure failure = {0}, *outer = vm->lang->failure;
    vm->lang->failure = &failure;
    bool ok = fail_catch(&failure, parse, &parsing);
    vm->lang->failure = outer;
    if (!ok) return vm_raise(vm, "SyntaxError", "%s:%d: %s", file->name, span_line(failure.span), failure.message), false;
    return run_program(vm, parsing.program, dict);
}

/* A module's body always runs in the concrete domain, whoever imports it. */
static bool run_file_concretely(VM *vm, const EmbeddedFile *file, Dict *dict) {
    const Domain *domain = vm->domain;
    FrameEvaluator evaluator = vm->evaluator;
    InstructionHook hook = vm->instruction_hook;
    bool grad = vm->grad_enabled;
    vm->domain = &concrete_domain;
    vm->evaluator = NULL;
    vm->instruction_hook = NULL;
    vm->grad_enabled = true;
    bool ok = vm_run_shipped(vm, file, dict);
    vm->domain = domain;
    vm->evaluator = evaluator;
    vm->instruction_hook = hook;
    vm->grad_enabled = grad;
    return ok;
}

static const CModule *c_module(const char *name) {
    for (int i = 0; i < COUNT_OF(c_modules); i++)
        if (strcmp(c_modules[i].name, name) == 0) return &c_modules[i];
    return NULL;
}

static void forget(VM *vm, const char *name) {
    bool found;
    Value key = str_interned(vm, name);
    dict_delete(vm, vm->modules, key, &found);
    value_unref(vm, key);
}

/* V_NULL: there is no such module outside the torch package. */
static Value make_module(VM *vm, const char *name) {
    const CModule *in_c = c_module(name);
    const EmbeddedFile *file = file_of(name);
    if (!in_c && !file) return VALUE_NULL;
    Value module = module_new(vm, name);
    ModuleObject *m = (ModuleObject *)module.o;
    m->shipped = true;
    dict_set_name(vm, vm->modules, name, module);
    if (in_c) in_c->define(vm, m->dict);
    if (!file || run_file_concretely(vm, file, m->dict)) return module;
    forget(vm, name);
    value_unref(vm, module);
    return VALUE_ERROR;
}

/* Modules that scripts ask for and will not get, with the reason. */
static const char *const left_out[][2] = {
    {"os", "a program has no access to files and processes"}, {"pathlib", "a program has no access to files"}, {"io", "a program has no access to files"},
    {"shutil", "a program has no access to files"}, {"glob", "a program has no access to files"}, {"tempfile", "a program has no access to files"},
    {"pickle", "a program has no access to files"}, {"subprocess", "a program cannot start processes"}, {"multiprocessing", "a program cannot start processes"},
    {"threading", "a program has one thread"}, {"concurrent", "a program has one thread"}, {"asyncio", "a program has one thread"},
    {"socket", "a program has no access to the network"}, {"urllib", "a program has no access to the network"}, {"requests", "a program has no access to the network"},
    {"numpy", "only torch's tensors exist here"}, {"scipy", "only torch's tensors exist here"}, {"pandas", "only torch's tensors exist here"},
    {"torchvision", "only torch itself is here"}, {"torchaudio", "only torch itself is here"}, {"triton", "kernels are written by the compiler"},
};

static Value not_found(VM *vm, const char *name) {
    size_t top = strcspn(name, ".");
    for (int i = 0; i < COUNT_OF(left_out); i++)
        if (strlen(left_out[i][0]) == top && strncmp(left_out[i][0], name, top) == 0)
            return vm_raise(vm, "ModuleNotFoundError", "No module named '%s' (%s)", name, left_out[i][1]);
    return vm_raise(vm, "ModuleNotFoundError", "No module named '%s'", name);
}

static Value find_module(VM *vm, const char *name) {
    bool torch = strcmp(name, "torch") == 0, part = strncmp(name, "torch.", 6) == 0;
    if (torch) return torch_module_init(vm);
    Value module = part ? torch_submodule_init(vm, name) : make_module(vm, name);
    return module.tag == V_NULL && part ? make_module(vm, name) : module;
}

Value vm_import(VM *vm, const char *dotted_name, Span span) {
    const char *name = vm_intern(vm, dotted_name), *dot = strrchr(name, '.');
    Value known = dict_get_name(vm, vm->modules, name), parent = VALUE_NULL;
    if (known.tag != V_NULL) return value_ref(known);
    if (dot) {
        parent = vm_import(vm, intern_n(vm->lang->names, name, (size_t)(dot - name)), span);
        if (value_is_error(parent)) return parent;
    }
    Value module = find_module(vm, name);
    if (module.tag == V_NULL) not_found(vm, name);
    else if (!value_is_error(module)) {
        dict_set_name(vm, vm->modules, name, module);
        if (value_is(parent, OBJ_MODULE)) dict_set_name(vm, ((ModuleObject *)parent.o)->dict, vm_intern(vm, dot + 1), module);
    }
    value_unref(vm, parent);
    return module.tag <= V_ERROR ? VALUE_ERROR : module;
}
