/* Progress: a clock on the terminal while something runs for longer than half a second.
 *
 *     Progress *progress = progress_start();   // NULL: no thread could be had, and nothing is shown
 *     ... run ...                              // output: progress_quiet(progress) first
 *     progress_stop(progress);
 *
 * Invariant: it never writes once there was output, so that it cannot mix with it. */
#ifndef VITRINE_REPL_PROGRESS_H
#define VITRINE_REPL_PROGRESS_H

typedef struct Progress Progress;
Progress *progress_start(void);
void progress_quiet(Progress *progress); /* takes the clock away for good; NULL is fine */
void progress_stop(Progress *progress);
#endif
