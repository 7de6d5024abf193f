/* Gen CUDA: what its files share. gen_cuda.c: the frame, pointwise and scatter kernels; gen_cuda_reduce.c: reductions. */
#ifndef VITRINE_INDUCTOR_GEN_CUDA_H
#define VITRINE_INDUCTOR_GEN_CUDA_H
#include "inductor/gen.h"

typedef struct CudaState {
    int vector;                      /* elements a thread takes at once along the vector axis */
    int vector_place;                /* that axis's place in the group */
    Map *packs;                      /* load's value -> text of its element in the pack */
    /* ROW: values kept in registers from one pass to a later one */
    Map *kept;                       /* value -> name of its array */
    Map *cached;                     /* load -> its array in shared memory (shared_row) */
    Map *filled;                     /* those that an earlier pass has filled */
} CudaState;

static inline CudaState *cuda_state(Emitter *e) { return e->state; }
/* Axes first..last of the group from a flat index named `flat`. */
void emit_axes_of(Emitter *e, const char *flat, int first, int last);
/* Packs for the loads below these values that lie along the vector axis; `wanted` says which items. */
void emit_packs(Emitter *e, bool (*wanted)(const Item *item, int pass), int pass);
const char *pack_element(Emitter *e, const Body *load);
bool is_packed(Emitter *e, Dim index);                                 /* stride 1 along the vector axis, the rest a multiple of the vector */
bool is_pack_store(Emitter *e, const Item *item);
const char *pack_address(Emitter *e, Dim index, int buffer);          /* of the vector's first element */
const char *pack_type(Emitter *e, int buffer);
void set_grid(Emitter *e, Dim blocks, int threads_x, int threads_y);
void generate_cuda_rows(Emitter *e);
void generate_cuda_columns(Emitter *e);
void generate_cuda_tiles(Emitter *e);
/* gen_cuda_reduce.c */
bool reduces_in_pass(const Item *item, int pass);
bool pass_has_reduction(const Group *g, int pass);
int group_last_depth(const Group *g);
/* Accumulator `a` (and position `at`) takes over or adds (b, b_at). */
void emit_join(Emitter *e, const Item *item, const char *a, const char *at, const char *b, const char *b_at);
#endif
