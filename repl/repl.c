/* Repl: runs files, texts and input, keeps what the exit status will be.
 *
 * In: sources of program text. Out: the session's state, and a status: 0, 1 a program error, 2 a file that cannot be opened,
 * 3 a failed command, 130 interrupted, 141 nobody reads the output any more; what sys.exit was given. */
#include "repl/cmd.h"
#include "repl/feed.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void repl_note_status(Repl *repl, int run_status) {
    bool stopped = repl->quit || (repl->command_failed && repl_ends(repl)); /* by a command of the program: no error of its own */
    if (run_status == RUN_ERROR && !stopped) repl->program_failed = true;
    if (run_status == RUN_INTERRUPTED) repl->interrupted = true;
    if (run_status == RUN_EXIT) {
        repl->exited = true;
        repl->exit_code = session_exit_code(repl->session);
        if (repl->exit_code) repl->program_failed = true;
    }
    if (ferror(stdout)) repl_output_failed(repl, 0);
}

/* A closed pipe (`| head`) has seen enough; anything else is an error that the end of the run tells, once. */
void repl_output_failed(Repl *repl, int reason) {
    if (repl->output_gone) return;
    struct pollfd reader = {.fd = STDOUT_FILENO};
    bool gone = poll(&reader, 1, 0) > 0 && reader.revents & (POLLERR | POLLHUP);
    if (!gone && reason != EPIPE) repl->output_error = reason ? reason : EIO;
    repl->output_gone = true;
}

bool repl_ends(const Repl *repl) {
    if (repl->quit || repl->output_gone) return true;
    if (repl->interactive) return false;
    return repl->program_failed || repl->interrupted || repl->file_missing || (repl->command_failed && !repl->options->keep_going);
}

int repl_status(const Repl *repl) {
    if (repl->output_gone) return repl->output_error ? 1 : 141;
    if (repl->quit && repl->exited) return repl->exit_code;
    if (repl->interactive) return 0;
    if (repl->interrupted) return 130;
    if (repl->file_missing) return 2;
    if (repl->program_failed) return repl->exited ? repl->exit_code : 1;
    return repl->command_failed ? 3 : 0;
}

static int on_command(void *state, const char *line, Span span) {
    Repl *repl = state;
    command_run(repl, line, span);
    return repl_ends(repl);
}

bool repl_file(Repl *repl, const char *path) {
    int open_error = 0;
    int status = session_run_file(repl->session, path, on_command, repl, &open_error);
    if (open_error) {
        show_note(arena_printf(repl->arena, "vitrine: cannot read %s: %s\n", path, strerror(open_error)));
        repl->file_missing = true;
    } else {
        repl_note_status(repl, status);
    }
    return !repl_ends(repl);
}

static Feed feed_open(Repl *repl, const char *name) {
    return (Feed){.repl = repl, .name = name, .values = repl->options->echo, .echo = repl->options->echo};
}

bool repl_text(Repl *repl, const char *text, const char *name) {
    Feed feed = feed_open(repl, name);
    bool more = true;
    while (more && *text) {
        size_t length = strcspn(text, "\n");
        more = feed_line(&feed, arena_strndup(repl->arena, text, length));
        text += length + (text[length] == '\n');
    }
    if (more) return feed_end(&feed);
    text_free(&feed.pending);
    return false;
}

/* A line of any length, without its newline; NULL at the end. NULs would end the text early: they are refused. */
static char *read_line(FILE *input, char **buffer, size_t *room, bool *has_nul) {
    ssize_t length = getline(buffer, room, input);
    if (length < 0) return NULL;
    *has_nul = memchr(*buffer, 0, (size_t)length) != NULL;
    if (length > 0 && (*buffer)[length - 1] == '\n') (*buffer)[--length] = 0;
    if (length > 0 && (*buffer)[length - 1] == '\r') (*buffer)[--length] = 0;
    return *buffer;
}

bool repl_input(Repl *repl, int descriptor) {
    Feed feed = feed_open(repl, "<stdin>");
    FILE *input = fdopen(descriptor, "r");
    char *buffer = NULL, *line;
    size_t room = 0;
    bool more = input != NULL, has_nul = false;
    while (more && (line = read_line(input, &buffer, &room, &has_nul))) {
        if (has_nul) {
            show_note(arena_printf(repl->arena, "<stdin>:%d:1: error: the line holds a NUL byte\n", feed.line + 1));
            repl->program_failed = true;
        }
        more = !has_nul && feed_line(&feed, line);
        if (!feed_is_open(&feed)) session_collect(repl->session);
    }
    free(buffer);
    if (more) return feed_end(&feed);
    text_free(&feed.pending);
    return false;
}
