/* Emission against CPython 3.12: bytecode_golden.txt (all constructs, with exception tables and stack sizes), and the listings
 * in tests/cases/NNN_*.expected.json, which come from PyTorch's captured functions. */
#include "unit.h"
#include "check_code.h"
#include "base/vec.h"
#include <dirent.h>
#include <stdio.h>
#include <string.h>

static Arena *arena;
static Failure failure;

static void open_arena(void) { arena = arena_new("test"); }
static void close_arena(void) { arena_free(arena); }

static char *source_path(const char *name) {
    const char *root = getenv("abs_top_srcdir");
    return arena_printf(arena, "%s/%s", root ? root : ".", name);
}

static char *read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    Text text = {0};
    char buffer[4096];
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, file)) > 0;) text_put_n(&text, buffer, n);
    fclose(file);
    char *copy = text_in(&text, arena);
    text_free(&text);
    return copy;
}

typedef struct Job { LangSession session; const SourceFile *file; Program *program; } Job;

static void compile_job(void *state) {
    Job *job = state;
    job->program = lang_compile(&job->session, job->file, false);
}

static Program *compile_file(const char *path) {
    char *text = read_file(path);
    ck_assert_ptr_nonnull(text);
    Job job = {.session = {.arena = arena, .names = interner_new(arena), .failure = &failure}};
    job.file = source_new(arena, path, text, strlen(text), 1);
    ck_assert_msg(fail_catch(&failure, compile_job, &job), "%s:%d: %s", path, span_line(failure.span), failure.message);
    return job.program;
}

static void list_code(Text *text, const Code *code) {
    text_printf(text, "== %s\n", code->qualname);
    for (int i = 0; i < code->instr_count; i++) {
        instr_print(text, code, i);
        text_char(text, '\n');
    }
    for (int i = 0; i < code->exception_count; i++) {
        const ExceptionEntry *entry = &code->exceptions[i];
        text_printf(text, "exception %d %d %d %d %d\n", entry->start, entry->end, entry->target, entry->depth, entry->lasti);
    }
    text_printf(text, "stack %d\n", code->stacksize);
}

static void list_nested(Text *text, const Code *code) {
    for (int i = 0; i < code->const_count; i++) {
        if (code->consts[i].kind != CONST_CODE) continue;
        list_code(text, code->consts[i].code);
        list_nested(text, code->consts[i].code);
    }
}

/* First line where the texts part, with the function it is in. */
static void assert_same_text(const char *got, const char *want) {
    char function[200] = "";
    while (*got && *want) {
        size_t g = strcspn(got, "\n"), w = strcspn(want, "\n");
        if (strncmp(want, "== ", 3) == 0) snprintf(function, sizeof function, "%.*s", (int)w, want);
        ck_assert_msg(g == w && memcmp(got, want, g) == 0, "%s: got '%.*s' want '%.*s'", function, (int)g, got, (int)w, want);
        got += g + (got[g] == '\n');
        want += w + (want[w] == '\n');
    }
    ck_assert_msg(!*got && !*want, "one listing is longer, after %s", function);
}

START_TEST(golden_functions_are_cpythons) {
    Program *program = compile_file(source_path("tests/unit/bytecode_golden.py"));
    Text text = {0};
    for (int i = 0; i < program->statement_count; i++) list_nested(&text, program->statements[i]);
    assert_same_text(text_cstr(&text), read_file(source_path("tests/unit/bytecode_golden.txt")));
    text_free(&text);
}
END_TEST

START_TEST(golden_codes_are_sound) {
    Program *program = compile_file(source_path("tests/unit/bytecode_golden.py"));
    for (int i = 0; i < program->statement_count; i++) {
        const char *complaint = check_code(program->statements[i]);
        ck_assert_msg(!complaint, "statement %d: %s", i, complaint);
    }
}
END_TEST

typedef VEC(char *) Lines;

/* The strings of a JSON array that begins at `at`; instructions hold no escapes but \" and \\ and \uXXXX, kept as they are. */
static const char *read_strings(const char *at, Lines *lines) {
    while (*at && *at != ']') {
        if (*at != '"') {
            at++;
            continue;
        }
        Text text = {0};
        for (at++; *at && *at != '"'; at++) {
            if (*at == '\\') at++;
            text_char(&text, *at);
        }
        vec_push_in(arena, lines, text_in(&text, arena));
        text_free(&text);
        at += *at == '"';
    }
    return at;
}

/* Code units of an instruction with its caches, in CPython 3.12. */
static int instr_units(const char *line) {
    static const struct { const char *name; int caches; } rows[] = {
        {"LOAD_GLOBAL ", 4}, {"LOAD_ATTR ", 9}, {"LOAD_SUPER_ATTR ", 1}, {"BINARY_OP ", 1}, {"COMPARE_OP ", 1}, {"CALL ", 3}, {"FOR_ITER ", 1},
        {"BINARY_SUBSCR", 1}, {"STORE_SUBSCR", 1}, {"STORE_ATTR ", 4}, {"UNPACK_SEQUENCE ", 1}, {"SEND ", 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strncmp(line, rows[i].name, strlen(rows[i].name)) == 0) return 1 + rows[i].caches;
    return 1;
}

/* Byte offsets of jumps become indices. A jump of more than 255 units has an EXTENDED_ARG that the listing leaves out, which
 * shifts what follows by a unit: targets are looked for from the jump on, nearest first. */
static int find_target(const Lines *lines, int offset) {
    int at = 0, best = 0, distance = 1 << 30;
    for (int i = 0; i < lines->count; i++) {
        int d = abs(at - offset);
        if (d < distance) best = i, distance = d;
        at += 2 * instr_units(lines->at[i]);
    }
    return best;
}

static void number_jumps(Lines *lines) {
    Lines numbered = {0};
    for (int i = 0; i < lines->count; i++) {
        char *to = strstr(lines->at[i], " (to ");
        char *line = to ? arena_printf(arena, "%.*s (to %d)", (int)(to - lines->at[i]), lines->at[i], find_target(lines, atoi(to + 5))) : lines->at[i];
        vec_push_in(arena, &numbered, line);
    }
    *lines = numbered;
}

static bool same_listing(const Code *code, const Lines *lines) {
    bool same = code->instr_count == lines->count;
    for (int i = 0; same && i < lines->count; i++) {
        Text text = {0};
        instr_print(&text, code, i);
        same = strcmp(text_cstr(&text), lines->at[i]) == 0;
        text_free(&text);
    }
    return same;
}

/* 1: some function of that name has the listing; 0: none has; -1: no function has the name. */
static int find_listing(const Code *code, const char *name, const Lines *lines) {
    int found = -1;
    for (int i = 0; i < code->const_count && found != 1; i++) {
        if (code->consts[i].kind != CONST_CODE) continue;
        const Code *inner = code->consts[i].code;
        if (strcmp(inner->name, name) == 0) found = same_listing(inner, lines);
        int deeper = found == 1 ? -1 : find_listing(inner, name, lines);
        if (deeper > found) found = deeper;
    }
    return found;
}

static int find_in_program(const Program *program, const char *name, const Lines *lines) {
    int found = -1;
    for (int i = 0; i < program->statement_count && found != 1; i++) {
        int here = find_listing(program->statements[i], name, lines);
        if (here > found) found = here;
    }
    return found;
}

/* Each "function": "name" of the file with the "bytecode": [...] that follows it. */
static int check_case(const char *stem, int *checked) {
    Program *program = compile_file(arena_printf(arena, "%s.py", stem));
    const char *at = read_file(arena_printf(arena, "%s.expected.json", stem));
    int wrong = 0;
    while (at && (at = strstr(at, "\"function\": \"")) != NULL) {
        at += strlen("\"function\": \"");
        const char *name = arena_strndup(arena, at, strcspn(at, "\"")), *next = strstr(at, "\"function\": \""), *list = strstr(at, "\"bytecode\": [");
        if (!list || (next && list > next)) continue;
        Lines lines = {0};
        at = read_strings(list + strlen("\"bytecode\": ["), &lines);
        number_jumps(&lines);
        int found = find_in_program(program, name, &lines);
        if (found == 0) fprintf(stderr, "%s: %s differs\n", stem, name);
        wrong += found == 0;
        *checked += found >= 0;
    }
    return wrong;
}

START_TEST(cases_are_cpythons) {
    const char *folder = source_path("tests/cases");
    DIR *directory = opendir(folder);
    int wrong = 0, checked = 0;
    ck_assert_ptr_nonnull(directory);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        char *stem = arena_printf(arena, "%s/%s", folder, entry->d_name), *ending = strstr(stem, ".expected.json");
        if (!ending) continue;
        *ending = '\0';
        wrong += check_case(stem, &checked);
    }
    closedir(directory);
    ck_assert_int_eq(wrong, 0);
    ck_assert_int_gt(checked, 100);
}
END_TEST

int main(void) {
    const TTest *tests[] = {golden_functions_are_cpythons, golden_codes_are_sound, cases_are_cpythons};
    return UNIT_RUN("bytecode", tests, open_arena, close_arena);
}
