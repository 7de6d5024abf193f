/* Dot: the door to Graphviz. dot.c is the only file that sees cgraph and gvc. */
#ifndef VITRINE_VIZ_DOT_H
#define VITRINE_VIZ_DOT_H
#include "viz/viz.h"

void dot_text(Text *text, const Snapshot *snapshot);               /* no layout, the same bytes on every machine */
/* Lays out and renders ("svg", "png", "pdf") in a child process; false with *error when it failed or took longer than limit_ms. */
bool dot_render(Text *bytes, const Snapshot *snapshot, const char *format, int limit_ms, volatile int *interrupt, const char **error);
void dot_version(Text *text);
#endif
