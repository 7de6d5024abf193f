/* Loop: what is computed, as loops over buffers; between graphs and kernels. Lowered: one loop a materialized value. Group: loops that
 * become one kernel. Schedule: the groups, in order.
 *
 *     buf2[5*i0 + i1] = max(buf0[5*i0 + i1] + arg1[i1], 0)      axes i0 < 3, i1 < 5, both PARALLEL
 *     buf3[i0] = sum(buf2[5*i0 + i1] for i1)                    axis i1 REDUCE
 *
 * A reduction's result is the value BODY_ROW of the loop's stores. In a group all loops share the group's axes; a loop without REDUCE
 * axes works over all of them or over the rows (the PARALLEL ones) alone.
 * Invariant: a loop stores each element once (a scatter excepted), and reads only what earlier loops, inputs or constants hold. */
#ifndef VITRINE_IR_LOOP_H
#define VITRINE_IR_LOOP_H
#include "ir/body.h"
#include "ir/graph.h"
#include "ir/plan.h"

typedef enum AxisKind { AXIS_PARALLEL, AXIS_REDUCE } AxisKind;
typedef enum AxisBind { BIND_SERIAL, BIND_CPU_THREAD, BIND_VECTOR, BIND_BLOCK, BIND_THREAD } AxisBind;
typedef struct Axis { Dim var, extent; AxisKind kind; AxisBind bind; } Axis;
enum { MAX_AXES = 2 * MAX_RANK };

/* One element read or written, index linear in the buffer's storage. */
typedef struct Access { int buffer; Dim index; bool is_store; bool full /* over the group's columns too */; } Access;
typedef VEC(Access) AccessList;

typedef enum LoopKind { LOOP_COMPUTE, LOOP_SCATTER /* stores where an index says, in order */, LOOP_EXTERN, LOOP_MATMUL } LoopKind;

typedef struct Store { int buffer; Dim index; const Body *value; bool accumulate /* SCATTER: adds */; } Store;

typedef struct Loop {
    int id;                         /* position in Lowered.loops: a topological order */
    LoopKind kind;
    const Node *node;               /* the node whose value it materializes */
    Axis axes[MAX_AXES]; int axis_count; /* COMPUTE, SCATTER: in the logical order of the (reduction's input's) dims; extents of 1 left out */
    bool reduces; Reducer reducer; DType accumulate; const Body *reduced; Dim position /* ARGMAX, ARGMIN: index among the reduced elements */;
    Store stores[2]; int store_count; /* EXTERN, MATMUL: buffers written, without index */
    AccessList accesses;            /* EXTERN: index 0 for each buffer */
    const int *nodes; int node_count; /* ids of graph nodes computed, inlined ones included */
    double flops;                   /* an iteration */
    bool split;                     /* first stage of a reduction in two */
    /* EXTERN */
    const Op *op; const Arg *args; int nargs; const Meta *out_metas; const int *outs; int nouts; /* ARG_TENSOR.owner is map_key(buffer + 1) */
    MatmulCall matmul;
} Loop;

typedef struct LoopBuffer {
    Buffer buffer;                  /* what the plan gets */
    int writer;                     /* loop that writes it (the last one, for a scatter's); -1: input or constant */
    bool is_output;                 /* given to the caller */
    int mutates;                    /* index of the input that takes this value at the end, or -1 */
    int placed_in;                  /* buffer in whose memory it lives (a mutated input), or -1 */
} LoopBuffer;

/* At the end of the plan: buffer `to` (a mutated input) takes the value of `from`. */
typedef struct FinalCopy { int from, to; Meta from_meta, to_meta; } FinalCopy;

typedef struct Lowered {
    Arena *arena; SymTable *syms;
    const Graph *graph;
    Device device;
    BodyBuilder *builder;
    Map *nodes;                     /* node id + 1 -> Node* */
    VEC(LoopBuffer) buffers;
    VEC(Loop *) loops;
    VEC(PlanOutput) outputs;
    VEC(FinalCopy) copies;
    int allocated_outputs;
    int random_draws;
    Dim seed, offset;               /* SYM_SIZE variables, when random_draws > 0 */
} Lowered;

/* ---- groups ---- */
typedef enum ItemKind { ITEM_REDUCE, ITEM_STORE } ItemKind;
typedef struct Item {
    ItemKind kind;
    const Body *value;
    Reducer reducer; DType accumulate; Dim position; int reduction; /* REDUCE: its number, for BODY_ROW */
    int buffer; Dim index; bool adds; /* STORE */
    bool full;                      /* over rows and columns; otherwise once a row */
    int depth;                      /* STORE, REDUCE: the pass over the columns in which it happens (full), or after which (not full) */
    int loop;
} Item;

/* How a group is bound to a machine. */
typedef enum Pattern { PATTERN_POINTWISE, PATTERN_TILED /* pointwise between two layouts */, PATTERN_ROW /* columns are contiguous */, PATTERN_COLUMN /* rows are contiguous */,
                       PATTERN_SCATTER, PATTERN_EXTERN } Pattern;
typedef struct Binding {
    Pattern pattern;
    bool parallel; int collapse;    /* CPU: OpenMP over how many outer loops */
    int lanes;                      /* CPU: accumulators of a reduction; elements of a block of rows (COLUMN) */
    int threads, rows_per_block, vector, unroll; /* CUDA; unroll: vectors a thread keeps of its row, 0: looped */
    bool shared_row;                /* ROW, looped: what later passes need again is kept in shared memory */
    bool wide_index;                /* 64-bit indices */
    int tile_axis;                  /* TILED: the axis along which the other layout is contiguous */
} Binding;

typedef struct Member { Loop *loop; bool full; Dim to[MAX_AXES]; } Member; /* loop's axis k is to[k] over the group's axes */

typedef struct Group {
    int id;                         /* number among the schedule's groups, in order */
    VEC(Member) members;
    Axis axes[MAX_AXES]; int axis_count; int rows; /* PARALLEL axes first: `rows` of them */
    int logical[MAX_AXES];          /* axes in the order of the tensors' dims */
    AccessList accesses;
    int rank, mark;                 /* while fusing: a topological order of groups; the last search that met it */
    /* made by group_build */
    BodyBuilder *builder;
    VEC(Item) items; int reductions, passes;
    const char *name;               /* "fused_add_relu_0" */
    const int *nodes; int node_count;
    double flops; int64_t bytes_read, bytes_written;
    Binding binding;
} Group;

typedef struct Schedule {
    Lowered *lowered;
    VEC(Group *) groups;            /* in order of launch */
    int64_t block_bytes;
    int64_t saved_bytes;            /* traffic that fusion took away */
} Schedule;

static inline bool group_is_extern(const Group *g) { return g->members.at[0].loop->kind == LOOP_EXTERN || g->members.at[0].loop->kind == LOOP_MATMUL; }

/* Reads and stores of a loop, from its bodies (COMPUTE, SCATTER). */
void loop_collect_accesses(Loop *loop, Arena *arena);
Dim axes_volume(SymTable *syms, const Axis *axes, int count);    /* product of extents */
int64_t hint_volume(const Axis *axes, int count);                 /* under the hints of symbolic extents */
int64_t buffer_hint_bytes(const LoopBuffer *buffer);
/* Loops as text, one assignment an element. */
void loop_print(Text *text, const Lowered *lowered, const Loop *loop);
void lowered_print(Text *text, const Lowered *lowered);
void group_print(Text *text, const Schedule *schedule, const Group *group);
bool lowered_verify(const Lowered *lowered, const char **error);  /* each read written before; indices in range where that is known; axes used are the loop's */
bool schedule_verify(const Schedule *schedule, const char **error);
#endif
