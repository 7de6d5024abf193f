/* Unit tests of repl/, on a fake engine: command line, names, words, feeding, errors and statuses, text and JSON of the commands. */
#include "unit.h"
#include "fake_engine.h"
#include "repl/cmd.h"
#include "repl/complete.h"
#include "repl/feed.h"
#include "repl/options.h"
#include "repl/summary.h"
#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static Arena *arena;
static Options options;
static Repl repl;
static volatile int interrupt;
static char output[1 << 16], errors[1 << 16];

static void to_stdout(void *state, const char *text, size_t length) { (void)state; fwrite(text, 1, length, stdout); }

static void open_repl(void) {
    arena = arena_new("test");
    options = (Options){0};
    interrupt = 0;
    SessionOptions session = {.out = {NULL, to_stdout}, .notes = {NULL, to_stdout}, .interrupt = &interrupt};
    repl = (Repl){.options = &options, .arena = arena, .interrupt = &interrupt, .session = session_open(&session)};
    repl.show = (Show){.plain = true};
}

static void close_repl(void) {
    session_close(repl.session);
    arena_free(arena);
}

static void read_back(FILE *file, char *to) {
    rewind(file);
    to[fread(to, 1, (1 << 16) - 1, file)] = 0;
    fclose(file);
}

/* Runs with stdout and stderr kept in `output` and `errors`. */
static void captured(void (*body)(void *), void *state) {
    FILE *out = tmpfile(), *err = tmpfile();
    fflush(stdout);
    int old_out = dup(1), old_err = dup(2);
    dup2(fileno(out), 1);
    dup2(fileno(err), 2);
    body(state);
    fflush(stdout);
    fflush(stderr);
    dup2(old_out, 1);
    dup2(old_err, 2);
    close(old_out);
    close(old_err);
    read_back(out, output);
    read_back(err, errors);
}

static void run_text_body(void *text) { repl_text(&repl, text, "<command>"); }
static void run_text(const char *text) { captured(run_text_body, (void *)text); }

static const char *read_options(int argc, char **argv) {
    const char *error = NULL;
    options = (Options){0};
    return options_read(&options, argc, argv, arena, &error) ? NULL : error;
}

/* ---- command line ---- */

START_TEST(options_in_any_place) {
    char *argv[] = {"vitrine", "a.py", "-c", "x = 1", "--summary=s.json", "--device", "cuda:1", "-c", ":help", "--color", "never", "--plain", "more", NULL};
    ck_assert_ptr_null(read_options(13, argv));
    ck_assert_str_eq(options.file, "a.py");
    ck_assert_int_eq(options.texts.count, 2);
    ck_assert_str_eq(options.texts.at[1], ":help");
    ck_assert_str_eq(options.summary, "s.json");
    ck_assert_str_eq(options.device, "cuda:1");
    ck_assert_int_eq(options.color, COLOR_NEVER);
    ck_assert(options.plain && !options.json);
    ck_assert_str_eq(options.arguments.at[0], "more");
}
END_TEST

START_TEST(options_refused) {
    char *unknown[] = {"vitrine", "--frobnicate", NULL}, *missing[] = {"vitrine", "-c", NULL}, *value[] = {"vitrine", "--json=1", NULL},
         *device[] = {"vitrine", "--device", "tpu", NULL}, *color[] = {"vitrine", "--color=blue", NULL};
    ck_assert_str_eq(read_options(2, unknown), "unknown option --frobnicate");
    ck_assert(strstr(read_options(2, missing), "needs a value"));
    ck_assert(strstr(read_options(2, value), "takes no value"));
    ck_assert(strstr(read_options(3, device), "tpu"));
    ck_assert(strstr(read_options(2, color), "blue"));
}
END_TEST

START_TEST(options_after_two_dashes_are_names) {
    char *argv[] = {"vitrine", "--", "--json", NULL}, *dash[] = {"vitrine", "-", NULL};
    ck_assert_ptr_null(read_options(3, argv));
    ck_assert_str_eq(options.file, "--json");
    ck_assert(!options.json);
    ck_assert_ptr_null(read_options(2, dash));
    ck_assert_str_eq(options.file, "-");
}
END_TEST

/* ---- names of commands ---- */

static const char *found(const char *name) {
    const char *suggestion;
    const Command *command = command_find(name, strlen(name), &suggestion);
    return command ? command->name : suggestion ? suggestion : "";
}

START_TEST(every_frozen_prefix_is_a_prefix) {
    static const char *const prefixes[] = {"b", "by", "c", "ca", "d", "dev", "e", "f", "g", "gu", "h", "l", "m", "o", "q", "r", "s", "sa", "sc", "t", "w"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        const char *name = NULL;
        ck_assert_msg(command_prefix_is_frozen(prefixes[i], &name), "%s", prefixes[i]);
        ck_assert_str_eq(found(prefixes[i]), name);
        ck_assert_int_eq(strncmp(name, prefixes[i], strlen(prefixes[i])), 0);
    }
}
END_TEST

START_TEST(names_unique_prefixes_and_suggestions) {
    for (int i = 0; command_table[i]; i++) ck_assert_str_eq(found(command_table[i]->name), command_table[i]->name);
    ck_assert_str_eq(found("expl"), "explain");
    ck_assert_str_eq(found("kernel"), "kernel");
    ck_assert_str_eq(found("kernels"), "kernels");
    ck_assert_str_eq(found("exlpain"), "explain");
    ck_assert_str_eq(found("zzzz"), "");
    ck_assert_str_eq(found(""), "");
}
END_TEST

static void check_width(const char *what) {
    for (const char *at = output; *at; at += strcspn(at, "\n") + (at[strcspn(at, "\n")] == '\n'))
        ck_assert_msg(strcspn(at, "\n") <= 104, "%s: %.*s", what, (int)strcspn(at, "\n"), at);
}

START_TEST(every_command_helps) {
    for (int i = 0; command_table[i]; i++) {
        ck_assert_ptr_nonnull(command_table[i]->summary);
        ck_assert_ptr_nonnull(command_table[i]->help);
        ck_assert(command_table[i]->run);
    }
    for (int i = 0; command_table[i]; i++) {
        run_text(arena_printf(arena, ":help %s\n", command_table[i]->name));
        check_width(command_table[i]->name);
    }
    run_text(":help\n");
    check_width("help");
    for (int i = 0; command_table[i]; i++) ck_assert_msg(strstr(output, arena_printf(arena, "  :%s", command_table[i]->name)) != NULL, "%s", command_table[i]->name);
}
END_TEST

/* ---- feeding ---- */

static Feed feed_of(void) { return (Feed){.repl = &repl, .name = "<t>"}; }

START_TEST(statements_run_when_complete) {
    Feed feed = feed_of();
    ck_assert(feed_line(&feed, "a = 1"));
    ck_assert_str_eq(fake_ran(), "<t>:1:a = 1|");
    feed_line(&feed, "b = f(");
    ck_assert(feed_is_open(&feed));
    feed_line(&feed, "2)");
    ck_assert_str_eq(fake_ran(), "<t>:1:a = 1|<t>:2:b = f(|<t>:3:2)|");
    feed_end(&feed);
}
END_TEST

START_TEST(blocks_end_where_the_next_statement_begins) {
    Feed feed = feed_of();
    feed_line(&feed, "if x:");
    feed_line(&feed, "    a");
    feed_line(&feed, "");
    feed_line(&feed, "    b");
    ck_assert_str_eq(fake_ran(), "");
    feed_line(&feed, "c");
    ck_assert_str_eq(fake_ran(), "<t>:1:if x:|<t>:2:    a|<t>:4:    b|<t>:5:c|");
    feed_end(&feed);
}
END_TEST

START_TEST(a_blank_line_ends_a_block_only_at_the_prompt) {
    Feed feed = feed_of();
    feed.blank_ends = true;
    feed_line(&feed, "if x:");
    feed_line(&feed, "    a");
    feed_line(&feed, "");
    ck_assert_str_eq(fake_ran(), "<t>:1:if x:|<t>:2:    a|");
    ck_assert(!feed_is_open(&feed));
    feed_end(&feed);
}
END_TEST

START_TEST(a_partial_last_line_still_runs) {
    run_text("a\nif x:\n    b");
    ck_assert_str_eq(fake_ran(), "<command>:1:a|<command>:2:if x:|<command>:3:    b|");
}
END_TEST

START_TEST(commands_stand_between_statements_only) {
    run_text("if x:\n    a\n:reset\nb = (\n:reset\n)\n");
    ck_assert_str_eq(fake_ran(), "<command>:1:if x:|<command>:2:    a|<command>:4:b = (|<command>:5::reset|<command>:6:)|");
}
END_TEST

START_TEST(echo_shows_lines_before_their_output) {
    options.echo = true;
    run_text("print a\nif x:\n    print b\nprint c\n");
    ck_assert_str_eq(output, "> print a\na> if x:\n>     print b\n> print c\nc");
}
END_TEST

START_TEST(comments_with_a_colon_are_commands) {
    run_text("#:op relu\n");
    ck_assert(strstr(output, "pointwise"));
    ck_assert_int_eq(repl_status(&repl), 0);
}
END_TEST

/* ---- errors and statuses ---- */

START_TEST(errors_point_at_the_word) {
    run_text("a\n:graph jiont\n");
    ck_assert_str_eq(errors, "<command>:2:8: error: no stage jiont: is it joint?\n:graph jiont\n       ^~~~~\n");
    ck_assert_int_eq(repl_status(&repl), 3);
}
END_TEST

START_TEST(errors_of_comment_commands_point_into_the_file) {
    run_text("#:nonsense x\n");
    ck_assert_str_eq(errors, "<command>:1:2: error: no command :nonsense: :help lists them\n#:nonsense x\n ^~~~~~~~~\n");
}
END_TEST

START_TEST(a_failed_command_ends_a_script) {
    run_text(":graph joint\nx\n");
    ck_assert_str_eq(fake_ran(), "");
    ck_assert(strstr(errors, "nothing is compiled yet: try :compile f(x)"));
    ck_assert_int_eq(repl_status(&repl), 3);
}
END_TEST

START_TEST(keep_going_goes_on_and_ends_with_3) {
    options.keep_going = true;
    run_text(":graph joint\nx\n");
    ck_assert_str_eq(fake_ran(), "<command>:2:x|");
    ck_assert_int_eq(repl_status(&repl), 3);
}
END_TEST

START_TEST(a_program_error_ends_a_script) {
    run_text("raise\nx\n");
    ck_assert_str_eq(fake_ran(), "<command>:1:raise|");
    ck_assert_int_eq(repl_status(&repl), 1);
}
END_TEST

static void run_missing_file(void *state) { (void)state; repl_file(&repl, "/nonexistent/a.py"); }

START_TEST(a_missing_file_is_2) {
    captured(run_missing_file, NULL);
    ck_assert(strstr(errors, "cannot read /nonexistent/a.py"));
    ck_assert_int_eq(repl_status(&repl), 2);
}
END_TEST

START_TEST(quit_ends_quietly) {
    run_text(":quit\nraise\n");
    ck_assert_str_eq(fake_ran(), "");
    ck_assert_int_eq(repl_status(&repl), 0);
}
END_TEST

START_TEST(wrong_use_shows_the_usage) {
    run_text(":kernel\n");
    ck_assert(strstr(errors, "use it as :kernel [ENTRY] KERNEL"));
}
END_TEST

START_TEST(safe_refuses_files) {
    repl.show.safe = true;
    run_text(":compile f(x)\n:draw joint /tmp/never.svg\n");
    ck_assert(strstr(errors, "--safe"));
    ck_assert_int_eq(repl_status(&repl), 3);
    options.keep_going = true;
    run_text(":load /etc/hostname\n");
    ck_assert(strstr(errors, "--safe"));
    run_text(":bench b.py\n");
    ck_assert(strstr(errors, "--safe") && !*output);
    run_text(":draw joint\n");
    ck_assert(!*errors && *output);
}
END_TEST

/* ---- what commands print ---- */

/* Every command once, as text: it works and prints no time under --plain. */
START_TEST(all_commands_as_text) {
    static const char *const lines[] = {":explain f(x)", ":stages", ":graph joint", ":graph dynamo", ":breaks", ":guards", ":recompiles", ":cache", ":saved", ":cut", ":schedule", ":kernels",
                                        ":kernel k0", ":kernel k0 ops", ":why relu sum", ":why saved", ":why break", ":why recompile", ":why g0", ":draw joint", ":time f(x)",
                                        ":set", ":set policy", ":device", ":op relu", ":help stages", ":help graph", ":graph joint [0/0] %relu~1", ":graph joint %x..%sum", ":graph joint line:2"};
    run_text(":compile f(x)\n");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        run_text(arena_printf(arena, "%s\n", lines[i]));
        ck_assert_msg(repl_status(&repl) == 0 && !*errors, "%s: %s", lines[i], errors);
        ck_assert_msg(*output, "%s printed nothing", lines[i]);
        ck_assert_msg(!strstr(output, "12.5") && !strstr(output, " us "), "%s shows a time: %s", lines[i], output);
    }
}
END_TEST

START_TEST(all_commands_as_json) {
    static const char *const lines[] = {":compile f(x)", ":explain f(x)", ":stages", ":graph joint", ":breaks", ":guards", ":recompiles", ":cache", ":saved", ":cut", ":budget", ":budget 0.5", ":schedule", ":kernels",
                                        ":kernel k0", ":kernel k0 ops", ":why relu sum", ":why saved", ":why saved %relu", ":why break", ":why recompile", ":draw joint", ":time f(x)", ":set", ":device",
                                        ":op relu", ":help", ":help stages", ":help graph", ":bench b.py", ":reset"};
    repl.show.json = true;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        run_text(arena_printf(arena, "%s\n", lines[i]));
        const char *end = NULL;
        cJSON *document = cJSON_ParseWithOpts(output, &end, false);
        ck_assert_msg(document && strcmp(end, "\n") == 0, "%s: %s%s", lines[i], output, errors);
        cJSON_Delete(document);
    }
}
END_TEST

START_TEST(json_may_be_asked_for_once) {
    run_text(":compile --json f(x)\n");
    ck_assert_int_eq(output[0], '{');
    run_text(":guards --json\n");
    ck_assert_int_eq(output[0], '{');
    run_text(":guards\n");
    ck_assert_int_ne(output[0], '{');
}
END_TEST

START_TEST(why_says_the_numbers_and_the_policy) {
    run_text(":compile f(x)\n");
    run_text(":why %relu %sum\n");
    ck_assert(strstr(output, "15 against 1 elements"));
    run_text(":why saved %relu\n");
    ck_assert(strstr(output, "cheaper than 120 B (policy best)"));
    run_text(":why %relu %out\n");
    ck_assert(strstr(output, "both are computed by k0"));
}
END_TEST

START_TEST(why_saved_compares_two_cuts) {
    run_text(":compile f(x)\n");
    run_text(":why saved %relu\n");
    ck_assert(strstr(output, "the cheapest cut that saves %relu costs 60 and keeps 60 B alive"));
    ck_assert(strstr(output, "there is no cut without it: an output"));
    ck_assert(strstr(output, "computing it again takes 1 step (%relu) from %x: 15 flop"));
}
END_TEST

START_TEST(budgets_are_read_and_refused) {
    run_text(":compile f(x)\n");
    run_text(":budget\n");
    ck_assert(strstr(output, "0.1") && strstr(output, "1.0 KiB"));
    run_text(":budget pytorch 0.5\n");
    ck_assert(strstr(output, "partition pytorch") && strstr(output, "0.5") && !strstr(output, "0.4"));
    run_text(":budget 1.5\n");
    ck_assert(strstr(errors, "a memory budget is a number from 0 to 1"));
    run_text(":budget 0.5 0.6\n");
    ck_assert(*errors);
    repl.show.safe = true;
    run_text(":budget plot.svg\n");
    ck_assert(strstr(errors, "--safe"));
}
END_TEST

START_TEST(why_refuses_what_it_does_not_know) {
    run_text(":compile f(x)\n");
    run_text(":why %nothere\n");
    ck_assert(strstr(errors, "no %nothere in this entry"));
    ck_assert_int_eq(repl_status(&repl), 3);
}
END_TEST

START_TEST(selections_choose) {
    run_text(":compile f(x)\n:graph joint %relu~1\n");
    ck_assert(strstr(output, "(3 of 4)") && !strstr(output, "%out  "));
    run_text(":graph joint %x..%relu\n");
    ck_assert(strstr(output, "(2 of 4)"));
    run_text(":graph joint %rleu\n");
    ck_assert(strstr(errors, "is it %relu?"));
}
END_TEST

START_TEST(draw_writes_files_and_says_why_not) {
    char *path = arena_printf(arena, "%s/vitrine-test-%d.dot", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (int)getpid());
    run_text(arena_printf(arena, ":compile f(x)\n:draw joint %s\n", path));
    ck_assert_str_eq(errors, "");
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    fclose(file);
    unlink(path);
    run_text(":draw joint /nonexistent/a.svg\n");
    ck_assert(strstr(errors, "cannot write /nonexistent/a.svg: No such file"));
    repl.command_failed = false;
    run_text(":draw joint a.gif\n");
    ck_assert(strstr(errors, "a drawing's name ends in"));
}
END_TEST

START_TEST(summary_has_the_fields) {
    Text text = {0};
    run_text(":compile f(x)\n");
    summary_text(&text, repl.session, arena);
    cJSON *document = cJSON_Parse(text_cstr(&text));
    ck_assert_ptr_nonnull(document);
    ck_assert_int_eq(cJSON_GetObjectItem(document, "graphs")->valueint, 1);
    ck_assert_int_eq(cJSON_GetObjectItem(cJSON_GetObjectItem(document, "frames"), "ok")->valueint, 1);
    cJSON *breaks = cJSON_GetArrayItem(cJSON_GetObjectItem(document, "breaks"), 0);
    ck_assert_int_eq(cJSON_GetObjectItem(breaks, "line")->valueint, 2);
    cJSON *entry = cJSON_GetObjectItem(cJSON_GetObjectItem(document, "compiles"), "0/0");
    ck_assert_str_eq(cJSON_GetObjectItem(entry, "function")->valuestring, "f");
    ck_assert_str_eq(cJSON_GetArrayItem(cJSON_GetObjectItem(entry, "dynamo"), 1)->valuestring, "relu = torch.relu(l_x_)");
    ck_assert_str_eq(cJSON_GetArrayItem(cJSON_GetObjectItem(entry, "guards"), 0)->valuestring, "TENSOR_MATCH: check_tensor(L['x'])");
    ck_assert_str_eq(cJSON_GetArrayItem(cJSON_GetObjectItem(entry, "launches"), 0)->valuestring, "fused_relu_sum");
    cJSON_Delete(document);
    text_free(&text);
}
END_TEST

/* ---- completion ---- */

static void keep_offer(void *state, const char *candidate) { text_printf(state, "%s ", candidate); }

static const char *offers(const char *line, size_t start) {
    Text text = {0};
    complete_line(&repl, line, start, line + start, keep_offer, &text);
    const char *kept = text_in(&text, arena);
    text_free(&text);
    return kept;
}

START_TEST(completion_by_place) {
    run_text(":compile f(x)\n");
    ck_assert_str_eq(offers(":expl", 0), ":explain ");
    ck_assert_str_eq(offers(":graph jo", 7), "joint ");
    ck_assert_str_eq(offers(":g %re", 3), "%relu %relu %relu ");
    ck_assert_str_eq(offers("torch.nn.L", 0), "torch.nn.Linear ");
    ck_assert_str_eq(offers(":explain torch.re", 9), "torch.relu ");
    ck_assert_str_eq(offers(":op su", 4), "sum ");
    ck_assert_str_eq(offers(":help ex", 6), "explain ");
    ck_assert_str_eq(offers(":nosuch x", 8), "");
}
END_TEST

/* ---- tables ---- */

START_TEST(tables_line_up_and_break_long_cells) {
    static const char *const heads[] = {"a", ">n", "text"};
    Table *table = table_new(arena, 3, heads);
    Show show = {.plain = true, .width = 40};
    Text text = {0};
    table_cell(table, "x");
    table_cell(table, "7");
    table_cell(table, "one two three four five six seven");
    table_cell(table, "\xc3\xa9\x1b[1m");
    table_cell(table, "12");
    table_cell(table, "short");
    table_print(&text, &show, table);
    ck_assert_str_eq(text_cstr(&text),
                     "  a          n  text\n"
                     "  x          7  one two three four five\n"
                     "                six seven\n"
                     "  \xc3\xa9\\x1b[1m  12  short\n");
    text_free(&text);
}
END_TEST

START_TEST(units) {
    Show plain = {.plain = true}, show = {0};
    ck_assert_str_eq(show_bytes(arena, 60), "60 B");
    ck_assert_str_eq(show_bytes(arena, 1536), "1.5 KiB");
    ck_assert_str_eq(show_bytes(arena, (int64_t)5 << 30), "5.0 GiB");
    ck_assert_str_eq(show_us(&plain, arena, 3), "--");
    ck_assert_str_eq(show_us(&show, arena, 1234), "1.23 ms");
}
END_TEST

int main(void) {
    const TTest *tests[] = {
        options_in_any_place, options_refused, options_after_two_dashes_are_names, every_frozen_prefix_is_a_prefix, names_unique_prefixes_and_suggestions,
        every_command_helps, statements_run_when_complete, blocks_end_where_the_next_statement_begins, a_blank_line_ends_a_block_only_at_the_prompt,
        a_partial_last_line_still_runs, commands_stand_between_statements_only, echo_shows_lines_before_their_output, comments_with_a_colon_are_commands,
        errors_point_at_the_word, errors_of_comment_commands_point_into_the_file, a_failed_command_ends_a_script, keep_going_goes_on_and_ends_with_3,
        a_program_error_ends_a_script, a_missing_file_is_2, quit_ends_quietly, wrong_use_shows_the_usage, safe_refuses_files, all_commands_as_text,
        all_commands_as_json, json_may_be_asked_for_once, why_says_the_numbers_and_the_policy, why_saved_compares_two_cuts, budgets_are_read_and_refused, why_refuses_what_it_does_not_know, selections_choose,
        draw_writes_files_and_says_why_not, summary_has_the_fields, completion_by_place, tables_line_up_and_break_long_cells, units};
    return UNIT_RUN("repl", tests, open_repl, close_repl);
}
