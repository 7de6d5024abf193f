/* Arguments: of a call to the parameters of a function, with CPython's words when they do not fit; and of builtins by name.
 *
 *     frame_bind(vm, frame, args, nargs, kwnames);      // fast[0 .. parameters) are filled; false: TypeError
 *
 * Order of parameters in fast: positional, keyword-only, *args, **kwargs.
 * Invariant: on success every parameter is bound; on failure what was bound is released by frame_free. */
#include "vm/internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Binding { VM *vm; Function *function; const Code *code; Value *fast; Dict *extra; bool misplaced; } Binding;

static bool too_many(Binding *b, int given) {
    const Code *code = b->code;
    int defaults = value_is(b->function->defaults, OBJ_TUPLE) ? tuple_of(b->function->defaults)->count : 0;
    int keyword_only = 0;
    for (int i = 0; i < code->kwonlyargcount; i++) keyword_only += b->fast[code->argcount + i].tag != V_NULL;
    char takes[64], also[96] = "";
    if (defaults) snprintf(takes, sizeof takes, "from %d to %d positional arguments", code->argcount - defaults, code->argcount);
    else snprintf(takes, sizeof takes, "%d positional argument%s", code->argcount, code->argcount == 1 ? "" : "s");
    if (keyword_only) snprintf(also, sizeof also, " positional argument%s (and %d keyword-only argument%s)", given == 1 ? "" : "s", keyword_only, keyword_only == 1 ? "" : "s");
    vm_raise(b->vm, "TypeError", "%s() takes %s but %d%s %s given", b->function->qualname, takes, given, also, given == 1 && !keyword_only ? "was" : "were");
    return false;
}

static bool missing(Binding *b, const char **names, int count, const char *kind) {
    Text text = {0};
    for (int i = 0; i < count; i++)
        text_printf(&text, "%s'%s'", i == 0 ? "" : i < count - 1 ? ", " : count > 2 ? ", and " : " and ", names[i]);
    vm_raise(b->vm, "TypeError", "%s() missing %d required %s argument%s: %s", b->function->qualname, count, kind, count == 1 ? "" : "s", text_cstr(&text));
    text_free(&text);
    return false;
}

static int parameter_index(const Code *code, const char *interned, int from) {
    for (int i = from; i < code->argcount + code->kwonlyargcount; i++)
        if (code->localsplus[i] == interned) return i;
    return -1;
}

static bool bind_keyword(Binding *b, Value name, Value value) {
    const char *interned = str_intern(b->vm, str_of(name));
    int i = parameter_index(b->code, interned, b->code->posonlyargcount);
    if (i >= 0) {
        if (b->fast[i].tag != V_NULL) return vm_raise(b->vm, "TypeError", "%s() got multiple values for argument '%s'", b->function->qualname, interned), false;
        b->fast[i] = value_ref(value);
        return true;
    }
    if (b->extra) {
        dict_set_name(b->vm, b->extra, interned, value);
        return true;
    }
    if (parameter_index(b->code, interned, 0) >= 0) b->misplaced = true; /* told when all are known */
    else vm_raise(b->vm, "TypeError", "%s() got an unexpected keyword argument '%s'", b->function->qualname, interned);
    return false;
}

static bool positional_only(Binding *b, const Tuple *kwnames) {
    Text text = {0};
    for (int i = 0; i < b->code->posonlyargcount; i++)
        for (int k = 0; k < kwnames->count; k++)
            if (strcmp(b->code->localsplus[i], str_text(kwnames->items[k])) == 0) text_printf(&text, "%s%s", text.length ? ", " : "", b->code->localsplus[i]);
    vm_raise(b->vm, "TypeError", "%s() got some positional-only arguments passed as keyword arguments: '%s'", b->function->qualname, text_cstr(&text));
    text_free(&text);
    return false;
}

static bool fill_positional_defaults(Binding *b) {
    const Code *code = b->code;
    Tuple *defaults = value_is(b->function->defaults, OBJ_TUPLE) ? tuple_of(b->function->defaults) : b->vm->own->empty_tuple;
    int first = code->argcount - defaults->count, absent = 0;
    const char *names[256];
    for (int i = 0; i < code->argcount; i++) {
        if (b->fast[i].tag != V_NULL) continue;
        if (i >= first) b->fast[i] = value_ref(defaults->items[i - first]);
        else if (absent < COUNT_OF(names)) names[absent++] = code->localsplus[i];
    }
    return absent == 0 || missing(b, names, absent, "positional");
}

static bool fill_keyword_defaults(Binding *b) {
    const Code *code = b->code;
    const char *names[256];
    int absent = 0;
    for (int i = code->argcount; i < code->argcount + code->kwonlyargcount; i++) {
        if (b->fast[i].tag != V_NULL) continue;
        Value found = VALUE_NULL;
        if (value_is(b->function->kwdefaults, OBJ_DICT)) found = dict_get_name(b->vm, dict_of(b->function->kwdefaults), code->localsplus[i]);
        if (found.tag != V_NULL) b->fast[i] = value_ref(found);
        else if (absent < COUNT_OF(names)) names[absent++] = code->localsplus[i];
    }
    return absent == 0 || missing(b, names, absent, "keyword-only");
}

bool frame_bind(VM *vm, Frame *frame, Value *args, int nargs, Tuple *kwnames) {
    const Code *code = frame->code;
    Value *fast = frame->fast;
    int named = code->argcount + code->kwonlyargcount, positional = nargs < code->argcount ? nargs : code->argcount;
    for (int i = 0; i < positional; i++) fast[i] = value_ref(args[i]);
    if (nargs == code->argcount && !kwnames && !(code->flags & (CODE_VARARGS | CODE_VARKEYWORDS)) && code->kwonlyargcount == 0) return true;
    Binding b = {vm, frame->function, code, fast, NULL, false};
    int next = named;
    if (code->flags & CODE_VARARGS) fast[next++] = tuple_new(vm, args + positional, nargs - positional);
    if (code->flags & CODE_VARKEYWORDS) {
        fast[next] = dict_new(vm);
        b.extra = dict_of(fast[next]);
    }
    for (int i = 0; kwnames && i < kwnames->count; i++)
        if (!bind_keyword(&b, kwnames->items[i], args[nargs + i]) && !b.misplaced) return false;
    if (b.misplaced) return positional_only(&b, kwnames);
    if (nargs > code->argcount && !(code->flags & CODE_VARARGS)) return too_many(&b, nargs);
    return fill_positional_defaults(&b) && fill_keyword_defaults(&b);
}

/* ---- arguments of builtins by name ---- */

static bool place_keyword(VM *vm, const char *function, const char *const *names, int count, Value name, Value value, Value *out) {
    for (int i = 0; i < count; i++) {
        if (strcmp(names[i], str_text(name)) != 0) continue;
        if (out[i].tag != V_NULL) return vm_raise(vm, "TypeError", "%s() got multiple values for argument '%s'", function, names[i]), false;
        out[i] = vm_force(vm, value);
        return !value_is_error(out[i]);
    }
    return vm_raise(vm, "TypeError", "%s() got an unexpected keyword argument '%s'", function, str_text(name)), false;
}

bool vm_parse_args(VM *vm, const char *function, Value *args, int nargs, Tuple *kwnames, const char *const *names, int name_count, int required, Value *out) {
    if (nargs > name_count) return vm_raise(vm, "TypeError", "%s() takes at most %d argument%s (%d given)", function, name_count, name_count == 1 ? "" : "s", nargs), false;
    for (int i = 0; i < name_count; i++) out[i] = i < nargs ? vm_force(vm, args[i]) : VALUE_NULL;
    for (int i = 0; kwnames && i < kwnames->count; i++)
        if (!place_keyword(vm, function, names, name_count, kwnames->items[i], args[nargs + i], out)) return false;
    for (int i = 0; i < required; i++)
        if (out[i].tag == V_NULL) return vm_raise(vm, "TypeError", "%s() missing required argument '%s' (pos %d)", function, names[i], i + 1), false;
    return true;
}

Value vm_keyword(Tuple *kwnames, const Value *args, int nargs, const char *interned_name) {
    for (int i = 0; kwnames && i < kwnames->count; i++)
        if (strcmp(str_text(kwnames->items[i]), interned_name) == 0) return args[nargs + i];
    return VALUE_NULL;
}

bool vm_no_keywords(VM *vm, const char *function, Tuple *kwnames) {
    if (!kwnames || kwnames->count == 0) return true;
    vm_raise(vm, "TypeError", "%s() takes no keyword arguments", function);
    return false;
}
