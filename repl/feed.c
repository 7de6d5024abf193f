/* Feed: lines in, statements and commands run.
 *
 *     > def f(x):           pending
 *     >     return x + 1    pending
 *     > :explain f(x)       the def is run, then the command
 *     > y = f(            pending
 *     > 3)                  run
 *
 * Which text is a statement is the language's business (session_next_statement); here is only when to ask. */
#include "repl/feed.h"
#include "repl/cmd.h"
#include <stdio.h>
#include <string.h>

bool feed_is_open(const Feed *feed) { return feed->pending.length > 0; }

void feed_drop(Feed *feed) { text_clear(&feed->pending); }

static int on_command(void *state, const char *line, Span span) {
    Repl *repl = state;
    command_run(repl, line, span);
    return repl_ends(repl);
}

/* Runs the first `length` bytes of what is pending and drops them. */
static bool run_pending(Feed *feed, size_t length) {
    Repl *repl = feed->repl;
    char *text = arena_strndup(repl->arena, feed->pending.data, length);
    int first_line = feed->first_line;
    for (size_t i = 0; i < length; i++) feed->first_line += text[i] == '\n';
    Text rest = {0};
    text_put(&rest, feed->pending.data + length);
    text_free(&feed->pending);
    feed->pending = rest;
    int status = session_run_text(repl->session, text, feed->name, first_line, feed->values, on_command, repl);
    repl_note_status(repl, status);
    if (status == RUN_EXIT) repl->quit = true; /* it ends what is read, at the prompt too */
    return !repl_ends(repl);
}

static bool run_all(Feed *feed) {
    bool blank = !feed->pending.length || feed->pending.data[strspn(feed->pending.data, " \t\r\n")] == 0;
    if (blank) {
        feed_drop(feed);
        return true;
    }
    return run_pending(feed, feed->pending.length);
}

static bool starts_with_word(const char *line, const char *word) {
    size_t length = strlen(word);
    char next = strncmp(line, word, length) == 0 ? line[length] : 'x';
    return !(next == '_' || (next >= '0' && next <= '9') || (next >= 'A' && next <= 'Z') || (next >= 'a' && next <= 'z'));
}

static bool ends_in_decorator(const char *pending) {
    const char *last = pending;
    for (const char *at = pending; (at = strchr(at, '\n')) && at[1]; last = ++at) {}
    return *last == '@';
}

/* Does this line begin a statement of its own after an open block? Then the block can be run before the line is echoed. */
static bool ends_block(const Feed *feed, const char *line) {
    static const char *const continues[] = {"else", "elif", "except", "finally"};
    if (!*line || strchr(" \t#\r", *line) || session_input_state(feed->pending.data) != INPUT_OPEN_BLOCK) return false;
    for (size_t i = 0; i < sizeof continues / sizeof *continues; i++)
        if (starts_with_word(line, continues[i])) return false;
    return !ends_in_decorator(feed->pending.data);
}

static bool inside_text(const Feed *feed) {
    int state = feed->pending.length ? session_input_state(feed->pending.data) : INPUT_EMPTY;
    return state == INPUT_OPEN_BRACKET || state == INPUT_OPEN_STRING;
}

static bool run_command_line(Feed *feed, const char *line) {
    SourceFile *file = source_new(feed->repl->arena, feed->name, line, strlen(line), feed->line);
    command_run(feed->repl, file->text, (Span){file, 0, file->length});
    return !repl_ends(feed->repl);
}

static bool run_complete(Feed *feed) {
    for (size_t length; feed->pending.length && (length = session_next_statement(feed->pending.data, false)) > 0;)
        if (!run_pending(feed, length)) return false;
    return true;
}

static void echo(const Feed *feed, const char *line) {
    if (!feed->echo) return;
    fputs("> ", stdout);
    fputs(line, stdout);
    fputc('\n', stdout);
}

bool feed_line(Feed *feed, const char *line) {
    bool is_command = line[0] == ':' && !inside_text(feed), blank = !line[strspn(line, " \t\r")];
    if (feed->pending.length && (is_command || ends_block(feed, line) || (blank && feed->blank_ends && !inside_text(feed))))
        if (!run_all(feed)) return false;
    echo(feed, line);
    feed->line++;
    if (is_command) return run_command_line(feed, line);
    if (blank && !feed->pending.length) return true;
    if (!feed->pending.length) feed->first_line = feed->line;
    text_put(&feed->pending, line);
    text_char(&feed->pending, '\n');
    return run_complete(feed);
}

bool feed_end(Feed *feed) {
    bool more = run_complete(feed) && run_all(feed);
    text_free(&feed->pending);
    return more;
}
