/* Unit tests of engine/lang: syntax errors at their places (syntax_errors.txt), programs and their commands, spans, constants,
 * signatures, input states, limits. What is emitted for each construct is test_bytecode.c's matter. */
#include "unit.h"
#include "check_code.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static Arena *arena;
static Failure failure;
static LangSession session;

static void open_session(void) {
    arena = arena_new("test");
    session = (LangSession){.arena = arena, .names = interner_new(arena), .failure = &failure};
}

static void close_session(void) { arena_free(arena); }

typedef struct Job { const SourceFile *file; bool interactive; const char *text; Program *program; Code *code; Signature *signature; } Job;

static void compile_job(void *state) {
    Job *job = state;
    job->program = lang_compile(&session, job->file, job->interactive);
}

static void expression_job(void *state) {
    Job *job = state;
    const char *params[] = {"x", "grad"};
    job->code = lang_compile_expression(&session, job->file, "formula", params, 2);
}

static void signature_job(void *state) {
    Job *job = state;
    job->signature = lang_parse_signature(&session, job->text);
}

static Job job_of(const char *text) { return (Job){.file = source_new(arena, "test.py", text, strlen(text), 1), .text = text}; }

static Program *compile(const char *text) {
    Job job = job_of(text);
    ck_assert_msg(fail_catch(&failure, compile_job, &job), "%s: %s", text, failure.message);
    for (int i = 0; i < job.program->statement_count; i++) {
        const char *complaint = check_code(job.program->statements[i]);
        ck_assert_msg(!complaint, "%s: %s", text, complaint);
    }
    return job.program;
}

/* "line:column message", or "compiles". */
static const char *complaint_of(const char *text) {
    Job job = job_of(text);
    if (fail_catch(&failure, compile_job, &job)) return "compiles";
    return arena_printf(arena, "%d:%d %s", span_line(failure.span), span_column(failure.span), failure.message);
}

static const Code *nested_code(const Code *code, int which) {
    for (int i = 0; i < code->const_count; i++)
        if (code->consts[i].kind == CONST_CODE && which-- == 0) return code->consts[i].code;
    return NULL;
}

/* The instructions of the first statement, joined by "; ". */
static const char *listing(const char *source) {
    const Code *code = compile(source)->statements[0];
    Text text = {0};
    for (int i = 0; i < code->instr_count; i++) {
        if (i) text_put(&text, "; ");
        instr_print(&text, code, i);
    }
    char *copy = text_in(&text, arena);
    text_free(&text);
    return copy;
}

static const char *repeated(const char *head, const char *piece, int times, const char *tail) {
    Text text = {0};
    text_put(&text, head);
    for (int i = 0; i < times; i++) text_put(&text, piece);
    text_put(&text, tail);
    char *copy = text_in(&text, arena);
    text_free(&text);
    return copy;
}

START_TEST(syntax_errors_are_pythons) {
    const char *root = getenv("abs_top_srcdir");
    FILE *file = fopen(arena_printf(arena, "%s/tests/unit/syntax_errors.txt", root ? root : "."), "r");
    ck_assert_ptr_nonnull(file);
    char line[512], want[512] = "";
    Text source = {0};
    int checked = 0;
    for (;;) {
        bool more = fgets(line, sizeof line, file) != NULL;
        if (!more || strncmp(line, "### ", 4) == 0) {
            if (*want) ck_assert_str_eq(complaint_of(text_cstr(&source)), want);
            checked += *want != '\0';
            text_clear(&source);
            if (!more) break;
            snprintf(want, sizeof want, "%.*s", (int)strcspn(line + 4, "\n"), line + 4);
        } else {
            text_put(&source, line);
        }
    }
    fclose(file);
    text_free(&source);
    ck_assert_int_gt(checked, 300);
}
END_TEST

START_TEST(statements_are_codes_of_their_own) {
    Program *program = compile("import torch\nx = 1; y = 2\n\ndef f(): return x\nif x:\n  y\nelse:\n  x\n");
    ck_assert_int_eq(program->statement_count, 5);
    ck_assert_str_eq(program->statements[0]->name, "<module>");
    const Code *f = nested_code(program->statements[3], 0);
    ck_assert_str_eq(f->name, "f");
    ck_assert_str_eq(f->qualname, "f");
    ck_assert_int_eq(span_line(f->span), 4);
    ck_assert_int_ne(f->id, program->statements[0]->id);
    ck_assert_int_eq(compile("")->statement_count, 0);
    ck_assert_int_eq(compile("# only\n\n  # comments\n")->statement_count, 0);
}
END_TEST

START_TEST(commands_stand_between_statements) {
    Program *program = compile("#:set a b\nx = 1\n#:graph dynamo\ndef f():\n    pass\n#:inside\n    return 1\n#:explain f(x)\n  #:no\ny = (1,\n#:no\n2)\n#:last");
    ck_assert_int_eq(program->statement_count, 3);
    ck_assert_int_eq(program->command_count, 4);
    const char *texts[] = {":set a b", ":graph dynamo", ":explain f(x)", ":last"};
    const int before[] = {0, 1, 2, 3}, lines[] = {1, 3, 8, 13};
    for (int i = 0; i < 4; i++) {
        ck_assert_str_eq(program->commands[i].text, texts[i]);
        ck_assert_int_eq(program->commands[i].before, before[i]);
        ck_assert_int_eq(span_line(program->commands[i].span), lines[i]);
    }
}
END_TEST

START_TEST(a_blank_before_the_colon_of_a_command) {
    Program *program = compile("#: :graph dynamo\n#::help\nx = 1\n#: words of a comment\n#:\t:cache\n");
    ck_assert_int_eq(program->command_count, 3);
    ck_assert_str_eq(program->commands[0].text, ":graph dynamo");
    ck_assert_str_eq(program->commands[1].text, ":help");
    ck_assert_str_eq(program->commands[2].text, ":cache");
}
END_TEST

START_TEST(instructions_know_their_source) {
    const Code *code = compile("y = x.relu() + sqrt(z)\n")->statements[0];
    const char *want[] = {"", "x", "x.relu", "x.relu()", "sqrt", "sqrt", "z", "sqrt(z)", "x.relu() + sqrt(z)", "y"};
    for (int i = 0; i < 10; i++) {
        Span span = code->instrs[i].span;
        ck_assert_str_eq(arena_strndup(arena, span.file->text + span.start, span.end - span.start), want[i]);
    }
    code = compile("y = (x\n  .relu()\n  .sum())\n")->statements[0];
    ck_assert_str_eq(opcode_name((Opcode)code->instrs[4].opcode), "LOAD_ATTR");
    ck_assert_int_eq(span_line(code->instrs[4].span), 3);
    ck_assert_int_eq(span_column(code->instrs[4].span), 4);
}
END_TEST

START_TEST(module_names_go_by_name) {
    ck_assert_str_eq(listing("x = y"), "RESUME 0; LOAD_NAME (y); STORE_NAME (x); RETURN_CONST (None)");
    ck_assert_str_eq(listing("[i for i in x]"), "RESUME 0; LOAD_NAME (x); GET_ITER; LOAD_FAST_AND_CLEAR (i); SWAP 2; BUILD_LIST 0; SWAP 2; FOR_ITER (to 12); "
                                                "STORE_FAST (i); LOAD_FAST (i); LIST_APPEND 2; JUMP_BACKWARD (to 7); END_FOR; SWAP 2; STORE_FAST (i); POP_TOP; "
                                                "RETURN_CONST (None); SWAP 2; POP_TOP; SWAP 2; STORE_FAST (i); RERAISE 0");
    ck_assert_str_eq(listing("x: int = 1"), "RESUME 0; LOAD_CONST (1); STORE_NAME (x); RETURN_CONST (None)");
    ck_assert_str_eq(listing("x: int"), "RESUME 0; RETURN_CONST (None)");
    ck_assert_str_eq(listing("from a.b import *"), "RESUME 0; LOAD_CONST (0); LOAD_CONST (('*',)); IMPORT_NAME (a.b); CALL_INTRINSIC_1 (INTRINSIC_IMPORT_STAR); POP_TOP; RETURN_CONST (None)");
}
END_TEST

START_TEST(fields_of_classes_are_annotations) {
    const Code *class = nested_code(compile("class A:\n  x: int = 1\n  y: 'B'\n")->statements[0], 0);
    Text text = {0};
    code_print(&text, class, false);
    ck_assert_ptr_nonnull(strstr(text_cstr(&text), "SETUP_ANNOTATIONS"));
    ck_assert_ptr_nonnull(strstr(text_cstr(&text), "LOAD_NAME (__annotations__)"));
    text_free(&text);
    class = nested_code(compile("from __future__ import annotations\nclass A:\n  x: Undefined[1]\n")->statements[1], 0);
    code_print(&text, class, true);
    ck_assert_ptr_nonnull(strstr(text_cstr(&text), "LOAD_CONST ('Undefined[1]')"));
    ck_assert_ptr_null(strstr(text_cstr(&text), "LOAD_NAME (Undefined)"));
    text_free(&text);
}
END_TEST

START_TEST(interactive_values_are_printed) {
    Job job = job_of("x + 1\ndef f(): x\n");
    job.interactive = true;
    ck_assert(fail_catch(&failure, compile_job, &job));
    Text text = {0};
    code_print(&text, job.program->statements[0], false);
    ck_assert_ptr_nonnull(strstr(text_cstr(&text), "CALL_INTRINSIC_1 (INTRINSIC_PRINT)"));
    text_clear(&text);
    code_print(&text, job.program->statements[1], true);
    ck_assert_ptr_null(strstr(text_cstr(&text), "INTRINSIC_PRINT"));
    text_free(&text);
}
END_TEST

START_TEST(expressions_compile_with_parameters) {
    Job job = job_of("grad * (1 - x * x)");
    ck_assert(fail_catch(&failure, expression_job, &job));
    ck_assert_int_eq(job.code->argcount, 2);
    ck_assert_str_eq(job.code->localsplus[1], "grad");
    ck_assert_ptr_null((void *)(uintptr_t)check_code(job.code));
    job = job_of("x = 1");
    ck_assert(!fail_catch(&failure, expression_job, &job));
    ck_assert_str_eq(failure.message, "SyntaxError: an expression is expected here");
    job = job_of("");
    ck_assert(!fail_catch(&failure, expression_job, &job));
}
END_TEST

static Const value_of(const char *text) {
    const Code *code = compile(arena_printf(arena, "x = %s\n", text))->statements[0];
    ck_assert_msg(code->instrs[1].opcode == OPCODE_LOAD_CONST, "%s is not folded", text);
    return code->consts[code->instrs[1].arg];
}

START_TEST(literals_have_pythons_values) {
    static const struct { const char *text; int64_t value; } ints[] = {
        {"0", 0}, {"00", 0}, {"1_000", 1000}, {"0x_ff", 255}, {"0o17", 15}, {"0b101", 5}, {"9223372036854775807", INT64_MAX},
        {"-9223372036854775808", INT64_MIN}, {"-7 // 2", -4}, {"-7 % 3", 2}, {"7 % -3", -2}, {"2 ** 10", 1024}, {"~5", -6}, {"1 << 40", (int64_t)1 << 40},
        {"-1 >> 70", -1}, {"True + 1", 2}, {"-True", -1}, {"(1, 2, 3)[-1]", 3}};
    for (size_t i = 0; i < sizeof ints / sizeof *ints; i++) {
        Const value = value_of(ints[i].text);
        ck_assert_msg(value.kind == CONST_INT && value.i == ints[i].value, "%s is %lld", ints[i].text, (long long)value.i);
    }
    static const struct { const char *text; double value; } floats[] = {
        {"1.5", 1.5}, {"1e3", 1000}, {".5", .5}, {"1_0.0_1", 10.01}, {"5.", 5}, {"1 / 4", .25}, {"2 ** -1", .5}, {"-5.0 // 2", -3}, {"-5.0 % 3", 1}, {"1e999", INFINITY}};
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
        Const value = value_of(floats[i].text);
        ck_assert_msg(value.kind == CONST_FLOAT && memcmp(&value.f, &floats[i].value, sizeof(double)) == 0, "%s is %g", floats[i].text, value.f);
    }
    Const zero = value_of("-0.0");
    ck_assert(zero.kind == CONST_FLOAT && signbit(zero.f));
}
END_TEST

START_TEST(strings_have_pythons_values) {
    static const struct { const char *text, *value; uint32_t length; } rows[] = {
        {"'a' \"b\" '''c'''", "abc", 3}, {"'\\n\\t\\\\\\'\\x41\\101\\u00e9\\U0001f600'", "\n\t\\'AA\xc3\xa9\xf0\x9f\x98\x80", 12}, {"'a\\0b'", "a\0b", 3},
        {"r'\\n'", "\\n", 2}, {"'\\q'", "\\q", 2}, {"'a\\\nb'", "ab", 2}, {"'''a\r\nb'''", "a\nb", 3}, {"u'a'", "a", 1}, {"R'\\''", "\\'", 2},
        {"'ab' * 2 + 'c'", "ababc", 5}, {"'h\xc3\xa9!'[1]", "\xc3\xa9", 2}, {"'abc'[-1]", "c", 1}, {"''", "", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Const value = value_of(rows[i].text);
        ck_assert_msg(value.kind == CONST_STR && value.s.length == rows[i].length && memcmp(value.s.text, rows[i].value, rows[i].length + 1) == 0,
                      "%s is %s", rows[i].text, value.s.text);
    }
}
END_TEST

START_TEST(what_would_raise_is_not_folded) {
    static const char *const texts[] = {"1 // 0", "1 / 0", "1 % 0", "9223372036854775807 + 1", "2 ** 64", "1 << 64", "1 << -1", "'a' * 5000", "(1,)[2]", "'' + 1",
                                        "0 ** -1", "(-8.0) ** 0.5", "1e200 ** 9"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *found = listing(arena_printf(arena, "x = %s\n", texts[i]));
        ck_assert_msg(strstr(found, "BINARY_") != NULL, "%s: %s", texts[i], found);
    }
}
END_TEST

START_TEST(signatures_are_read) {
    Job job = {.text = "input, dim=None, *, keepdim=False, eps=1e-05, mode='mean', size=(1, -1)"};
    ck_assert(fail_catch(&failure, signature_job, &job));
    Signature *signature = job.signature;
    ck_assert_int_eq(signature->count, 6);
    ck_assert_int_eq(signature->positional, 2);
    ck_assert(!signature->has_default[0] && signature->has_default[1] && !signature->varargs && !signature->varkeywords);
    ck_assert_int_eq((int)signature->defaults[1].kind, CONST_NONE);
    ck_assert_str_eq(signature->names[3], "eps");
    ck_assert(signature->defaults[3].kind == CONST_FLOAT);
    ck_assert_str_eq(signature->defaults[4].s.text, "mean");
    ck_assert_int_eq(signature->defaults[5].tuple.items[1].i, -1);
    job.text = "input, *size, device=None, ";
    ck_assert(fail_catch(&failure, signature_job, &job));
    ck_assert(job.signature->varargs && job.signature->positional == 1 && job.signature->count == 2);
    ck_assert_str_eq(job.signature->varargs_name, "size");
    job.text = "";
    ck_assert(fail_catch(&failure, signature_job, &job));
    ck_assert_int_eq(job.signature->count, 0);
    job.text = "**kwargs";
    ck_assert(fail_catch(&failure, signature_job, &job));
    ck_assert(job.signature->varkeywords);
    const char *const wrong[] = {"a, ,", "a=b", "a=1, b", "1", "a)", "(a"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        job.text = wrong[i];
        ck_assert_msg(!fail_catch(&failure, signature_job, &job), "%s", wrong[i]);
    }
}
END_TEST

START_TEST(input_states) {
    static const struct { const char *text; LangState state; } rows[] = {
        {"", LANG_EMPTY}, {"  \n# c\n", LANG_EMPTY}, {"x = 1", LANG_COMPLETE}, {"f(1,", LANG_OPEN_BRACKET}, {"f(1,\n\n", LANG_OPEN_BRACKET}, {"x = {'a': [1,\n", LANG_OPEN_BRACKET},
        {"x = 1 + \\", LANG_OPEN_BRACKET}, {"x = \\\n", LANG_OPEN_BRACKET}, {"'''abc", LANG_OPEN_STRING}, {"f'''a", LANG_OPEN_STRING}, {"def f():\n  '''a\n\n", LANG_OPEN_STRING},
        {"'abc", LANG_COMPLETE}, {"x = )", LANG_COMPLETE}, {" x", LANG_COMPLETE}, {"if x\n", LANG_COMPLETE}, {"def f():", LANG_OPEN_BLOCK}, {"def f():\n  return 1\n", LANG_OPEN_BLOCK},
        {"def f():\n  return 1\n\n", LANG_COMPLETE}, {"def f():\n  return 1\n  \n", LANG_COMPLETE}, {"if x: y", LANG_OPEN_BLOCK}, {"if x: y\n\n", LANG_COMPLETE}, {"@d", LANG_OPEN_BLOCK},
        {"@d\n\n", LANG_OPEN_BLOCK}, {"@d\nclass A: pass\n\n", LANG_COMPLETE}, {"if x:\n  y\nz", LANG_COMPLETE}, {"if x:\n  y\nelse:", LANG_OPEN_BLOCK},
        {"x = lambda: 1", LANG_COMPLETE}, {"f'{x", LANG_OPEN_BRACKET}, {"with (a,\n b):", LANG_OPEN_BLOCK}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) ck_assert_msg(lang_state(rows[i].text) == rows[i].state, "'%s': %d", rows[i].text, lang_state(rows[i].text));
}
END_TEST

START_TEST(next_statements) {
    static const struct { const char *text; size_t now, at_end; } rows[] = {
        {"", 0, 0}, {"x = 1\ny = 2\n", 6, 6}, {"x = 1", 0, 5}, {"a; b\nc\n", 5, 5}, {"if x:\n  a\n", 0, 10}, {"if x:\n  a\nb\n", 10, 10}, {"if x:\n  a\nelse:\n  b\nc\n", 20, 20},
        {"if x:\n  a\n\n# c\n  b\nc\n", 19, 19}, {"if x: a\nel", 0, 8}, {"if x: a\nelse_ = 3\n", 8, 8}, {"\n\n# hi\nx\n", 9, 9}, {"# hi\n#:graph\nx\n", 13, 13}, {"# hi\n:load x\n", 5, 5},
        {"@d\ndef f():\n  pass\nx\n", 19, 19}, {"@d\n@e\nclass A: pass\nx\n", 20, 20}, {"x = '''a\nb", 0, 10}, {"f(\n1\n)\nz\n", 7, 7}, {"def f():\n  pass\n'''doc", 0, 16},
        {"def f():\n  pass\n:graph\n", 16, 16}, {"x = $\ny\n", 8, 8}, {"try:\n  a\nexcept A:\n  b\nfinally:\n  c\nx\n", 36, 36}, {"x = 1 + \\\n  2\ny\n", 14, 14}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_msg(lang_next_statement(rows[i].text, false) == rows[i].now, "'%s' now: %zu", rows[i].text, lang_next_statement(rows[i].text, false));
        ck_assert_msg(lang_next_statement(rows[i].text, true) == rows[i].at_end, "'%s' at end: %zu", rows[i].text, lang_next_statement(rows[i].text, true));
    }
}
END_TEST

START_TEST(long_chains_are_no_nesting) {
    compile(repeated("x = a", " + a", 50000, "\n"));
    compile(repeated("x = a", ".b(c)[0]", 20000, "\n"));
    compile(repeated("x = 'a'", " 'a'", 50000, "\n"));
    compile(repeated("x = [", "a, ", 20000, "]\n"));
    compile(repeated("if a: b\n", "elif a: b\n", 20000, ""));
    compile(repeated("", "\\\n", 50000, "\n"));
    compile(repeated("x = ", "[", 150, repeated("1", "]", 150, "\n")));
}
END_TEST

START_TEST(nesting_has_limits) {
    ck_assert_ptr_nonnull(strstr(complaint_of(repeated("x = ", "(", 5000, "1\n")), "too many nested parentheses"));
    ck_assert_ptr_nonnull(strstr(complaint_of(repeated("x = ", "not ", 5000, "1\n")), "too many nested expressions"));
    ck_assert_ptr_nonnull(strstr(complaint_of(repeated("x = ", "-", 5000, "a\n")), "too many nested expressions"));
    ck_assert_ptr_nonnull(strstr(complaint_of(repeated("x = a", "**a", 5000, "\n")), "too many nested expressions"));
    ck_assert_ptr_nonnull(strstr(complaint_of(repeated("x = ", "lambda: ", 5000, "a\n")), "too many nested expressions"));
    ck_assert_ptr_nonnull(strstr(complaint_of(repeated("x = ", "a if b else ", 5000, "a\n")), "too many nested expressions"));
    ck_assert_ptr_nonnull(strstr(complaint_of(repeated("x = ", "f'{", 5000, "a\n")), "too many nested f-strings"));
    ck_assert_ptr_nonnull(strstr(complaint_of(repeated("with ", "a, ", 25, "a: b\n")), "too many statically nested blocks"));
}
END_TEST

START_TEST(flags_and_arguments) {
    const Code *code = nested_code(compile("def f(a, b, /, c, *d, e, **g):\n  yield lambda: a\n")->statements[0], 0);
    ck_assert_int_eq(code->argcount, 3);
    ck_assert_int_eq(code->posonlyargcount, 2);
    ck_assert_int_eq(code->kwonlyargcount, 1);
    ck_assert_int_eq(code->flags, CODE_OPTIMIZED | CODE_NEWLOCALS | CODE_VARARGS | CODE_VARKEYWORDS | CODE_GENERATOR);
    const char *names[] = {"a", "b", "c", "e", "d", "g"};
    for (int i = 0; i < 6; i++) ck_assert_str_eq(code->localsplus[i], names[i]);
    const Code *lambda = nested_code(code, 0);
    ck_assert_str_eq(lambda->qualname, "f.<locals>.<lambda>");
    ck_assert_int_eq(lambda->nfrees, 1);
    ck_assert(lambda->flags & CODE_NESTED);
    code = nested_code(compile("def f():\n  'doc'\n")->statements[0], 0);
    ck_assert_str_eq(code->doc, "doc");
}
END_TEST

START_TEST(every_opcode_is_described) {
    for (int i = 0; i < OPCODE_COUNT; i++) {
        ck_assert_int_gt((int)strlen(opcode_name((Opcode)i)), 1);
        ck_assert_int_gt((int)strlen(opcode_meaning((Opcode)i)), 5);
        int effect = opcode_stack_effect((Opcode)i, 1, false); /* asserts that there is one */
        ck_assert(effect >= -4 && effect <= 2);
    }
    ck_assert_str_eq(binary_op_symbol(BINARY_MATRIX_MULTIPLY + BINARY_INPLACE), "@=");
    ck_assert_str_eq(compare_op_symbol(COMPARE_GE), ">=");
}
END_TEST

START_TEST(a_piece_of_standard_input_keeps_its_lines) {
    SourceFile *file = source_new(arena, "<stdin>", "x = 1\ny = )\n", 12, 41);
    Job job = {.file = file};
    ck_assert(!fail_catch(&failure, compile_job, &job));
    ck_assert_int_eq(span_line(failure.span), 42);
}
END_TEST

int main(void) {
    const TTest *tests[] = {
        syntax_errors_are_pythons, statements_are_codes_of_their_own, commands_stand_between_statements, a_blank_before_the_colon_of_a_command, instructions_know_their_source, module_names_go_by_name,
        fields_of_classes_are_annotations, interactive_values_are_printed, expressions_compile_with_parameters, literals_have_pythons_values,
        strings_have_pythons_values, what_would_raise_is_not_folded, signatures_are_read, input_states, next_statements, long_chains_are_no_nesting,
        nesting_has_limits, flags_and_arguments, every_opcode_is_described, a_piece_of_standard_input_keeps_its_lines};
    return UNIT_RUN("lang", tests, open_session, close_session);
}
