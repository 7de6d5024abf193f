/* Compile: what every stage of one compile shares. Stages take it first: Graph *functionalize(Compile *c, const Graph *joint). */
#ifndef VITRINE_IR_COMPILE_H
#define VITRINE_IR_COMPILE_H
#include "base/fail.h"
#include "ir/graph.h"
#include "trace/policy.h"
#include "trace/reason.h"

typedef struct StageTime { const char *stage; double ms; } StageTime;

/* What running a graph would cost, by a model of the machine (inductor/predict.c): no measurement, the same on every run. */
typedef struct Prediction {
    double us, flops;
    int64_t bytes;                  /* read and written by its kernels */
    int64_t block_bytes;            /* of temporaries that live at the same time; 0 where sizes are symbolic */
    int launches;
} Prediction;

typedef struct Compile {
    Arena *arena;                   /* the entry's */
    SymTable *syms;
    ReasonLog reasons;
    const Policy *policy;
    const OpTable *ops;
    Failure *failure;               /* a stage that cannot go on: the compile falls back to eager and says so */
    const char *id;                 /* "0/1" */
    int next_node_id;
    VEC(StageTime) times;
    struct VM *vm;                  /* for stages that run language code (joint, decompose) */
    struct Runtime *runtime;        /* for choose: what libraries and cards are there */
    bool (*predict)(struct Compile *c, const Graph *graph, Prediction *prediction); /* what a graph would cost, made into loops and fused now; NULL: nobody knows. false: it cannot be lowered */
    bool training;                  /* some input requires grad and grad mode was on */
    void (*stage_done)(void *state, struct Compile *c, const char *stage); void *stage_state; /* called after each stage; NULL: nobody looks on */
    /* Single ops whose sizes are arguments (eager_plan.c) */
    const struct Map *scalars;      /* number of a node (const Arg *) -> its variable (as map_key(Dim)), given at each run; NULL: none */
    bool narrow;                    /* whatever the symbolic sizes are, no tensor spans 2^31 elements: 32-bit indices do */
    bool few_launches;              /* a body in pieces costs more launches than one that leaves processors idle: small reductions are not split */
    bool keep_strides;              /* outputs have exactly the strides that the graph says, dense or not */
} Compile;
#endif
