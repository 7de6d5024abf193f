/* Code of the program under tracing: what a custom Function's forward or backward may do while it is traced.
 *
 *     def forward(ctx, x): print("forward"); return x * 2      ->  a stop: capture breaks the graph at the call, so that each call prints
 *
 * Traced code runs when the graph is made, not when it is called: what it changes outside itself, or prints, would happen at the wrong time. So both
 * stop the trace; in capture the frame breaks at the call, in later stages it runs eagerly. What was made since the trace began may be changed.
 * Numbers and functions that it reads from globals are guarded. The library's own code is left alone. */
#include "vm/tracing.h"
#include "vm/internal.h"

static const Tracer *outermost(VM *vm) {
    const Tracer *tracer = vm->domain_state;
    while (tracer->former == &tracing_domain) tracer = tracer->former_state;
    return tracer;
}

static bool is_shipped(const Frame *frame) { return !frame || (frame->code->file && frame->code->file->shipped); }

static bool is_made_here(VM *vm, const Object *object) {
    const Object *marker = outermost(vm)->marker;
    for (const Object *at = vm->objects.next; at != marker && at != &vm->objects; at = at->next)
        if (at == object) return true;
    return !marker;
}

bool tracing_stops_at_data(VM *vm, const char *what) {
    const Tracer *tracer = outermost(vm);
    if (!tracer->former || !tracer->former->truth || (what && vm->context.unbacked)) return false; /* a stage of the compiler; or sizes may be symbols */
    vm_stop(vm, "data_dependent_shape", vm_user_span(vm), what ? "the shape of %s depends on the data" : "the shape of a result depends on the data", what);
    return true;
}

bool tracing_may_call(VM *vm, Value callee) {
    if (is_shipped(vm->frame) || !value_is(callee, OBJ_BUILTIN) || !(((Builtin *)callee.o)->effects & (BUILTIN_EFFECT | BUILTIN_BREAK))) return true;
    vm_stop(vm, "builtin", vm_user_span(vm), "call of %s, which has effects outside the graph", ((Builtin *)callee.o)->name);
    return false;
}

bool tracing_will_mutate(VM *vm, Object *object) {
    if (is_shipped(vm->frame) || is_made_here(vm, object)) return true;
    vm_stop(vm, "other", vm_user_span(vm), "traced code changes an object that it did not make");
    return false;
}

bool tracing_store_global(VM *vm, Frame *frame, const char *name, Value value) {
    if (!is_shipped(frame) || value.tag == V_NULL) {
        vm_stop(vm, "other", vm_user_span(vm), "traced code changes the global %s", name);
        return false;
    }
    dict_set_name(vm, frame->globals, name, value);
    return true;
}

static bool is_guarded(Value v) { return v.tag != V_OBJECT || v.o->type == OBJ_STR || v.o->type == OBJ_FUNCTION || v.o->type == OBJ_CLASS; }

/* Read as capture would read it, for the guard alone. */
static bool guard_global(VM *vm, const Tracer *tracer, Frame *frame, const char *name) {
    const Domain *domain = vm->domain;
    void *state = vm->domain_state;
    vm->domain = tracer->former;
    vm->domain_state = tracer->former_state;
    Value read = vm->domain->load_global(vm, frame, name);
    bool ok = !value_is_error(read) && vm_force(vm, read).tag != V_ERROR;
    value_unref(vm, read);
    vm->domain = domain;
    vm->domain_state = state;
    return ok;
}

Value tracing_load_global(VM *vm, Frame *frame, const char *name) {
    const Tracer *tracer = outermost(vm);
    Value found = dict_get_name(vm, frame->globals, name);
    if (found.tag == V_NULL) return value_ref(dict_get_name(vm, vm->builtins, name));
    bool guards = !is_shipped(frame) && is_guarded(found) && tracer->former && tracer->former->load_global;
    return guards && !guard_global(vm, tracer, frame, name) ? VALUE_ERROR : value_ref(found);
}
