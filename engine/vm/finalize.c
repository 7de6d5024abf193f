/* Finalize: what runs when an object goes: __del__, and the finally blocks of a generator that was never finished.
 *
 * An object's last reference may go in the middle of anything. One with a finalizer is kept instead and waits; between two instructions
 * (vm.c) and at the end of a statement the finalizers run, then the object goes. Each runs once; an object that its finalizer made reachable again lives on.
 *
 *     def __del__(self): print("gone")       # printed before the statement behind `del x`
 *
 * At the end of the program, vm_finish: cycles first, then the names of the main module, as CPython does at exit.
 * Invariant: no code of the language runs while C code is inside a container. */
#include "vm/vm.h"
#include "vm/internal.h"

static bool wants_finalizer(VM *vm, Object *o) {
    if (o->flags & FLAG_FINALIZED || vm->own->closing || vm->domain != &concrete_domain) return false;
    if (o->type == OBJ_INSTANCE) return ((Instance *)o)->cls->has_del;
    return o->type == OBJ_GENERATOR && generator_is_open((Generator *)o);
}

bool finalize_later(VM *vm, Object *o) {
    if (!wants_finalizer(vm, o)) return false;
    o->flags |= FLAG_FINALIZED;
    o->refs++;
    vec_push(&vm->own->finalizers, o);
    return true;
}

/* What a finalizer raises ends there; it is told, as in Python. */
static void report_ignored(VM *vm, Value subject) {
    Value exception = exception_take(vm), shown = vm_repr(vm, subject);
    Text text = {0};
    vm_clear_exception(vm);
    text_printf(&text, "Exception ignored in: %s\n", value_is(shown, OBJ_STR) ? str_text(shown) : "<object>");
    if (value_is_exception(exception)) exception_text(vm, &text, exception, true);
    vm_clear_exception(vm);
    vm_write(vm, vm->notes, text_cstr(&text), text.length);
    text_free(&text);
    value_unref(vm, shown);
    value_unref(vm, exception);
}

static void run_finalizer(VM *vm, Object *o) {
    Value object = value_object(o), subject = object, result;
    if (o->type == OBJ_GENERATOR) result = generator_close(vm, (Generator *)o);
    else {
        subject = class_lookup(vm, ((Instance *)o)->cls, vm->own->names.del_);
        result = subject.tag == V_NULL ? VALUE_NONE : vm_call1(vm, subject, object);
    }
    if (value_is_error(result)) report_ignored(vm, subject);
    value_unref(vm, result);
}

void vm_run_finalizers(VM *vm) {
    struct VMPrivate *own = vm->own;
    if (own->finalizing || vm->domain != &concrete_domain || vm->stopped) return;
    own->finalizing = true;
    Value pending = exception_take(vm);
    Span span = vm->span;
    for (int i = 0; i < own->finalizers.count; i++) { /* more may come while they run */
        run_finalizer(vm, own->finalizers.at[i]);
        value_unref(vm, value_object(own->finalizers.at[i]));
    }
    own->finalizers.count = 0;
    vm->exception = pending;
    vm->span = span;
    own->finalizing = false;
}

static void drop_name(VM *vm, Value name) {
    dict_set_name(vm, vm->main->dict, str_intern(vm, str_of(name)), VALUE_NONE);
    vm_run_finalizers(vm);
}

/* Names that begin with an underscore go first. */
static void drop_names(VM *vm) {
    Value names = vm_list_of(vm, value_object(vm->main->dict));
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < list_of(names)->count; i++) {
            Value name = list_of(names)->items[i];
            bool is_private = value_is(name, OBJ_STR) && str_text(name)[0] == '_';
            if (value_is(name, OBJ_STR) && is_private == (pass == 0)) drop_name(vm, name);
        }
    value_unref(vm, names);
}

void vm_finish(VM *vm) {
    if (vm->interrupt && *vm->interrupt) return;
    vm_clear_exception(vm);
    vm_collect(vm);
    drop_names(vm);
    vm_collect(vm);
    vm_run_finalizers(vm);
}
