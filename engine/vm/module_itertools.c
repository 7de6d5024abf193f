/* Module itertools: the iterators scripts use most, each with all its state in the Iterator struct (the others are in
 * torch/stdlib/itertools.py, as generators).
 *
 * To add one: a `next` function, a builtin that makes the iterator, a row in the table. */
#include "vm/modules.h"
#include <stdlib.h>
#include <string.h>

static Value wrap(VM *vm, const char *kind, Value (*next)(VM *, Iterator *), Value subject, Value extra) { /* takes subject and extra */
    Value it = value_is_error(subject) || value_is_error(extra) ? VALUE_ERROR : iterator_new(vm, kind, next, subject, extra);
    value_unref(vm, subject);
    value_unref(vm, extra);
    return it;
}

/* ---- count, repeat, cycle ---- */

static Value next_count(VM *vm, Iterator *it) { /* subject: the next value, extra: the step */
    Value now = value_ref(it->subject), then = vm_binary(vm, BINARY_ADD, now, it->extra);
    if (value_is_error(then)) return value_unref(vm, now), then;
    value_set(vm, &it->subject, then);
    return now;
}

static Value make_count(METHOD) {
    static const char *const names[] = {"start", "step"};
    Value out[2];
    if (!vm_parse_args(vm, "count", args, nargs, kwnames, names, 2, 0, out)) return VALUE_ERROR;
    return wrap(vm, "count", next_count, out[0].tag == V_NULL ? value_int(0) : value_ref(out[0]), out[1].tag == V_NULL ? value_int(1) : value_ref(out[1]));
}

static Value next_repeat(VM *vm, Iterator *it) { /* limit: how many more, -1 without end */
    (void)vm;
    if (it->limit == 0) return VALUE_NULL;
    if (it->limit > 0) it->limit--;
    return value_ref(it->subject);
}

static Value make_repeat(METHOD) {
    static const char *const names[] = {"object", "times"};
    Value out[2];
    int64_t times = -1;
    if (!vm_parse_args(vm, "repeat", args, nargs, kwnames, names, 2, 1, out) || (out[1].tag != V_NULL && !vm_as_int(vm, out[1], &times))) return VALUE_ERROR;
    if (out[1].tag != V_NULL && times < 0) times = 0;
    Value it = iterator_new(vm, "repeat", next_repeat, out[0], VALUE_NULL);
    ((Iterator *)it.o)->limit = times;
    return it;
}

static Value next_cycle(VM *vm, Iterator *it) { /* extra: what came so far; limit 1: the subject is used up */
    List *seen = list_of(it->extra);
    if (!it->limit) {
        Value item = vm_next(vm, it->subject);
        if (value_is_error(item)) return item;
        if (item.tag != V_NULL) {
            list_append(vm, seen, item);
            return item;
        }
        it->limit = 1;
    }
    if (seen->count == 0) return VALUE_NULL;
    Value item = value_ref(seen->items[it->position]);
    it->position = (it->position + 1) % seen->count;
    return item;
}

static Value make_cycle(METHOD) { UNUSED; return wrap(vm, "cycle", next_cycle, vm_iterate(vm, args[0]), list_new(vm, NULL, 0)); }

/* ---- chain, islice ---- */

static Value next_chain(VM *vm, Iterator *it) { /* subject: iterator over iterables; extra: the present one, or NONE */
    for (;;) {
        if (it->extra.tag != V_NONE) {
            Value item = vm_next(vm, it->extra);
            if (item.tag != V_NULL) return item;
        }
        Value iterable = vm_next(vm, it->subject);
        if (iterable.tag <= V_ERROR) return value_set(vm, &it->extra, VALUE_NONE), iterable;
        Value inner = vm_iterate(vm, iterable);
        value_unref(vm, iterable);
        if (value_is_error(inner)) return inner;
        value_set(vm, &it->extra, inner);
    }
}

static Value make_chain(METHOD) {
    UNUSED;
    Value all = tuple_new(vm, args + 1, nargs - 1), over = vm_iterate(vm, all);
    value_unref(vm, all);
    return wrap(vm, "chain", next_chain, over, VALUE_NONE);
}

static Value chain_from_iterable(METHOD) { UNUSED; return wrap(vm, "chain", next_chain, vm_iterate(vm, args[1]), VALUE_NONE); }

static Value next_slice(VM *vm, Iterator *it) { /* extra: (next index wanted, stop or -1, step); position: index of the subject's next item */
    Value *plan = tuple_of(it->extra)->items;
    if (plan[1].i >= 0 && plan[0].i >= plan[1].i) return VALUE_NULL;
    for (;;) {
        Value item = vm_next(vm, it->subject);
        if (item.tag <= V_ERROR) return item;
        if (it->position++ == plan[0].i) {
            plan[0].i += plan[2].i;
            return item;
        }
        value_unref(vm, item);
    }
}

static Value make_islice(METHOD) {
    UNUSED;
    Value plan[3] = {value_int(0), value_int(-1), value_int(1)};
    for (int i = 1; i < nargs; i++) {
        Value *slot = &plan[nargs == 2 ? 1 : i - 1];
        if (args[i].tag == V_NONE) continue;
        if (!vm_as_int(vm, args[i], &slot->i)) return VALUE_ERROR;
        if (slot->i < (slot == &plan[2])) return vm_raise(vm, "ValueError", "Indices for islice() must be None or an integer: 0 <= x <= sys.maxsize.");
    }
    return wrap(vm, "islice", next_slice, vm_iterate(vm, args[0]), tuple_new(vm, plan, 3));
}

/* ---- product, permutations, combinations: subject: tuple of pools; extra: list of indices; position: how many were given ---- */

static Value chosen(VM *vm, Tuple *pools, List *indices, bool one_pool) {
    Value out = tuple_take(vm, indices->count);
    for (int i = 0; i < indices->count; i++) tuple_of(out)->items[i] = value_ref(tuple_of(pools->items[one_pool ? 0 : i])->items[indices->items[i].i]);
    return out;
}

static Value next_product(VM *vm, Iterator *it) {
    Tuple *pools = tuple_of(it->subject);
    List *indices = list_of(it->extra);
    if (it->position == 0) {
        for (int i = 0; i < pools->count; i++)
            if (tuple_of(pools->items[i])->count == 0) it->limit = 1;
    } else {
        int i = pools->count - 1;
        while (i >= 0 && ++indices->items[i].i == tuple_of(pools->items[i])->count) indices->items[i--].i = 0;
        if (i < 0) it->limit = 1;
    }
    if (it->limit) return VALUE_NULL;
    it->position++;
    return chosen(vm, pools, indices, false);
}

static Value zeros(VM *vm, int count, bool ascending) {
    Value list = list_new(vm, NULL, count);
    for (int i = 0; i < count; i++) list_of(list)->items[i] = value_int(ascending ? i : 0);
    return list;
}

static Value pool_of(VM *vm, Value iterable) {
    Value list = vm_list_of(vm, iterable);
    if (value_is_error(list)) return list;
    Value pool = tuple_new(vm, list_of(list)->items, list_of(list)->count);
    value_unref(vm, list);
    return pool;
}

static Value make_product(METHOD) {
    static const char *const names[] = {"repeat"};
    Value repeat;
    int64_t times = 1;
    if (!vm_parse_args(vm, "product", args + nargs, 0, kwnames, names, 1, 0, &repeat) || (repeat.tag != V_NULL && !vm_as_int(vm, repeat, &times))) return VALUE_ERROR;
    if (times < 0 || times * nargs > 1000) return vm_raise(vm, "ValueError", "repeat argument out of range");
    int count = (int)times * nargs;
    Value pools = tuple_take(vm, count);
    for (int i = 0; i < count; i++) {
        tuple_of(pools)->items[i] = i < nargs ? pool_of(vm, args[i]) : value_ref(tuple_of(pools)->items[i % nargs]);
        if (value_is_error(tuple_of(pools)->items[i])) return value_unref(vm, pools), VALUE_ERROR;
    }
    return wrap(vm, "product", next_product, pools, zeros(vm, count, false));
}

static Value next_combination(VM *vm, Iterator *it) {
    List *indices = list_of(it->extra);
    int n = tuple_of(tuple_of(it->subject)->items[0])->count, r = indices->count;
    if (it->limit || r > n) return VALUE_NULL;
    if (it->position++ > 0) {
        int i = r - 1;
        while (i >= 0 && indices->items[i].i == i + n - r) i--;
        if (i < 0) return it->limit = 1, VALUE_NULL;
        indices->items[i].i++;
        for (int k = i + 1; k < r; k++) indices->items[k].i = indices->items[k - 1].i + 1;
    }
    return chosen(vm, tuple_of(it->subject), indices, true);
}

static bool used_before(const List *indices, int place, int64_t candidate) {
    for (int k = 0; k < place; k++)
        if (indices->items[k].i == candidate) return true;
    return false;
}

/* The next arrangement in lexicographic order of places: the last place that can grow does, those behind it take the smallest free ones. */
static Value next_permutation(VM *vm, Iterator *it) {
    List *indices = list_of(it->extra);
    int n = tuple_of(tuple_of(it->subject)->items[0])->count, r = indices->count;
    if (it->limit || r > n) return VALUE_NULL;
    if (it->position++ > 0) {
        int i = r - 1;
        for (; i >= 0; i--) {
            int64_t candidate = indices->items[i].i + 1;
            while (candidate < n && used_before(indices, i, candidate)) candidate++;
            if (candidate == n) continue;
            indices->items[i].i = candidate;
            break;
        }
        if (i < 0) return it->limit = 1, VALUE_NULL;
        for (int k = i + 1; k < r; k++) {
            int64_t candidate = 0;
            while (used_before(indices, k, candidate)) candidate++;
            indices->items[k].i = candidate;
        }
    }
    return chosen(vm, tuple_of(it->subject), indices, true);
}

static Value arrangement(VM *vm, Value *args, int nargs, const char *kind, Value (*next)(VM *, Iterator *)) {
    Value pool = pool_of(vm, args[0]);
    int64_t r = value_is_error(pool) ? 0 : tuple_of(pool)->count;
    if (value_is_error(pool)) return pool;
    if (nargs > 1 && args[1].tag != V_NONE && !vm_as_int(vm, args[1], &r)) return value_unref(vm, pool), VALUE_ERROR;
    if (r < 0 || r > 100000) return value_unref(vm, pool), vm_raise(vm, "ValueError", "r must be non-negative");
    Value pools = tuple_new(vm, &pool, 1);
    value_unref(vm, pool);
    return wrap(vm, kind, next, pools, zeros(vm, (int)r, true));
}

static Value make_combinations(METHOD) { UNUSED; return arrangement(vm, args, nargs, "combinations", next_combination); }
static Value make_permutations(METHOD) { UNUSED; return arrangement(vm, args, nargs, "permutations", next_permutation); }

/* ---- accumulate, starmap, takewhile, dropwhile, zip_longest ---- */

static Value next_accumulated(VM *vm, Iterator *it) { /* extra: [total or nothing yet, function or NONE] */
    List *state = list_of(it->extra);
    if (it->position++ == 0 && it->limit) return value_ref(state->items[0]); /* an initial value was given */
    Value item = vm_next(vm, it->subject);
    if (item.tag <= V_ERROR) return item;
    if (it->position == 1) return value_set(vm, &state->items[0], value_ref(item)), item;
    Value total = state->items[1].tag == V_NONE ? vm_binary(vm, BINARY_ADD, state->items[0], item) : vm_call2(vm, state->items[1], state->items[0], item);
    value_unref(vm, item);
    if (value_is_error(total)) return total;
    value_set(vm, &state->items[0], value_ref(total));
    return total;
}

static Value make_accumulate(METHOD) {
    static const char *const names[] = {"iterable", "func", "initial"};
    Value out[3];
    if (!vm_parse_args(vm, "accumulate", args, nargs, kwnames, names, 3, 1, out)) return VALUE_ERROR;
    bool initial = out[2].tag != V_NULL && out[2].tag != V_NONE;
    Value state[2] = {initial ? out[2] : VALUE_NONE, out[1].tag == V_NULL ? VALUE_NONE : out[1]};
    Value it = wrap(vm, "accumulate", next_accumulated, vm_iterate(vm, out[0]), list_new(vm, state, 2));
    if (!value_is_error(it)) ((Iterator *)it.o)->limit = initial;
    return it;
}

static Value next_starmap(VM *vm, Iterator *it) {
    Value item = vm_next(vm, it->subject);
    if (item.tag <= V_ERROR) return item;
    Value list = vm_list_of(vm, item);
    value_unref(vm, item);
    if (value_is_error(list)) return list;
    Value result = vm_call(vm, it->extra, list_of(list)->items, list_of(list)->count, NULL);
    value_unref(vm, list);
    return result;
}

static Value make_starmap(METHOD) { UNUSED; return wrap(vm, "starmap", next_starmap, vm_iterate(vm, args[1]), value_ref(args[0])); }

static int verdict(VM *vm, Value function, Value item) {
    Value result = vm_call1(vm, function, item);
    int truth = value_is_error(result) ? -1 : vm_truth(vm, result);
    value_unref(vm, result);
    return truth;
}

static Value next_while(VM *vm, Iterator *it) { /* limit 1: over */
    Value item = it->limit ? VALUE_NULL : vm_next(vm, it->subject);
    if (item.tag <= V_ERROR) return item;
    int truth = verdict(vm, it->extra, item);
    if (truth > 0) return item;
    value_unref(vm, item);
    it->limit = 1;
    return truth < 0 ? VALUE_ERROR : VALUE_NULL;
}

static Value next_after(VM *vm, Iterator *it) { /* limit 1: the first was found */
    for (;;) {
        Value item = vm_next(vm, it->subject);
        if (item.tag <= V_ERROR || it->limit) return item;
        int truth = verdict(vm, it->extra, item);
        if (truth == 0) return it->limit = 1, item;
        value_unref(vm, item);
        if (truth < 0) return VALUE_ERROR;
    }
}

static Value make_takewhile(METHOD) { UNUSED; return wrap(vm, "takewhile", next_while, vm_iterate(vm, args[1]), value_ref(args[0])); }
static Value make_dropwhile(METHOD) { UNUSED; return wrap(vm, "dropwhile", next_after, vm_iterate(vm, args[1]), value_ref(args[0])); }

static Value next_longest(VM *vm, Iterator *it) { /* subject: list of iterators, NONE when used up; extra: the fill */
    List *iterators = list_of(it->subject);
    Value out = tuple_take(vm, iterators->count);
    int live = 0;
    for (int i = 0; i < iterators->count; i++) {
        Value item = iterators->items[i].tag == V_NONE ? VALUE_NULL : vm_next(vm, iterators->items[i]);
        if (value_is_error(item)) return value_unref(vm, out), item;
        if (item.tag == V_NULL) {
            value_set(vm, &iterators->items[i], VALUE_NONE);
            item = value_ref(it->extra);
        } else live++;
        tuple_of(out)->items[i] = item;
    }
    if (live) return out;
    value_unref(vm, out);
    return VALUE_NULL;
}

static Value make_zip_longest(METHOD) {
    static const char *const names[] = {"fillvalue"};
    Value fill;
    if (!vm_parse_args(vm, "zip_longest", args + nargs, 0, kwnames, names, 1, 0, &fill)) return VALUE_ERROR;
    Value list = list_new(vm, NULL, nargs);
    for (int i = 0; i < nargs; i++) {
        list_of(list)->items[i] = vm_iterate(vm, args[i]);
        if (!value_is_error(list_of(list)->items[i])) continue;
        value_unref(vm, list);
        return VALUE_ERROR;
    }
    return wrap(vm, "zip_longest", next_longest, list, fill.tag == V_NULL ? VALUE_NONE : value_ref(fill));
}

enum { P = BUILTIN_POSITIONAL };

static const BuiltinDef functions[] = {
    {"count", make_count, 0, 2, 0}, {"repeat", make_repeat, 1, 2, 0}, {"cycle", make_cycle, 1, 1, P}, {"islice", make_islice, 2, 4, P},
    {"product", make_product, 0, -1, 0}, {"combinations", make_combinations, 2, 2, P}, {"permutations", make_permutations, 1, 2, P},
    {"accumulate", make_accumulate, 1, 2, 0}, {"starmap", make_starmap, 2, 2, P}, {"takewhile", make_takewhile, 2, 2, P}, {"dropwhile", make_dropwhile, 2, 2, P},
    {"zip_longest", make_zip_longest, 0, -1, 0},
};

void module_itertools(VM *vm, Dict *dict) {
    vm_define(vm, dict, "itertools", functions, COUNT_OF(functions));
    Class *chain = class_builtin(vm, "chain", vm->class_object, OBJ_ITERATOR);
    value_set(vm, &chain->module_name, str_from(vm, "itertools"));
    module_set(vm, chain->dict, "__new__", builtin_new(vm, "chain", make_chain, 1, -1, P));
    module_set(vm, chain->dict, "from_iterable", builtin_new(vm, "chain.from_iterable", chain_from_iterable, 2, 2, P | BUILTIN_CLASSMETHOD));
    module_set(vm, dict, "chain", value_object(chain));
}
