/* Emit: instructions that put a value of the symbolic run on the real stack. See rewrite.h.
 *
 *     a constant              LOAD_CONST
 *     an input                LOAD_FAST x; LOAD_ATTR layers; LOAD_CONST 0; BINARY_SUBSCR
 *     a tensor of the graph   LOAD_FAST ___outputs; LOAD_CONST 2; BINARY_SUBSCR
 *     a list made here        its items; BUILD_LIST; and a local keeps it, so that it is one object wherever it occurs
 *
 * To add a kind of value: a case in emit_object. */
#include "dynamo/computed.h"
#include "dynamo/iterators.h"
#include "dynamo/numbers.h"
#include "dynamo/shapes.h"
#include "dynamo/unbacked.h"
#include "vm/internal.h"
#include "vm/native.h"
#include <string.h>

void emit(Rewrite *r, Opcode opcode, int arg) {
    vec_push_in(r->arena, &r->instrs, ((Instr){(uint16_t)opcode, arg, r->span}));
    r->depth += opcode_stack_effect(opcode, arg, false);
    if (r->depth > r->max_depth) r->max_depth = r->depth;
}

int rewrite_name(Rewrite *r, const char *name) {
    for (int i = 0; i < r->names.count; i++)
        if (r->names.at[i] == name) return i;
    vec_push_in(r->arena, &r->names, name);
    return r->names.count - 1;
}

static bool const_same(const Const *a, const Const *b) {
    if (a->kind != b->kind) return false;
    switch (a->kind) {
    case CONST_NONE: case CONST_TRUE: case CONST_FALSE: case CONST_ELLIPSIS: return true;
    case CONST_INT: return a->i == b->i;
    case CONST_OBJECT: return a->object == b->object;
    default: return false;
    }
}

int rewrite_const(Rewrite *r, Const c) {
    for (int i = 0; i < r->consts.count; i++)
        if (const_same(&r->consts.at[i], &c)) return i;
    vec_push_in(r->arena, &r->consts, c);
    return r->consts.count - 1;
}

const char *rewrite_intern(Rewrite *r, const char *text) { return intern(r->vm->lang->names, text); }

static int local_new(Rewrite *r) { return -++r->locals; }

int emit_store_new(Rewrite *r) {
    int local = local_new(r);
    emit(r, OPCODE_STORE_FAST, local);
    return local;
}

void emit_load(Rewrite *r, int local) { emit(r, OPCODE_LOAD_FAST, local); }

void emit_held_object(Rewrite *r, Value value) {
    vec_push_in(r->arena, &r->capture->entry->held, value_ref(value));
    emit(r, OPCODE_LOAD_CONST, rewrite_const(r, (Const){.kind = CONST_OBJECT, .object = value.o}));
}

void emit_plain(Rewrite *r, Value v) {
    Const c = {.kind = CONST_NONE};
    switch (v.tag) {
    case V_BOOL: c.kind = v.b ? CONST_TRUE : CONST_FALSE; break;
    case V_INT: c = (Const){.kind = CONST_INT, .i = v.i}; break;
    case V_FLOAT: c = (Const){.kind = CONST_FLOAT, .f = v.f}; break;
    case V_ELLIPSIS: c.kind = CONST_ELLIPSIS; break;
    case V_NONE: break;
    default: rewrite_refuse(r, v);
    }
    emit(r, OPCODE_LOAD_CONST, rewrite_const(r, c));
}

void emit_load_attr(Rewrite *r, const char *name) { emit(r, OPCODE_LOAD_ATTR, rewrite_name(r, rewrite_intern(r, name)) << 1); }

void emit_subscript(Rewrite *r, Value key) {
    if (key.tag == V_OBJECT) emit_held_object(r, key);
    else emit_plain(r, key);
    emit(r, OPCODE_BINARY_SUBSCR, 0);
}

void emit_call_builtin(Rewrite *r, const char *name, BuiltinFn fn, int nargs) {
    Value builtin = builtin_new(r->vm, name, fn, nargs < 0 ? 0 : nargs, nargs, BUILTIN_BREAK);
    emit(r, OPCODE_PUSH_NULL, 0);
    emit_held_object(r, builtin);
    value_unref(r->vm, builtin);
}

void rewrite_refuse(Rewrite *r, Value v) {
    if (!r->failed && !r->vm->stopped) vm_stop(r->vm, "other", r->span, "a value of type %s made in the frame leaves it", v.tag == V_NULL ? "NULL" : type_name(r->vm, v));
    r->failed = true;
}

/* Sources */
static void emit_root(Rewrite *r, const Source *source) {
    const Frame *root = r->capture->root;
    switch (source->kind) {
    case SOURCE_LOCAL: /* an argument that a closure captured lies in its cell */
        emit(r, value_is(root->fast[source->index], OBJ_CELL) ? OPCODE_LOAD_DEREF : OPCODE_LOAD_FAST, source->index);
        break;
    case SOURCE_GLOBAL:
        if (source->key.tag == V_OBJECT) {
            Value name = str_interned(r->vm, source->name);
            emit_held_object(r, source->key);
            emit_subscript(r, name);
            value_unref(r->vm, name);
        } else {
            emit(r, OPCODE_LOAD_GLOBAL, rewrite_name(r, source->name) << 1);
        }
        break;
    case SOURCE_RANDOM: emit_scalar(r, source); break;
    case SOURCE_COMPUTED: computed_emit(r, source->computed); break;
    case SOURCE_CELL: emit(r, OPCODE_LOAD_DEREF, code_localsplus_count(root->code) - root->code->nfrees + source->index); break;
    case SOURCE_DEFAULT:
        emit_held_object(r, value_object(root->function));
        emit_load_attr(r, "__defaults__");
        emit_subscript(r, value_int(source->index));
        break;
    default: r->failed = true;
    }
}

void emit_source(Rewrite *r, const Source *source) {
    if (source->kind == SOURCE_UNBACKED) {
        emit_scalar_tensor(r, capture_scalar_tensor(r->capture, source));
        return;
    }
    if (!source->base || source->kind == SOURCE_AS_TENSOR) {
        if (source->base) emit_scalar(r, source);
        else emit_root(r, source);
        return;
    }
    if (source->kind == SOURCE_SCALAR) { /* under the tensor lies what a call needs */
        emit(r, OPCODE_PUSH_NULL, 0);
        emit_source(r, source->base);
        emit_load_attr(r, "item");
        emit(r, OPCODE_CALL, 0);
        return;
    }
    emit_source(r, source->base);
    switch (source->kind) {
    case SOURCE_ATTR: emit_load_attr(r, source->name); break;
    case SOURCE_ITEM: emit_subscript(r, value_int(source->index)); break;
    case SOURCE_KEY: emit_subscript(r, source->key); break;
    case SOURCE_SELF: emit_load_attr(r, "__self__"); break;
    case SOURCE_FUNC: emit_load_attr(r, "__func__"); break;
    case SOURCE_GRAD: emit_load_attr(r, "grad"); break;
    case SOURCE_SUBJECT: emit_subject(r); break;
    case SOURCE_PLUS_ZERO:
        emit_plain(r, value_float(0.0));
        emit(r, OPCODE_BINARY_OP, BINARY_ADD);
        break;
    case SOURCE_CELL:
        emit_load_attr(r, "__closure__");
        emit_subscript(r, value_int(source->index));
        emit_load_attr(r, "cell_contents");
        break;
    case SOURCE_DEFAULT:
        emit_load_attr(r, "__defaults__");
        emit_subscript(r, value_int(source->index));
        break;
    default: r->failed = true;
    }
}

/* Tensors */
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
    if (!tensor->node && map_has(capture->known, tensor)) { /* a key of a dict: the program's own */
        emit_held_object(r, value_tensor(tensor));
        return;
    }
    if (!tensor->node) {
        tensor = capture_constant(r->capture, tensor, true);
        if (!tensor) {
            r->failed = true;
            return;
        }
    }
    emit_load(r, -1);
    emit_subscript(r, value_int(output_index(r, tensor)));
}

/* Containers */
void emit_built(Rewrite *r, Value *items, int count, Opcode build) {
    for (int i = 0; i < count; i++) emit_value(r, items[i]);
    emit(r, build, count);
}

void emit_dict_items(Rewrite *r, Dict *dict) {
    Value key, value;
    int position = 0, count = 0;
    while (dict_next(dict, &position, &key, &value)) {
        emit_value(r, key);
        emit_value(r, value);
        count++;
    }
    emit(r, OPCODE_BUILD_MAP, count);
}

void emit_set_items(Rewrite *r, Dict *dict) {
    Value key, value;
    int position = 0, count = 0;
    while (dict_next(dict, &position, &key, &value)) {
        emit_value(r, key);
        count++;
    }
    emit(r, OPCODE_BUILD_SET, count);
}

/* Counter, OrderedDict, defaultdict: made by their class; a factory comes first. */
static void emit_dict(Rewrite *r, Value v) {
    Dict *dict = (Dict *)v.o;
    Value owner = capture_namespace_owner(r->capture, v);
    if (owner.tag != V_NULL) {
        emit_value(r, owner);
        emit_load_attr(r, "__dict__");
        return;
    }
    if (!dict->fallback && !dict->is_counter && !dict->is_ordered) {
        emit_dict_items(r, dict);
        return;
    }
    emit(r, OPCODE_PUSH_NULL, 0);
    emit_held_object(r, value_object(class_of(r->vm, v)));
    if (dict->fallback) emit_value(r, *dict->fallback);
    emit_dict_items(r, dict);
    emit(r, OPCODE_CALL, dict->fallback ? 2 : 1);
}

/* object.__new__(cls), kept in a local, then each attribute: an object may hold itself. */
static void emit_instance(Rewrite *r, Value v) {
    Instance *instance = (Instance *)v.o;
    emit(r, OPCODE_PUSH_NULL, 0);
    emit_held_object(r, value_object(r->vm->class_object));
    emit_load_attr(r, "__new__");
    emit_held_object(r, value_object(instance->cls));
    emit(r, OPCODE_CALL, 1);
    int local = emit_store_new(r);
    map_put(r->built, v.o, (void *)(intptr_t)-local);
    Value key, value;
    int position = 0;
    while (instance->dict && dict_next(instance->dict, &position, &key, &value)) {
        emit_value(r, value);
        emit_load(r, local);
        emit(r, OPCODE_STORE_ATTR, rewrite_name(r, str_intern(r->vm, (Str *)key.o)));
    }
    emit_load(r, local);
}

/* torch.Size(…) from its items: the class is called. */
static void emit_tuple(Rewrite *r, Value v) {
    Tuple *tuple = (Tuple *)v.o;
    if (!tuple->is_size) {
        emit_built(r, tuple->items, tuple->count, OPCODE_BUILD_TUPLE);
        return;
    }
    emit(r, OPCODE_PUSH_NULL, 0);
    emit_held_object(r, value_object(class_of(r->vm, v)));
    emit_built(r, tuple->items, tuple->count, OPCODE_BUILD_TUPLE);
    emit(r, OPCODE_CALL, 1);
}

/* A named tuple (x.max(dim), namedtuple(…)): its class is called with its items. */
static void emit_named_tuple(Rewrite *r, Value v) {
    Value fields = vm_load_attr_generic(r->vm, v, rewrite_intern(r, "_fields")), items = VALUE_NULL;
    bool named = value_is(fields, OBJ_TUPLE);
    if (named) items = vm_list_of(r->vm, v);
    value_unref(r->vm, fields);
    if (!value_is(items, OBJ_LIST)) {
        rewrite_refuse(r, v);
        return;
    }
    vec_push_in(r->arena, &r->capture->entry->held, items);
    emit(r, OPCODE_PUSH_NULL, 0);
    emit_held_object(r, value_object(((Instance *)v.o)->cls));
    for (int i = 0; i < ((List *)items.o)->count; i++) emit_value(r, ((List *)items.o)->items[i]);
    emit(r, OPCODE_CALL, ((List *)items.o)->count);
}

/* Functions, methods, cells: made anew by builtins that only rewritten code calls. */
static Value make_method(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)nargs; (void)kwnames;
    return method_new(vm, args[1], args[0]);
}

static Value make_empty_cell(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)nargs; (void)kwnames; (void)args;
    return cell_new(vm, VALUE_NULL);
}

static Value fill_cell(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)nargs; (void)kwnames;
    Cell *cell = (Cell *)args[0].o;
    Value old = cell->value;
    cell->value = value_ref(args[1]);
    value_unref(vm, old);
    return VALUE_NONE;
}

static void emit_method(Rewrite *r, Value v) {
    Method *method = (Method *)v.o;
    emit_call_builtin(r, "method", make_method, 2);
    emit_value(r, method->function);
    emit_value(r, method->self);
    emit(r, OPCODE_CALL, 2);
}

int rewrite_cell_slot(const Rewrite *r, Value cell) {
    const Frame *root = r->capture->root;
    for (int i = 0; i < code_localsplus_count(root->code); i++)
        if (value_is(root->fast[i], OBJ_CELL) && root->fast[i].o == cell.o) return i;
    return -1;
}

/* A cell of the frame is the frame's; one of a function that was inlined and has returned is made here, kept, then filled. */
static void emit_cell(Rewrite *r, Value v) {
    int slot = rewrite_cell_slot(r, v), local = (int)(intptr_t)map_get(r->built, v.o);
    Value content = ((Cell *)v.o)->value;
    if (slot >= 0) {
        emit(r, OPCODE_LOAD_CLOSURE, slot);
        return;
    }
    const Source *known = map_get(r->capture->known, v.o);
    if (known && known->base) { /* of the function that this call is given */
        emit_source(r, known->base);
        emit_load_attr(r, "__closure__");
        emit_subscript(r, value_int(known->index));
        return;
    }
    if (known) {
        emit_held_object(r, v);
        return;
    }
    if (local) {
        emit_load(r, -local);
        return;
    }
    emit_call_builtin(r, "cell", make_empty_cell, 0);
    emit(r, OPCODE_CALL, 0);
    local = emit_store_new(r);
    map_put(r->built, v.o, (void *)(intptr_t)-local);
    if (content.tag != V_NULL) {
        emit_call_builtin(r, "fill", fill_cell, 2);
        emit_load(r, local);
        emit_value(r, content);
        emit(r, OPCODE_CALL, 2);
        emit(r, OPCODE_POP_TOP, 0);
    }
    emit_load(r, local);
}

static void emit_function(Rewrite *r, Value v) {
    Function *function = (Function *)v.o;
    const Source *known = map_get(r->capture->known, v.o);
    if (known && !(function->code->file && function->code->file->shipped)) {
        emit_source(r, known);
        return;
    }
    bool made_here = !map_has(r->capture->known, v.o) && (value_is(function->closure, OBJ_TUPLE) || value_is(function->defaults, OBJ_TUPLE) || value_is(function->kwdefaults, OBJ_DICT));
    if (!made_here || (function->code->file && function->code->file->shipped && !value_is(function->closure, OBJ_TUPLE))) {
        emit_held_object(r, v);
        return;
    }
    int flags = 0;
    if (function->globals != r->capture->root->globals || value_is(function->dict, OBJ_DICT)) {
        rewrite_refuse(r, v);
        return;
    }
    if (value_is(function->defaults, OBJ_TUPLE)) {
        emit_value(r, function->defaults);
        flags |= 1;
    }
    if (value_is(function->kwdefaults, OBJ_DICT)) {
        emit_value(r, function->kwdefaults);
        flags |= 2;
    }
    if (value_is(function->closure, OBJ_TUPLE)) {
        emit_built(r, ((Tuple *)function->closure.o)->items, ((Tuple *)function->closure.o)->count, OPCODE_BUILD_TUPLE);
        flags |= 8;
    }
    emit(r, OPCODE_LOAD_CONST, rewrite_const(r, (Const){.kind = CONST_CODE, .code = function->code}));
    emit(r, OPCODE_MAKE_FUNCTION, flags);
}

/* Objects with an identity: built once. Containers that hold themselves are refused by depth. */
static void emit_identity(Rewrite *r, Value v) {
    int local = (int)(intptr_t)map_get(r->built, v.o);
    if (local) {
        emit_load(r, -local);
        return;
    }
    if (r->depth > 200) {
        rewrite_refuse(r, v);
        return;
    }
    switch (v.o->type) {
    case OBJ_LIST: emit_built(r, ((List *)v.o)->items, ((List *)v.o)->count, OPCODE_BUILD_LIST); break;
    case OBJ_DICT: emit_dict(r, v); break;
    case OBJ_SET: emit_set_items(r, ((Set *)v.o)->dict); break;
    case OBJ_METHOD: emit_method(r, v); break;
    case OBJ_FUNCTION: emit_function(r, v); break;
    case OBJ_ITERATOR: emit_iterator(r, v); break;
    case OBJ_GENERATOR: emit_generator(r, v); break;
    default: emit_instance(r, v); return;
    }
    emit(r, OPCODE_COPY, 1);
    map_put(r->built, v.o, (void *)(intptr_t)-emit_store_new(r));
}

/* Objects that a run makes or changes: a builtin bound to one of them is not the same builtin in another run. */
static bool belongs_to_run(Value self) {
    if (self.tag != V_OBJECT) return false;
    switch (self.o->type) {
    case OBJ_TENSOR: case OBJ_LIST: case OBJ_DICT: case OBJ_SET: case OBJ_TUPLE: case OBJ_INSTANCE: case OBJ_ITERATOR: case OBJ_GENERATOR: case OBJ_TRACKED: return true;
    default: return false;
    }
}

/* xs.append as a value */
static void emit_builtin(Rewrite *r, Value v) {
    Builtin *builtin = (Builtin *)v.o;
    const char *dot = strrchr(builtin->qualname ? builtin->qualname : builtin->name, '.');
    if (!belongs_to_run(builtin->self)) {
        emit_held_object(r, v);
        return;
    }
    emit_value(r, builtin->self);
    emit_load_attr(r, dot ? dot + 1 : builtin->name);
}

static void emit_object(Rewrite *r, Value v) {
    Shadow *shadow = capture_shadow(r->capture, v);
    if (shadow) {
        emit_source(r, shadow->source);
        return;
    }
    switch (v.o->type) {
    case OBJ_TENSOR: emit_tensor(r, (Tensor *)v.o); break;
    case OBJ_TUPLE: emit_tuple(r, v); break;
    case OBJ_FROZENSET: emit_held_object(r, v); break;
    case OBJ_LIST: case OBJ_SET: case OBJ_DICT: case OBJ_METHOD: case OBJ_FUNCTION: case OBJ_ITERATOR: case OBJ_GENERATOR: emit_identity(r, v); break;
    case OBJ_INSTANCE: if (((Instance *)v.o)->native) emit_named_tuple(r, v); else emit_identity(r, v); break;
    case OBJ_SLICE: {
        Slice *slice = (Slice *)v.o;
        emit_value(r, slice->start);
        emit_value(r, slice->stop);
        emit_value(r, slice->step);
        emit(r, OPCODE_BUILD_SLICE, 3);
        break;
    }
    case OBJ_CELL: emit_cell(r, v); break;
    case OBJ_BUILTIN: emit_builtin(r, v); break;
    case OBJ_SYM:
        capture_number_leaves(r->capture, ((SymObject *)v.o)->dim);
        emit_sym(r, ((SymObject *)v.o)->dim);
        break;
    case OBJ_SUPER: rewrite_refuse(r, v); break;
    default: emit_held_object(r, v);
    }
}

void emit_value(Rewrite *r, Value v) {
    if (value_is(v, OBJ_TRACKED) && ((Tracked *)v.o)->source->kind == SOURCE_NUMBER) {
        capture_node_leaves(r->capture, r->capture->boxes.at[((Tracked *)v.o)->source->index]);
        emit_plain(r, ((Tracked *)v.o)->inner);
    } else if (value_is(v, OBJ_TRACKED)) {
        const Source *source = ((Tracked *)v.o)->source;
        if (source->kind == SOURCE_COMPUTED && source->computed->node) capture_node_leaves(r->capture, source->computed->node);
        emit_source(r, source);
    } else if (v.tag == V_OBJECT) emit_object(r, v);
    else emit_plain(r, v);
}
