/* Guard check: does every guard of an entry hold for a frame? In: a guard set and a frame about to run. Out: a guard that fails, or NULL.
 *
 * Checks run at every call of a compiled frame, so they are laid out once as a program: tensors first, each a few numbers side by side; then which
 * of them are the same tensor, by one hash; then the rest, as they were added. A value that several guards look at is read once.
 * Invariant: nothing of the program is run, no reference count changes. */
#include "dynamo/guards.h"
#include <string.h>

/* ---- one guard of each kind ---- */

static bool dims_hold(const Dim *want, const Dim *got, int count) {
    for (int i = 0; i < count; i++)
        if (dim_is_int(want[i]) && want[i] != got[i]) return false;
    return true;
}

static unsigned marks_of(VM *vm, const Tensor *t) {
    unsigned marks = 0;
    Value key, value, set = t->dict.tag == V_OBJECT ? dict_get_name(vm, (Dict *)t->dict.o, intern(vm->lang->names, "_dynamo_dynamic_indices")) : VALUE_NULL;
    int position = 0;
    if (!value_is(set, OBJ_SET)) return 0;
    while (dict_next(((Set *)set.o)->dict, &position, &key, &value))
        if (key.tag == V_INT && key.i >= 0 && key.i < MAX_RANK) marks |= 1u << key.i;
    return marks;
}

static bool marks_hold(VM *vm, const Guard *guard, const Tensor *t) { return t->dict.tag == V_NULL || (marks_of(vm, t) & ~guard->marks) == 0; }

static bool tensor_holds(VM *vm, const Guard *guard, Value value) {
    if (!value_is(value, OBJ_TENSOR)) return false;
    const Tensor *t = (const Tensor *)value.o;
    const Meta *want = &guard->meta, *got = &t->meta;
    return want->dtype == got->dtype && device_equal(want->device, got->device) && want->rank == got->rank && dims_hold(want->sizes, got->sizes, want->rank) &&
           dims_hold(want->strides, got->strides, want->rank) && tensor_needs_grad(t) == guard->requires_grad && marks_hold(vm, guard, t);
}

static int64_t value_count(Value value) {
    if (value.tag != V_OBJECT) return -1;
    switch (value.o->type) {
    case OBJ_TUPLE: return ((const Tuple *)value.o)->count;
    case OBJ_LIST: return ((const List *)value.o)->count;
    case OBJ_DICT: return ((const Dict *)value.o)->live;
    case OBJ_SET: case OBJ_FROZENSET: return ((const Set *)value.o)->dict->live;
    default: return -1;
    }
}

static bool keys_hold(const Guard *guard, Value value) {
    if (!value_is(value, OBJ_DICT)) return false;
    const Tuple *keys = (const Tuple *)guard->expected.o;
    Value key, item;
    int position = 0, i = 0;
    while (dict_next((const Dict *)value.o, &position, &key, &item)) {
        if (i >= keys->count || !value_same(key, keys->items[i])) return false;
        i++;
    }
    return i == keys->count;
}

/* NO_ALIAS: no two sources give one tensor. NO_OVERLAP: different tensors over one storage may overlap: whole storages are compared, which is more than
 * PyTorch's ranges and never too little. */
static bool are_apart(const Guard *guard, Value a, Value b) {
    if (!value_is(a, OBJ_TENSOR) || !value_is(b, OBJ_TENSOR)) return true;
    if (guard->kind == GUARD_NO_ALIAS) return a.o != b.o;
    return a.o == b.o || ((Tensor *)a.o)->storage != ((Tensor *)b.o)->storage;
}

static bool all_apart(const Guard *guard, SourceValues *values) {
    for (int i = 0; i < guard->source_count; i++)
        for (int j = 0; j < i; j++)
            if (!are_apart(guard, source_value(values, guard->sources[i]), source_value(values, guard->sources[j]))) return false;
    return true;
}

static bool shape_holds(const Guard *guard, const SourceValues *values) {
    if (!values->slots) return false;
    if (guard->is_range) return values->slots[guard->slot] >= guard->low && values->slots[guard->slot] <= guard->high;
    int64_t result = dimcode_run(&guard->code, values->slots);
    return guard->slot < 0 ? result != 0 : values->slots[guard->slot] == result;
}

static bool same_object(Value a, Value b) { return a.tag == V_OBJECT && b.tag == V_OBJECT && a.o == b.o; }

bool guard_holds(const Guard *guard, SourceValues *values) {
    VM *vm = values->vm;
    switch (guard->kind) {
    case GUARD_GLOBAL_STATE: return vm->grad_enabled == guard->grad_enabled && vm->default_dtype == guard->default_dtype;
    case GUARD_NO_ALIAS: case GUARD_NO_OVERLAP: return all_apart(guard, values);
    case GUARD_SHAPE_EXPR: return shape_holds(guard, values);
    default: break;
    }
    Value value = source_value(values, guard->source);
    switch (guard->kind) {
    case GUARD_TENSOR: return tensor_holds(vm, guard, value);
    case GUARD_TYPE: return value.tag != V_NULL && class_of(vm, value) == (Class *)guard->expected.o;
    case GUARD_EQUALS: return value_same(value, guard->expected);
    case GUARD_IDENTITY: return value.tag == V_OBJECT && value.o == guard->expected.o;
    case GUARD_LENGTH: return value_count(value) == guard->length;
    case GUARD_KEYS: return keys_hold(guard, value);
    case GUARD_ABSENT: return attribute_value(vm, value, guard->name).tag == V_NULL;
    case GUARD_SAME: return same_object(value, source_value(values, guard->other));
    default: return false;
    }
}

/* ---- all of them as a program ---- */

/* A tensor guard: what is compared lies together. dims: sizes, then strides; those that may have any value are left out of `wanted`. */
typedef struct TensorTest {
    const Guard *guard;
    int local;                      /* slot of the frame; -1: by its source */
    int rank, dtype, device_kind, device_index;
    bool requires_grad, all_fixed;
    const int64_t *dims;
    uint32_t wanted;                /* bit i: dims[i] */
} TensorTest;

/* Which tensors (or storages) were met in this check: an open-addressing table whose entries carry the check's number, so that it is never cleared. */
typedef struct MetSlot { const void *object; uint64_t stamp; } MetSlot;
typedef struct MetTable { const Guard *guard; MetSlot *slots; unsigned mask; uint64_t stamp; } MetTable;

typedef struct GuardProgram {
    TensorTest *tensors; int tensor_count;
    MetTable met[2]; int met_count;
    const Guard **rest; int rest_count;
    bool shapes;
    Value *memo; bool *known;       /* by source id */
    int64_t *slots;
} GuardProgram;

static void add_tensor(GuardSet *set, GuardProgram *program, const Guard *guard) {
    TensorTest *test = &program->tensors[program->tensor_count++];
    const Meta *meta = &guard->meta;
    bool is_local = guard->source->kind == SOURCE_LOCAL && !guard->source->base;
    *test = (TensorTest){.guard = guard, .local = is_local ? guard->source->index : -1, .rank = meta->rank, .dtype = meta->dtype, .device_kind = (int)meta->device.kind,
                         .device_index = meta->device.index, .requires_grad = guard->requires_grad, .all_fixed = true};
    int64_t *dims = ARENA_ARRAY(set->arena, int64_t, 2 * meta->rank + 1);
    for (int i = 0; i < 2 * meta->rank; i++) {
        dims[i] = i < meta->rank ? meta->sizes[i] : meta->strides[i - meta->rank];
        if (dim_is_int(dims[i])) test->wanted |= 1u << i;
        else test->all_fixed = false;
    }
    test->dims = dims;
}

static void add_met(GuardSet *set, GuardProgram *program, const Guard *guard) {
    unsigned size = 8;
    while (size < 3u * (unsigned)guard->source_count) size *= 2;
    program->met[program->met_count++] = (MetTable){guard, ARENA_ARRAY(set->arena, MetSlot, (int)size), size - 1, 0};
}

static GuardProgram *program_make(GuardSet *set) {
    GuardProgram *program = ARENA_NEW(set->arena, GuardProgram);
    int count = set->all.count;
    program->tensors = ARENA_ARRAY(set->arena, TensorTest, count + 1);
    program->rest = ARENA_ARRAY(set->arena, const Guard *, count + 1);
    program->memo = ARENA_ARRAY(set->arena, Value, set->source_count + 1);
    program->known = ARENA_ARRAY(set->arena, bool, set->source_count + 1);
    program->slots = ARENA_ARRAY(set->arena, int64_t, set->slot_count + 1);
    for (int i = 0; i < count; i++) {
        const Guard *guard = &set->all.at[i];
        program->shapes |= guard->kind == GUARD_SHAPE_EXPR;
        bool apart = guard->kind == GUARD_NO_ALIAS || guard->kind == GUARD_NO_OVERLAP;
        if (guard->kind == GUARD_TENSOR) add_tensor(set, program, guard);
        else if (apart && program->met_count < 2) add_met(set, program, guard);
        else program->rest[program->rest_count++] = guard;
    }
    return program;
}

static bool dims_match(const TensorTest *test, const Meta *meta) {
    const int64_t *want = test->dims;
    int rank = test->rank;
    if (test->all_fixed) {
        int64_t differ = 0;
        for (int i = 0; i < rank; i++) differ |= (want[i] ^ meta->sizes[i]) | (want[rank + i] ^ meta->strides[i]);
        return differ == 0;
    }
    for (int i = 0; i < rank; i++) {
        if (test->wanted >> i & 1 && want[i] != meta->sizes[i]) return false;
        if (test->wanted >> (rank + i) & 1 && want[rank + i] != meta->strides[i]) return false;
    }
    return true;
}

static bool tensor_passes(const TensorTest *test, SourceValues *values) {
    Value value = test->local >= 0 ? values->frame->fast[test->local] : source_value(values, test->guard->source);
    if (!value_is(value, OBJ_TENSOR)) return false;
    const Tensor *t = (const Tensor *)value.o;
    const Meta *meta = &t->meta;
    if ((int)meta->dtype != test->dtype || meta->rank != test->rank || (int)meta->device.kind != test->device_kind || meta->device.index != test->device_index) return false;
    if (tensor_needs_grad(t) != test->requires_grad || !dims_match(test, meta)) return false;
    return t->dict.tag == V_NULL || marks_hold(values->vm, test->guard, t);
}

static unsigned hash_of(const void *object) { return (unsigned)((uint64_t)(uintptr_t)object * UINT64_C(0x9E3779B97F4A7C15) >> 40); }

/* The first time this object is met in this check? */
static bool meet(MetTable *table, const void *object) {
    unsigned at = hash_of(object) & table->mask;
    while (table->slots[at].stamp == table->stamp) {
        if (table->slots[at].object == object) return false;
        at = (at + 1) & table->mask;
    }
    table->slots[at] = (MetSlot){object, table->stamp};
    return true;
}

static bool sources_apart(MetTable *table, SourceValues *values) {
    const Guard *guard = table->guard;
    table->stamp++;
    for (int i = 0; i < guard->source_count; i++) {
        const Source *source = guard->sources[i];
        Value value = source->kind == SOURCE_LOCAL && !source->base ? values->frame->fast[source->index] : source_value(values, source);
        if (!value_is(value, OBJ_TENSOR)) continue;
        const void *object = guard->kind == GUARD_NO_ALIAS ? (const void *)value.o : (const void *)((Tensor *)value.o)->storage;
        if (!meet(table, object)) return guard->kind == GUARD_NO_OVERLAP && all_apart(guard, values); /* one tensor twice is no overlap */
    }
    return true;
}

static bool read_slots(const GuardSet *set, GuardProgram *program, SourceValues *values) {
    for (int i = 0; i < set->slot_count; i++)
        if (!slot_value(values, &set->slots[i], &program->slots[i])) return false;
    values->slots = program->slots;
    return true;
}

static const Guard *first_shape(const GuardSet *set) {
    for (int i = 0; i < set->all.count; i++)
        if (set->all.at[i].kind == GUARD_SHAPE_EXPR) return &set->all.at[i];
    return NULL;
}

static const Guard *program_run(const GuardSet *set, GuardProgram *program, SourceValues *values) {
    for (int i = 0; i < program->tensor_count; i++)
        if (!tensor_passes(&program->tensors[i], values)) return program->tensors[i].guard;
    for (int i = 0; i < program->met_count; i++)
        if (!sources_apart(&program->met[i], values)) return program->met[i].guard;
    if (program->shapes && !read_slots(set, program, values)) return first_shape(set);
    for (int i = 0; i < program->rest_count; i++)
        if (!guard_holds(program->rest[i], values)) return program->rest[i];
    return NULL;
}

const Guard *guards_check(GuardSet *set, VM *vm, const Frame *frame) {
    if (!set->program) set->program = program_make(set);
    GuardProgram *program = set->program;
    SourceValues values = {vm, frame, program->memo, program->known, set, NULL};
    memset(program->known, 0, (size_t)set->source_count);
    set->checks++;
    const Guard *failed = program_run(set, program, &values);
    if (failed) ((Guard *)(uintptr_t)failed)->failures++;
    return failed;
}
