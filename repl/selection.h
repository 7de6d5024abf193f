/* Selection: which compile, which side and which part of a stage a command looks at. One grammar for graph and draw:
 *
 *     [0/1]  [0/1]:backward     which compile, which side (backward alone: of the current one)
 *     %relu  %relu~2            a node; with its neighbours up to 2 links away
 *     %relu~3/%mm               the same, but not past %mm
 *     %x..%mean                 all paths between two nodes
 *     k0  g3  buf2              a group's (a kernel's) items, or the item of that name
 *     line:12  mod:layers.0     the items of a source line; those of a module
 *     changed                   what this stage changed
 */
#ifndef VITRINE_REPL_SELECTION_H
#define VITRINE_REPL_SELECTION_H
#include "repl/cmd.h"

typedef enum SelectionKind { SELECT_ALL, SELECT_AROUND, SELECT_PATHS, SELECT_GROUP, SELECT_LINE, SELECT_MODULE, SELECT_CHANGED } SelectionKind;

typedef struct Selection {
    SelectionKind kind;
    const char *entry, *side;      /* NULL: the current one; NULL: not named */
    const char *name, *other;      /* node or group; the end of the paths, or where to stop */
    int number;                    /* radius, or line */
    int word;                      /* where the part is named, for errors; -1: it is not */
} Selection;

/* Could this word be part of a selection (and not the name of a file or stage)? */
bool selection_is_word(const char *word);
/* Reads the words from `first` on; false after command_error. */
bool selection_read(CommandCall *call, int first, int end, Selection *selection);
/* The selected part of a snapshot, or the snapshot itself; NULL after command_error. */
const Snapshot *selection_apply(CommandCall *call, const Snapshot *snapshot, const Selection *selection);
/* The entry that it names, or the current one; NULL after command_error. */
Entry *selection_entry(CommandCall *call, const Selection *selection);
#endif
