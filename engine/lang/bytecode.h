/* What the code generator and the VM share about opcodes beside code.h: numbers of intrinsics and flag bits. */
#ifndef VITRINE_LANG_BYTECODE_H
#define VITRINE_LANG_BYTECODE_H
#include "lang/code.h"

/* Arguments of CALL_INTRINSIC_1, CPython's numbering. */
typedef enum Intrinsic1 {
    INTRINSIC_PRINT = 1,               /* sys.displayhook: value of an expression statement at the prompt */
    INTRINSIC_IMPORT_STAR = 2,         /* from module import *; the module's public names go to the namespace */
    INTRINSIC_STOPITERATION_ERROR = 3, /* StopIteration leaving a generator becomes RuntimeError; exception -> exception */
    INTRINSIC_UNARY_POSITIVE = 5,
    INTRINSIC_LIST_TO_TUPLE = 6,
} Intrinsic1;

/* MAKE_FUNCTION's argument. Annotations (4) are never emitted. */
enum { MAKE_FUNCTION_DEFAULTS = 1, MAKE_FUNCTION_KEYWORD_DEFAULTS = 2, MAKE_FUNCTION_CLOSURE = 8 };

/* FORMAT_VALUE's argument: conversion in the low two bits, and a format specification on the stack. */
enum { FORMAT_STR = 1, FORMAT_REPR = 2, FORMAT_ASCII = 3, FORMAT_SPEC = 4 };
#endif
