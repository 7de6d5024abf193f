/* Process: runs a program without a shell and keeps what it printed.
 *
 * In: arguments, the first being the program (found in PATH). Out: exit status and output.
 *
 *     ProcessResult result;
 *     if (!process_run((const char *[]){"cc", "--version", NULL}, NULL, &result)) ...
 *     free(result.output);
 *
 * The child has a process group of its own, so that Ctrl-C at the terminal reaches us, not it: we end the group when *interrupt is set.
 * Invariant: when process_run returns the child is gone. */
#include "run/private.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { OUTPUT_LIMIT = 64 << 20 };

static int spawn_child(const char *const *arguments, int output, pid_t *child) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t defaults, none;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, 1);
    posix_spawn_file_actions_adddup2(&actions, output, 2);
    posix_spawnattr_init(&attributes);
    sigemptyset(&none);
    sigfillset(&defaults);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    int failed = posix_spawnp(child, arguments[0], &actions, &attributes, (char *const *)(uintptr_t)arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

/* Reads until the other end is closed, looking at the interrupt ten times a second. */
static void read_output(int from, pid_t child, volatile int *interrupt, ProcessResult *result, Text *text) {
    char piece[4096];
    for (;;) {
        struct pollfd wait = {.fd = from, .events = POLLIN};
        int ready = poll(&wait, 1, interrupt ? 100 : -1);
        if (interrupt && *interrupt && !result->interrupted) {
            result->interrupted = true;
            kill(-child, SIGKILL);
        }
        if (ready <= 0) continue;
        ssize_t got = read(from, piece, sizeof piece);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return;
        if (text->length < OUTPUT_LIMIT) text_put_n(text, piece, (size_t)got);
    }
}

bool process_run(const char *const *arguments, volatile int *interrupt, ProcessResult *result) {
    memset(result, 0, sizeof *result);
    int ends[2];
    pid_t child;
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    int failed = spawn_child(arguments, ends[1], &child);
    close(ends[1]);
    if (failed) {
        close(ends[0]);
        result->output = strdup(strerror(failed));
        return false;
    }
    result->started = true;
    Text text = {0};
    read_output(ends[0], child, interrupt, result, &text);
    close(ends[0]);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    result->bytes = (int64_t)text.length;
    result->output = text.data ? text.data : strdup("");
    result->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + (WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    return status == 0 && !result->interrupted;
}
