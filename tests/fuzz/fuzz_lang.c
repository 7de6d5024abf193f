/* Fuzz target: any bytes are a program, a piece of input being typed, a signature: no crash, no endless work, and what compiles
 * passes check_code. tests/fuzz/python.dict helps.
 * Run: build with --enable-fuzz CC=clang, `make fuzz`, tests/fuzz/fuzz_lang -dict=tests/fuzz/python.dict -max_total_time=3600. */
#include "tests/unit/check_code.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void require(int truth, const char *what) {
    if (truth) return;
    fprintf(stderr, "fuzz_lang: %s\n", what);
    abort();
}

typedef struct Job { LangSession session; const SourceFile *file; const char *text; Program *program; } Job;

static void compile_text(void *state) {
    Job *job = state;
    job->program = lang_compile(&job->session, job->file, (job->file->length & 1) != 0);
}

static void compile_expression(void *state) {
    Job *job = state;
    const char *params[] = {"x", "y"};
    const char *complaint = check_code(lang_compile_expression(&job->session, job->file, "formula", params, 2));
    require(!complaint, complaint);
}

static void parse_signature(void *state) {
    Job *job = state;
    Signature *signature = lang_parse_signature(&job->session, job->text);
    require(signature->positional <= signature->count, "more positional parameters than parameters");
}

static void check_failure(const Failure *failure, const SourceFile *file) {
    require(failure->message[0] != '\0', "no message");
    if (failure->span.file != file) return;
    require(failure->span.start <= failure->span.end && failure->span.end <= file->length, "span out of the file");
    Text text = {0};
    span_report(&text, failure->span, "error", failure->message);
    text_free(&text);
}

static void run(Job *job, void (*body)(void *)) {
    Failure failure = {0};
    job->session.failure = &failure;
    if (!fail_catch(&failure, body, job)) check_failure(&failure, job->file);
}

static void check_program(const Program *program) {
    for (int i = 0; i < program->statement_count; i++) {
        const char *complaint = check_code(program->statements[i]);
        require(!complaint, complaint);
        if (program->statements[i]->instr_count > 300) continue; /* printing finds jump marks in quadratic time */
        Text text = {0};
        code_print(&text, program->statements[i], false);
        text_free(&text);
    }
    for (int i = 0; i < program->command_count; i++)
        require(program->commands[i].text[0] == ':' && program->commands[i].before <= program->statement_count, "command line out of place");
}

/* Taking statements off the front always goes on and ends with the text. */
static void check_statements(const char *text) {
    size_t length = strlen(text);
    lang_state(text);
    require(lang_next_statement(text, false) <= length, "statement longer than the text");
    for (int i = 0; i < 50 && *text; i++) {
        size_t taken = lang_next_statement(text, true);
        require(taken > 0 && taken <= strlen(text), "no way forward at the end of input");
        text += taken;
    }
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
    if (size > 1 << 16) return 0;
    Arena *arena = arena_new("fuzz");
    Job job = {.session = {.arena = arena, .names = interner_new(arena)}};
    job.file = source_new(arena, "fuzz.py", (const char *)data, size, 1);
    job.text = job.file->text;
    run(&job, compile_text);
    if (job.program) check_program(job.program);
    check_statements(job.text);
    if (size < 200) {
        run(&job, compile_expression);
        run(&job, parse_signature);
    }
    arena_free(arena);
    return 0;
}
