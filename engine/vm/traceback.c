/* Traceback: an exception as Python prints it.
 *
 *     Traceback (most recent call last):
 *       File "demo.py", line 7, in <module>
 *         f(0)
 *       File "demo.py", line 3, in f
 *         return 1 // n
 *                ~~^^~~
 *     ZeroDivisionError: integer division or modulo by zero
 *
 * In: a pending exception. Out: text; the exception is cleared. Marks are drawn as CPython 3.12 does: ^ under the failing
 * expression, unless it is the whole line; ~ around an operator or a subscript, which gets the ^.
 * Invariant: printing never raises: what fails while an exception is turned into text is shown as such. */
#include "vm/internal.h"
#include <ctype.h>
#include <string.h>

/* End of the string literal or bracket that starts at `i`. */
static size_t skip_group(const char *s, size_t n, size_t i) {
    if (s[i] == '"' || s[i] == '\'') {
        char quote = s[i++];
        while (i < n && s[i] != quote) i += s[i] == '\\' ? 2 : 1;
        return i < n ? i + 1 : n;
    }
    int depth = 0;
    for (; i < n; i++) {
        if (strchr("([{", s[i])) depth++;
        else if (strchr(")]}", s[i]) && --depth == 0) return i + 1;
    }
    return n;
}

/* Where the operator stands in the text of a binary operation: outside brackets and strings, behind an operand. */
static bool find_operator(const char *s, size_t n, const char *symbol, size_t *at) {
    size_t length = strlen(symbol);
    bool found = false, operand = false;
    for (size_t i = 0; i < n;) {
        if (strchr("([{\"'", s[i])) {
            i = skip_group(s, n, i);
            operand = true;
        } else if (isspace((unsigned char)s[i])) i++;
        else if (isalnum((unsigned char)s[i]) || strchr("_.)]}", s[i]) || (unsigned char)s[i] >= 0x80) {
            operand = true;
            i++;
        } else {
            size_t run = 1;
            while (i + run < n && run < 2 && s[i + run] == s[i] && strchr("*/<>", s[i])) run++;
            if (operand && run == length && strncmp(s + i, symbol, length) == 0) {
                *at = i;
                found = true;
                if (strcmp(symbol, "**") == 0) return true; /* binds to the right: the first one is the outermost */
            }
            operand = false;
            i += run;
        }
    }
    return found;
}

static bool find_subscript(const char *s, size_t n, size_t *at) {
    bool found = false;
    if (n == 0 || s[n - 1] != ']') return false;
    for (size_t i = 0; i < n;) {
        if (!strchr("([{\"'", s[i])) {
            i++;
            continue;
        }
        if (s[i] == '[' && i > 0) *at = i, found = true;
        i = skip_group(s, n, i);
    }
    return found;
}

typedef struct Marks { size_t start, end, anchor, anchor_end; bool anchored; } Marks; /* byte offsets in the line */

static bool is_subscript(int opcode) {
    return opcode == OPCODE_BINARY_SUBSCR || opcode == OPCODE_BINARY_SLICE || opcode == OPCODE_STORE_SUBSCR || opcode == OPCODE_STORE_SLICE || opcode == OPCODE_DELETE_SUBSCR;
}

static void find_anchor(const char *line, Marks *marks, const Instr *instr) {
    const char *segment = line + marks->start;
    size_t n = marks->end - marks->start, at;
    if (instr->opcode == OPCODE_BINARY_OP) {
        int op = instr->arg >= BINARY_INPLACE ? instr->arg - BINARY_INPLACE : instr->arg;
        if (instr->arg >= BINARY_INPLACE || !find_operator(segment, n, binary_op_symbol(op), &at)) return;
        *marks = (Marks){marks->start, marks->end, marks->start + at, marks->start + at + strlen(binary_op_symbol(op)), true};
    } else if (is_subscript(instr->opcode) && find_subscript(segment, n, &at)) {
        *marks = (Marks){marks->start, marks->end, marks->start + at, marks->end, true};
    }
}

static void put_columns(Text *text, const char *line, size_t from, size_t to, char mark) {
    for (size_t i = from; i < to;) {
        uint32_t code;
        int n = utf8_decode(line + i, to - i, &code);
        for (int w = n ? utf8_width(code) : 1; w > 0; w--) text_char(text, mark);
        i += n ? (size_t)n : 1;
    }
}

static bool line_starts_with(const char *line, size_t length, const char *word) {
    size_t n = strlen(word);
    return length > n && strncmp(line, word, n) == 0 && !isalnum((unsigned char)line[n]) && line[n] != '_';
}

/* CPython gives what `for`, `with` and `assert` do themselves the place of the whole statement, which gets no marks. Ours is the
 * expression: breaks and notes point there. */
static bool is_whole_statement(const char *line, size_t length, int opcode) {
    switch (opcode) {
    case OPCODE_GET_ITER: case OPCODE_FOR_ITER: return line_starts_with(line, length, "for");
    case OPCODE_BEFORE_WITH: return line_starts_with(line, length, "with");
    case OPCODE_RAISE_VARARGS: return line_starts_with(line, length, "assert");
    default: return false;
    }
}

static void put_marks(Text *text, const char *line, size_t indent, size_t end, Span span, uint32_t line_start, const Instr *instr) {
    Marks marks = {span.start - line_start, span.end - line_start, 0, 0, false};
    if (span.end <= span.start || marks.start >= end || is_whole_statement(line + indent, end - indent, instr->opcode)) return;
    if (marks.end <= end) find_anchor(line, &marks, instr);
    else marks.end = end; /* goes on in the next line */
    if (!marks.anchored && marks.end - marks.start >= end - indent) return;
    text_put(text, "    ");
    put_columns(text, line, indent, marks.start, ' ');
    if (!marks.anchored) put_columns(text, line, marks.start, marks.end, '^');
    else {
        put_columns(text, line, marks.start, marks.anchor, '~');
        put_columns(text, line, marks.anchor, marks.anchor_end, '^');
        put_columns(text, line, marks.anchor_end, marks.end, '~');
    }
    text_char(text, '\n');
}

static void put_source(Text *text, Span span, const Instr *instr) {
    const SourceFile *file = span.file;
    int row = span_line(span) - file->first_line;
    if (row < 0 || row >= file->line_count) return;
    uint32_t start = file->line_starts[row];
    const char *line = file->text + start;
    size_t end = strcspn(line, "\n"), indent = 0;
    while (indent < end && isspace((unsigned char)line[indent])) indent++;
    while (end > indent && isspace((unsigned char)line[end - 1])) end--;
    if (indent == end) return;
    text_put(text, "    ");
    text_put_n(text, line + indent, end - indent);
    text_char(text, '\n');
    put_marks(text, line, indent, end, span, start, instr);
}

static void put_entry(Text *text, const TraceEntry *entry) {
    const Instr *instr = &entry->code->instrs[entry->instr];
    Span span = instr->span.file ? instr->span : entry->code->span;
    const char *name = span.file ? span.file->name : entry->code->file ? entry->code->file->name : "?";
    text_printf(text, "  File \"%s\", line %d, in %s\n", name, span_line(span), entry->code->name);
    if (span.file) put_source(text, span, instr);
}

/* In CPython most of what these files do is done in C, or by code that has no file. */
static bool is_library(const TraceEntry *entry) {
    const SourceFile *file = entry->code->file;
    return file && file->shipped && strncmp(file->name, "torch/stdlib/", strlen("torch/stdlib/")) == 0;
}

static bool same_place(const TraceEntry *a, const TraceEntry *b) { return a->code == b->code && a->instr == b->instr; }

static void put_trace(Text *text, const ExceptionData *data) {
    if (data->trace.count == 0) return;
    text_put(text, "Traceback (most recent call last):\n");
    VEC(TraceEntry) shown = {0};
    for (int i = 0; i < data->trace.count; i++)
        if (!is_library(&data->trace.at[i])) vec_push(&shown, data->trace.at[i]);
    int repeated = 0;
    for (int i = shown.count - 1; i >= 0; i--) {
        bool again = i + 1 < shown.count && same_place(&shown.at[i], &shown.at[i + 1]);
        repeated = again ? repeated + 1 : 0;
        if (repeated < 3) put_entry(text, &shown.at[i]);
        bool last_of_run = i == 0 || !same_place(&shown.at[i], &shown.at[i - 1]);
        if (last_of_run && repeated >= 3) text_printf(text, "  [Previous line repeated %d more time%s]\n", repeated - 2, repeated == 3 ? "" : "s");
    }
    vec_free(&shown);
}

static void put_last_line(VM *vm, Text *text, Value exception) {
    Class *cls = ((Instance *)exception.o)->cls;
    if (value_is(cls->module_name, OBJ_STR)) {
        const char *module = str_text(cls->module_name);
        if (strcmp(module, "builtins") != 0 && strcmp(module, "__main__") != 0) text_printf(text, "%s.", module);
    }
    text_put(text, cls->qualname);
    Value message = vm_str(vm, exception);
    if (value_is_error(message)) {
        text_put(text, ": <exception str() failed>");
        vm_clear_exception(vm);
    } else if (str_of(message)->length) {
        text_put(text, ": ");
        text_put_n(text, str_text(message), str_of(message)->length);
    }
    value_unref(vm, message);
    text_char(text, '\n');
}

/* What add_note() added, a line each. */
static void put_notes(VM *vm, Text *text, Value exception) {
    Value notes = dict_get_name(vm, ((Instance *)exception.o)->dict, vm->own->names.notes_);
    for (int i = 0; value_is(notes, OBJ_LIST) && i < list_of(notes)->count; i++) {
        if (!text_put_str(vm, text, list_of(notes)->items[i])) vm_clear_exception(vm);
        text_char(text, '\n');
    }
}

enum { CHAIN_DEPTH = 50 };

static void put_exception(VM *vm, Text *text, Value exception, int depth) {
    ExceptionData *data = exception_data(exception);
    if (depth < CHAIN_DEPTH && value_is_exception(data->cause)) {
        put_exception(vm, text, data->cause, depth + 1);
        text_put(text, "\nThe above exception was the direct cause of the following exception:\n\n");
    } else if (depth < CHAIN_DEPTH && value_is_exception(data->context) && !data->suppress_context) {
        put_exception(vm, text, data->context, depth + 1);
        text_put(text, "\nDuring handling of the above exception, another exception occurred:\n\n");
    }
    put_trace(text, data);
    put_last_line(vm, text, exception);
    put_notes(vm, text, exception);
}

void exception_text(VM *vm, Text *text, Value exception, bool chain) { put_exception(vm, text, exception, chain ? 0 : CHAIN_DEPTH); }

void vm_print_exception(VM *vm, Text *text) {
    Value exception = exception_take(vm);
    vm->stopped = false;
    if (value_is_exception(exception)) put_exception(vm, text, exception, 0);
    value_unref(vm, exception);
    vm_clear_exception(vm);
}
