/* Progress: see progress.h. A thread of its own, which takes no signals. */
#include "repl/progress.h"
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { DELAY_MS = 500, TICK_MS = 200 };

struct Progress {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool stopping, quiet, shown;
};

static void wait_ms(Progress *progress, int ms) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += ms * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    while (!progress->stopping && pthread_cond_timedwait(&progress->wake, &progress->lock, &until) == 0) {}
}

static void show(Progress *progress, int ms) {
    char text[64];
    int length = snprintf(text, sizeof text, "\r\x1b[90m%d.%d s (Ctrl-C stops)\x1b[0m", ms / 1000, ms / 100 % 10);
    progress->shown = write(STDERR_FILENO, text, (size_t)length) > 0;
}

static void clear(Progress *progress) {
    if (progress->shown && write(STDERR_FILENO, "\r\x1b[K", 4) < 0) progress->quiet = true;
    progress->shown = false;
}

static void *run(void *state) {
    Progress *progress = state;
    int ms = DELAY_MS;
    pthread_mutex_lock(&progress->lock);
    for (wait_ms(progress, DELAY_MS); !progress->stopping; wait_ms(progress, TICK_MS), ms += TICK_MS)
        if (!progress->quiet) show(progress, ms);
    pthread_mutex_unlock(&progress->lock);
    return NULL;
}

Progress *progress_start(void) {
    Progress *progress = calloc(1, sizeof *progress);
    sigset_t all, before;
    if (!progress) return NULL;
    pthread_mutex_init(&progress->lock, NULL);
    pthread_cond_init(&progress->wake, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&progress->thread, NULL, run, progress) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started) return progress;
    free(progress);
    return NULL;
}

void progress_quiet(Progress *progress) {
    if (!progress) return;
    pthread_mutex_lock(&progress->lock);
    clear(progress);
    progress->quiet = true;
    pthread_mutex_unlock(&progress->lock);
}

void progress_stop(Progress *progress) {
    if (!progress) return;
    pthread_mutex_lock(&progress->lock);
    clear(progress);
    progress->stopping = true;
    pthread_cond_signal(&progress->wake);
    pthread_mutex_unlock(&progress->lock);
    pthread_join(progress->thread, NULL);
    free(progress);
}
