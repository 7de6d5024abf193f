/* Rewrite: the code that runs instead of the captured frame. In: the result of symbolic execution and the shadows that changed. Out: real bytecode.
 *
 *     RESUME 0
 *     graph(L['x'], G['w']) -> outputs            the compiled graph, on the inputs' sources
 *     L['xs'][:] = […]                            effects on what the program holds, in order
 *     (outputs[0], L['x'], 3)                     the result rebuilt
 *     RETURN_VALUE
 *
 * Values are rebuilt from where they can be had: a constant, an input's source, a graph output, or a container of such. A container that occurs twice is
 * built once and kept in a local, so identity is kept.
 * To add a kind of value: a case in emit_object. */
#include "dynamo/capture.h"
#include <assert.h>
#include <string.h>

typedef struct Rewrite {
    Capture *capture; VM *vm; Arena *arena;
    VEC(Instr) instrs;
    VEC(Const) consts;
    VEC(const char *) names;
    VEC(Node *) outputs;            /* graph outputs, in order; the tensor of outputs[i] is in output_tensors[i] */
    VEC(Tensor *) output_tensors;
    Map *built;                     /* container -> local + 1 */
    int first_local, locals;        /* locals added behind the user's */
    int depth, max_depth;
    bool failed;
} Rewrite;

static void emit(Rewrite *r, Opcode opcode, int arg) {
    vec_push_in(r->arena, &r->instrs, ((Instr){(uint16_t)opcode, arg, r->capture->entry->code->span}));
    r->depth += opcode_stack_effect(opcode, arg, false);
    if (r->depth > r->max_depth) r->max_depth = r->depth;
}

static int name_index(Rewrite *r, const char *name) {
    for (int i = 0; i < r->names.count; i++)
        if (r->names.at[i] == name) return i;
    vec_push_in(r->arena, &r->names, name);
    return r->names.count - 1;
}

static int const_index(Rewrite *r, Const c) {
    vec_push_in(r->arena, &r->consts, c);
    return r->consts.count - 1;
}

static const char *name_of(Rewrite *r, const char *text) { return intern(r->vm->lang->names, text); }

static void hold(Rewrite *r, Value value) { vec_push_in(r->arena, &r->capture->entry->held, value_ref(value)); }

static void emit_held_object(Rewrite *r, Value value) {
    hold(r, value);
    emit(r, OPCODE_LOAD_CONST, const_index(r, (Const){.kind = CONST_OBJECT, .object = value.o}));
}

static void emit_const(Rewrite *r, Value v) {
    Const c = {.kind = CONST_NONE};
    switch (v.tag) {
    case V_BOOL: c.kind = v.b ? CONST_TRUE : CONST_FALSE; break;
    case V_INT: c = (Const){.kind = CONST_INT, .i = v.i}; break;
    case V_FLOAT: c = (Const){.kind = CONST_FLOAT, .f = v.f}; break;
    case V_ELLIPSIS: c.kind = CONST_ELLIPSIS; break;
    default: break;
    }
    emit(r, OPCODE_LOAD_CONST, const_index(r, c));
}

static void emit_load_attr(Rewrite *r, const char *name) { emit(r, OPCODE_LOAD_ATTR, name_index(r, name) << 1); }

static void emit_subscript(Rewrite *r, Value key) {
    if (key.tag == V_OBJECT) emit_held_object(r, key);
    else emit_const(r, key);
    emit(r, OPCODE_BINARY_SUBSCR, 0);
}

/* Cells, defaults and other frames' globals have no spelling in bytecode: the function or namespace itself is a constant. */
static void emit_root(Rewrite *r, const Source *source) {
    const Frame *real = r->capture->real;
    switch (source->kind) {
    case SOURCE_LOCAL: emit(r, OPCODE_LOAD_FAST, source->index); break;
    case SOURCE_GLOBAL:
        if (source->key.tag == V_OBJECT) {
            emit_held_object(r, source->key);
            emit_subscript(r, str_interned(r->vm, source->name));
        } else {
            emit(r, OPCODE_LOAD_GLOBAL, name_index(r, source->name) << 1);
        }
        break;
    case SOURCE_CELL: {
        Value cell = ((Tuple *)real->function->closure.o)->items[source->index];
        emit_held_object(r, cell);
        emit_load_attr(r, name_of(r, "cell_contents"));
        break;
    }
    default: r->failed = true;
    }
}

static void emit_source(Rewrite *r, const Source *source) {
    if (!source->base) {
        emit_root(r, source);
        return;
    }
    emit_source(r, source->base);
    switch (source->kind) {
    case SOURCE_ATTR: emit_load_attr(r, source->name); break;
    case SOURCE_ITEM: emit_subscript(r, value_int(source->index)); break;
    case SOURCE_KEY: emit_subscript(r, source->key); break;
    case SOURCE_SELF: emit_load_attr(r, name_of(r, "__self__")); break;
    case SOURCE_FUNC: emit_load_attr(r, name_of(r, "__func__")); break;
    case SOURCE_GRAD: emit_load_attr(r, name_of(r, "grad")); break;
    case SOURCE_CELL:
        emit_load_attr(r, name_of(r, "__closure__"));
        emit_subscript(r, value_int(source->index));
        emit_load_attr(r, name_of(r, "cell_contents"));
        break;
    case SOURCE_DEFAULT:
        emit_load_attr(r, name_of(r, "__defaults__"));
        emit_subscript(r, value_int(source->index));
        break;
    default: r->failed = true;
    }
}

static int local_new(Rewrite *r) { return r->first_local + r->locals++; }

enum { OUTPUTS_LOCAL = 0 }; /* first added local: the tuple of the graph's outputs */

static int output_index(Rewrite *r, Tensor *tensor) {
    for (int i = 0; i < r->output_tensors.count; i++)
        if (r->output_tensors.at[i] == tensor) return i;
    vec_push_in(r->arena, &r->output_tensors, tensor);
    vec_push_in(r->arena, &r->outputs, tensor->node);
    return r->outputs.count - 1;
}

static void emit_tensor(Rewrite *r, Tensor *tensor) {
    const Capture *capture = r->capture;
    for (int i = 0; i < capture->inputs.count; i++)
        if (capture->inputs.at[i].fake == tensor) {
            emit_source(r, capture->inputs.at[i].source);
            return;
        }
    if (!tensor->node) {
        tensor = capture_constant(r->capture, tensor);
        if (!tensor) {
            r->failed = true;
            return;
        }
    }
    emit(r, OPCODE_LOAD_FAST, r->first_local + OUTPUTS_LOCAL);
    emit_subscript(r, value_int(output_index(r, tensor)));
}

static void emit_value(Rewrite *r, Value v);

static void emit_dict(Rewrite *r, Dict *dict) {
    Value key, value;
    int position = 0, count = 0;
    while (dict_next(dict, &position, &key, &value)) {
        emit_value(r, key);
        emit_value(r, value);
        count++;
    }
    emit(r, OPCODE_BUILD_MAP, count);
}

static void emit_items(Rewrite *r, Value *items, int count, Opcode build) {
    for (int i = 0; i < count; i++) emit_value(r, items[i]);
    emit(r, build, count);
}

static void emit_set(Rewrite *r, Dict *dict) {
    Value key, value;
    int position = 0, count = 0;
    while (dict_next(dict, &position, &key, &value)) {
        emit_value(r, key);
        count++;
    }
    emit(r, OPCODE_BUILD_SET, count);
}

/* cls.__new__(cls), then each attribute. */
static void emit_instance(Rewrite *r, Instance *instance, int local) {
    emit(r, OPCODE_PUSH_NULL, 0);
    emit_held_object(r, value_object(r->vm->class_object));
    emit_load_attr(r, name_of(r, "__new__"));
    emit_held_object(r, value_object(instance->cls));
    emit(r, OPCODE_CALL, 1);
    emit(r, OPCODE_STORE_FAST, local);
    Value key, value;
    int position = 0;
    while (instance->dict && dict_next(instance->dict, &position, &key, &value)) {
        emit_value(r, value);
        emit(r, OPCODE_LOAD_FAST, local);
        emit(r, OPCODE_STORE_ATTR, name_index(r, str_intern(r->vm, (Str *)key.o)));
    }
    emit(r, OPCODE_LOAD_FAST, local);
}

static void cannot(Rewrite *r, Value v) {
    if (!r->failed) vm_stop(r->vm, "other", r->capture->entry->code->span, "a value of type %s made in the frame leaves it", type_name(r->vm, v));
    r->failed = true;
}

/* torch.Size(…) from its items: the class is called. */
static void emit_tuple(Rewrite *r, Value v) {
    Tuple *tuple = (Tuple *)v.o;
    if (!tuple->is_size) {
        emit_items(r, tuple->items, tuple->count, OPCODE_BUILD_TUPLE);
        return;
    }
    emit(r, OPCODE_PUSH_NULL, 0);
    emit_held_object(r, value_object(class_of(r->vm, v)));
    emit_items(r, tuple->items, tuple->count, OPCODE_BUILD_TUPLE);
    emit(r, OPCODE_CALL, 1);
}

/* Mutable containers are remembered before their items are built, so that identity is kept (a list inside itself stays refused by depth). */
static void emit_container(Rewrite *r, Value v) {
    int local = (int)(intptr_t)map_get(r->built, v.o) - 1;
    if (local >= 0) {
        emit(r, OPCODE_LOAD_FAST, local);
        return;
    }
    if (r->depth > 200) {
        cannot(r, v);
        return;
    }
    local = local_new(r);
    map_put(r->built, v.o, (void *)(intptr_t)(local + 1));
    switch (v.o->type) {
    case OBJ_LIST: emit_items(r, ((List *)v.o)->items, ((List *)v.o)->count, OPCODE_BUILD_LIST); break;
    case OBJ_DICT: emit_dict(r, (Dict *)v.o); break;
    case OBJ_SET: emit_set(r, ((Set *)v.o)->dict); break;
    default: emit_instance(r, (Instance *)v.o, local); return;
    }
    emit(r, OPCODE_COPY, 1);
    emit(r, OPCODE_STORE_FAST, local);
}

/* A named tuple (x.max(dim), namedtuple(…)): its class is called with its items. */
static void emit_named_tuple(Rewrite *r, Value v) {
    Value fields = vm_load_attr_generic(r->vm, v, name_of(r, "_fields")), items = VALUE_NULL;
    bool named = value_is(fields, OBJ_TUPLE);
    if (named) items = vm_list_of(r->vm, v);
    value_unref(r->vm, fields);
    if (!value_is(items, OBJ_LIST)) {
        cannot(r, v);
        return;
    }
    vec_push_in(r->arena, &r->capture->entry->held, items);
    emit(r, OPCODE_PUSH_NULL, 0);
    emit_held_object(r, value_object(((Instance *)v.o)->cls));
    for (int i = 0; i < ((List *)items.o)->count; i++) emit_value(r, ((List *)items.o)->items[i]);
    emit(r, OPCODE_CALL, ((List *)items.o)->count);
}

static bool dict_is_plain(const Dict *dict) { return !dict->fallback && !dict->is_counter && !dict->is_ordered; }

static void emit_object(Rewrite *r, Value v) {
    Shadow *shadow = capture_shadow(r->capture, v);
    if (shadow) {
        emit_source(r, shadow->source);
        return;
    }
    switch (v.o->type) {
    case OBJ_TENSOR: emit_tensor(r, (Tensor *)v.o); break;
    case OBJ_TUPLE: emit_tuple(r, v); break;
    case OBJ_DICT: if (dict_is_plain((Dict *)v.o)) emit_container(r, v); else cannot(r, v); break;
    case OBJ_LIST: case OBJ_SET: emit_container(r, v); break;
    case OBJ_INSTANCE: if (((Instance *)v.o)->native) emit_named_tuple(r, v); else emit_container(r, v); break;
    case OBJ_SLICE: {
        Slice *slice = (Slice *)v.o;
        emit_value(r, slice->start);
        emit_value(r, slice->stop);
        emit_value(r, slice->step);
        emit(r, OPCODE_BUILD_SLICE, 3);
        break;
    }
    case OBJ_ITERATOR: case OBJ_GENERATOR: case OBJ_CELL: case OBJ_SYM: cannot(r, v); break;
    case OBJ_FUNCTION: if (value_is(((Function *)v.o)->closure, OBJ_TUPLE) && !map_has(r->capture->known, v.o)) cannot(r, v); else emit_held_object(r, v); break;
    default: emit_held_object(r, v);
    }
}

static void emit_value(Rewrite *r, Value v) {
    if (value_is(v, OBJ_TRACKED)) emit_source(r, ((Tracked *)v.o)->source);
    else if (v.tag == V_OBJECT) emit_object(r, v);
    else emit_const(r, v);
}

/* Effects. All new contents are built before the first of them is written, since they may be read from what is about to change. */
static bool same_item(Value a, Value b) { return a.tag == b.tag && (a.tag < V_BOOL || (a.tag == V_BOOL ? a.b == b.b : a.i == b.i)); }

static int store_new(Rewrite *r) {
    int local = local_new(r);
    emit(r, OPCODE_STORE_FAST, local);
    return local;
}

/* Attributes that are not what was read of the real object. */
static bool attribute_changed(Rewrite *r, const Shadow *shadow, const char *name, Value value) {
    const Instance *real = (const Instance *)shadow->real.o;
    const Source *source = value_is(value, OBJ_TRACKED) ? ((Tracked *)value.o)->source : NULL;
    if (source && source->kind == SOURCE_ATTR && source->base == shadow->source && source->name == name) return false;
    return !(real->dict && same_item(dict_get_name(r->vm, real->dict, name), value));
}

typedef struct Effect { const Shadow *shadow; const char *attribute; int local; struct Effect *next; } Effect;

static void effect_add(Rewrite *r, Effect ***tail, const Shadow *shadow, const char *attribute) {
    Effect *effect = ARENA_NEW(r->arena, Effect);
    *effect = (Effect){shadow, attribute, store_new(r), NULL};
    **tail = effect;
    *tail = &effect->next;
}

static void build_attributes(Rewrite *r, Effect ***tail, const Shadow *shadow) {
    Instance *mine = (Instance *)shadow->shadow.o;
    Value key, value;
    int position = 0;
    while (mine->dict && dict_next(mine->dict, &position, &key, &value)) {
        const char *name = str_intern(r->vm, (Str *)key.o);
        if (!attribute_changed(r, shadow, name, value)) continue;
        emit_value(r, value);
        effect_add(r, tail, shadow, name);
    }
}

static Effect *build_effects(Rewrite *r) {
    Effect *first = NULL, **tail = &first;
    for (int i = 0; i < r->capture->shadows.count && !r->failed; i++) {
        const Shadow *shadow = r->capture->shadows.at[i];
        if (!shadow->mutated) continue;
        switch (shadow->shadow.o->type) {
        case OBJ_LIST: emit_items(r, ((List *)shadow->shadow.o)->items, ((List *)shadow->shadow.o)->count, OPCODE_BUILD_LIST); break;
        case OBJ_DICT: emit_dict(r, (Dict *)shadow->shadow.o); break;
        case OBJ_SET: emit_set(r, ((Set *)shadow->shadow.o)->dict); break;
        case OBJ_INSTANCE: build_attributes(r, &tail, shadow); continue;
        default: cannot(r, shadow->shadow); continue;
        }
        effect_add(r, &tail, shadow, NULL);
    }
    return first;
}

/* real.clear(); real.update(content) */
static void write_by_update(Rewrite *r, const Effect *effect) {
    const char *calls[2] = {"clear", "update"};
    for (int i = 0; i < 2; i++) {
        emit(r, OPCODE_PUSH_NULL, 0);
        emit_source(r, effect->shadow->source);
        emit_load_attr(r, name_of(r, calls[i]));
        if (i == 1) emit(r, OPCODE_LOAD_FAST, effect->local);
        emit(r, OPCODE_CALL, i);
        emit(r, OPCODE_POP_TOP, 0);
    }
}

static void write_effect(Rewrite *r, const Effect *effect) {
    if (effect->attribute) {
        emit(r, OPCODE_LOAD_FAST, effect->local);
        emit_source(r, effect->shadow->source);
        emit(r, OPCODE_STORE_ATTR, name_index(r, effect->attribute));
    } else if (effect->shadow->shadow.o->type == OBJ_LIST) {
        emit(r, OPCODE_LOAD_FAST, effect->local);
        emit_source(r, effect->shadow->source);
        emit_const(r, VALUE_NONE);
        emit_const(r, VALUE_NONE);
        emit(r, OPCODE_STORE_SLICE, 0);
    } else {
        write_by_update(r, effect);
    }
}

/* Contents of what changed and the result, then the writes, then the result again. */
static void emit_effects_and_result(Rewrite *r, Value result) {
    Effect *effects = build_effects(r);
    emit_value(r, result);
    if (!effects) return;
    int local = store_new(r);
    for (const Effect *e = effects; e; e = e->next) write_effect(r, e);
    emit(r, OPCODE_LOAD_FAST, local);
}

static bool has_effects(const Capture *capture) {
    for (int i = 0; i < capture->shadows.count; i++)
        if (capture->shadows.at[i]->mutated) return true;
    return false;
}

static void emit_graph_call(Rewrite *r) {
    Entry *entry = r->capture->entry;
    emit(r, OPCODE_PUSH_NULL, 0);
    emit(r, OPCODE_LOAD_CONST, const_index(r, (Const){.kind = CONST_OBJECT, .object = entry->graph_object}));
    for (int i = 0; i < entry->inputs.count; i++) emit_source(r, entry->inputs.at[i].source);
    emit(r, OPCODE_CALL, entry->inputs.count);
    emit(r, OPCODE_STORE_FAST, r->first_local + OUTPUTS_LOCAL);
}

static Code *finish_code(Rewrite *r) {
    const Code *user = r->capture->entry->code;
    Code *code = arena_copy(r->arena, user, sizeof *user);
    int base = code_localsplus_count(user), total = base + r->locals;
    code->id = r->vm->lang->next_code_id++; /* the VM keeps constants by it */
    code->name = name_of(r, arena_printf(r->arena, "compiled_%s", user->name));
    const char **names = ARENA_ARRAY(r->arena, const char *, total);
    memcpy(names, user->localsplus, sizeof *names * (size_t)base);
    for (int i = base; i < total; i++) names[i] = name_of(r, i == base ? "___outputs" : arena_printf(r->arena, "___value%d", i - base));
    code->localsplus = names;
    code->nlocals = total;
    code->ncells = code->nfrees = 0;
    code->flags &= ~CODE_GENERATOR;
    code->names = r->names.at;
    code->name_count = r->names.count;
    code->consts = r->consts.at;
    code->const_count = r->consts.count;
    code->instrs = r->instrs.at;
    code->instr_count = r->instrs.count;
    code->exceptions = NULL;
    code->exception_count = 0;
    code->stacksize = r->max_depth + 4;
    code->cache = NULL;
    return code;
}

static bool has_calls(const Graph *graph) {
    for (int i = 0; i < graph->nodes.count; i++)
        if (graph->nodes.at[i]->kind == NODE_CALL) return true;
    return false;
}

bool capture_rewrite(Capture *capture, Value result) {
    Entry *entry = capture->entry;
    if (!has_calls(entry->graph) && !has_effects(capture)) {
        entry->empty = true; /* nothing to compile: the user's own code runs, under the same guards */
        graph_finish(entry->graph);
        return true;
    }
    Rewrite r = {.capture = capture, .vm = capture->vm, .arena = entry->arena, .built = map_new(entry->arena)};
    r.first_local = code_localsplus_count(entry->code);
    r.locals = 1;
    vec_push_in(entry->arena, &r.consts, ((Const){.kind = CONST_NONE}));
    emit(&r, OPCODE_RESUME, 0);
    emit_graph_call(&r);
    emit_effects_and_result(&r, result);
    emit(&r, OPCODE_RETURN_VALUE, 0);
    if (r.failed) {
        if (!capture->vm->stopped) vm_stop(capture->vm, "other", entry->code->span, "the result cannot be rebuilt");
        return false;
    }
    graph_output(entry->graph, r.outputs.at, r.outputs.count);
    graph_finish(entry->graph);
    entry->empty = !has_calls(entry->graph);
    entry->rewritten = finish_code(&r);
    return true;
}
