/* Guard check: does every guard of an entry hold for a frame? In: a guard set and a frame about to run. Out: a guard that fails, or NULL.
 *
 * Checks run at every call of a compiled frame, so they are laid out once as a program: tensors first, each a few numbers side by side, which tell in
 * passing whether one came twice; then the rest, as they were added. A value that several guards look at is read once.
 * Invariant: nothing of the program is run, no reference count changes. */
#include "dynamo/iterators.h"
#include "dynamo/shapes.h"
#include "run/runtime.h"
#include "vm/internal.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- one guard of each kind ---- */

static bool dims_hold(const Dim *want, const Dim *got, int count) {
    for (int i = 0; i < count; i++)
        if (dim_is_int(want[i]) && want[i] != got[i]) return false;
    return true;
}

static bool marks_hold(VM *vm, const Guard *guard, const Tensor *t) { return !t->has_marks || (shapes_marks(vm, t) & ~guard->marks) == 0; }

static bool tensor_holds(VM *vm, const Guard *guard, Value value) {
    if (!value_is(value, OBJ_TENSOR)) return false;
    const Tensor *t = (const Tensor *)value.o;
    const Meta *want = &guard->meta, *got = &t->meta;
    return want->dtype == got->dtype && device_equal(want->device, got->device) && want->rank == got->rank && dims_hold(want->sizes, got->sizes, want->rank) &&
           dims_hold(want->strides, got->strides, want->rank) && tensor_needs_grad(t) == guard->requires_grad && t->is_parameter == guard->is_parameter && t->of_inference == guard->of_inference && marks_hold(vm, guard, t);
}

static int64_t value_count(Value value) {
    if (value.tag != V_OBJECT) return -1;
    switch (value.o->type) {
    case OBJ_TUPLE: return ((const Tuple *)value.o)->count;
    case OBJ_LIST: return ((const List *)value.o)->count;
    case OBJ_DICT: return ((const Dict *)value.o)->live;
    case OBJ_SET: case OBJ_FROZENSET: return ((const Set *)value.o)->dict->live;
    case OBJ_ITERATOR: return iterator_left((const Iterator *)value.o);
    default: return value_count(named_items(value));
    }
}

/* Items in the order in which the set is gone through. */
static bool items_hold(VM *vm, const Guard *guard, Set *set) {
    const Tuple *items = (const Tuple *)guard->expected.o;
    if (set->dict->live != items->count) return false;
    int *order = set_order(vm, set);
    bool same = true;
    for (int i = 0; i < items->count && same; i++) same = value_same(set->dict->entries[order[i]].key, items->items[i]);
    free(order);
    return same;
}

static bool keys_hold(VM *vm, const Guard *guard, Value value) {
    if (value_is(value, OBJ_SET) || value_is(value, OBJ_FROZENSET)) return items_hold(vm, guard, (Set *)value.o);
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

/* Functions that differ in what they close over only share an entry: those values have guards of their own. */
static bool code_holds(const Guard *guard, Value value) {
    if (value_is(guard->expected, OBJ_BUILTIN)) {
        const Builtin *wanted = (const Builtin *)guard->expected.o, *given = (const Builtin *)value.o;
        return value_is(value, OBJ_BUILTIN) && wanted->fn == given->fn && wanted->name == given->name && given->self.tag == V_OBJECT;
    }
    if (!value_is(value, OBJ_FUNCTION)) return false;
    const Function *want = (const Function *)guard->expected.o, *got = (const Function *)value.o;
    return want == got || (want->code == got->code && want->globals == got->globals && want->disabled == got->disabled && want->disabled_alone == got->disabled_alone);
}

static bool contains_holds(VM *vm, const Guard *guard, Value value) {
    if (!value_is(value, OBJ_DICT)) return false;
    Value found = dict_get(vm, (Dict *)value.o, guard->expected);
    if (value_is_error(found)) vm_clear_exception(vm);
    bool there = found.tag > V_ERROR;
    value_unref(vm, found);
    return there == (guard->length != 0);
}

static bool absent_holds(VM *vm, const Guard *guard, Value value) {
    if (!guard->in_class) return attribute_value(vm, value, guard->name).tag == V_NULL;
    if (!value_is(value, OBJ_INSTANCE)) return false;
    Dict *own = ((const Instance *)value.o)->dict;
    return !own || dict_get_name(vm, own, guard->name).tag == V_NULL;
}

/* First byte of a tensor in its storage, and the one behind its last; without a dim: of its first slice along that. */
typedef struct Extent { int64_t first, end; } Extent;

static Extent extent_without(const Tensor *t, int dim) {
    int64_t size = dtype_size(t->meta.dtype), last = t->meta.offset;
    for (int i = 0; i < t->meta.rank; i++)
        if (i != dim) last += (t->meta.sizes[i] - 1) * t->meta.strides[i];
    return (Extent){t->meta.offset * size, (last + 1) * size};
}

/* The dim with the longest step, in bytes; -1: a single element. */
static int outer_dim(const Tensor *t, int64_t *step) {
    int found = -1;
    for (int i = 0; i < t->meta.rank; i++)
        if (t->meta.sizes[i] > 1 && (found < 0 || t->meta.strides[i] > t->meta.strides[found])) found = i;
    *step = found < 0 ? 0 : t->meta.strides[found] * dtype_size(t->meta.dtype);
    return found;
}

/* Columns of one matrix: rows are equally far apart, and within a row the two lie side by side. */
static bool are_columns_apart(const Tensor *a, const Tensor *b) {
    int64_t step, other;
    int row_a = outer_dim(a, &step), row_b = outer_dim(b, &other);
    if (row_a < 0 || row_b < 0 || step != other || step <= 0) return false;
    Extent x = extent_without(a, row_a), y = extent_without(b, row_b);
    int64_t from_x = x.first % step, from_y = y.first % step, to_x = from_x + x.end - x.first, to_y = from_y + y.end - y.first;
    return to_x <= step && to_y <= step && (to_x <= from_y || to_y <= from_x);
}

bool tensors_meet(const Tensor *a, const Tensor *b) {
    if (a->storage != b->storage || meta_numel(&a->meta) == 0 || meta_numel(&b->meta) == 0) return false;
    Extent x = extent_without(a, -1), y = extent_without(b, -1);
    return x.first < y.end && y.first < x.end && !are_columns_apart(a, b);
}

/* NO_ALIAS: no two sources give one tensor. NO_OVERLAP: what is written to shares no memory with another input. */
static bool are_apart(const Guard *guard, Value a, Value b) {
    if (!value_is(a, OBJ_TENSOR) || !value_is(b, OBJ_TENSOR)) return true;
    if (guard->kind == GUARD_NO_ALIAS) return a.o != b.o;
    return a.o == b.o || !tensors_meet((Tensor *)a.o, (Tensor *)b.o);
}

static bool pairs_apart(const Guard *guard, SourceValues *values) {
    for (int i = 0; i < guard->source_count; i++)
        for (int j = 0; j < i && (guard->kind == GUARD_NO_ALIAS || j < guard->length); j++)
            if (!are_apart(guard, source_value(values, guard->sources[i]), source_value(values, guard->sources[j]))) return false;
    return true;
}

/* What was met already carries this check's number; only then pairs are looked at. */
static bool all_apart(const Guard *guard, SourceValues *values) {
    uint64_t stamp = ++values->vm->guard_check;
    for (int i = 0; i < guard->source_count; i++) {
        Value value = source_value(values, guard->sources[i]);
        if (!value_is(value, OBJ_TENSOR)) continue;
        Tensor *t = (Tensor *)value.o;
        uint64_t *met = guard->kind == GUARD_NO_ALIAS ? &t->met : &t->storage->met;
        if (*met == stamp) return pairs_apart(guard, values);
        *met = stamp;
    }
    return true;
}

static bool shape_holds(const Guard *guard, const SourceValues *values) {
    if (!values->slots) return false;
    if (guard->is_range) return values->slots[guard->slot] >= guard->low && values->slots[guard->slot] <= guard->high;
    int64_t result = dimcode_run(&guard->code, values->slots);
    return guard->slot < 0 ? result != 0 : values->slots[guard->slot] == result;
}

bool float_compares(double a, CompareOp op, double b) {
    switch (op) {
    case COMPARE_LT: return a < b;
    case COMPARE_LE: return a <= b;
    case COMPARE_EQ: return a == b;
    case COMPARE_NE: return a != b;
    case COMPARE_GT: return a > b;
    default: return a >= b;
    }
}

static bool same_object(Value a, Value b) { return a.tag == V_OBJECT && b.tag == V_OBJECT && a.o == b.o; }

/* xs.append is another object each time it is asked for. */
static bool same_builtin(Value a, Value b) {
    if (!value_is(a, OBJ_BUILTIN) || !value_is(b, OBJ_BUILTIN)) return false;
    const Builtin *x = (const Builtin *)a.o, *y = (const Builtin *)b.o;
    return x->fn == y->fn && x->name == y->name && value_same(x->self, y->self);
}

bool guard_class_changed(const Guard *guard) {
    if (guard->kind != GUARD_TYPE && (guard->kind != GUARD_IDENTITY || !value_is(guard->expected, OBJ_CLASS))) return false;
    return class_changes((const Class *)guard->expected.o) != guard->changes;
}

bool guard_holds(const Guard *guard, SourceValues *values) {
    VM *vm = values->vm;
    switch (guard->kind) {
    case GUARD_GLOBAL_STATE: return modes_hold(vm, &guard->modes);
    case GUARD_NO_ALIAS: case GUARD_NO_OVERLAP: return all_apart(guard, values);
    case GUARD_SHAPE_EXPR: return shape_holds(guard, values);
    default: break;
    }
    Value value = source_value(values, guard->source);
    switch (guard->kind) {
    case GUARD_TENSOR: return tensor_holds(vm, guard, value);
    case GUARD_TYPE: return value.tag != V_NULL && class_of(vm, value) == (Class *)guard->expected.o && !guard_class_changed(guard);
    case GUARD_EQUALS: return value_same(value, guard->expected);
    case GUARD_COMPARED: return value.tag == V_FLOAT && float_compares(value.f, (CompareOp)(guard->length >> 1), guard->expected.f) == (guard->length & 1);
    case GUARD_IDENTITY: return (same_object(value, guard->expected) && !guard_class_changed(guard)) || same_builtin(value, guard->expected);
    case GUARD_UNBOUND: return value.tag == V_NULL;
    case GUARD_LENGTH: return value_count(value) == guard->length;
    case GUARD_KEYS: return keys_hold(vm, guard, value);
    case GUARD_ABSENT: return absent_holds(vm, guard, value);
    case GUARD_CODE: return code_holds(guard, value);
    case GUARD_CONTAINS: return contains_holds(vm, guard, value);
    case GUARD_DIFFERENT: return !same_object(value, source_value(values, guard->other));
    case GUARD_SAME: return same_object(value, source_value(values, guard->other));
    default: return false;
    }
}

/* ---- all of them as a program ---- */

/* What stands first in a Meta, to be compared at once. */
typedef union MetaHead { struct { DType dtype; Device device; int rank; } fields; uint64_t words[2]; } MetaHead;
_Static_assert(sizeof(MetaHead) == 16 && offsetof(Meta, dtype) == 0 && offsetof(Meta, device) == 4 && offsetof(Meta, rank) == 12, "a Meta starts with dtype, device and rank");

/* A tensor guard: what is compared lies together, one test behind the other. dims: sizes, then strides; bit i of `wanted`: dims[i] is compared. */
typedef struct TensorTest {
    const Guard *guard;
    int local, object, rank;        /* local: slot of the frame; -1: by its source; object: id of the source that it is an attribute of, or -1 */
    MetaHead head;
    uint32_t wanted;
    bool requires_grad, is_parameter, of_inference, all_fixed, apart; /* apart: not a tensor that this check met already */
    SourceRead read;                /* an attribute: what the object's dict had when it was last read */
    int64_t dims[];
} TensorTest;

/* A slot, and the range that its value must lie in. */
typedef struct SlotTest { const SizeSource *slot; int local; const Guard *guard; int64_t low, high; } SlotTest;

/* Any other guard. One that asks for a dict's keys holds as long as the dict does not change. */
typedef struct RestTest { const Guard *guard; uint64_t version; } RestTest;

typedef struct GuardProgram {
    TensorTest *tensors; int tensor_count;
    SlotTest *slot_tests;           /* by slot */
    const Guard *no_alias;          /* the guard that `apart` stands for */
    RestTest *rest; int rest_count;
    bool shapes;
    SourceRead *reads;              /* by source id */
    Value *memo; bool *known;       /* by source id */
    int64_t *slots;
} GuardProgram;

static size_t test_bytes(int rank) { return sizeof(TensorTest) + sizeof(int64_t) * 2 * (size_t)rank; }
static TensorTest *test_after(TensorTest *test) { return (TensorTest *)(void *)((char *)test + test_bytes(test->rank)); }

static TensorTest *put_tensor(TensorTest *test, const Guard *guard, bool apart) {
    const Meta *meta = &guard->meta;
    bool is_local = guard->source->kind == SOURCE_LOCAL && !guard->source->base;
    memset(test, 0, sizeof *test);
    test->guard = guard;
    test->object = guard->source->kind == SOURCE_ATTR ? guard->source->base->id : -1;
    test->local = is_local ? guard->source->index : -1;
    test->rank = meta->rank;
    test->head.fields.dtype = meta->dtype;
    test->head.fields.device = meta->device;
    test->head.fields.rank = meta->rank;
    test->requires_grad = guard->requires_grad;
    test->is_parameter = guard->is_parameter;
    test->of_inference = guard->of_inference;
    test->all_fixed = true;
    test->apart = apart;
    for (int i = 0; i < 2 * meta->rank; i++) {
        test->dims[i] = i < meta->rank ? meta->sizes[i] : meta->strides[i - meta->rank];
        if (dim_is_int(test->dims[i])) test->wanted |= 1u << i;
        else test->all_fixed = false;
    }
    return test_after(test);
}

static bool is_among(const Guard *guard, const Source *source) {
    for (int i = 0; i < guard->source_count; i++)
        if (guard->sources[i] == source) return true;
    return false;
}

/* Is every source of a NO_ALIAS guard one of the tensors that are tested anyway? */
static const Guard *find_no_alias(const GuardSet *set) {
    const Guard *found = NULL;
    int tested = 0;
    for (int i = 0; i < set->all.count && !found; i++)
        if (set->all.at[i].kind == GUARD_NO_ALIAS) found = &set->all.at[i];
    for (int i = 0; found && i < set->all.count; i++) tested += set->all.at[i].kind == GUARD_TENSOR && is_among(found, set->all.at[i].source);
    return found && tested == found->source_count ? found : NULL;
}

static void put_slots(const GuardSet *set, GuardProgram *program) {
    program->slot_tests = ARENA_ARRAY(set->arena, SlotTest, set->slot_count + 1);
    for (int i = 0; i < set->slot_count; i++) {
        const Source *source = set->slots[i].source;
        program->slot_tests[i] = (SlotTest){&set->slots[i], source->kind == SOURCE_LOCAL && !source->base ? source->index : -1, NULL, INT64_MIN, INT64_MAX};
    }
}

static GuardProgram *program_make(GuardSet *set) {
    GuardProgram *program = ARENA_NEW(set->arena, GuardProgram);
    int count = set->all.count;
    size_t bytes = sizeof(TensorTest);
    for (int i = 0; i < count; i++)
        if (set->all.at[i].kind == GUARD_TENSOR) bytes += test_bytes(set->all.at[i].meta.rank);
    TensorTest *next = program->tensors = (TensorTest *)(void *)ARENA_ARRAY(set->arena, int64_t, (int64_t)(bytes / sizeof(int64_t) + 1));
    program->rest = ARENA_ARRAY(set->arena, RestTest, count + 1);
    program->reads = ARENA_ARRAY(set->arena, SourceRead, set->source_count + 1);
    program->memo = ARENA_ARRAY(set->arena, Value, set->source_count + 1);
    program->known = ARENA_ARRAY(set->arena, bool, set->source_count + 1);
    program->slots = ARENA_ARRAY(set->arena, int64_t, set->slot_count + 1);
    program->no_alias = find_no_alias(set);
    put_slots(set, program);
    for (int i = 0; i < count; i++) {
        const Guard *guard = &set->all.at[i];
        program->shapes |= guard->kind == GUARD_SHAPE_EXPR;
        if (guard->kind == GUARD_TENSOR) {
            next = put_tensor(next, guard, program->no_alias && is_among(program->no_alias, guard->source));
            program->tensor_count++;
        } else if (guard->kind == GUARD_SHAPE_EXPR && guard->is_range) {
            SlotTest *slot = &program->slot_tests[guard->slot];
            slot->guard = guard, slot->low = guard->low, slot->high = guard->high;
        } else if (guard != program->no_alias) program->rest[program->rest_count++] = (RestTest){guard, 0};
    }
    return program;
}

static bool dims_match(const TensorTest *test, const Meta *meta) {
    const int64_t *want = test->dims;
    int rank = test->rank;
    if (test->all_fixed) {
        int64_t differ = 0;
        if (rank == 2) return ((want[0] ^ meta->sizes[0]) | (want[1] ^ meta->sizes[1]) | (want[2] ^ meta->strides[0]) | (want[3] ^ meta->strides[1])) == 0;
        for (int i = 0; i < rank; i++) differ |= (want[i] ^ meta->sizes[i]) | (want[rank + i] ^ meta->strides[i]);
        return differ == 0;
    }
    for (int i = 0; i < rank; i++) {
        if (test->wanted >> i & 1 && want[i] != meta->sizes[i]) return false;
        if (test->wanted >> (rank + i) & 1 && want[rank + i] != meta->strides[i]) return false;
    }
    return true;
}

/* Parameters of a module: while the object's dict does not change, nothing is looked up. */
static Value attribute_tested(TensorTest *test, SourceValues *values) {
    Value object = values->known[test->object] ? values->memo[test->object] : source_value(values, test->guard->source->base);
    const Dict *own = value_is(object, OBJ_INSTANCE) ? ((const Instance *)object.o)->dict : NULL;
    if (own && own->version && own->version == test->read.version) return test->read.value;
    const char *name = test->guard->source->name;
    Value value = attribute_value(values->vm, object, name);
    bool is_own = own && dict_get_name(values->vm, ((const Instance *)object.o)->dict, name).tag != V_NULL;
    test->read = (SourceRead){is_own ? own->version : 0, value};
    return value;
}

static inline Value value_tested(TensorTest *test, SourceValues *values) {
    if (test->local >= 0) return values->frame->fast[test->local];
    return test->object >= 0 ? attribute_tested(test, values) : source_value(values, test->guard->source);
}

/* NULL: it passes. */
static const Guard *test_tensor(TensorTest *test, SourceValues *values, const GuardProgram *program, uint64_t stamp) {
    Value value = value_tested(test, values);
    if (!value_is(value, OBJ_TENSOR)) return test->guard;
    Tensor *t = (Tensor *)value.o;
    MetaHead head;
    memcpy(&head, &t->meta, sizeof head);
    if (((head.words[0] ^ test->head.words[0]) | (head.words[1] ^ test->head.words[1])) || !dims_match(test, &t->meta)) return test->guard;
    if (tensor_needs_grad(t) != test->requires_grad || t->is_parameter != test->is_parameter || t->of_inference != test->of_inference || !marks_hold(values->vm, test->guard, t)) return test->guard;
    if (!test->apart) return NULL;
    bool again = t->met == stamp;
    t->met = stamp;
    return again ? program->no_alias : NULL;
}

static const Guard *first_shape(const GuardSet *set) {
    for (int i = 0; i < set->all.count; i++)
        if (set->all.at[i].kind == GUARD_SHAPE_EXPR) return &set->all.at[i];
    return NULL;
}

static bool read_slot(const SlotTest *test, SourceValues *values, int64_t *value) {
    if (test->local < 0 || test->slot->property == VALUE_OF) return slot_value(values, test->slot, value);
    Value found = values->frame->fast[test->local];
    if (!value_is(found, OBJ_TENSOR)) return false;
    const Meta *meta = &((const Tensor *)found.o)->meta; /* of the right rank: its own test has passed */
    *value = test->slot->property == SIZE_OF ? meta->sizes[test->slot->dim] : meta->strides[test->slot->dim];
    return true;
}

/* NULL: all could be read and lie in their ranges. */
static const Guard *read_slots(const GuardSet *set, GuardProgram *program, SourceValues *values) {
    values->slots = program->slots; /* a place may be computed from earlier ones */
    for (int i = 0; i < set->slot_count; i++) {
        const SlotTest *test = &program->slot_tests[i];
        int64_t value;
        if (!read_slot(test, values, &value)) return first_shape(set);
        if (value < test->low || value > test->high) return test->guard;
        program->slots[i] = value;
    }
    return NULL;
}

/* The dict whose keys a guard is about. */
static const Dict *dict_asked(const Guard *guard, Value value) {
    switch (guard->kind) {
    case GUARD_KEYS: case GUARD_CONTAINS:
        if (value_is(value, OBJ_SET) || value_is(value, OBJ_FROZENSET)) return ((const Set *)value.o)->dict;
        return value_is(value, OBJ_DICT) ? (const Dict *)value.o : NULL;
    case GUARD_ABSENT: return guard->in_class && value_is(value, OBJ_INSTANCE) ? ((const Instance *)value.o)->dict : NULL;
    default: return NULL;
    }
}

static bool test_rest(RestTest *test, SourceValues *values) {
    const Guard *guard = test->guard;
    bool keyed = guard->kind == GUARD_KEYS || guard->kind == GUARD_CONTAINS || guard->kind == GUARD_ABSENT;
    const Dict *dict = keyed ? dict_asked(guard, source_value(values, guard->source)) : NULL;
    if (dict && dict->version && dict->version == test->version) return true;
    if (!guard_holds(guard, values)) return false;
    if (dict) test->version = dict->version;
    return true;
}

static const Guard *program_run(const GuardSet *set, GuardProgram *program, SourceValues *values) {
    uint64_t stamp = ++values->vm->guard_check;
    TensorTest *test = program->tensors;
    for (int i = 0; i < program->tensor_count; i++, test = test_after(test)) {
        const Guard *failed = test_tensor(test, values, program, stamp);
        if (failed) return failed;
    }
    const Guard *failed = program->shapes ? read_slots(set, program, values) : NULL;
    if (failed) return failed;
    for (int i = 0; i < program->rest_count; i++)
        if (!test_rest(&program->rest[i], values)) return program->rest[i].guard;
    return NULL;
}

const Guard *guards_check(GuardSet *set, VM *vm, const Frame *frame) {
    if (!set->program) set->program = program_make(set);
    GuardProgram *program = set->program;
    SourceValues values = {.vm = vm, .frame = frame, .memo = program->memo, .known = program->known, .set = set, .reads = program->reads};
    memset(program->known, 0, (size_t)set->source_count);
    set->checks++;
    const Guard *failed = program_run(set, program, &values);
    if (failed) ((Guard *)(uintptr_t)failed)->failures++;
    return failed;
}

bool guards_hold_uncounted(GuardSet *set, VM *vm, const Frame *frame) {
    int64_t checks = set->checks;
    const Guard *failed = guards_check(set, vm, frame);
    set->checks = checks;
    if (failed) ((Guard *)(uintptr_t)failed)->failures--;
    return !failed;
}

/* ---- order and cost ---- */

void guards_order(GuardSet *set, int *places) {
    if (!set->program) set->program = program_make(set);
    const GuardProgram *program = set->program;
    int next = 0;
    for (int i = 0; i < set->all.count; i++)
        if (set->all.at[i].kind == GUARD_TENSOR) places[i] = next++;
    for (int i = 0; i < set->all.count; i++)
        if (&set->all.at[i] == program->no_alias || (set->all.at[i].kind == GUARD_SHAPE_EXPR && set->all.at[i].is_range)) places[i] = next++;
    for (int r = 0; r < program->rest_count; r++) places[program->rest[r].guard - set->all.at] = next++;
}

enum { COST_RUNS = 32, COST_GUARDS = 500 /* with more, only the whole is measured */ };

static double cost_of_one(const GuardSet *set, const Guard *guard, SourceValues *values) {
    double start = clock_us();
    for (int i = 0; i < COST_RUNS; i++) {
        memset(values->known, 0, (size_t)set->source_count);
        guard_holds(guard, values);
    }
    return (clock_us() - start) * 1000 / COST_RUNS;
}

double guards_cost(GuardSet *set, VM *vm, const Frame *frame) {
    if (!guards_hold_uncounted(set, vm, frame)) return 0;
    double best = 0;
    for (int round = 0; round < 3; round++) {
        double start = clock_us();
        for (int i = 0; i < COST_RUNS; i++) guards_hold_uncounted(set, vm, frame);
        double now = (clock_us() - start) * 1000 / COST_RUNS;
        if (!round || now < best) best = now;
    }
    GuardProgram *program = set->program;
    SourceValues values = {.vm = vm, .frame = frame, .memo = program->memo, .known = program->known, .set = set, .slots = program->slots};
    for (int i = 0; i < set->all.count && set->all.count <= COST_GUARDS; i++) set->all.at[i].cost_ns = cost_of_one(set, &set->all.at[i], &values);
    return set->cost_ns = best;
}
