/* Emit: shared between the emit_*.c files: AST to instructions, construct by construct as CPython 3.12's compiler does it.
 *
 * In: statements with their scopes. Out: Code objects.
 *
 *     Emitter emitter = {session, keep, file, top};
 *     Code *code = emit_module_statement(&emitter, statement, piece_scope, interactive);
 *
 * Invariant: each emit_X leaves the stack as its construct demands; blocks (Frame) are opened and closed in pairs.
 * Spans: every instruction carries the span of the expression it came from; artificial ones carry none.
 * To add a node kind: its case in emit_expression or emit_statement, and a function in the file of its family. */
#ifndef VITRINE_LANG_EMIT_H
#define VITRINE_LANG_EMIT_H
#include "lang/flow.h"
#include "lang/scope.h"

enum { STACK_GUIDE = 30, FRAME_LIMIT = 20, INSTR_LIMIT = 500000 };

/* What break, continue and return must undo on their way out. */
typedef enum FrameKind { FRAME_WHILE, FRAME_FOR, FRAME_TRY_EXCEPT, FRAME_FINALLY_TRY, FRAME_FINALLY_END, FRAME_WITH, FRAME_HANDLER,
                         FRAME_HANDLER_CLEANUP, FRAME_POP_VALUE } FrameKind;
typedef struct Frame {
    FrameKind kind;
    Block *start, *exit;          /* loops: where continue and break go */
    const NodeList *finally;      /* FINALLY_TRY */
    Span span;                    /* WITH: the statement */
    const char *name;             /* HANDLER_CLEANUP: of the exception, or NULL */
} Frame;

/* Names numbered in the order of their first use. */
typedef struct NameTable { Map *index; VEC(const char *) names; } NameTable;

typedef struct Unit Unit;
struct Unit {
    Unit *parent;
    Scope *scope;
    Flow flow;
    Code *code;
    NameTable locals, cells, frees, names;
    Map *hidden;                  /* names that are fast locals inside an inlined comprehension of a module or class */
    int instr_count;
    int inlined;                  /* depth of inlined comprehensions */
    Frame frames[FRAME_LIMIT];
    int frame_count;
    Span first;                   /* where the code begins: its first decorator, its def */
};

typedef struct Emitter {
    LangSession *session;         /* its arena is scratch */
    Arena *keep;                  /* for Codes and what they hold */
    const SourceFile *file;
    Scope *top;                   /* names of the whole text */
    Unit *unit;
    bool interactive;
} Emitter;

#define NOWHERE ((Span){0})

/* Until assemble.c joins the three tables, the argument of a cell is LOCAL_CELLS + its index, of a free name LOCAL_FREES + its. */
enum { LOCAL_CELLS = 1 << 24, LOCAL_FREES = 1 << 25 };

/* emit.c: units, instructions, names */
void unit_open(Emitter *emitter, Scope *scope, const char *name, Span first, Span whole);
Code *unit_close(Emitter *emitter);               /* assembles; the unit round it is the present one again */
void emit_op(Emitter *emitter, int opcode, Span span);
void emit_arg(Emitter *emitter, int opcode, int arg, Span span);
void emit_jump(Emitter *emitter, int opcode, Block *target, Span span);
void emit_place(Emitter *emitter, Block *label);
Block *emit_label(Emitter *emitter);
void emit_const(Emitter *emitter, Const value, Span span);
void emit_none(Emitter *emitter, Span span);
void emit_name_op(Emitter *emitter, int opcode, const char *name, Span span); /* opcode whose argument is in names */
void emit_attribute_op(Emitter *emitter, int opcode, const char *name, int flags, int shift, Span span);
void emit_local_op(Emitter *emitter, int opcode, const char *name, Span span);
void emit_variable(Emitter *emitter, const char *name, Context context, Span span);
int name_index(Emitter *emitter, NameTable *table, const char *name);
const char *emit_mangle(const Emitter *emitter, const char *name);
const char *emit_intern(const Emitter *emitter, const char *text);
_Noreturn void emit_fail(Emitter *emitter, Span span, const char *format, ...) __attribute__((format(printf, 3, 4)));
Const const_string(Emitter *emitter, const char *text);
Const const_int(int64_t value);

/* emit_expression.c, emit_collection.c, emit_call.c, emit_test.c, emit_comprehension.c, emit_target.c */
void emit_expression(Emitter *emitter, Node *node);
bool is_plain_slice(const Node *index);            /* start:stop without a step */
void emit_slice_parts(Emitter *emitter, const Node *slice);
Span attribute_span(const Node *attribute, Span span); /* of the name's line, where the expression spans several */
void emit_display(Emitter *emitter, Node *node);   /* tuple, list, set */
void emit_items(Emitter *emitter, const NodeList *items, int pushed, NodeKind kind, Span span);
void emit_dict(Emitter *emitter, Node *node);
bool constant_items(Emitter *emitter, const NodeList *items, int from, int to, Const *tuple);
void emit_iterable(Emitter *emitter, Node *node);  /* a list display that is only iterated becomes a tuple */
void emit_before_call(Emitter *emitter, Node *call);
void emit_call_rest(Emitter *emitter, Node *node);
void emit_call_arguments(Emitter *emitter, int pushed, const NodeList *arguments, const NodeList *keywords, Span span);
bool is_method_call(const Emitter *emitter, const Node *call);
bool is_super_attribute(Emitter *emitter, const Node *attribute);
void emit_super_attribute(Emitter *emitter, Node *attribute, bool method);
void emit_jump_if(Emitter *emitter, Node *test, Block *target, bool condition);
void emit_boolean(Emitter *emitter, Node *node);
void emit_compare(Emitter *emitter, Node *node);
void emit_conditional(Emitter *emitter, Node *node);
void emit_comprehension(Emitter *emitter, Node *node);
void emit_target(Emitter *emitter, Node *node);    /* stores or deletes */
void emit_yield_op(Emitter *emitter, Span span);

/* emit_statement.c, emit_control.c, emit_try.c, emit_with.c, emit_unwind.c, emit_definition.c, emit_class.c */
void emit_statement(Emitter *emitter, Node *node);
void emit_statements(Emitter *emitter, const NodeList *list);
void emit_if(Emitter *emitter, Node *node);
void emit_while(Emitter *emitter, Node *node);
void emit_for(Emitter *emitter, Node *node);
void emit_break(Emitter *emitter, Node *node);
void emit_continue(Emitter *emitter, Node *node);
void emit_return(Emitter *emitter, Node *node);
void emit_try(Emitter *emitter, Node *node);
void emit_with(Emitter *emitter, Node *node);
void emit_exit_call(Emitter *emitter, Span span);
void emit_reraise(Emitter *emitter);
Frame *frame_push(Emitter *emitter, FrameKind kind, Span span);
void frame_pop(Emitter *emitter);
/* Undoes the frames from the innermost out to a loop (returned) or to the function's (NULL). */
Frame *emit_unwind(Emitter *emitter, Span *span, bool keep_top, bool to_loop);
void emit_unwind_frame(Emitter *emitter, const Frame *frame, Span *span, bool keep_top);
void emit_import(Emitter *emitter, Node *node);
void emit_import_from(Emitter *emitter, Node *node);
void emit_def(Emitter *emitter, Node *node);
void emit_lambda(Emitter *emitter, Node *node);
void emit_class(Emitter *emitter, Node *node);
void emit_closure(Emitter *emitter, Code *code, int flags, Span span);
void emit_decorators(Emitter *emitter, const NodeList *decorators);
void emit_decorator_calls(Emitter *emitter, const NodeList *decorators);
void emit_generator_end(Emitter *emitter);         /* StopIteration that leaves a generator becomes RuntimeError */
Code *emit_module_statement(Emitter *emitter, Node *statement, Scope *scope);
Code *emit_expression_code(Emitter *emitter, Node *expression, Scope *scope, const char *name, const char **params, int param_count);

/* assemble.c */
void assemble(Emitter *emitter, Unit *unit);
#endif
