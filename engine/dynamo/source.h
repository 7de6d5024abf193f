/* Source: where a value of a frame comes from: a path from the frame's locals or globals. Hash-consed in a compile, so equal means same pointer.
 *
 *     L['self'].layers[0].weight  =  ITEM(ATTR(ITEM(ATTR(LOCAL self, layers)...
 */
#ifndef VITRINE_DYNAMO_SOURCE_H
#define VITRINE_DYNAMO_SOURCE_H
#include "base/arena.h"
#include "vm/value.h"

typedef enum SourceKind { SOURCE_LOCAL /* L['x'] */, SOURCE_GLOBAL /* G['x'] */, SOURCE_ATTR, SOURCE_ITEM /* by int */, SOURCE_KEY /* by dict key */, SOURCE_CELL /* closure cell of a function, by index */,
                          SOURCE_DEFAULT /* default argument, by index */, SOURCE_SELF /* of a bound method */, SOURCE_FUNC /* of a bound method */, SOURCE_GRAD, SOURCE_SUBJECT /* what an iterator goes over */, SOURCE_TYPE, SOURCE_AS_TENSOR /* a number as a tensor; index: device kind, its index << 4, the tensor's dtype << 12 */, SOURCE_SCALAR /* the int that a tensor holds */, SOURCE_UNBACKED /* the i-th scalar tensor of the graph */, SOURCE_PLUS_ZERO /* a float, with 0.0 added */, SOURCE_RANDOM /* the i-th number drawn by the rewritten code */, SOURCE_NUMBER /* the i-th number that a node of the graph computes: a constant of the compile */, SOURCE_COMPUTED /* a number that follows from symbolic sizes: computed.h */, SOURCE_GLOBAL_STATE } SourceKind;

typedef struct Source Source;
struct Source {
    SourceKind kind;
    const Source *base;      /* NULL for LOCAL, GLOBAL, GLOBAL_STATE */
    const char *name;        /* LOCAL, GLOBAL, ATTR; KEY, COMPUTED: printed form */
    int index;               /* ITEM, CELL, DEFAULT; LOCAL: slot */
    Value key;               /* KEY; GLOBAL: the namespace dict when it is another module's (borrowed: the code keeps it) */
    int id;
    const struct Computed *computed; /* COMPUTED */
};
typedef struct SourceTable SourceTable;
SourceTable *source_table_new(Arena *arena);
const Source *source_make(SourceTable *table, SourceKind kind, const Source *base, const char *name, int index, Value key);
int source_count(const SourceTable *table);
void source_print(Text *text, const Source *source);                    /* L['self'].layers[0].weight */
#endif
