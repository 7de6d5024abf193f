/* View: what the files that describe stages share. entry_view.c has the table of stages. */
#ifndef VITRINE_VIEW_H
#define VITRINE_VIEW_H
#include "session.h"

/* A stage's function writes the snapshot from the entry or its artifacts; false: the entry has no such stage. */
typedef struct View { Entry *entry; const Artifacts *artifacts; const char *side; Snapshot *snapshot; } View;

bool view_bytecode(View *view);     /* bytecode_view.c */
bool view_fusion(View *view);       /* fusion_view.c */
bool view_schedule(View *view);
bool view_cut(View *view);          /* cut_view.c */
void group_binding_print(Text *text, const Group *group); /* "rows, 256 threads, vectors of 4" */
const Side *view_side(const View *view); /* the side that is asked for, forward when none is named; NULL: it has no plan */
#endif
