/* Stage: a stage named in a command, found and printed. */
#ifndef VITRINE_REPL_STAGE_H
#define VITRINE_REPL_STAGE_H
#include "repl/selection.h"

/* The stage that the first word names, by its name or a unique beginning; a compile ([0/1]) may stand before it and is then put
 * behind. NULL after command_error. */
const char *stage_read(CommandCall *call);
/* The stage that word `word` names; NULL after command_error. */
const char *stage_word(CommandCall *call, int word);
/* Its snapshot of one side; NULL after command_error. */
const Snapshot *stage_snapshot(CommandCall *call, Entry *entry, const char *stage, const char *side);
/* Prints the selected part: listing or items as text, or JSON. Stages that exist once a side are printed for both, where none is
 * named. False after command_error. */
bool stage_print(CommandCall *call, const char *stage, const Selection *selection);
/* Does the stage exist for forward and backward each, and does this entry have both? */
bool stage_has_sides(Entry *entry, const char *stage);
#endif
