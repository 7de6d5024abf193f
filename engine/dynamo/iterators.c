/* See iterators.h. In: iterators and generators of the symbolic run. Out: shadows, and instructions that make or move the real ones.
 *
 * As PyTorch: a generator that is alive where the graph ends is run to its end then and there, and its items are handed over; if that would change
 * anything (a list, or where an iterator of a list stands), the frame is left to eager. An enumerate is such a generator there.
 * Invariant: an iterator over a list keeps the list itself, so that what is appended later is seen.
 * To take up another kind: a case in kind_of, its progress in iterator_moved and move. */
#include "dynamo/iterators.h"
#include "vm/internal.h"
#include <string.h>

enum { MOST_ITEMS = 100000 }; /* of a generator that is run to its end */

typedef enum IteratorKind { ITERATOR_OTHER, ITERATOR_SEQUENCE, ITERATOR_RANGE } IteratorKind;

static IteratorKind kind_of(const Iterator *iterator) {
    if (!strcmp(iterator->kind, "list_iterator") || !strcmp(iterator->kind, "tuple_iterator")) return ITERATOR_SEQUENCE;
    return strcmp(iterator->kind, "range_iterator") ? ITERATOR_OTHER : ITERATOR_RANGE;
}

int64_t iterator_left(const Iterator *iterator) {
    Value *items;
    int count;
    switch (kind_of(iterator)) {
    case ITERATOR_SEQUENCE: return sequence_view(iterator->subject, &items, &count) && count > iterator->position ? count - iterator->position : 0;
    case ITERATOR_RANGE: return iterator->limit > 0 ? iterator->limit : 0;
    default: return -1;
    }
}

/* ---- taken up ---- */

static Iterator *copy_bare(VM *vm, const Iterator *like) {
    Iterator *made = (Iterator *)object_new(vm, OBJ_ITERATOR, sizeof *made);
    made->kind = like->kind;
    made->next = like->next;
    made->position = like->position;
    made->limit = like->limit;
    return made;
}

/* What a range iterator gives next, and the step, as guards. */
static void range_guards(Capture *capture, const Iterator *real, const Source *source) {
    for (int i = 0; i < 2 && i < real->limit; i++)
        capture_guard(capture, GUARD_EQUALS, capture_source(capture, SOURCE_ITEM, source, NULL, i, VALUE_NULL), value_int(real->position + i * real->extra.i), "an iterator goes on from here");
}

Value capture_force_iterator(Capture *capture, Value real, const Source *source) {
    VM *vm = capture->vm;
    const Iterator *iterator = (const Iterator *)real.o;
    IteratorKind kind = kind_of(iterator);
    if (!iterator->carried || kind == ITERATOR_OTHER) return vm_stop(vm, "call", vm_user_span(vm), "an iterator that the frame did not make is used");
    Iterator *mine = copy_bare(vm, iterator);
    Value shadow = value_object(mine);
    capture_guard(capture, GUARD_TYPE, source, value_object(class_of(vm, real)), "a half-used iterator was passed in");
    guard_add(&capture->entry->guards, vm, (Guard){.kind = GUARD_LENGTH, .source = source, .length = iterator_left(iterator), .span = vm_user_span(vm), .why = "a half-used iterator was passed in"});
    if (kind == ITERATOR_RANGE) {
        mine->subject = value_ref(iterator->subject);
        mine->extra = iterator->extra;
        range_guards(capture, iterator, source);
    } else if (iterator->subject.tag == V_OBJECT) {
        Value tracked = capture_track(capture, iterator->subject, capture_source(capture, SOURCE_SUBJECT, source, NULL, 0, VALUE_NULL));
        mine->subject = value_ref(vm_force(vm, tracked));
        value_unref(vm, tracked);
    }
    shadow_add(capture, shadow, real, source);
    return shadow;
}

/* ---- progress ---- */

bool iterator_moved(const Shadow *shadow) {
    const Iterator *mine = (const Iterator *)shadow->shadow.o, *real = (const Iterator *)shadow->real.o;
    return mine->position != real->position || mine->limit != real->limit || (mine->subject.tag == V_NULL) != (real->subject.tag == V_NULL);
}

/* (iterator, position, limit, is it at its end) */
static Value move(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)nargs; (void)kwnames;
    Iterator *iterator = (Iterator *)args[0].o;
    iterator->position = args[1].i;
    iterator->limit = args[2].i;
    if (args[3].b) value_set(vm, &iterator->subject, VALUE_NULL);
    return VALUE_NONE;
}

void emit_moved(Rewrite *r, const Shadow *shadow) {
    const Iterator *mine = (const Iterator *)shadow->shadow.o;
    emit_call_builtin(r, "move", move, 4);
    emit_source(r, shadow->source);
    emit_plain(r, value_int(mine->position));
    emit_plain(r, value_int(mine->limit));
    emit_plain(r, value_bool(mine->subject.tag == V_NULL));
    emit(r, OPCODE_CALL, 4);
    emit(r, OPCODE_POP_TOP, 0);
}

static Value subject_of(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)nargs; (void)kwnames;
    Value v = vm_force(vm, args[0]);
    if (!value_is(v, OBJ_ITERATOR)) return vm_raise(vm, "TypeError", "an iterator is expected, not %s", type_name(vm, v));
    return value_ref(((Iterator *)v.o)->subject);
}

void emit_subject(Rewrite *r) { /* function and NULL go under the argument */
    int local = emit_store_new(r);
    emit_call_builtin(r, "subject", subject_of, 1);
    emit_load(r, local);
    emit(r, OPCODE_CALL, 1);
}

/* ---- run to the end ---- */

/* What PyTorch counts as a change of an iterator: going on from a range, or in a generator, is none. */
static bool keeps_place(const Iterator *iterator) {
    static const char *const kinds[] = {"range_iterator", "enumerate", "filter", "repeat"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(iterator->kind, kinds[i])) return true;
    return false;
}

bool capture_exhausting_stop(VM *vm) {
    Capture *capture = capture_of(vm);
    const Frame *root = capture->root;
    if (!capture->exhausting) return false;
    capture->told = true;
    vm_stop(vm, "other", root->code->instrs[root->pc].span, "a generator that is alive at the break changes something: it cannot be run to its end before its time");
    return true;
}

bool capture_advanced(VM *vm, Iterator *iterator) { return keeps_place(iterator) || !capture_exhausting_stop(vm); }

/* send() to a generator in `yield from`: Dynamo has no way to hand the value on. */
bool capture_sent(VM *vm, Generator *generator) {
    (void)generator;
    capture_of(vm)->in_generator = true;
    vm_stop(vm, "other", vm_user_span(vm), "send() to a generator that is in a `yield from`");
    return false;
}

/* Does the body look at what is sent to it? Then only a generator can stand for it. */
static bool takes_what_is_sent(const Code *code) {
    for (int i = 0; i + 2 < code->instr_count; i++) {
        if (code->instrs[i].opcode != OPCODE_YIELD_VALUE) continue;
        Opcode next = (Opcode)code->instrs[i + 2].opcode;
        if (next != OPCODE_POP_TOP && next != OPCODE_JUMP_BACKWARD_NO_INTERRUPT) return true;
    }
    return false;
}

static bool take_rest(VM *vm, Value v, List *items) {
    Value item = VALUE_NULL;
    while (items->count < MOST_ITEMS && (item = vm_next(vm, v)).tag > V_ERROR) {
        list_append(vm, items, item);
        value_unref(vm, item);
    }
    if (item.tag == V_NULL) return true;
    if (items->count >= MOST_ITEMS) vm_stop(vm, "other", vm_user_span(vm), "a generator that is alive at the break does not end within %d items", MOST_ITEMS);
    if (!vm->stopped) {
        vm_clear_exception(vm);
        vm_stop(vm, "other", vm_user_span(vm), "a generator that is alive at the break raises when it is run to its end");
    }
    return false;
}

/* An iterator over the items that are left, made once. */
static void emit_rest(Rewrite *r, Value v) {
    Capture *capture = r->capture;
    VM *vm = r->vm;
    Value items = list_new(vm, NULL, 0);
    vec_push_in(r->arena, &capture->entry->held, items);
    bool outer = capture->exhausting;
    capture->exhausting = true;
    bool ok = take_rest(vm, v, (List *)items.o);
    capture->exhausting = outer;
    if (!ok) {
        r->failed = true;
        return;
    }
    Value tuple = tuple_new(vm, ((List *)items.o)->items, ((List *)items.o)->count), iterator = vm_iterate(vm, tuple);
    vec_push_in(r->arena, &capture->entry->held, tuple);
    vec_push_in(r->arena, &capture->entry->held, iterator);
    emit_iterator(r, iterator);
}

/* ---- made anew ---- */

/* (function, instruction, has it started, which items are there as a string of 0 and 1, the items …): a generator that goes on where another stood */
static Value make_generator(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)kwnames;
    Function *function = (Function *)args[0].o;
    const char *there = str_text(args[3]);
    Frame *frame = frame_new(vm, function, function->code, function->globals);
    int next = 4;
    frame->pc = (int)args[1].i;
    frame->sp = (int)strlen(there);
    for (int i = 0; i < frame->sp; i++) frame->fast[i] = there[i] == '1' && next < nargs ? value_ref(args[next++]) : VALUE_NULL;
    Value made = generator_new(vm, frame);
    ((Generator *)made.o)->started = args[2].i != 0;
    frame_free(vm, frame);
    return made;
}

static void emit_living_generator(Rewrite *r, Value v) {
    const Generator *generator = (const Generator *)v.o;
    const Frame *frame = generator->frame;
    char *there = ARENA_ARRAY(r->arena, char, frame->sp + 1);
    int count = 4;
    for (int i = 0; i < frame->sp; i++) there[i] = frame->fast[i].tag == V_NULL ? '0' : '1';
    Value text = str_from(r->vm, there);
    emit_call_builtin(r, "generator", make_generator, -1);
    emit_value(r, generator->function);
    emit_plain(r, value_int(frame->pc));
    emit_plain(r, value_int(generator->started));
    emit_held_object(r, text);
    for (int i = 0; i < frame->sp; i++) {
        if (frame->fast[i].tag == V_NULL) continue;
        emit_value(r, frame->fast[i]);
        count++;
    }
    emit(r, OPCODE_CALL, count);
    value_unref(r->vm, text);
}

void emit_generator(Rewrite *r, Value v) {
    const Generator *generator = (const Generator *)v.o;
    if (generator->running || !value_is(generator->function, OBJ_FUNCTION) || (generator->handled.tag != V_NULL && generator->handled.tag != V_NONE)) rewrite_refuse(r, v);
    else if (generator->frame && takes_what_is_sent(generator->frame->code)) emit_living_generator(r, v);
    else emit_rest(r, v);
}

/* (an iterator of the kind, its subject, its extra, position, limit, which of subject (1) and extra (2) there are) */
static Value make_iterator(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)nargs; (void)kwnames;
    Iterator *made = copy_bare(vm, (const Iterator *)args[0].o);
    if (args[5].i & 1) made->subject = value_ref(args[1]);
    if (args[5].i & 2) made->extra = value_ref(args[2]);
    made->position = args[3].i;
    made->limit = args[4].i;
    made->carried = true;
    return value_object(made);
}

static void emit_or_none(Rewrite *r, Value v) { emit_value(r, v.tag == V_NULL ? VALUE_NONE : v); }

/* The state of an iterator is its fields. */
static void emit_fields(Rewrite *r, const Iterator *iterator) {
    Value like = value_object(copy_bare(r->vm, iterator)); /* holds nothing of the symbolic run */
    emit_call_builtin(r, "iterator", make_iterator, 6);
    emit_held_object(r, like);
    value_unref(r->vm, like);
    emit_or_none(r, iterator->subject);
    emit_or_none(r, iterator->extra);
    emit_plain(r, value_int(iterator->position));
    emit_plain(r, value_int(iterator->limit));
    emit_plain(r, value_int((iterator->subject.tag != V_NULL) | (iterator->extra.tag != V_NULL) << 1));
    emit(r, OPCODE_CALL, 6);
}

/* Over the keys, values or items of a dict, a set, a text: what is left of it. */
static bool goes_over_fixed_items(const Iterator *iterator) {
    return !strncmp(iterator->kind, "dict_", 5) || !strncmp(iterator->kind, "set_", 4) || !strncmp(iterator->kind, "str_", 4);
}

void emit_iterator(Rewrite *r, Value v) {
    if (!value_is_view(v) && !strcmp(((Iterator *)v.o)->kind, "enumerate")) emit_rest(r, v);
    else if (!value_is_view(v) && goes_over_fixed_items((Iterator *)v.o)) {
        Value items = vm_list_of(r->vm, v), tuple = value_is(items, OBJ_LIST) ? tuple_new(r->vm, ((List *)items.o)->items, ((List *)items.o)->count) : VALUE_NULL;
        vec_push_in(r->arena, &r->capture->entry->held, items);
        if (tuple.tag == V_NULL) {
            rewrite_refuse(r, v);
            return;
        }
        Value over = vm_iterate(r->vm, tuple);
        vec_push_in(r->arena, &r->capture->entry->held, tuple);
        vec_push_in(r->arena, &r->capture->entry->held, over);
        emit_fields(r, (const Iterator *)over.o);
    } else emit_fields(r, (const Iterator *)v.o);
}
