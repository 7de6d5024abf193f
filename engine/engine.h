/* Engine: the one face of the compiler. repl/, viz/ (through snapshots) and tests need only this.
 *
 *     Session *s = session_open(&options);
 *     int status = session_run_text(s, "x = torch.ones(3)\n", "<command>", false);
 *     session_close(s);
 *
 * Errors of the program are printed to `notes` in Python's form and give a status; they never end the process. */
#ifndef VITRINE_ENGINE_H
#define VITRINE_ENGINE_H
#include "trace/policy.h"
#include "trace/reason.h"
#include "trace/snapshot.h"

typedef struct Session Session;
typedef struct Entry Entry;             /* one compile: the artifacts of all its stages (dynamo/cache.h) */

typedef struct Sink { void *state; void (*write)(void *state, const char *text, size_t length); } Sink;

typedef struct SessionOptions {
    const char *device;                 /* "cpu", "cuda", "cuda:1"; NULL: cpu */
    const char *arch, *cache_dir;       /* as RuntimeOptions */
    bool no_cache, plain, safe;
    Sink out, notes;
    volatile int *interrupt;            /* set by a signal handler; the engine stops at the next safe point */
} SessionOptions;

/* The kernels that OpenBLAS should have chosen for this processor, as OPENBLAS_CORETYPE names them; NULL: those that it did. It reads the variable when the
 * program starts. */
const char *engine_blas_kernels(void);
Session *session_open(const SessionOptions *options);
void session_close(Session *session);
void session_set_arguments(Session *session, const char *const *words, int count); /* sys.argv: the program's name and its arguments */
void session_reset(Session *session);                                   /* torch._dynamo.reset() */
void session_collect(Session *session);                                 /* sweep cycles; called at the prompt */

/* Running text. Statuses: 0 done, 1 a program error (already printed), 2 interrupted, 3 the program ended itself (sys.exit; session_exit_code says with what). */
enum { RUN_DONE, RUN_ERROR, RUN_INTERRUPTED, RUN_EXIT };
int session_exit_code(const Session *session);                           /* 0 to 255, after RUN_EXIT */
typedef int (*CommandFn)(void *state, const char *line, Span span);      /* a '#:' line; nonzero stops the run */
int session_run_text(Session *session, const char *text, const char *name, int first_line, bool interactive, CommandFn command, void *state);
int session_run_file(Session *session, const char *path, CommandFn command, void *state, int *status_of_open);
/* Completion of input: is more needed? (lang_state: INPUT_* in its order) */
enum { INPUT_COMPLETE, INPUT_OPEN_BRACKET, INPUT_OPEN_STRING, INPUT_OPEN_BLOCK, INPUT_EMPTY };
int session_input_state(const char *text);
/* Length of the statements at the start of `text` that can be run now (lang_next_statement); 0: read more first. */
size_t session_next_statement(const char *text, bool at_end);
/* Names for Tab completion: of globals and builtins ("tor"), or attributes ("torch.nn.Li"). */
void session_complete(Session *session, const char *text, void (*offer)(void *state, const char *candidate), void *state);

/* CALL arguments of commands: `f(x, 2)` is evaluated under torch.compile in a copy of the cache (counts untouched); its entries become the current ones. */
typedef struct CallResult { bool ok; double first_ms; const char *printed; /* repr of the value, in the session's command arena */ } CallResult;
bool session_compile_call(Session *session, const char *call, bool run, CallResult *result);
/* The same from an empty cache, the kernels' too (so that what it took can be compared); without_prints: as the program would be captured if what only prints were not there (it is called all the same). */
bool session_compile_fresh(Session *session, const char *call, bool without_prints, CallResult *result);
/* The entries that the last session_compile_call (or session_time_call) compiled or ran, in the order of their first use; returns their number. */
int session_call_entries(Session *session, Entry **entries, int room);
typedef struct CallTiming {
    double eager_us, compiled_us;       /* device time of a call, median */
    double eager_wall_us, wall_us;      /* host time to issue */
    double first_ms;                    /* first compiled call, cold or warm as it was */
    int eager_launches, launches, runs;
    int64_t bytes, eager_bytes; double flops;
    double copy_gbs;                    /* measured in the same run */
    double max_difference;              /* eager against compiled */
    const char *device;
} CallTiming;
bool session_time_call(Session *session, const char *call, CallTiming *timing);
/* A workload file (build(), run(), BYTES, FLOPS): the fields of bench/README. */
typedef struct BenchResult { const char *file, *mode; double eager_us, compiled_us, kernel_us, wall_us, eager_wall_us, first_s, warm_s, copy_gbs; int kernels, eager_kernels; double bytes, flops; double max_difference; } BenchResult;
bool session_bench(Session *session, const char *path, const char *device_or_null, BenchResult *result);

/* Asking (ask.c), on a copy of the cache. :try: which entry would serve the first frame that a call would run compiled; nothing is run or compiled. */
typedef struct TryGuard { const char *guard, *kind, *text; Span span; } TryGuard;
typedef struct TryEntry { const char *entry; bool holds, serves; TryGuard *fails; int fail_count; int64_t hits; } TryEntry;
typedef struct TryResult { bool asked; const char *function; Span span; const char *served; bool skipped; const char *skip_reason; int limit, entry_count; TryEntry *entries; /* in the order in which they are tried */ } TryResult;
bool session_try_call(Session *session, const char *call, TryResult *result, Arena *arena);
/* :sweep: the call for every combination of its variables' values. Captures only (graphs run op by op), at most 10 s. */
enum { SWEEP_VARIABLES = 4, SWEEP_POINTS = 4096 };
typedef enum SweepMode { SWEEP_AS_IS, SWEEP_MARKED /* mark_dynamic on what varied in the run before, empty cache */, SWEEP_DYNAMIC /* dynamic=True, empty cache */ } SweepMode;
typedef struct SweepVariable { const char *name; int64_t *values; int count; } SweepVariable;
typedef struct SweepPoint { int64_t values[SWEEP_VARIABLES]; const char *entry; /* of the outermost frame; NULL: eager */ int made; const char *error; } SweepPoint;
typedef struct SweepReason { int point; const char *entry, *function, *text; Span span; } SweepReason;
typedef struct SweepFunction { const char *name; int entries, before; bool limit_hit, skipped; const char *skip_reason; } SweepFunction;
typedef struct SweepRun {
    SweepPoint *points; int done, total;
    int entries_before, entries, limit, limit_at; bool limit_hit, timed_out, interrupted, failed; /* failed: the text of the call itself, printed; limit_at: the point at which a function went over it, or -1 */
    VEC(SweepReason) reasons; VEC(SweepFunction) functions;
    const char *marked;             /* what varies: "dim 0 of tensor 0"; NULL: no size does */
    double ms;
} SweepRun;
typedef struct SweepMemory SweepMemory;                                  /* what varied; carried from run to run, NULL at first */
bool session_sweep(Session *session, const char *call, const SweepVariable *variables, int variable_count, SweepMode mode, SweepMemory **memory, SweepRun *run, Arena *arena);

/* Stepping (step.c): a call walked stop by stop: each instruction of capture, then each stage, then the run, through graph breaks into the resume
 * functions. It works on a copy of the cache in which no older entry serves. Between stops the session can be used for anything else. */
typedef enum StepKind { STEP_FRAME, STEP_INSTRUCTION, STEP_BREAK, STEP_CAPTURED, STEP_STAGE, STEP_RUN, STEP_SERVED, STEP_EAGER, STEP_RETURN, STEP_RETURNED } StepKind;
typedef enum StepMove { STEP_INTO, STEP_NEXT, STEP_BACK, STEP_CONTINUE, STEP_UNTIL } StepMove;
/* UNTIL: a stage ("dynamo", a step of the pipeline, "break", "run", "bytecode": the next frame), or a line of the called function's file. */
typedef struct StepGoal { StepMove move; const char *stage; int line; } StepGoal;
typedef enum StepResult { STEP_STOPPED, STEP_AT_START /* nothing before */, STEP_ENDED /* the call was at its end */, STEP_FAILED /* it raised: printed */, STEP_NOTHING /* no call is stepped */ } StepResult;
typedef struct StepLocal { const char *name, *value; } StepLocal;
typedef struct StepFacts {
    StepKind kind; const char *kind_name, *entry, *function; Span span;
    const char *instruction; int index; bool inlined; /* INSTRUCTION; inlined: of a called function */
    const char *text;                                /* what happened, or what the stage changed; or NULL */
    const char *stage;
    const char **stack; int stack_count;             /* bottom first */
    StepLocal *locals; int local_count;
    const char **graph; int graph_count, graph_new;  /* nodes so far, as printed; how many of them are newer than the instruction before */
    const char **guards; int guard_count, guard_new;
    int number, newest;                              /* of this stop, and of the last that was reached; from 1 */
} StepFacts;
bool session_step_begin(Session *session, const char *call);            /* ends a former one; false: an error is printed */
StepResult session_step(Session *session, const StepGoal *goal);
bool session_step_facts(Session *session, StepFacts *facts, Arena *arena);
void session_step_end(Session *session);                                /* what was not run is not run */
typedef struct LineBreakFacts { const char *file; int line; } LineBreakFacts; /* file NULL: that of the stepped function */
bool session_step_break(Session *session, const char *file_or_null, int line, bool on); /* false: there was no such break to take away */
int session_step_breaks(Session *session, LineBreakFacts *breaks, int room);

/* Entries, oldest first; ids "0/0", "0/1" … `copies` are those made by commands. */
int session_entry_count(Session *session);
Entry *session_entry(Session *session, int i);
Entry *session_find_entry(Session *session, const char *id_or_null);     /* NULL: the one last compiled or explained */

typedef struct EntryFacts {
    const char *id, *function; Span span; bool is_copy, failed; const char *failure;
    int ops, guards, launches_forward, launches_backward, hits;
    int64_t bytes_eager, bytes_compiled, saved_bytes, saved_bytes_no_recompute, block_bytes;
    double total_ms, capture_ms, compile_ms; const char *root; /* the function it is a piece of: its own, or the one it resumes */ int kernels, kernels_cached; const char *policy; bool training; const char *device;
} EntryFacts;
void entry_facts(Entry *entry, EntryFacts *facts);
typedef struct EntryStage { const char *stage; double ms; } EntryStage;
int entry_stages(Entry *entry, EntryStage *stages, int room);            /* in pipeline order, as timed */
const ReasonLog *entry_reasons(Entry *entry);
/* Snapshot of a stage: bytecode, dynamo, guards, joint, functional, decomposed, cut, partition, forward, backward, ir, fusion, schedule, memory, kernels, wrapper, timeline.
 * side: NULL or "forward"/"backward" for the stages after partition. NULL with *error when the entry has none. */
Snapshot *entry_snapshot(Entry *entry, const char *stage, const char *side, Arena *arena, const char **error);
/* What differs between two graphs of a compile, the earlier stage first: a line for each node that did not simply go along (before: as it is listed there;
 * after: the nodes it became), for what is new, and for what is done behind the graph. change: "removed" "functional" "expanded" "changed" "added" "epilogue".
 * The number of lines; -1 with *error where there is no such comparison. */
typedef struct DiffLine { const char *change, *before, *after, *words; Span span; } DiffLine;
int entry_diff(Entry *entry, const char *before, const char *after, Arena *arena, DiffLine **lines, const char **error);
const char *const *stage_names(void);                                    /* NULL-terminated, pipeline order */

/* The partition of an entry that trains (cut_view.c). All strings in `arena`. false, or a count of -1: it has none (nothing required grad, or it failed). */
typedef struct PartitionFacts {
    const char *mode, *chosen;              /* the policy's partition; by what rules the set was found: "pytorch", "storages", "memory budget" … */
    double memory_budget;
    int64_t saved_bytes, storage_bytes, saved_bytes_no_recompute; /* what crosses; what the backward alone keeps alive of it; what would cross if nothing were computed twice */
    int64_t allocated_bytes;                /* storages that the forward's plan makes for the backward alone: storage_bytes as it was compiled */
    int saved, recomputed;
    double cut;                             /* value of the minimum cut, in the units of CutFacts.capacity */
} PartitionFacts;
bool entry_partition(Entry *entry, PartitionFacts *facts);
/* What crosses. type: "f32[4, 8]"; held: who holds its memory after the forward ("the backward", "an input", "an output", "%mm"); readers: nodes of the backward. */
typedef struct SavedFacts { const char *name, *type, *dtype, *shape, *held, *readers, *code, *why; int64_t bytes, storage_bytes; Span span; } SavedFacts;
int entry_saved(Entry *entry, SavedFacts *saved, int room, Arena *arena);
typedef struct RecomputedFacts { const char *name, *type, *readers, *code, *why; int64_t bytes; Span span; } RecomputedFacts;
int entry_recomputed(Entry *entry, RecomputedFacts *recomputed, int room, Arena *arena);
/* The flow network, a value a line. capacity: what saving it costs, infinite where it cannot be saved; source: why it must not be computed twice, or NULL;
 * sink: the backward reads it; again: it must be computed again; cut: it is saved. */
typedef struct CutFacts { const char *name, *type, *source; double capacity; int64_t bytes; bool sink, again, cut; Span span; } CutFacts;
int entry_cut(Entry *entry, CutFacts *cut, int room, Arena *arena);
/* One value: the cheapest cut with it saved and the cheapest without, and what computing it again would cost. */
typedef struct CutSide { bool exists; double weight; int64_t storage_bytes; const char *more, *less; /* values saved besides, and no longer, against the partition as it is */ } CutSide;
typedef struct CutAnswer {
    const char *name, *type, *ban; bool saved, recomputed;
    CutSide with, without;
    const char *from, *nodes; int steps;    /* computing it again: from which saved values, by which nodes */
    double flops, us; int64_t bytes;        /* predicted */
} CutAnswer;
bool entry_cut_of(Entry *entry, const char *name, CutAnswer *answer, Arena *arena, const char **error);
/* What-ifs: the partition under other memory budgets or another mode (NULL: the entry's), with what each would cost by the predictor (inductor/predict.c). */
typedef struct WhatIf {
    double budget; const char *chosen;
    int saved, recomputed;
    int64_t saved_bytes, storage_bytes, peak_bytes; /* peak: inputs, outputs, what is saved, temporaries and gradients at the worse of the two times */
    double extra_flops; int64_t extra_bytes;        /* of the backward, against a budget of 1 */
    double forward_us, backward_us;
} WhatIf;
bool entry_what_if(Entry *entry, const char *mode, const double *budgets, int count, WhatIf *results, Arena *arena, const char **error);
/* The same for `count` budgets as a plot: time against peak memory. */
Snapshot *what_if_plot(Entry *entry, const WhatIf *points, int count, Arena *arena);

/* In the order in which they were made; `order` is that in which they are checked, from 0. source: the path it looks at, or NULL. cost_ns: of its check alone. */
typedef struct GuardFacts { const char *id, *kind, *text, *why; Span span; int64_t checks, failures; const char *source; int order; double cost_ns; } GuardFacts;
double entry_guard_cost_ns(Entry *entry);                                 /* of a whole check that holds, measured when it was compiled; 0: it was not (--plain) */
int entry_guards(Entry *entry, GuardFacts *guards, int room);
/* A symbolic size, stride or int of an entry: where it is read, what an assumption made it (NULL: itself), its value when it was compiled, its range. */
typedef struct SymbolFacts { const char *name, *place, *becomes, *why; int64_t hint, low, high; Span span; } SymbolFacts;
int entry_symbols(Entry *entry, SymbolFacts *symbols, int room);
typedef struct ShapeFacts { const char *name, *shape; Span span; bool is_input; } ShapeFacts;
int entry_shapes(Entry *entry, ShapeFacts *shapes, int room);           /* of every value of the captured graph; inputs at the function's own line */
Span entry_last_line(Entry *entry);                                     /* of the captured function */
typedef struct KernelFacts {
    const char *id, *entry_symbol, *language, *source, *schedule, *side, *nodes; /* nodes: "%add %relu" */
    int64_t bytes; double flops; int launches; bool is_extern;
    int grid[3], block[3], shared_bytes;
} KernelFacts;
int entry_kernels(Entry *entry, KernelFacts *kernels, int room);
/* what: "cuda" "c" "ptx" "sass" "resources" "asm". Text in arena, or NULL with *error. */
const char *entry_kernel_text(Entry *entry, const char *kernel, const char *what, Arena *arena, const char **error);
typedef struct LaunchFacts { const char *name, *side, *kernel; int64_t bytes; double flops; double us; } LaunchFacts;
int entry_launches(Entry *entry, LaunchFacts *launches, int room);

/* The session's counts, for --summary, :cache and :recompiles. */
typedef struct BreakFacts { const char *compile, *kind, *reason; int line; Span span; } BreakFacts;
typedef struct RecompileFacts { const char *compile, *kind, *reason, *function; Span span; } RecompileFacts;
typedef struct SessionCounts { int graphs, ops_captured, frames_total, frames_ok; } SessionCounts;
void session_counts(Session *session, SessionCounts *counts);
int session_breaks(Session *session, BreakFacts *breaks, int room);
int session_recompiles(Session *session, RecompileFacts *recompiles, int room);
typedef struct CacheFacts { const char *function, *entry; int entries, limit; int64_t hits; } CacheFacts;
int session_cache(Session *session, CacheFacts *cache, int room);

/* Settings (`:set NAME VALUE`): policy, memory_budget, emulate_precision_casts, fallback_random, device, recompile_limit, recursion_limit, … */
bool session_set(Session *session, const char *name, const char *value, const char **error);
void session_settings(Session *session, void (*show)(void *state, const char *name, const char *value, const char *meaning), void *state);

/* One op's row, for `:op NAME`. */
typedef struct OpFacts { const char *name, *family, *signature, *scalar, *grad, *made_of, *grad_name, *functional, *body, *body_file; const char *traits; double flops; const char *c_text, *cuda_text; } OpFacts;
bool session_op(Session *session, const char *name, OpFacts *facts, Arena *arena);
void session_op_names(Session *session, void (*offer)(void *state, const char *name), void *state);
void session_versions(Session *session, Text *text);
/* Makes the CUDA kernels of common single ops ahead, into the disk cache (eager_warm.c). report: one line of what was made, or why not (false). */
bool session_warm(Session *session, Text *report);
Arena *session_command_arena(Session *session);                          /* reset by session_collect */
#endif
