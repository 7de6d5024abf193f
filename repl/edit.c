/* Edit: readline's callback interface around poll, so that Ctrl-C gives the prompt back at once.
 *
 * History file: one item a line, newlines as \n and backslashes doubled, in $XDG_STATE_HOME/vitrine/history.
 * Invariant: everything static here belongs to readline's one and only line. */
#include "repl/edit.h"
#include "repl/complete.h"
#include <errno.h>
#include <poll.h>
#include <readline/history.h>
#include <readline/readline.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HISTORY_ITEMS = 2000 };

static struct Editor {
    Repl *repl;
    char *line;
    bool done, interrupted;
    char **candidates;
    int count, room;
} editor;

/* ---- completion ---- */

static void offer(void *state, const char *candidate) {
    (void)state;
    if (editor.count == editor.room) editor.candidates = vec_grow(editor.candidates, &editor.room, sizeof *editor.candidates);
    editor.candidates[editor.count++] = strdup(candidate);
}

static char *next_candidate(const char *word, int state) {
    static int next;
    (void)word;
    if (state == 0) next = 0;
    return next < editor.count ? strdup(editor.candidates[next++]) : NULL;
}

static void drop_candidates(void) {
    for (int i = 0; i < editor.count; i++) free(editor.candidates[i]);
    free(editor.candidates);
    editor.candidates = NULL;
    editor.count = editor.room = 0;
}

static char **complete_word(const char *word, int start, int end) {
    (void)end;
    drop_candidates();
    bool files = complete_line(editor.repl, rl_line_buffer, (size_t)start, word, offer, NULL);
    rl_attempted_completion_over = !files;
    rl_completion_append_character = editor.count == 1 && strchr("(.=", editor.candidates[0][strlen(editor.candidates[0]) - 1]) ? 0 : ' ';
    return editor.count ? rl_completion_matches(word, next_candidate) : NULL;
}

/* Tab indents where nothing but blanks stand before it. */
static int tab_key(int count, int key) {
    int i = rl_point;
    while (i > 0 && rl_line_buffer[i - 1] != '\n' && strchr(" \t", rl_line_buffer[i - 1])) i--;
    if (i == 0 || rl_line_buffer[i - 1] == '\n') return rl_insert_text("    ") < 0;
    return rl_complete(count, key);
}

/* ---- history ---- */

static char *history_path(void) {
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (editor.repl->options->safe) return NULL;
    if (state && *state) return arena_printf(editor.repl->arena, "%s/vitrine/history", state);
    return home && *home ? arena_printf(editor.repl->arena, "%s/.local/state/vitrine/history", home) : NULL;
}

static void make_parents(char *path) {
    for (char *at = path + 1; (at = strchr(at, '/')); at++) {
        *at = 0;
        mkdir(path, 0700);
        *at = '/';
    }
}

static void unescape(char *line) {
    char *to = line;
    for (char *at = line; *at; at++) {
        if (*at == '\\' && at[1]) *to++ = *++at == 'n' ? '\n' : *at;
        else *to++ = *at;
    }
    *to = 0;
}

static void read_items(void) {
    char *path = history_path(), *line = NULL;
    size_t room = 0;
    FILE *file = path ? fopen(path, "r") : NULL;
    if (!file) return;
    while (getline(&line, &room, file) >= 0) {
        line[strcspn(line, "\n")] = 0;
        unescape(line);
        if (*line) add_history(line);
    }
    free(line);
    fclose(file);
}

static void write_item(FILE *file, const char *item) {
    for (const char *at = item; *at; at++) {
        if (*at == '\n') fputs("\\n", file);
        else if (*at == '\\') fputs("\\\\", file);
        else fputc(*at, file);
    }
    fputc('\n', file);
}

/* Beside the file first: another vitrine may be reading it. */
static void write_items(void) {
    char *path = history_path();
    HIST_ENTRY **items = history_list();
    if (!path || !items) return;
    make_parents(path);
    char *beside = arena_printf(editor.repl->arena, "%s.%ld", path, (long)getpid());
    FILE *file = fopen(beside, "w");
    if (!file) return;
    for (int i = 0; items[i]; i++) write_item(file, items[i]->line);
    if (fclose(file) != 0 || rename(beside, path) != 0) unlink(beside);
}

void edit_remember(const char *item) {
    HIST_ENTRY *last = history_length ? history_get(history_base + history_length - 1) : NULL;
    if (*item && !(last && strcmp(last->line, item) == 0)) add_history(item);
}

/* ---- lines ---- */

static void take_line(char *line) {
    editor.line = line;
    editor.done = true;
    rl_callback_handler_remove();
}

static void drop_line(void) {
    rl_free_line_state();
    rl_callback_sigcleanup();
    rl_callback_handler_remove();
    fputs("\n", stdout);
    editor.done = editor.interrupted = true;
}

char *edit_line(const char *prompt) {
    editor.line = NULL;
    editor.done = editor.interrupted = false;
    rl_callback_handler_install(prompt, take_line);
    while (!editor.done) {
        struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
        int ready = poll(&input, 1, -1);
        if (*editor.repl->interrupt) drop_line();
        else if (ready > 0) rl_callback_read_char();
        else if (ready < 0 && errno != EINTR) take_line(NULL);
    }
    *editor.repl->interrupt = 0;
    return editor.line;
}

bool edit_was_interrupted(void) { return editor.interrupted; }

void edit_open(Repl *repl) {
    editor = (struct Editor){.repl = repl};
    rl_readline_name = "vitrine";
    rl_catch_signals = 0;
    rl_change_environment = 0;
    rl_attempted_completion_function = complete_word;
    rl_completer_word_break_characters = " \t\n\"'`@$><=;|&{}()[],+-*/^!";
    rl_basic_quote_characters = "\"'";
    rl_variable_bind("enable-bracketed-paste", "on");
    rl_variable_bind("colored-completion-prefix", "on");
    rl_bind_keyseq("\\e[A", rl_history_search_backward);
    rl_bind_keyseq("\\e[B", rl_history_search_forward);
    rl_bind_key('\t', tab_key);
    using_history();
    stifle_history(HISTORY_ITEMS);
    read_items();
}

void edit_close(void) {
    write_items();
    drop_candidates();
    editor.repl = NULL;
}
