/* Bytecode: what bytecode.def says, as functions, and the stack effect of each opcode.
 *
 *     opcode_stack_effect(OPCODE_BUILD_TUPLE, 3, false)  ->  -2
 *
 * Invariant: opcode_stack_effect covers every row of bytecode.def (a missing case is an assertion).
 * To add an opcode: a row in bytecode.def, and its case here. */
#include "lang/bytecode.h"
#include <assert.h>

static const struct { const char *name; ArgKind kind; const char *meaning; } rows[] = {
#define BYTECODE(name, kind, meaning) {#name, kind, meaning},
#include "lang/bytecode.def"
#undef BYTECODE
};

const char *opcode_name(Opcode opcode) { return rows[opcode].name; }
ArgKind opcode_arg_kind(Opcode opcode) { return rows[opcode].kind; }
const char *opcode_meaning(Opcode opcode) { return rows[opcode].meaning; }

static int call_effect(Opcode opcode, int arg) {
    if (opcode == OPCODE_CALL) return -1 - arg;
    if (opcode == OPCODE_CALL_FUNCTION_EX) return -2 - (arg & 1);
    int parts = 0; /* MAKE_FUNCTION: each flag takes one item from the stack */
    for (int bit = 1; bit <= MAKE_FUNCTION_CLOSURE; bit <<= 1) parts += (arg & bit) != 0;
    return -parts;
}

int opcode_stack_effect(Opcode opcode, int arg, bool jump) {
    switch (opcode) {
    case OPCODE_RESUME: case OPCODE_NOP: case OPCODE_MAKE_CELL: case OPCODE_COPY_FREE_VARS: case OPCODE_RETURN_CONST: case OPCODE_YIELD_VALUE:
    case OPCODE_SWAP: case OPCODE_DELETE_FAST: case OPCODE_DELETE_NAME: case OPCODE_DELETE_GLOBAL: case OPCODE_DELETE_DEREF:
    case OPCODE_LOAD_FROM_DICT_OR_DEREF: case OPCODE_LOAD_FROM_DICT_OR_GLOBALS: case OPCODE_SETUP_ANNOTATIONS:
    case OPCODE_UNARY_NEGATIVE: case OPCODE_UNARY_NOT: case OPCODE_UNARY_INVERT: case OPCODE_JUMP_FORWARD: case OPCODE_JUMP_BACKWARD:
    case OPCODE_JUMP_BACKWARD_NO_INTERRUPT: case OPCODE_GET_ITER: case OPCODE_GET_YIELD_FROM_ITER: case OPCODE_KW_NAMES:
    case OPCODE_CALL_INTRINSIC_1: case OPCODE_CHECK_EXC_MATCH: case OPCODE_SEND:
        return 0;
    case OPCODE_RETURN_GENERATOR: case OPCODE_PUSH_NULL: case OPCODE_COPY: case OPCODE_LOAD_CONST: case OPCODE_LOAD_FAST: case OPCODE_LOAD_FAST_CHECK:
    case OPCODE_LOAD_FAST_AND_CLEAR: case OPCODE_LOAD_NAME: case OPCODE_LOAD_DEREF: case OPCODE_LOAD_CLOSURE: case OPCODE_LOAD_LOCALS:
    case OPCODE_LOAD_BUILD_CLASS: case OPCODE_LOAD_ASSERTION_ERROR: case OPCODE_IMPORT_FROM: case OPCODE_PUSH_EXC_INFO: case OPCODE_BEFORE_WITH:
    case OPCODE_WITH_EXCEPT_START: case OPCODE_FOR_ITER:
        return 1;
    case OPCODE_RETURN_VALUE: case OPCODE_POP_TOP: case OPCODE_STORE_FAST: case OPCODE_STORE_NAME: case OPCODE_STORE_GLOBAL: case OPCODE_STORE_DEREF:
    case OPCODE_DELETE_ATTR: case OPCODE_BINARY_SUBSCR: case OPCODE_BINARY_OP: case OPCODE_COMPARE_OP: case OPCODE_IS_OP: case OPCODE_CONTAINS_OP:
    case OPCODE_POP_JUMP_IF_FALSE: case OPCODE_POP_JUMP_IF_TRUE: case OPCODE_POP_JUMP_IF_NONE: case OPCODE_POP_JUMP_IF_NOT_NONE:
    case OPCODE_END_SEND: case OPCODE_CLEANUP_THROW: case OPCODE_LIST_APPEND: case OPCODE_LIST_EXTEND: case OPCODE_SET_ADD: case OPCODE_SET_UPDATE:
    case OPCODE_DICT_UPDATE: case OPCODE_DICT_MERGE: case OPCODE_IMPORT_NAME: case OPCODE_POP_EXCEPT: case OPCODE_RERAISE:
        return -1;
    case OPCODE_STORE_ATTR: case OPCODE_DELETE_SUBSCR: case OPCODE_BINARY_SLICE: case OPCODE_END_FOR: case OPCODE_MAP_ADD: return -2;
    case OPCODE_STORE_SUBSCR: return -3;
    case OPCODE_STORE_SLICE: return -4;
    case OPCODE_LOAD_GLOBAL: return 1 + (arg & 1);
    case OPCODE_LOAD_ATTR: return arg & 1;
    case OPCODE_LOAD_SUPER_ATTR: return -2 + (arg & 1);
    case OPCODE_CALL: case OPCODE_CALL_FUNCTION_EX: case OPCODE_MAKE_FUNCTION: return call_effect(opcode, arg);
    case OPCODE_BUILD_TUPLE: case OPCODE_BUILD_LIST: case OPCODE_BUILD_SET: case OPCODE_BUILD_STRING: return 1 - arg;
    case OPCODE_BUILD_MAP: return 1 - 2 * arg;
    case OPCODE_BUILD_CONST_KEY_MAP: return -arg;
    case OPCODE_BUILD_SLICE: return arg == 3 ? -2 : -1;
    case OPCODE_FORMAT_VALUE: return arg & FORMAT_SPEC ? -1 : 0;
    case OPCODE_UNPACK_SEQUENCE: return arg - 1;
    case OPCODE_UNPACK_EX: return (arg & 0xff) + (arg >> 8);
    case OPCODE_RAISE_VARARGS: return -arg;
    case OPCODE_COUNT: break;
    }
    (void)jump; /* no opcode of 3.12 differs: END_FOR and END_SEND stand at the jump's target */
    assert(!"an opcode without a stack effect");
    return 0;
}

static const char *const binary_symbols[] = {"+", "&", "//", "<<", "@", "*", "%", "|", "**", ">>", "-", "/", "^",
                                             "+=", "&=", "//=", "<<=", "@=", "*=", "%=", "|=", "**=", ">>=", "-=", "/=", "^="};

const char *binary_op_symbol(int arg) { return arg >= 0 && arg < 2 * BINARY_INPLACE ? binary_symbols[arg] : "?"; }

const char *compare_op_symbol(int op) {
    static const char *const symbols[] = {"<", "<=", "==", "!=", ">", ">="};
    return op >= COMPARE_LT && op <= COMPARE_GE ? symbols[op] : "?";
}
