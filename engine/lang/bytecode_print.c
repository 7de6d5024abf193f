/* Bytecode printing: listings in the form of Python's `dis`.
 *
 * In: Code. Out: text.
 *
 *     LOAD_GLOBAL (NULL + print)      KW_NAMES (('dim',))      POP_JUMP_IF_FALSE (to 12)      CALL 1
 *
 * Invariant: constants print as Python's repr prints them; what a program wrote is shown escaped. */
#include "lang/bytecode.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reads_back(const char *digits, double value) {
    double back = strtod(digits, NULL);
    return memcmp(&back, &value, sizeof value) == 0;
}

/* "1.25e-08" to "1.26e-08". False where a carry would change the form: then one digit more will do. */
static bool raise_last_digit(char *digits) {
    char *last = strchr(digits, 'e') - 1;
    if (*last == '9' || *last == '.') return false;
    ++*last;
    return true;
}

/* Shortest digits that read back as the same number. printf rounds ties to even, and only the other way may read back. */
static int shortest_digits(double value, char *digits, size_t size) {
    for (int precision = 1;; precision++) {
        snprintf(digits, size, "%.*e", precision - 1, value);
        if (precision == 17 || reads_back(digits, value)) return precision;
        if (raise_last_digit(digits) && reads_back(digits, value)) return precision;
    }
}

/* As Python lays them out. */
static void print_float(Text *text, double value) {
    char digits[40];
    if (!isfinite(value)) {
        text_put(text, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
        return;
    }
    int precision = shortest_digits(value, digits, sizeof digits);
    char *mark = strchr(digits, 'e');
    int exponent = atoi(mark + 1);
    if (exponent < -4 || exponent >= 16) {
        *mark = '\0';
        text_printf(text, "%se%s%02d", digits, exponent < 0 ? "-" : "+", abs(exponent));
        return;
    }
    int decimals = precision - 1 - exponent;
    text_printf(text, "%.*f", decimals > 1 ? decimals : 1, value);
}

/* Control, format, space and private characters, which Python's repr escapes. */
static bool is_printable(uint32_t code) {
    static const struct { uint32_t first, last; } hidden[] = {
        {0, 0x1f}, {0x7f, 0xa0}, {0xad, 0xad}, {0x600, 0x605}, {0x61c, 0x61c}, {0x6dd, 0x6dd}, {0x70f, 0x70f}, {0x1680, 0x1680},
        {0x180e, 0x180e}, {0x2000, 0x200f}, {0x2028, 0x202f}, {0x205f, 0x206f}, {0x3000, 0x3000}, {0xd800, 0xf8ff}, {0xfeff, 0xfeff},
        {0xfff0, 0xfffb}, {0xfffe, 0xffff}, {0xe0000, 0xe00ff}, {0xf0000, 0x10ffff}};
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        if (code >= hidden[i].first && code <= hidden[i].last) return false;
    return true;
}

static void print_character(Text *text, const char *at, int bytes, uint32_t code, char quote) {
    if (code == '\n') text_put(text, "\\n");
    else if (code == '\r') text_put(text, "\\r");
    else if (code == '\t') text_put(text, "\\t");
    else if (code == '\\' || code == (uint32_t)quote) text_printf(text, "\\%c", (char)code);
    else if (!is_printable(code)) text_printf(text, code < 0x100 ? "\\x%02x" : code < 0x10000 ? "\\u%04x" : "\\U%08x", code);
    else text_put_n(text, at, (size_t)bytes);
}

static void print_string(Text *text, const char *string, uint32_t length) {
    bool single = memchr(string, '\'', length) != NULL, twice = memchr(string, '"', length) != NULL;
    char quote = single && !twice ? '"' : '\'';
    text_char(text, quote);
    for (uint32_t i = 0; i < length;) {
        uint32_t code = 0xfffd;
        int bytes = utf8_decode(string + i, length - i, &code);
        if (bytes) print_character(text, string + i, bytes, code, quote);
        else text_printf(text, "\\x%02x", (unsigned char)string[i]);
        i += (uint32_t)(bytes ? bytes : 1);
    }
    text_char(text, quote);
}

static void print_const(Text *text, const Const *value);

static void print_items(Text *text, const Const *tuple) {
    for (int i = 0; i < tuple->tuple.count; i++) {
        if (i) text_put(text, ", ");
        print_const(text, &tuple->tuple.items[i]);
    }
}

static void print_const(Text *text, const Const *value) {
    switch (value->kind) {
    case CONST_NONE: text_put(text, "None"); break;
    case CONST_TRUE: text_put(text, "True"); break;
    case CONST_FALSE: text_put(text, "False"); break;
    case CONST_ELLIPSIS: text_put(text, "Ellipsis"); break;
    case CONST_INT: text_printf(text, "%lld", (long long)value->i); break;
    case CONST_FLOAT: print_float(text, value->f); break;
    case CONST_STR: print_string(text, value->s.text, value->s.length); break;
    case CONST_TUPLE:
        text_char(text, '(');
        print_items(text, value);
        text_put(text, value->tuple.count == 1 ? ",)" : ")");
        break;
    case CONST_FROZENSET:
        text_put(text, "frozenset({");
        print_items(text, value);
        text_put(text, "})");
        break;
    case CONST_CODE: text_printf(text, "<code object %s>", value->code->name); break;
    case CONST_OBJECT: text_put(text, "<object>"); break;
    }
}

static void print_function_flags(Text *text, int arg) {
    const char *separator = "";
    static const struct { int flag; const char *name; } flags[] = {
        {MAKE_FUNCTION_DEFAULTS, "defaults"}, {MAKE_FUNCTION_KEYWORD_DEFAULTS, "kwdefaults"}, {MAKE_FUNCTION_CLOSURE, "closure"}};
    if (!arg) {
        text_put(text, " 0");
        return;
    }
    text_put(text, " (");
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (!(arg & flags[i].flag)) continue;
        text_printf(text, "%s%s", separator, flags[i].name);
        separator = ", ";
    }
    text_char(text, ')');
}

static const char *intrinsic_name(int arg) {
    switch (arg) {
    case INTRINSIC_PRINT: return "INTRINSIC_PRINT";
    case INTRINSIC_IMPORT_STAR: return "INTRINSIC_IMPORT_STAR";
    case INTRINSIC_STOPITERATION_ERROR: return "INTRINSIC_STOPITERATION_ERROR";
    case INTRINSIC_UNARY_POSITIVE: return "INTRINSIC_UNARY_POSITIVE";
    case INTRINSIC_LIST_TO_TUPLE: return "INTRINSIC_LIST_TO_TUPLE";
    default: return "?";
    }
}

/* Integers that `dis` explains in words. */
static void print_integer(Text *text, int opcode, int arg) {
    static const char *const conversions[] = {"", "str", "repr", "ascii"};
    const char *conversion = conversions[arg & 3];
    if (opcode == OPCODE_MAKE_FUNCTION) print_function_flags(text, arg);
    else if (opcode == OPCODE_CALL_INTRINSIC_1) text_printf(text, " (%s)", intrinsic_name(arg));
    else if (opcode == OPCODE_FORMAT_VALUE && (arg & FORMAT_SPEC)) text_printf(text, " (%s%swith format)", conversion, *conversion ? ", " : "");
    else if (opcode == OPCODE_FORMAT_VALUE && arg) text_printf(text, " (%s)", conversion);
    else text_printf(text, " %d", arg);
}

/* `from . import x` imports the module named "", which `dis` shows as a bare number. */
static void print_name(Text *text, const Code *code, int index) {
    if (*code->names[index]) text_printf(text, " (%s)", code->names[index]);
    else text_printf(text, " %d", index);
}

static const char *shifted_head(const Instr *instr) {
    if (!(instr->arg & 1)) return "";
    return instr->opcode == OPCODE_LOAD_GLOBAL ? "NULL + " : "NULL|self + ";
}

void instr_print(Text *text, const Code *code, int index) {
    const Instr *instr = &code->instrs[index];
    int arg = instr->arg;
    text_put(text, opcode_name((Opcode)instr->opcode));
    switch (opcode_arg_kind((Opcode)instr->opcode)) {
    case ARGK_NONE: break;
    case ARGK_INT: print_integer(text, instr->opcode, arg); break;
    case ARGK_LOCAL: text_printf(text, " (%s)", code->localsplus[arg]); break;
    case ARGK_NAME: print_name(text, code, arg); break;
    case ARGK_NAME_SHIFT1: text_printf(text, " (%s%s)", shifted_head(instr), code->names[arg >> 1]); break;
    case ARGK_NAME_SHIFT2: text_printf(text, " (%s%s)", shifted_head(instr), code->names[arg >> 2]); break;
    case ARGK_CONST: case ARGK_CONST_NAMES:
        text_put(text, " (");
        print_const(text, &code->consts[arg]);
        text_char(text, ')');
        break;
    case ARGK_JUMP: text_printf(text, " (to %d)", arg); break;
    case ARGK_BINARY: text_printf(text, " (%s)", binary_op_symbol(arg)); break;
    case ARGK_COMPARE: text_printf(text, " (%s)", compare_op_symbol(arg >> 4)); break;
    }
}

static bool is_target(const Code *code, int index) {
    for (int i = 0; i < code->instr_count; i++)
        if (opcode_arg_kind((Opcode)code->instrs[i].opcode) == ARGK_JUMP && code->instrs[i].arg == index) return true;
    for (int i = 0; i < code->exception_count; i++)
        if (code->exceptions[i].target == index) return true;
    return false;
}

static void print_exceptions(Text *text, const Code *code) {
    if (code->exception_count) text_line(text, "exceptions:");
    for (int i = 0; i < code->exception_count; i++) {
        const ExceptionEntry *entry = &code->exceptions[i];
        text_line(text, "  %d to %d -> %d [%d]%s", entry->start, entry->end - 1, entry->target, entry->depth, entry->lasti ? " lasti" : "");
    }
}

void code_print(Text *text, const Code *code, bool nested) {
    int previous = 0;
    for (int i = 0; i < code->instr_count; i++) {
        int line = span_line(code->instrs[i].span);
        Text instr = {0};
        instr_print(&instr, code, i);
        if (line && line != previous) text_line(text, "%5d %s %4d  %s", line, is_target(code, i) ? ">>" : "  ", i, text_cstr(&instr));
        else text_line(text, "      %s %4d  %s", is_target(code, i) ? ">>" : "  ", i, text_cstr(&instr));
        text_free(&instr);
        previous = line;
    }
    print_exceptions(text, code);
    for (int i = 0; nested && i < code->const_count; i++) {
        if (code->consts[i].kind != CONST_CODE) continue;
        text_line(text, "%s", "");
        text_line(text, "%s:", code->consts[i].code->qualname);
        code_print(text, code->consts[i].code, true);
    }
}
