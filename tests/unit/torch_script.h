/* Torch script: runs a program of the language in a VM of its own (no compiler, no engine) and gives what it printed.
 *
 *     char *printed = script_run("import torch\nprint(torch.ones(2))\n");       // "tensor([1., 1.])\n"; malloc'ed
 *
 * A program error fails the test with the traceback. */
#ifndef VITRINE_TESTS_TORCH_SCRIPT_H
#define VITRINE_TESTS_TORCH_SCRIPT_H
#include "unit.h"
#include "run/runtime.h"
#include "vm/vm.h"
#include <stdio.h>
#include <string.h>

typedef struct Script { Arena *arena; Failure failure; LangSession lang; OpTable *ops; Runtime *runtime; VM *vm; Text out, notes; } Script;

static inline void script_write(void *state, const char *text, size_t length) { text_put_n(state, text, length); }

static inline Script *script_open(void) {
    Arena *arena = arena_new("script");
    Script *s = ARENA_NEW(arena, Script);
    s->arena = arena;
    s->lang = (LangSession){.arena = arena, .names = interner_new(arena), .failure = &s->failure};
    s->ops = op_table_new(arena, &s->lang);
    RuntimeOptions options = {.cache_dir = ""};
    s->runtime = runtime_new(arena, &options);
    VMSetup setup = {.lang = &s->lang, .ops = s->ops, .runtime = s->runtime, .out = {&s->out, script_write}, .notes = {&s->notes, script_write}};
    s->vm = vm_new(arena, &setup);
    return s;
}

static inline void script_close(Script *s) {
    vm_close(s->vm);
    runtime_close(s->runtime);
    text_free(&s->out);
    text_free(&s->notes);
    arena_free(s->arena);
}

typedef struct ScriptParse { Script *script; SourceFile *file; Program *program; } ScriptParse;
static inline void script_parse(void *state) {
    ScriptParse *p = state;
    p->program = lang_compile(&p->script->lang, p->file, false);
}

/* false: the error's text is in notes. */
static inline bool script_execute(Script *s, const char *text) {
    ScriptParse p = {s, source_new(s->arena, "<test>", text, strlen(text), 1), NULL};
    if (!fail_catch(&s->failure, script_parse, &p)) {
        span_report(&s->notes, s->failure.span, "error", s->failure.message);
        return false;
    }
    for (int i = 0; i < p.program->statement_count; i++) {
        Value result = vm_run_statement(s->vm, p.program->statements[i], s->vm->main->dict);
        if (value_is_error(result)) {
            vm_print_exception(s->vm, &s->notes);
            return false;
        }
        value_unref(s->vm, result);
    }
    return true;
}

static inline char *script_run(const char *text) {
    Script *s = script_open();
    bool ok = script_execute(s, text);
    ck_assert_msg(ok, "%s", text_cstr(&s->notes));
    char *printed = strdup(text_cstr(&s->out));
    script_close(s);
    return printed;
}

#define ck_prints(program, expected)                  \
    do {                                              \
        char *printed_ = script_run(program);         \
        ck_assert_str_eq(printed_, expected);         \
        free(printed_);                               \
    } while (0)
#endif
