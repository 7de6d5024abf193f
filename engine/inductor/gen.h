/* Gen: what the writers of kernels share. In: a bound group. Out: a Kernel.
 *
 * gen_common.c: names, scopes, values; gen_c.c, gen_c_reduce.c: C with OpenMP; gen_cuda*.c: CUDA.
 *
 * A kernel is a nest of loops; each value is computed at the level of the innermost axis that it uses, once. A level is the number of loops
 * around it: 0 outside of all.
 * Invariant: names come from numbers only (p0, i1, t7): no text of the user gets into a kernel but through text_identifier. */
#ifndef VITRINE_INDUCTOR_GEN_H
#define VITRINE_INDUCTOR_GEN_H
#include "inductor/inductor.h"

typedef struct Emitter {
    Compile *c; const Lowered *l; const Group *g;
    Arena *arena;                   /* scratch, freed with the emitter */
    ScalarTarget target;
    Text text;
    Kernel *kernel;
    const char *index_type;         /* "long" or "int" */
    int *buffers; int buffer_count; /* homes, by pointer number */
    Dim *sizes; int size_count;     /* SYM_SIZE variables, by parameter */
    const char **names;             /* by value id: how it is written in the open scopes; NULL: not there */
    VEC(int) scope;                 /* ids named, in order, for closing */
    int *levels;                    /* by value id: -1 not yet known */
    int *depths;
    const char **axis_names;        /* by axis of the group */
    int *axis_level;                /* by axis: its loop's level */
    int row_level;                  /* level at which a reduction's result stands */
    const char **row_names;         /* by reduction */
    bool uses_random;
    bool quick_division;            /* CUDA: results are rounded to 16 bits, a quotient may be off by 2 units of float32's last place */
    int lines; size_t counted;      /* lines of text[0..counted) */
    /* CUDA vectors: loads along the vector axis come from packs */
    Dim vector_axis; const char *lane;
    const char *(*load_name)(struct Emitter *e, const Body *load); /* text of a load kept elsewhere, or NULL */
    void *state;
} Emitter;

/* A kernel, and what a launch of it takes. */
typedef struct Made { Kernel *kernel; const int *buffers; const Dim *sizes; } Made;

Emitter *emitter_new(Compile *c, const Lowered *l, const Group *g, ScalarTarget target);
Made emitter_take(Emitter *e);                                       /* finishes the kernel and frees the emitter */

/* Levels: axes in the order of their loops. */
void set_nest(Emitter *e, const int *axes, int count);
int value_level(Emitter *e, const Body *value);
int value_depth_of(Emitter *e, const Body *value);
int index_level(Emitter *e, Dim index);

/* Scopes and values. */
int scope_open(Emitter *e);
void scope_close(Emitter *e, int mark);
/* Declares what `value` needs of level <= `level` and depth <= `depth`, and value itself if it is of that kind. */
void emit_values(Emitter *e, const Body *value, int level, int depth);
void emit_index_values(Emitter *e, Dim index, int level, int depth);  /* values of SYM_LOADED variables */
const char *value_name(Emitter *e, const Body *value);               /* of a declared value, or a literal */
void print_index(Emitter *e, Dim index);
const char *index_text(Emitter *e, Dim index);
int pointer_of(const Emitter *e, int buffer);
void emit_store(Emitter *e, const Item *item);                        /* value and index declared */
const char *store_text(Emitter *e, const Item *item);                 /* the stored expression in the storage type */
void note_line(Emitter *e, int node_id);                              /* the next line computes for this node */
void emit_line(Emitter *e, const char *format, ...) __attribute__((format(printf, 2, 3))); /* one line */
const char *emitted_text(Emitter *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *emitted_cast(Emitter *e, DType from, DType to, const char *operand);
const char *emitted_constant(Emitter *e, DType type, double value, int64_t integer);
const char *emitted_type(const Emitter *e, DType type);

/* Reductions. */
const char *identity_text(Emitter *e, Reducer reducer, DType type);
const char *combined_text(Emitter *e, Reducer reducer, DType type, const char *a, const char *b); /* not for arg reducers */
const char *better_text(Emitter *e, Reducer reducer, DType type, const char *a, const char *at, const char *b, const char *b_at); /* is (b, b_at) to be taken over (a, at)? */
void emit_random_helper(Emitter *e);
const char *random_call(Emitter *e, const Body *value, const char *element); /* words of a block of four elements go to `NAME_words` */
void emit_head_comment(Emitter *e);

Made generate_c(Compile *c, const Lowered *l, const Group *g);
Made generate_cuda(Compile *c, const Lowered *l, const Group *g, int vector);

/* gen_c_reduce.c */
void generate_c_rows(Emitter *e);
void generate_c_columns(Emitter *e);
void emit_parallel(Emitter *e, int collapse, bool simd);              /* the pragma in front of a loop */
#endif
