/* Effects: what the frame changed of the program's objects, replayed by the rewritten code after the graph, in the order of first change.
 *
 *     L['log'][:] = […]        lists, dicts, sets: their whole new content
 *     L['self'].count = 3      objects: the attributes that changed, after those that were deleted
 *     total = …                globals of the frame's module (STORE_GLOBAL) and of others (their namespace)
 *     it                       iterators: where they stand
 *     x.register_hook(…)       hooks of input tensors
 *     x.grad = None            attributes of input tensors
 *     cells                    closure variables of functions of the program (STORE_DEREF, or the cell itself)
 *     checks                   assertions about tensors, before all others
 *     modes                    grad mode, autocast, default dtype: as the frame leaves them
 *
 * All new contents are built before the first of them is written, since they may be read from what is about to change.
 * To add a kind of effect: a case in effects_build and in effects_write. */
#include "dynamo/iterators.h"
#include "dynamo/shapes.h"
#include "dynamo/unbacked.h"
#include "vm/torch_state.h"
#include <string.h>

struct Effect { const Shadow *shadow; const char *attribute, *deleted; const NameWrite *global; const CellWrite *cell; const TensorWrite *tensor; const HookWrite *hook; int local; Effect *next; };

static bool shadow_changed(const Shadow *shadow) { return shadow->mutated || (value_is(shadow->shadow, OBJ_ITERATOR) && iterator_moved(shadow)); }

bool capture_has_effects(const Capture *capture) {
    for (int i = 0; i < capture->shadows.count; i++)
        if (shadow_changed(capture->shadows.at[i])) return true;
    return capture->checks.count || capture->globals.count || capture->cells.count || capture->tensors.count || capture->hooks.count || capture_modes_changed(capture);
}

/* Attributes that are not what was read of the real object. */
static bool attribute_changed(const Shadow *shadow, const char *name, Value value) {
    const Source *source = value_is(value, OBJ_TRACKED) ? ((Tracked *)value.o)->source : NULL;
    if (shadow_deleted(shadow, name)) return true;
    if (source && source->kind == SOURCE_ATTR && source->base == shadow->source && source->name == name) return false;
    return true; /* the same value, too: what the attribute is in another call is not guarded */
}

static Effect *effect_append(Rewrite *r, Effect ***tail, Effect effect) {
    Effect *made = ARENA_NEW(r->arena, Effect);
    *made = effect;
    **tail = made;
    *tail = &made->next;
    return made;
}

static void effect_add(Rewrite *r, Effect ***tail, Effect effect) { effect_append(r, tail, effect)->local = emit_store_new(r); }

/* Each name once, if the real object has it: one that the frame added itself was never there. */
static void build_deletions(Rewrite *r, Effect ***tail, const Shadow *shadow) {
    const Instance *real = (const Instance *)shadow->real.o;
    for (int i = 0; i < shadow->deleted.count; i++) {
        const char *name = shadow->deleted.at[i];
        bool again = false;
        for (int j = 0; j < i; j++) again |= shadow->deleted.at[j] == name;
        if (!again && real->dict && dict_get_name(r->vm, real->dict, name).tag != V_NULL) effect_append(r, tail, (Effect){.shadow = shadow, .deleted = name});
    }
}

static void build_attributes(Rewrite *r, Effect ***tail, const Shadow *shadow) {
    Instance *mine = (Instance *)shadow->shadow.o;
    Value key, value;
    int position = 0;
    build_deletions(r, tail, shadow);
    while (mine->dict && dict_next(mine->dict, &position, &key, &value)) {
        const char *name = str_intern(r->vm, (Str *)key.o);
        if (!attribute_changed(shadow, name, value)) continue;
        emit_value(r, value);
        effect_add(r, tail, (Effect){.shadow = shadow, .attribute = name});
    }
}

static void build_shadow(Rewrite *r, Effect ***tail, const Shadow *shadow) {
    switch (shadow->shadow.o->type) {
    case OBJ_LIST: emit_built(r, ((List *)shadow->shadow.o)->items, ((List *)shadow->shadow.o)->count, OPCODE_BUILD_LIST); break;
    case OBJ_DICT: emit_dict_items(r, (Dict *)shadow->shadow.o); break;
    case OBJ_SET: emit_set_items(r, ((Set *)shadow->shadow.o)->dict); break;
    case OBJ_INSTANCE: build_attributes(r, tail, shadow); return;
    case OBJ_ITERATOR: effect_append(r, tail, (Effect){.shadow = shadow}); return;
    default: rewrite_refuse(r, shadow->shadow); return;
    }
    effect_add(r, tail, (Effect){.shadow = shadow});
}

Effect *effects_build(Rewrite *r) {
    const Capture *capture = r->capture;
    Effect *first = NULL, **tail = &first;
    for (int i = 0; i < capture->shadows.count && !r->failed; i++)
        if (shadow_changed(capture->shadows.at[i])) build_shadow(r, &tail, capture->shadows.at[i]);
    for (int i = 0; i < capture->globals.count && !r->failed; i++) {
        emit_value(r, capture->globals.at[i].value);
        effect_add(r, &tail, (Effect){.global = &capture->globals.at[i]});
    }
    for (int i = 0; i < capture->cells.count && !r->failed; i++) {
        emit_value(r, capture->cells.at[i].value);
        effect_add(r, &tail, (Effect){.cell = &capture->cells.at[i]});
    }
    for (int i = 0; i < capture->tensors.count && !r->failed; i++) {
        emit_value(r, capture->tensors.at[i].value);
        effect_add(r, &tail, (Effect){.tensor = &capture->tensors.at[i]});
    }
    for (int i = 0; i < capture->hooks.count && !r->failed; i++) {
        emit_value(r, capture->hooks.at[i].hook);
        effect_add(r, &tail, (Effect){.hook = &capture->hooks.at[i]});
    }
    return first;
}

/* real.clear(); real.update(content) */
static void write_by_update(Rewrite *r, const Effect *effect) {
    const char *calls[2] = {"clear", "update"};
    for (int i = 0; i < 2; i++) {
        emit(r, OPCODE_PUSH_NULL, 0);
        emit_source(r, effect->shadow->source);
        emit_load_attr(r, calls[i]);
        if (i == 1) emit_load(r, effect->local);
        emit(r, OPCODE_CALL, i);
        emit(r, OPCODE_POP_TOP, 0);
    }
}

static void write_global(Rewrite *r, const NameWrite *write) {
    if (write->dict == r->capture->root->globals) {
        emit(r, OPCODE_STORE_GLOBAL, rewrite_name(r, write->name));
        return;
    }
    Value name = str_interned(r->vm, write->name);
    emit_held_object(r, value_object(write->dict));
    emit_held_object(r, name);
    value_unref(r->vm, name);
    emit(r, OPCODE_STORE_SUBSCR, 0);
}

static void write_cell(Rewrite *r, const CellWrite *write) {
    int slot = rewrite_cell_slot(r, value_object(write->cell));
    if (slot >= 0) {
        emit(r, OPCODE_STORE_DEREF, slot);
        return;
    }
    const Source *known = map_get(r->capture->known, write->cell);
    if (known && known->base) {
        emit_source(r, known->base);
        emit_load_attr(r, "__closure__");
        emit_subscript(r, value_int(known->index));
    } else emit_held_object(r, value_object(write->cell));
    emit(r, OPCODE_STORE_ATTR, rewrite_name(r, rewrite_intern(r, "cell_contents")));
}

/* x.register_hook(hook) */
static void write_hook(Rewrite *r, const Effect *effect) {
    emit(r, OPCODE_PUSH_NULL, 0);
    emit_source(r, effect->hook->source);
    emit_load_attr(r, "register_hook");
    emit_load(r, effect->local);
    emit(r, OPCODE_CALL, 1);
    emit(r, OPCODE_POP_TOP, 0);
}

static void write_effect(Rewrite *r, const Effect *effect) {
    if (effect->global || effect->cell) {
        emit_load(r, effect->local);
        if (effect->global) write_global(r, effect->global);
        else write_cell(r, effect->cell);
    } else if (effect->hook) {
        write_hook(r, effect);
    } else if (effect->tensor) {
        emit_load(r, effect->local);
        emit_source(r, effect->tensor->source);
        emit(r, OPCODE_STORE_ATTR, rewrite_name(r, effect->tensor->name));
    } else if (value_is(effect->shadow->shadow, OBJ_ITERATOR)) {
        emit_moved(r, effect->shadow);
    } else if (effect->deleted) {
        emit_source(r, effect->shadow->source);
        emit(r, OPCODE_DELETE_ATTR, rewrite_name(r, effect->deleted));
    } else if (effect->attribute) {
        emit_load(r, effect->local);
        emit_source(r, effect->shadow->source);
        emit(r, OPCODE_STORE_ATTR, rewrite_name(r, effect->attribute));
    } else if (effect->shadow->shadow.o->type == OBJ_LIST) {
        emit_load(r, effect->local);
        emit_source(r, effect->shadow->source);
        emit_plain(r, VALUE_NONE);
        emit_plain(r, VALUE_NONE);
        emit(r, OPCODE_STORE_SLICE, 0);
    } else {
        write_by_update(r, effect);
    }
}

/* Modes: one builtin sets all that changed, from a record that it holds. */
typedef struct ModesObject { Object head; Modes modes; } ModesObject;

static Value set_modes(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)nargs; (void)kwnames;
    modes_set(vm, &((ModesObject *)args[0].o)->modes);
    return VALUE_NONE;
}

static void write_modes(Rewrite *r) {
    ModesObject *object = (ModesObject *)object_new(r->vm, OBJ_OPAQUE, sizeof *object);
    object->modes = modes_now(r->vm);
    emit_call_builtin(r, "set_modes", set_modes, 1);
    emit_held_object(r, value_object(object));
    value_unref(r->vm, value_object(object));
    emit(r, OPCODE_CALL, 1);
    emit(r, OPCODE_POP_TOP, 0);
}

/* The RuntimeError of a torch._check that does not hold; its message is made by the program. */
static Value check_failed(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)nargs; (void)kwnames;
    return vm_check_error(vm, args[0]);
}

static void emit_check_failed(Rewrite *r, const TensorCheck *check) {
    emit_call_builtin(r, "check_failed", check_failed, 1);
    if (check->raises.tag == V_OBJECT) emit_value(r, check->raises);
    else emit_plain(r, VALUE_NONE);
    emit(r, OPCODE_CALL, 1);
}

/* if not condition: raise AssertionError(message) */
static void write_check(Rewrite *r, const TensorCheck *check) {
    Span outer = r->span;
    r->span = check->span;
    if (check->condition) emit_value(r, value_object(check->condition));
    else emit_sym(r, check->relation);
    int jump = r->instrs.count;
    emit(r, OPCODE_POP_JUMP_IF_TRUE, 0);
    if (!check->condition) emit_check_failed(r, check);
    else emit(r, OPCODE_LOAD_ASSERTION_ERROR, 0);
    if (check->message) {
        emit(r, OPCODE_LOAD_CONST, rewrite_const(r, *check->message));
        emit(r, OPCODE_CALL, 0);
    }
    emit(r, OPCODE_RAISE_VARARGS, 1);
    r->instrs.at[jump].arg = r->instrs.count;
    r->span = outer;
}

void effects_write(Rewrite *r, const Effect *effects) {
    for (int i = 0; i < r->capture->checks.count; i++) write_check(r, &r->capture->checks.at[i]);
    for (const Effect *e = effects; e; e = e->next) write_effect(r, e);
    if (capture_modes_changed(r->capture)) write_modes(r);
}
