/* Collect: the sweep of unreachable cycles, at the prompt, and the end of a VM.
 *
 * Each object counts the references it gets from other objects; one with more references than that is held from outside (the VM, C code,
 * a gradient's node) and so is everything it reaches. The rest is garbage: what it holds is dropped, and reference counts do the freeing.
 *
 *     vm_collect(vm);          // only between statements: no frame may be running
 *
 * Invariant: `mark` is 0 outside a collection. To add a type: its values in object_visit, and in drop_held if it can close a cycle. */
#include "vm/internal.h"
#include <stdlib.h>
#include <string.h>

static void visit_items(const Value *items, int count, ObjectVisit visit, void *state) {
    for (int i = 0; i < count; i++) visit(state, items[i]);
}

static void visit_object(void *o, ObjectVisit visit, void *state) {
    if (o) visit(state, value_object(o));
}

static void visit_class(Class *cls, ObjectVisit visit, void *state) {
    visit_object(cls->dict, visit, state);
    visit(state, cls->bases);
    visit(state, cls->module_name);
}

static void visit_instance(Instance *instance, ObjectVisit visit, void *state) {
    visit_object(instance->cls, visit, state);
    visit_object(instance->dict, visit, state);
    if (!instance->native) return;
    if (!instance->cls->is_exception) return visit(state, *(Value *)instance->native);
    ExceptionData *data = instance->native;
    visit_items((Value[]){data->args, data->cause, data->context}, 3, visit, state);
}

static void visit_function(Function *f, ObjectVisit visit, void *state) {
    visit_items((Value[]){f->defaults, f->kwdefaults, f->closure, f->dict, f->module_name}, 5, visit, state);
    visit_object(f->globals, visit, state);
}

static void visit_dict(Dict *dict, ObjectVisit visit, void *state) {
    for (int i = 0; i < dict->used; i++) {
        visit(state, dict->entries[i].key);
        visit(state, dict->entries[i].value);
    }
    if (dict->fallback) visit(state, *dict->fallback);
}

static void visit_generator(Generator *g, ObjectVisit visit, void *state) {
    visit(state, g->function);
    visit(state, g->handled);
    if (g->frame) visit_items(g->frame->fast, g->frame->sp, visit, state);
}

void object_visit(VM *vm, Object *o, ObjectVisit visit, void *state) {
    const NativeType *native = vm->own->natives[o->type];
    if (native) {
        if (native->visit) native->visit(o, visit, state);
        return;
    }
    switch ((ObjectType)o->type) {
    case OBJ_TUPLE: visit_items(((Tuple *)o)->items, ((Tuple *)o)->count, visit, state); break;
    case OBJ_LIST: visit_items(((List *)o)->items, ((List *)o)->count, visit, state); break;
    case OBJ_DICT: visit_dict((Dict *)o, visit, state); break;
    case OBJ_SET: case OBJ_FROZENSET: visit_object(((Set *)o)->dict, visit, state); break;
    case OBJ_SLICE: visit_items((Value[]){((Slice *)o)->start, ((Slice *)o)->stop, ((Slice *)o)->step}, 3, visit, state); break;
    case OBJ_FUNCTION: visit_function((Function *)o, visit, state); break;
    case OBJ_METHOD: visit_items((Value[]){((Method *)o)->self, ((Method *)o)->function}, 2, visit, state); break;
    case OBJ_BUILTIN: visit(state, ((Builtin *)o)->self); break;
    case OBJ_CLASS: visit_class((Class *)o, visit, state); break;
    case OBJ_INSTANCE: visit_instance((Instance *)o, visit, state); break;
    case OBJ_MODULE: visit_object(((ModuleObject *)o)->dict, visit, state); break;
    case OBJ_CELL: visit(state, ((Cell *)o)->value); break;
    case OBJ_ITERATOR: visit_items((Value[]){((Iterator *)o)->subject, ((Iterator *)o)->extra}, 2, visit, state); break;
    case OBJ_GENERATOR: visit_generator((Generator *)o, visit, state); break;
    case OBJ_PROPERTY: visit_items((Value[]){((Property *)o)->getter, ((Property *)o)->setter, ((Property *)o)->deleter}, 3, visit, state); break;
    case OBJ_STATICMETHOD: case OBJ_CLASSMETHOD: visit(state, ((Wrapper *)o)->inner); break;
    case OBJ_SUPER: visit_object(((Super *)o)->cls, visit, state); visit(state, ((Super *)o)->self); break;
    case OBJ_TENSOR: tensor_visit((Tensor *)o, visit, state); break;
    case OBJ_TRACKED: visit(state, ((Tracked *)o)->inner); break;
    default: break;
    }
}

enum { REACHED = 0x8000, INTERNAL = 0x7fff };

/* Counts up to INTERNAL; an object with more references than that is never garbage in one sweep. */
static void count_held(void *state, Value held) {
    (void)state;
    if (held.tag == V_OBJECT && held.o->mark < INTERNAL) held.o->mark++;
}

typedef VEC(Object *) Objects;

static void reach(void *state, Value held) {
    Objects *pending = state;
    if (held.tag != V_OBJECT || held.o->mark & REACHED) return;
    held.o->mark |= REACHED;
    vec_push(pending, held.o);
}

/* What an object holds goes, so that a cycle through it is cut. The object stays valid. */
static void drop_held(VM *vm, Object *o) {
    const NativeType *native = vm->own->natives[o->type];
    if (native) {
        if (native->clear) native->clear(vm, o);
        return;
    }
    switch ((ObjectType)o->type) {
    case OBJ_LIST: list_clear(vm, (List *)o); break;
    case OBJ_DICT: dict_clear(vm, (Dict *)o); break;
    case OBJ_CELL: value_set(vm, &((Cell *)o)->value, VALUE_NULL); break;
    case OBJ_FUNCTION: {
        Function *f = (Function *)o;
        value_set(vm, &f->closure, VALUE_NONE);
        value_set(vm, &f->defaults, VALUE_NONE);
        value_set(vm, &f->dict, VALUE_NONE);
        break;
    }
    case OBJ_ITERATOR: value_set(vm, &((Iterator *)o)->subject, VALUE_NULL); value_set(vm, &((Iterator *)o)->extra, VALUE_NULL); break;
    case OBJ_METHOD: value_set(vm, &((Method *)o)->self, VALUE_NONE); break;
    case OBJ_GENERATOR: {
        Generator *g = (Generator *)o;
        Frame *frame = g->frame;
        g->frame = NULL;
        if (frame) frame_free(vm, frame);
        break;
    }
    case OBJ_INSTANCE: {
        Instance *instance = (Instance *)o;
        if (!instance->native || !instance->cls->is_exception) break;
        value_set(vm, &((ExceptionData *)instance->native)->context, VALUE_NONE);
        value_set(vm, &((ExceptionData *)instance->native)->cause, VALUE_NONE);
        break;
    }
    case OBJ_TENSOR: tensor_clear(vm, (Tensor *)o); break;
    default: break;
    }
}

static void drop_all(VM *vm, Objects *garbage) {
    for (int i = 0; i < garbage->count; i++) garbage->at[i]->refs++; /* none may go while others are being cleared */
    for (int i = 0; i < garbage->count; i++) drop_held(vm, garbage->at[i]);
    for (int i = 0; i < garbage->count; i++) value_unref(vm, value_object(garbage->at[i]));
    vec_free(garbage);
}

void vm_collect(VM *vm) {
    Objects pending = {0}, garbage = {0};
    Object *ring = &vm->objects;
    for (Object *o = ring->next; o != ring; o = o->next) object_visit(vm, o, count_held, NULL);
    for (Object *o = ring->next; o != ring; o = o->next)
        if (!(o->mark & REACHED) && (o->mark == INTERNAL || o->refs > o->mark)) reach(&pending, value_object(o));
    while (pending.count) object_visit(vm, vec_pop(&pending), reach, &pending);
    for (Object *o = ring->next; o != ring; o = o->next) {
        if (!(o->mark & REACHED)) vec_push(&garbage, o);
        o->mark = 0;
    }
    vec_free(&pending);
    bool finalizers = false;
    for (int i = 0; i < garbage.count; i++)
        if (finalize_later(vm, garbage.at[i])) finalizers = true;
    if (!finalizers) {
        drop_all(vm, &garbage);
        return;
    }
    vec_free(&garbage); /* they see what they held; what is garbage after them goes in a second round */
    vm_run_finalizers(vm);
    vm_collect(vm);
}

/* At the end of the VM: everything is cleared, then what is left (held by C or by a cycle through immutable objects) is freed as it is. */
void vm_free_everything(VM *vm) {
    Objects all = {0};
    Object *ring = &vm->objects;
    for (Object *o = ring->next; o != ring; o = o->next)
        if (o->type != OBJ_CLASS && o->type != OBJ_STR) vec_push(&all, o);
    drop_all(vm, &all);
    while (ring->next != ring) {
        Object *o = ring->next;
        o->refs += 0x10000000; /* whatever still refers to it only counts down */
        o->next->previous = ring;
        ring->next = o->next;
        vec_push(&all, o);
    }
    for (int i = 0; i < all.count; i++) {
        Object *o = all.at[i];
        o->next = o->previous = o;
        object_release(vm, o);
    }
    for (int i = 0; i < all.count; i++) free(all.at[i]);
    vec_free(&all);
}
