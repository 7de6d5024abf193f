/* Shapes: which sizes, strides and Python ints of a frame's inputs are symbols, and what of them must be guarded.
 *
 *     f(x[4, 3]); f(x[8, 3])   ->   the second compile takes dim 0 of L['x'] as s0 (hint 8): f32[s0, 3][3, 1]
 *
 * A size that was seen with two values is dynamic from then on (FrameState, kept a code object and source); so is one that was marked, and with
 * dynamic=True every one but 0 and 1. What the compile then takes for granted of its symbols is listed by their table (ir/sym.h); shapes_finish makes
 * guards of it, and the places from which a call reads the symbols' values. */
#ifndef VITRINE_DYNAMO_SHAPES_H
#define VITRINE_DYNAMO_SHAPES_H
#include "dynamo/capture.h"

/* ---- capture (shapes.c) ---- */
/* Makes sizes and strides of an input's meta symbolic where they are dynamic. input: its place among the graph's. */
void shapes_tensor(Capture *capture, const Tensor *real, const Source *source, int input, Meta *meta);
/* Is what the source names an attribute of a module? */
bool shapes_in_module(Capture *capture, const Source *source);
/* A Python int that is dynamic: its symbol as a value (borrowed). false: it is a constant, to be guarded by its value. */
bool shapes_int(Capture *capture, int64_t value, const Source *source, Value *symbol);
/* An int that follows from symbols, as a symbol of its own; owned. */
Value shapes_computed(Capture *capture, int64_t value, const Source *source, const char *why);
/* The same for an int that a tensor of the frame holds (its .item()): always a symbol. */
bool shapes_scalar(Capture *capture, int64_t value, const Source *source, Value *symbol);
/* Remembers a number that is a constant of this compile. */
void shapes_constant(Capture *capture, Value value, const Source *source);
/* At the end of a capture: the graph's metas as assumptions left them, and the guards. */
void shapes_settle(Capture *capture);
/* After the backend: guards of everything that was assumed. false: a marked dimension cannot be dynamic; an exception is set. */
bool shapes_finish(Entry *entry);

/* ---- what was seen before (frame_state.c) ---- */
typedef struct FrameState {
    const char *name;               /* of the source, as printed */
    int rank;                       /* -1: no tensor yet */
    int64_t sizes[MAX_RANK], strides[MAX_RANK]; /* strides: -(d + 1) where it is size times stride of dim d */
    bool size_dynamic[MAX_RANK], stride_dynamic[MAX_RANK], all_dynamic;
    bool has_number, number_dynamic;
    Value number;                   /* V_INT or V_FLOAT */
    int64_t former[MAX_RANK];       /* the size seen before it became dynamic, for :why */
    int64_t former_number;
} FrameState;
FrameState *frame_state(CodeCache *cache, Arena *arena, const char *name);   /* made when there is none */
void frame_state_see_tensor(FrameState *state, const Meta *meta);
void frame_state_see_number(FrameState *state, Value number);
void *frame_states_copy(Arena *arena, const CodeCache *cache);

/* ---- settings (define_shapes.c): torch._dynamo.config, mark_dynamic and its relatives ---- */
typedef struct ShapeConfig { bool scalar_outputs, dynamic_outputs /* .item() and ops like nonzero stay in the graph */, automatic, assume_static, specialize_int, static_parameters, error_on_recompile; int recompile_limit; } ShapeConfig;
ShapeConfig shapes_config(const Dynamo *dynamo);
void shapes_define(Dynamo *dynamo);
typedef struct ShapeMark { bool dynamic, weak, is_static, bounded; int64_t low, high; } ShapeMark;
ShapeMark shapes_mark(VM *vm, const Tensor *tensor, int dim);
unsigned shapes_marks(VM *vm, const Tensor *tensor);            /* dims marked dynamic, as bits */

/* ---- guards (guard_shape.c) ---- */
void guard_size_print(Text *text, Dim d, const char *(*name)(const Sym *var, void *state), void *state); /* as PyTorch writes guards */
void shapes_guards(Entry *entry, bool final);                     /* final: with reasons, for :why */

/* ---- rewritten code (rewrite_sym.c) ---- */
struct Rewrite;
void emit_sym(struct Rewrite *r, Dim dim);
int emit_size_arguments(struct Rewrite *r);                      /* ints that the graph is called with, behind its tensors; how many */
#endif
