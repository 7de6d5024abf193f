/* Code: compiled bytecode of one function, class body, module or comprehension, as CPython 3.12 has it.
 *
 * Differences from CPython, all for readability: an instruction is a struct, not two bytes; jump arguments are absolute
 * instruction indices; there are no caches, no EXTENDED_ARG, no specialized forms. Mnemonics, order and operands are
 * CPython 3.12's (`dis` shows the same lines): RESUME, LOAD_FAST, LOAD_ATTR with the method flag, PUSH_NULL, KW_NAMES,
 * CALL, BINARY_OP, COMPARE_OP, FOR_ITER/END_FOR, COPY_FREE_VARS, MAKE_CELL, exception table instead of a block stack,
 * inlined comprehensions, RETURN_CONST, POP_JUMP_IF_NONE, LOAD_FAST_AND_CLEAR, PUSH_EXC_INFO, CHECK_EXC_MATCH, …
 *
 * Invariant: a Code is immutable once emitted and lives in the session's arena (dynamo's rewritten Code: in its entry's). */
#ifndef VITRINE_LANG_CODE_H
#define VITRINE_LANG_CODE_H
#include "base/span.h"
#include "base/intern.h"
#include "base/fail.h"

typedef enum Opcode {
#define BYTECODE(name, ...) OPCODE_##name,
#include "lang/bytecode.def"
#undef BYTECODE
    OPCODE_COUNT
} Opcode;

typedef struct Instr { uint16_t opcode; int32_t arg; Span span; } Instr;

typedef enum ConstKind { CONST_NONE, CONST_TRUE, CONST_FALSE, CONST_INT, CONST_FLOAT, CONST_STR, CONST_TUPLE, CONST_CODE, CONST_ELLIPSIS, CONST_FROZENSET,
                         CONST_OBJECT /* only in dynamo's rewritten code: an opaque language value held by the compile entry */ } ConstKind;

typedef struct Code Code;
typedef struct Const Const;
struct Const {
    ConstKind kind;
    union {
        int64_t i;
        double f;
        struct { const char *text; uint32_t length; } s; /* NUL-terminated too; may hold NULs */
        struct { Const *items; int count; } tuple;       /* also FROZENSET */
        Code *code;
        void *object;                                    /* Object* of vm/value.h; borrowed, the code's owner keeps it alive */
    };
};

/* Instructions [start, end) are protected: on an exception the stack is cut to `depth`, lasti is pushed if `lasti`, then the
 * exception, and control goes to `target`. First match wins, as CPython's co_exceptiontable. */
typedef struct ExceptionEntry { int start, end, target, depth; bool lasti; } ExceptionEntry;

enum { CODE_VARARGS = 0x04, CODE_VARKEYWORDS = 0x08, CODE_GENERATOR = 0x20, CODE_OPTIMIZED = 0x01, CODE_NEWLOCALS = 0x02, CODE_NESTED = 0x10 };

struct Code {
    const char *name, *qualname;          /* interned, as all names here */
    const SourceFile *file;
    Span span;                            /* the whole def */
    int flags;
    int argcount, posonlyargcount, kwonlyargcount; /* as co_argcount (includes posonly, excludes * and **) */
    /* Fast locals in CPython's order ("localsplus"): arguments, other locals, pure cells, free variables. */
    int nlocals, ncells, nfrees;          /* nlocals counts varnames; a captured argument is a local *and* made a cell by MAKE_CELL */
    const char **localsplus;              /* nlocals + ncells + nfrees names */
    int stacksize;
    const char **names; int name_count;   /* globals and attributes */
    Const *consts; int const_count;
    Instr *instrs; int instr_count;
    ExceptionEntry *exceptions; int exception_count;
    const char *doc;                      /* docstring or NULL */
    void *cache;                          /* dynamo's compile entries for this code object; owned by dynamo, NULL at first */
    int id;                               /* unique in the session, from 0 */
/* dynamo's continuations; NULL: the program's own code. */
    const Code *resumed_from; int resumed_at;  /* the program's own code, and the instruction of it where this one goes on */
    const int *resumed_slots, *resumed_origin; /* slot of resumed_from -> slot here; instruction here -> instruction of resumed_from, -1: none */
};

static inline int code_localsplus_count(const Code *code) { return code->nlocals + code->ncells + code->nfrees; }

/* How an opcode's argument reads. bytecode.def: BYTECODE(name, argument kind, "one-line meaning for :op and docs"). */
typedef enum ArgKind { ARGK_NONE, ARGK_INT, ARGK_LOCAL, ARGK_NAME, ARGK_NAME_SHIFT1 /* LOAD_GLOBAL, LOAD_ATTR: name = arg>>1, flag = arg&1 */,
                       ARGK_NAME_SHIFT2 /* LOAD_SUPER_ATTR */, ARGK_CONST, ARGK_JUMP, ARGK_BINARY, ARGK_COMPARE /* op = arg>>4 */, ARGK_CONST_NAMES /* KW_NAMES */ } ArgKind;
const char *opcode_name(Opcode opcode);
ArgKind opcode_arg_kind(Opcode opcode);
const char *opcode_meaning(Opcode opcode);
/* Net change of the stack depth; `jump` tells which way a jumping instruction goes. */
int opcode_stack_effect(Opcode opcode, int arg, bool jump);

/* BINARY_OP arguments, CPython's numbering (NB_ADD … NB_INPLACE_XOR). */
typedef enum BinaryOp { BINARY_ADD, BINARY_AND, BINARY_FLOOR_DIVIDE, BINARY_LSHIFT, BINARY_MATRIX_MULTIPLY, BINARY_MULTIPLY, BINARY_REMAINDER,
                        BINARY_OR, BINARY_POWER, BINARY_RSHIFT, BINARY_SUBTRACT, BINARY_TRUE_DIVIDE, BINARY_XOR, BINARY_INPLACE = 13 } BinaryOp;
const char *binary_op_symbol(int arg);                    /* "+", "@", "+=", … */
/* COMPARE_OP's arg >> 4. */
typedef enum CompareOp { COMPARE_LT, COMPARE_LE, COMPARE_EQ, COMPARE_NE, COMPARE_GT, COMPARE_GE } CompareOp;
const char *compare_op_symbol(int op);

/* One instruction as `dis` prints it: "LOAD_ATTR (NULL|self + exp)", "CALL 0", "BINARY_OP (*)", "KW_NAMES (('dim',))": the form
 * that the cases' expected bytecode uses. */
void instr_print(Text *text, const Code *code, int index);
/* The whole listing: source line, index, jump marks, mnemonic, argument; nested code objects after it when `nested`. */
void code_print(Text *text, const Code *code, bool nested);

/* A '#:' command line found between statements. `before` is the index in `statements` of the statement that it precedes. */
typedef struct CommandLine { const char *text; Span span; int before; } CommandLine;

/* A parsed file: top-level statements compiled each to a Code of its own (a module body piece, run in order in one namespace),
 * so that commands can stand between them. */
typedef struct Program { Code **statements; int statement_count; CommandLine *commands; int command_count; } Program;

typedef struct LangSession {              /* what the front end needs to keep between texts */
    Arena *arena;
    Interner *names;
    Failure *failure;                     /* syntax errors go here */
    int next_code_id;
} LangSession;

/* Parses and compiles a whole text. Fails (fail()) with "SyntaxError: …" or "unsupported: …" at the right span.
 * `interactive`: a top-level expression statement's value goes to CALL_INTRINSIC_1 INTRINSIC_PRINT (ghci and Python prompt). */
Program *lang_compile(LangSession *session, const SourceFile *file, bool interactive);
/* One expression (for commands' CALL arguments, formulas in op rows): Code that returns its value. `params` are argument names. */
Code *lang_compile_expression(LangSession *session, const SourceFile *file, const char *name, const char **params, int param_count);
/* A signature text as in a def: "input, dim=None, *, dtype=None" parsed to a Code-less description (op rows). */
typedef struct Signature {
    int count; const char **names; Const *defaults; bool *has_default; int positional /* how many may be positional */;
    bool varargs, varkeywords; const char *varargs_name; /* "*size" */
} Signature;
Signature *lang_parse_signature(LangSession *session, const char *text);

/* Is this text a complete piece of input, or is more expected (open bracket, block, string, trailing backslash, decorator)? */
typedef enum LangState { LANG_COMPLETE, LANG_OPEN_BRACKET, LANG_OPEN_STRING, LANG_OPEN_BLOCK, LANG_EMPTY } LangState;
LangState lang_state(const char *text);
/* For standard input run statement by statement: length of the first complete top-level statement(s) of `text` that can be run
 * now, given that more lines may follow; 0 when more must be read first. At the end of input pass at_end. */
size_t lang_next_statement(const char *text, bool at_end);
#endif
