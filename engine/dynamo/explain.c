/* Explain and disable as the language sees them: torch._dynamo.explain, torch.compiler.disable. In: a Dynamo. Out: names in its modules.
 *
 *     torch._dynamo.explain(f)(x).graph_count          @torch.compiler.disable(recursive=False, reason="logs")
 *
 * What explain returns is written in the language (torch/_dynamo/explaining.py); here are the facts that it is made of.
 * Invariant: a function that is disabled is a function of its own; the one it was made from is compiled as before. */
#include "dynamo/shapes.h"
#include <string.h>

/* ---- explain ---- */

static Value text_value(VM *vm, Text *text) {
    Value value = str_from(vm, text_cstr(text));
    text_free(text);
    return value;
}

static void append(VM *vm, Value list, Value item) {
    list_append(vm, (List *)list.o, item);
    value_unref(vm, item);
}

static Value triple(VM *vm, Value *items, int count) {
    Value made = tuple_new(vm, items, count);
    for (int i = 0; i < count; i++) value_unref(vm, items[i]);
    return made;
}

/* "torch._C._set_grad_enabled(False)" -> "_set_grad_enabled(False)" */
static const char *mode_name(const Node *node) {
    const char *name = node->spelled;
    for (const char *c = name; *c && *c != '('; c++)
        if (*c == '.') name = c + 1;
    return name;
}

/* Functions and operators that the graph calls; methods are no functions to PyTorch. */
static Value targets_of(VM *vm, const Graph *graph) {
    Value list = list_new(vm, NULL, 0);
    for (int i = 0; i < graph->nodes.count; i++) {
        const Node *node = graph->nodes.at[i];
        if (node->kind == NODE_NUMBER && strcmp(node->spelled, "item")) append(vm, list, str_printf(vm, "<built-in function %s>", node->spelled));
        if (node->kind == NODE_EFFECT) append(vm, list, str_printf(vm, "<built-in function %.*s>", (int)strcspn(mode_name(node), "("), mode_name(node)));
        if (node->kind == NODE_GETITEM) append(vm, list, str_from(vm, "<built-in function getitem>"));
        if (node->kind == NODE_CALL && !node->is_method) append(vm, list, str_printf(vm, "<built-in %s %s>", node->is_operator ? "function" : "method", node->op->name));
    }
    return list;
}

static Value guard_facts(VM *vm, const Guard *guard) {
    Text name = {0}, code = {0};
    if (guard->source) source_print(&name, guard->source);
    guard_print(&code, vm, guard);
    const char *scope = !guard->source ? "" : name.data[0] == 'G' ? "global" : "local";
    Value items[4] = {str_from(vm, scope), text_value(vm, &name), str_from(vm, guard_kind_name(guard->kind)), text_value(vm, &code)};
    return triple(vm, items, 4);
}

static Value guards_of(VM *vm, const Entry *entry) {
    Value list = list_new(vm, NULL, 0);
    for (int i = 0; i < entry->guards.all.count; i++) append(vm, list, guard_facts(vm, &entry->guards.all.at[i]));
    return list;
}

/* (reason, [(file, line, function)]), or None: the graph went to the end of its frame. */
static Value break_of(VM *vm, const Entry *entry) {
    const Reason *found = NULL;
    for (int i = 0; i < entry->compile.reasons.all.count && !found; i++)
        if (entry->compile.reasons.all.at[i].kind == REASON_BREAK) found = &entry->compile.reasons.all.at[i];
    if (!found) return VALUE_NONE;
    const Code *code = entry->code->resumed_from ? entry->code->resumed_from : entry->code;
    Value place[3] = {str_from(vm, found->span.file ? found->span.file->name : ""), value_int(span_line(found->span)), str_from(vm, code->name)}, stack = list_new(vm, NULL, 0);
    append(vm, stack, triple(vm, place, 3));
    Value items[2] = {str_from(vm, found->text), stack};
    return triple(vm, items, 2);
}

static Value entry_facts_of(VM *vm, const Entry *entry) {
    Text listing = {0};
    graph_print(&listing, entry->graph);
    Value items[4] = {text_value(vm, &listing), targets_of(vm, entry->graph), break_of(vm, entry), guards_of(vm, entry)};
    return triple(vm, items, 4);
}

/* Calls f(*args, **kwargs) with an empty cache and graphs run op by op. */
static Value explained_call(Dynamo *dynamo, Value f, Tuple *args, Dict *kwargs) {
    VM *vm = dynamo->vm;
    Value key, value, result = VALUE_ERROR, list = list_new(vm, args->items, args->count), names = list_new(vm, NULL, 0);
    int position = 0;
    while (dict_next(kwargs, &position, &key, &value)) {
        list_append(vm, (List *)list.o, value);
        list_append(vm, (List *)names.o, key);
    }
    Value kwnames = tuple_new(vm, ((List *)names.o)->items, ((List *)names.o)->count);
    CompileOptions options = {.backend = "eager"};
    result = dynamo_call(dynamo, &options, dynamo_inner(f), ((List *)list.o)->items, args->count, kwargs->live ? (Tuple *)kwnames.o : NULL);
    value_unref(vm, kwnames);
    value_unref(vm, names);
    value_unref(vm, list);
    return result;
}

static Value explain_call(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)nargs; (void)kwnames;
    Dynamo *dynamo = vm->dynamo;
    if (!value_is(args[1], OBJ_TUPLE) || !value_is(args[2], OBJ_DICT)) return vm_raise(vm, "TypeError", "_explain_call(f, args, kwargs)");
    dynamo_reset(dynamo);
    int first = dynamo->entries.count;
    Value result = explained_call(dynamo, args[0], (Tuple *)args[1].o, (Dict *)args[2].o);
    if (value_is_error(result)) return result;
    value_unref(vm, result);
    Value list = list_new(vm, NULL, 0);
    for (int i = first; i < dynamo->entries.count; i++)
        if (!dynamo->entries.at[i]->failed && !dynamo->entries.at[i]->empty) append(vm, list, entry_facts_of(vm, dynamo->entries.at[i]));
    dynamo_reset(dynamo);
    return list;
}

/* The part in the language is read when it is first asked for. */
static Value explain(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    Value module = vm_import(vm, "torch._dynamo.explaining", (Span){0}), function = value_is_error(module) ? VALUE_ERROR : vm_load_attr(vm, module, intern(vm->lang->names, "explain"));
    Value result = value_is_error(function) ? VALUE_ERROR : vm_call(vm, function, args, nargs, kwnames);
    value_unref(vm, function);
    value_unref(vm, module);
    return result;
}

/* ---- disable ---- */

typedef struct DisableOptions { bool alone; Value reason; } DisableOptions;

static Value function_disabled(VM *vm, const Function *from, const DisableOptions *options) {
    Value made = function_new(vm, from->code, from->globals);
    Function *f = (Function *)made.o;
    value_unref(vm, f->module_name);
    f->defaults = value_ref(from->defaults), f->kwdefaults = value_ref(from->kwdefaults), f->closure = value_ref(from->closure);
    f->dict = value_ref(from->dict), f->module_name = value_ref(from->module_name);
    f->name = from->name, f->qualname = from->qualname, f->leaf = from->leaf;
    f->disabled = true;
    f->disabled_alone = options->alone;
    f->disable_reason = value_is(options->reason, OBJ_STR) ? intern(vm->lang->names, str_text(options->reason)) : NULL;
    return made;
}

/* Modules run as before, but for their forward. Whatever else cannot be compiled anyway is given back as it is. Owned. */
static Value disabled(VM *vm, Value fn, const DisableOptions *options) {
    fn = dynamo_inner(vm_force(vm, fn));
    if (value_is(fn, OBJ_FUNCTION)) return function_disabled(vm, (Function *)fn.o, options);
    if (value_is(fn, OBJ_METHOD) && value_is(((Method *)fn.o)->function, OBJ_FUNCTION)) {
        Value function = function_disabled(vm, (Function *)((Method *)fn.o)->function.o, options), method = method_new(vm, ((Method *)fn.o)->self, function);
        value_unref(vm, function);
        return method;
    }
    Value forward = value_is(fn, OBJ_INSTANCE) ? vm_load_attr_generic(vm, fn, intern(vm->lang->names, "forward")) : VALUE_NULL;
    if (value_is_error(forward)) return forward;
    if (value_is(forward, OBJ_METHOD)) {
        Value replaced = disabled(vm, forward, options);
        bool ok = !value_is_error(replaced) && vm_store_attr(vm, fn, intern(vm->lang->names, "forward"), replaced);
        value_unref(vm, replaced);
        value_unref(vm, forward);
        return ok ? value_ref(fn) : VALUE_ERROR;
    }
    value_unref(vm, forward);
    return value_ref(fn);
}

/* disable(recursive=…) without a function: what it returns takes one. args[0] is its own (alone, reason). */
static Value disable_decorator(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)nargs; (void)kwnames;
    const Tuple *kept = (const Tuple *)args[0].o;
    DisableOptions options = {kept->items[0].b, kept->items[1]};
    return disabled(vm, args[1], &options);
}

static Value disable(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    static const char *const names[] = {"fn", "recursive", "reason", "wrapping"};
    Value v[4];
    if (!vm_parse_args(vm, "disable", args, nargs, kwnames, names, 4, 0, v)) return VALUE_ERROR;
    DisableOptions options = {v[1].tag == V_BOOL && !v[1].b, v[2].tag == V_NULL ? VALUE_NONE : vm_force(vm, v[2])};
    if (v[0].tag != V_NULL && v[0].tag != V_NONE) return disabled(vm, v[0], &options);
    Value kept[2] = {value_bool(options.alone), options.reason}, decorator = builtin_new(vm, "torch.compiler.disable", disable_decorator, 2, 2, 0);
    ((Builtin *)decorator.o)->self = tuple_new(vm, kept, 2);
    return decorator;
}

void explain_define(Dynamo *dynamo) {
    VM *vm = dynamo->vm;
    static const BuiltinDef in_dynamo[] = {{"explain", explain, 1, -1, 0}, {"_explain_call", explain_call, 3, 3, BUILTIN_EFFECT}, {"disable", disable, 0, 2, 0}};
    static const BuiltinDef in_compiler[] = {{"disable", disable, 0, 2, 0}};
    Value in = vm_import(vm, "torch._dynamo", (Span){0}), compiler = vm_import(vm, "torch.compiler", (Span){0});
    if (value_is(in, OBJ_MODULE)) vm_define(vm, ((ModuleObject *)in.o)->dict, "torch._dynamo", in_dynamo, 3);
    if (value_is(compiler, OBJ_MODULE)) vm_define(vm, ((ModuleObject *)compiler.o)->dict, "torch.compiler", in_compiler, 1);
    vm_clear_exception(vm);
    value_unref(vm, in);
    value_unref(vm, compiler);
}
