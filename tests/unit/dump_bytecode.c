/* dump_bytecode: prints the bytecode of every function of .py files, for comparison with CPython's `dis`.
 *
 *     dump_bytecode [--places] FILE.py…  ->  "== qualname", one instruction a line in the print form of instr_print,
 *                                            then the exception table and the stack size
 *
 * With --places each instruction has its span before it. bytecode_oracle.py prints the same by CPython. Not installed. */
#include "lang/code.h"
#include <stdio.h>
#include <string.h>

static bool with_places;

static void print_place(const Instr *instr) {
    Span start = instr->span, end = {instr->span.file, instr->span.end, instr->span.end};
    if (start.file) printf("%d:%d-%d:%d  ", span_line(start), span_column(start), span_line(end), span_column(end));
    else printf("-  ");
}

static void dump_code(const Code *code) {
    printf("== %s\n", code->qualname);
    for (int i = 0; i < code->instr_count; i++) {
        Text text = {0};
        instr_print(&text, code, i);
        if (with_places) print_place(&code->instrs[i]);
        puts(text_cstr(&text));
        text_free(&text);
    }
    for (int i = 0; i < code->exception_count; i++) {
        const ExceptionEntry *entry = &code->exceptions[i];
        printf("exception %d %d %d %d %d\n", entry->start, entry->end, entry->target, entry->depth, entry->lasti);
    }
    printf("stack %d\n", code->stacksize);
    for (int i = 0; i < code->const_count; i++)
        if (code->consts[i].kind == CONST_CODE) dump_code(code->consts[i].code);
}

typedef struct Job { LangSession session; const SourceFile *file; Program *program; } Job;

static void compile_job(void *state) {
    Job *job = state;
    job->program = lang_compile(&job->session, job->file, false);
}

static char *read_file(Arena *arena, const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    fseek(file, 0, SEEK_END);
    *length = (size_t)ftell(file);
    rewind(file);
    char *text = arena_alloc(arena, *length + 1);
    *length = fread(text, 1, *length, file);
    fclose(file);
    return text;
}

static int dump_file(const char *path) {
    Arena *arena = arena_new("dump");
    size_t length = 0;
    char *text = read_file(arena, path, &length);
    Failure failure = {0};
    Job job = {.session = {.arena = arena, .names = interner_new(arena), .failure = &failure}};
    if (!text) return printf("-- %s: cannot read\n", path), arena_free(arena), 1;
    job.file = source_new(arena, path, text, length, 1);
    printf("# %s\n", path);
    bool compiled = fail_catch(&failure, compile_job, &job);
    if (!compiled) printf("-- %s:%d:%d: %s\n", path, span_line(failure.span), span_column(failure.span), failure.message);
    for (int i = 0; compiled && i < job.program->statement_count; i++) {
        const Code *code = job.program->statements[i];
        for (int k = 0; k < code->const_count; k++)
            if (code->consts[k].kind == CONST_CODE) dump_code(code->consts[k].code);
    }
    arena_free(arena);
    return 0;
}

int main(int count, char **arguments) {
    int status = 0;
    for (int i = 1; i < count; i++) {
        if (strcmp(arguments[i], "--places") == 0) with_places = true;
        else status |= dump_file(arguments[i]);
    }
    return status;
}
