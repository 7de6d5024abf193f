/* Prompt: the interactive loop.
 *
 *     > def f(x):
 *     ...     return x + 1
 *     ...                      an empty line ends the block
 *     > :explain f(x)
 *
 * In: what a person types, pastes or recalls, whole definitions at once. Out: it is run; errors do not end the loop.
 * Ctrl-C drops the line being typed, or stops what runs; Ctrl-D ends. */
#include "repl/cmd.h"
#include "repl/edit.h"
#include "repl/feed.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The user's own commands, run before the first prompt. */
static void run_init(Repl *repl) {
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    const char *path = config && *config ? arena_printf(repl->arena, "%s/vitrine/init", config)
                       : home && *home   ? arena_printf(repl->arena, "%s/.config/vitrine/init", home)
                                         : NULL;
    FILE *file = path && !repl->options->safe ? fopen(path, "r") : NULL;
    if (!file) return;
    Feed feed = {.repl = repl, .name = path};
    char *buffer = NULL;
    size_t room = 0;
    for (ssize_t length; (length = getline(&buffer, &room, file)) >= 0;) {
        buffer[strcspn(buffer, "\r\n")] = 0;
        if (!feed_line(&feed, buffer)) break;
    }
    feed_end(&feed);
    free(buffer);
    fclose(file);
}

/* One input, which may hold many lines when it was pasted or recalled; then its last block needs no empty line. */
static bool run_input(Feed *feed, const char *input) {
    bool several = strchr(input, '\n') != NULL;
    for (const char *at = input;; at++) {
        size_t length = strcspn(at, "\n");
        if (!feed_line(feed, arena_strndup(feed->repl->arena, at, length))) return false;
        at += length;
        if (!*at) break;
    }
    if (!several || !feed_is_open(feed) || session_input_state(feed->pending.data) != INPUT_OPEN_BLOCK) return true;
    return feed_line(feed, "");
}

static void remember(Text *item, const char *input, bool open) {
    if (item->length) text_char(item, '\n');
    text_put(item, input);
    if (open) return;
    while (item->length && strchr(" \t\n", item->data[item->length - 1])) item->data[--item->length] = 0;
    edit_remember(text_cstr(item));
    text_clear(item);
}

static bool run_line(Repl *repl, Feed *feed, Text *item, const char *line) {
    bool empty = !line[strspn(line, " \t")] && !feed_is_open(feed);
    if (empty && repl->last_step) line = repl->last_step;
    repl->progress = progress_start();
    bool more = run_input(feed, line);
    progress_stop(repl->progress);
    repl->progress = NULL;
    if (!empty) remember(item, line, feed_is_open(feed));
    if (repl->interrupted) {
        if (line[strspn(line, " \t")] == ':') show_note("interrupted\n"); /* of a program, its traceback says so */
        feed_drop(feed);
    }
    repl->interrupted = false;
    *repl->interrupt = 0;
    return more;
}

void repl_prompt(Repl *repl) {
    Feed feed = {.repl = repl, .name = "<stdin>", .values = true, .blank_ends = true};
    Text item = {0};
    bool more = true;
    repl->interactive = true;
    edit_open(repl);
    run_init(repl);
    while (more && !repl->quit) {
        if (!feed_is_open(&feed)) session_collect(repl->session);
        *repl->interrupt = 0;
        char *line = edit_line(feed_is_open(&feed) ? "... " : "> ");
        if (!line && edit_was_interrupted()) {
            feed_drop(&feed);
            text_clear(&item);
            continue;
        }
        if (!line) break;
        more = run_line(repl, &feed, &item, line);
        free(line);
        fflush(stdout);
    }
    edit_close();
    text_free(&feed.pending);
    text_free(&item);
}
