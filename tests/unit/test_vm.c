/* The VM core: programs of tests/lang (each must print what CPython 3.12 printed, its .out), and what other folders rely on: the hooks of
 * a domain, the evaluator, stopping in the middle of an instruction, limits, the sweep of cycles.
 *
 * To add a program: tests/lang/NAME.py, and NAME.out made with CPython (tests/lang/trace: output, then the traceback). */
#include "torch_script.h"
#include "vm/internal.h"
#include <dirent.h>

/* ---- programs ---- */

static char *read_text(const char *path) {
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s is not there", path);
    Text text = {0};
    char buffer[4096];
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, file)) > 0;) text_put_n(&text, buffer, n);
    fclose(file);
    return text.data ? text.data : calloc(1, 1);
}

static void run_program(Script *s, const char *name, const char *text) {
    ScriptParse p = {s, source_new(s->arena, name, text, strlen(text), 1), NULL};
    ck_assert_msg(fail_catch(&s->failure, script_parse, &p), "%s: %s", name, s->failure.message);
    for (int i = 0; i < p.program->statement_count; i++) {
        Value result = vm_run_statement(s->vm, p.program->statements[i], s->vm->main->dict);
        if (value_is_error(result)) {
            vm_print_exception(s->vm, &s->out);
            return;
        }
        value_unref(s->vm, result);
    }
    vm_finish(s->vm);
}

static void check_program(const char *folder, const char *name) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    char *text = read_text(path);
    strcpy(strrchr(path, '.'), ".out");
    char *expected = read_text(path);
    Script *s = script_open();
    run_program(s, name, text);
    ck_assert_msg(strcmp(text_cstr(&s->out), expected) == 0, "%s prints\n%s\ninstead of\n%s", name, text_cstr(&s->out), expected);
    script_close(s);
    free(text);
    free(expected);
}

static int check_folder(const char *below) {
    char folder[512];
    const char *root = getenv("abs_top_srcdir");
    snprintf(folder, sizeof folder, "%s/tests/%s", root ? root : ".", below);
    DIR *directory = opendir(folder);
    ck_assert_msg(directory != NULL, "%s is not there", folder);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        const char *dot = strrchr(entry->d_name, '.');
        if (!dot || strcmp(dot, ".py") != 0) continue;
        check_program(folder, entry->d_name);
        count++;
    }
    closedir(directory);
    return count;
}

START_TEST(programs_print_what_cpython_prints) { ck_assert_int_ge(check_folder("lang"), 7); }
END_TEST

START_TEST(tracebacks_read_as_cpython_s) { ck_assert_int_ge(check_folder("lang/trace"), 20); }
END_TEST

/* ---- a domain with hooks ---- */

typedef struct Watch { int mutations, calls, forced, attributes, globals, cells, instructions, frames; Value forced_to; bool refuse_mutation; } Watch;

static bool watch_mutation(VM *vm, Object *object) {
    Watch *w = vm->domain_state;
    (void)object;
    w->mutations++;
    if (w->refuse_mutation) vm_stop(vm, "test", vm->span, "no changes");
    return !w->refuse_mutation;
}

static bool watch_call(VM *vm, Value callee) {
    (void)callee;
    ((Watch *)vm->domain_state)->calls++;
    return true;
}

static Value watch_force(VM *vm, Tracked *tracked) {
    ((Watch *)vm->domain_state)->forced++;
    return tracked->inner;
}

static Value watch_attr(VM *vm, Value object, const char *name) {
    ((Watch *)vm->domain_state)->attributes++;
    return vm_load_attr_generic(vm, object, name);
}

static Domain watched;

static Script *open_watched(Watch *w, const char *text) {
    Script *s = script_open();
    ck_assert_msg(script_execute(s, text), "%s", text_cstr(&s->notes));
    watched = concrete_domain;
    watched.will_mutate = watch_mutation;
    watched.may_call = watch_call;
    watched.force = watch_force;
    watched.load_attr = watch_attr;
    s->vm->domain = &watched;
    s->vm->domain_state = w;
    return s;
}

static Value global_named(Script *s, const char *name) { return dict_get_name(s->vm, s->vm->main->dict, intern(s->lang.names, name)); }

START_TEST(tracked_values_are_forced_only_where_they_are_looked_at) {
    Watch w = {0};
    Script *s = open_watched(&w, "def keep(x):\n    y = [x, x]\n    return (y, x)\ndef look(x):\n    return x[0] + len(x)\n");
    Value list = list_new(s->vm, (Value[]){value_int(5)}, 1), tracked = tracked_new(s->vm, list, NULL);
    Value kept = vm_call1(s->vm, global_named(s, "keep"), tracked);
    ck_assert_int_eq(w.forced, 0);
    ck_assert(value_is(tuple_of(kept)->items[1], OBJ_TRACKED));
    Value seen = vm_call1(s->vm, global_named(s, "look"), tracked);
    ck_assert(seen.tag == V_INT && seen.i == 6);
    ck_assert_int_ge(w.forced, 2);
    value_unref(s->vm, kept);
    value_unref(s->vm, tracked);
    value_unref(s->vm, list);
    script_close(s);
}
END_TEST

START_TEST(changes_are_announced) {
    Watch w = {0};
    Script *s = open_watched(&w, "class A: pass\na = A()\nl = [1]\nd = {}\ng = 0\n"
                                 "def f():\n    global g\n    a.x = 1\n    l.append(2)\n    l[0] = 3\n    d['k'] = 1\n    d.update(z=2)\n    l.sort()\n    del d['k']\n    g = 4\n    A.y = 5\n    assert a.x == 1\n");
    Value result = vm_call0(s->vm, global_named(s, "f"));
    ck_assert(result.tag == V_NONE);
    ck_assert_int_eq(w.mutations, 8); /* a global has a hook of its own: Domain.store_global */
    ck_assert_int_ge(w.attributes, 1);
    script_close(s);
}
END_TEST

/* ---- stopping ---- */

static Value stopping_evaluator(VM *vm, Frame *frame, void *state) {
    Watch *w = state;
    w->frames++;
    Value result = frame_run(vm, frame);
    if (!vm->stopped) return result;
    /* the frame shows the state before the instruction: the call with its operands */
    ck_assert_int_eq(frame->code->instrs[frame->pc].opcode, OPCODE_CALL);
    ck_assert_int_ge(frame->sp, code_localsplus_count(frame->code) + 3);
    w->refuse_mutation = false;
    vm->stopped = false;
    vm->domain = &concrete_domain;
    return frame_run(vm, frame); /* and goes on from there */
}

START_TEST(a_stopped_frame_can_go_on) {
    Watch w = {.refuse_mutation = true};
    Script *s = open_watched(&w, "log = []\ndef f(x):\n    y = x + 1\n    log.append(y)\n    return y * len(log)\n");
    s->vm->evaluator = stopping_evaluator;
    s->vm->evaluator_state = &w;
    Value result = vm_call1(s->vm, global_named(s, "f"), value_int(4));
    ck_assert(result.tag == V_INT && result.i == 5);
    ck_assert_int_eq(w.frames, 1);
    ck_assert(s->vm->frame == NULL && s->vm->depth == 0);
    script_close(s);
}
END_TEST

static bool count_instruction(VM *vm, Frame *frame, void *state) {
    (void)vm;
    Watch *w = state;
    ck_assert_int_lt(frame->pc, frame->code->instr_count);
    w->instructions++;
    return true;
}

START_TEST(the_hook_sees_every_instruction) {
    Watch w = {0};
    Script *s = script_open();
    ck_assert(script_execute(s, "def f(x):\n    return x + 1\n"));
    s->vm->instruction_hook = count_instruction;
    s->vm->instruction_state = &w;
    Value result = vm_call1(s->vm, global_named(s, "f"), value_int(1));
    ck_assert(result.tag == V_INT && result.i == 2);
    ck_assert_int_eq(w.instructions, ((Function *)global_named(s, "f").o)->code->instr_count);
    script_close(s);
}
END_TEST

/* ---- limits ---- */

static void ck_fails(const char *text, const char *words) {
    Script *s = script_open();
    ck_assert(!script_execute(s, text));
    ck_assert_msg(strstr(text_cstr(&s->notes), words) != NULL, "%s: %s", text, text_cstr(&s->notes));
    script_close(s);
}

START_TEST(limits_are_exceptions) {
    ck_fails("x = [0] * 10**12\n", "MemoryError");
    ck_fails("x = 'ab' * 10**15\n", "MemoryError");
    ck_fails("x = [[]] * (2**40)\n", "MemoryError");
    ck_fails("x = 2**63\n", "OverflowError");
    ck_fails("x = 9223372036854775807 + 1\n", "OverflowError");
    ck_fails("x = -9223372036854775807 - 2\n", "OverflowError");
    ck_fails("x = 3037000500 * 3037000500\n", "OverflowError");
    ck_fails("x = 1 << 64\n", "OverflowError");
    ck_fails("x = abs(-9223372036854775807 - 1)\n", "OverflowError");
    ck_fails("def f(): return f()\nf()\n", "RecursionError: maximum recursion depth exceeded");
    ck_fails("l = []\nfor i in range(100000): l = [l]\nrepr(l)\n", "RecursionError");
    ck_fails("l = []\nm = []\nfor i in range(100000): l, m = [l], [m]\nl == m\n", "RecursionError");
    ck_fails("t = ()\nfor i in range(100000): t = (t,)\nhash(t)\n", "RecursionError");
    ck_fails("class A:\n    def __getattr__(self, n): return getattr(self, n)\nA().x\n", "RecursionError");
    ck_fails("class A:\n    def __repr__(self): return repr(self)\nrepr(A())\n", "RecursionError");
    ck_fails("class A:\n    def __eq__(self, o): return self == o\nA() == 1\n", "RecursionError");
    ck_fails("f'{1:>99999999999}'\n", "ValueError");
    ck_fails("'%99999999999d' % 1\n", "Error");
}
END_TEST

START_TEST(memory_held_by_small_steps_is_limited) {
    Script *s = script_open();
    s->vm->limits.memory = 1 << 20;
    ck_assert(!script_execute(s, "l = []\nwhile True: l.append(1)\n"));
    ck_assert(strstr(text_cstr(&s->notes), "MemoryError") != NULL);
    script_close(s);
}
END_TEST

START_TEST(an_interrupt_is_an_exception) {
    volatile int interrupt = 1;
    Script *s = script_open();
    s->vm->interrupt = &interrupt;
    ck_assert(!script_execute(s, "while True: pass\n"));
    ck_assert(strstr(text_cstr(&s->notes), "KeyboardInterrupt") != NULL);
    ck_assert_int_eq(interrupt, 0);
    text_clear(&s->notes);
    ck_assert(script_execute(s, "x = sum(range(10))\n")); /* the session goes on */
    script_close(s);
}
END_TEST

/* ---- memory ---- */

START_TEST(cycles_are_swept) {
    Script *s = script_open();
    const char *text = "class Node:\n    def __init__(self): self.me = self\n    def method(self): return self.me\n"
                       "def f():\n    l = []\n    l.append(l)\n    d = {}\n    d['d'] = (d, l)\n    n = Node()\n    n.bound = n.method\n    def g(): return g\n    n.g = g\n"
                       "    it = iter(l)\n    l.append(it)\n    gen = (x for x in l)\n    l.append(gen)\n    try:\n        raise ValueError\n    except ValueError as e:\n        e.self = e\n";
    ck_assert(script_execute(s, text));
    ck_assert(script_execute(s, "f()\n"));
    vm_collect(s->vm);
    int64_t before = s->vm->object_count;
    ck_assert(script_execute(s, "for i in range(50): f()\ni = 0\n"));
    ck_assert_int_gt(s->vm->object_count, before + 50);
    vm_collect(s->vm);
    ck_assert_int_le(s->vm->object_count, before + 4);
    ck_assert(script_execute(s, "n = Node()\nassert n.method() is n\n"));
    script_close(s);
}
END_TEST

START_TEST(deep_structures_are_freed_without_deep_recursion) {
    Script *s = script_open();
    ck_assert(script_execute(s, "l = []\nfor i in range(1000000): l = [l]\nl = None\nd = {}\nfor i in range(100000): d = {'k': (d,)}\nd = None\n"));
    script_close(s);
}
END_TEST

START_TEST(dicts_keep_order_through_growth_and_deletion) {
    Script *s = script_open();
    VM *vm = s->vm;
    Value dict = dict_new(vm), found, key;
    for (int i = 0; i < 1000; i++) ck_assert(dict_set(vm, dict_of(dict), value_int(i * 7919 % 1000), value_int(i)));
    for (int i = 0; i < 1000; i += 2) {
        bool there;
        ck_assert(dict_delete(vm, dict_of(dict), value_int(i * 7919 % 1000), &there));
        ck_assert(there);
    }
    for (int i = 0; i < 300; i++) ck_assert(dict_set(vm, dict_of(dict), value_int(5000 + i), value_int(i)));
    int at = 0, expected = 1, seen = 0;
    while (dict_next(dict_of(dict), &at, &key, &found)) {
        if (seen >= 500) ck_assert_int_eq(key.i, 5000 + seen - 500);
        else ck_assert_int_eq(found.i, expected);
        expected += 2;
        seen++;
    }
    ck_assert_int_eq(seen, 800);
    ck_assert(dict_get(vm, dict_of(dict), value_float(5001.0)).i == 1); /* equal numbers are one key */
    ck_assert(dict_get(vm, dict_of(dict), value_int(4999)).tag == V_NULL);
    value_unref(vm, dict);
    script_close(s);
}
END_TEST

int main(void) {
    const TTest *tests[] = {programs_print_what_cpython_prints, tracebacks_read_as_cpython_s, tracked_values_are_forced_only_where_they_are_looked_at,
                            changes_are_announced, a_stopped_frame_can_go_on, the_hook_sees_every_instruction, limits_are_exceptions,
                            memory_held_by_small_steps_is_limited, an_interrupt_is_an_exception, cycles_are_swept,
                            deep_structures_are_freed_without_deep_recursion, dicts_keep_order_through_growth_and_deletion};
    return UNIT_RUN("vm", tests, NULL, NULL);
}
