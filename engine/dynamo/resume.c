/* Resume: the continuation of a function after a graph break, as a function of its own. In: the code, where it goes on, what the stack and the locals
 * hold there. Out: a code whose arguments are those values.
 *
 *     def f(x):                       def torch_dynamo_resume_in_f_at_3(___stack0, x):
 *         y = x + 1                       (the stack is put back)
 *         n = y.sum().item()     ->       jump to STORE_FAST n
 *         return x * n                    … the rest of f
 *
 * Only locals that are read later are passed. The frame's cells become the function's closure, so closures made before the break see what is written
 * after it. One continuation serves all breaks at the same place with the same values bound.
 *
 * Invariant: codes made here live in the session's arena, and never change: entries are cached on them as on any other. */
#include "dynamo/rewrite.h"
#include <string.h>

/* ---- what can be reached, what is read ---- */

static bool falls_through(Opcode opcode) {
    switch (opcode) {
    case OPCODE_RETURN_VALUE: case OPCODE_RETURN_CONST: case OPCODE_RAISE_VARARGS: case OPCODE_RERAISE: case OPCODE_JUMP_FORWARD: case OPCODE_JUMP_BACKWARD:
    case OPCODE_JUMP_BACKWARD_NO_INTERRUPT:
        return false;
    default: return true;
    }
}

/* Where control may go from instruction i; FOR_ITER skips the END_FOR that it jumps to, which is kept all the same. */
static int successors(const Code *code, int i, int out[3]) {
    int count = 0, handler = code_exception_at(code, i);
    const Instr *instr = &code->instrs[i];
    if (falls_through((Opcode)instr->opcode)) out[count++] = i + 1;
    if (opcode_arg_kind((Opcode)instr->opcode) == ARGK_JUMP) out[count++] = instr->arg;
    if (handler >= 0) out[count++] = code->exceptions[handler].target;
    return count;
}

bool *code_reachable(Arena *arena, const Code *code, int pc, bool handlers) {
    bool *seen = ARENA_ARRAY(arena, bool, code->instr_count + 1);
    int *work = ARENA_ARRAY(arena, int, code->instr_count + 1), count = 0, next[3];
    work[count++] = pc;
    seen[pc] = true;
    while (count) {
        int i = work[--count], n = successors(code, i, next) - (!handlers && code_exception_at(code, i) >= 0);
        for (int j = 0; j < n; j++)
            if (next[j] < code->instr_count && !seen[next[j]]) {
                seen[next[j]] = true;
                work[count++] = next[j];
            }
    }
    return seen;
}

static bool reads_slot(Opcode opcode) {
    switch (opcode) {
    case OPCODE_STORE_FAST: return false;
    default: return opcode_arg_kind(opcode) == ARGK_LOCAL; /* cells count as read: they are shared */
    }
}

/* Backwards until nothing changes: live before = read here, or live after and not written here. */
bool *code_live_slots(Arena *arena, const Code *code, int pc) {
    int slots = code_localsplus_count(code), next[3];
    bool *live = ARENA_ARRAY(arena, bool, (size_t)(code->instr_count + 1) * (size_t)(slots + 1)), changed = true;
    while (changed) {
        changed = false;
        for (int i = code->instr_count - 1; i >= 0; i--) {
            const Instr *instr = &code->instrs[i];
            bool *before = live + (size_t)i * (size_t)slots, local = opcode_arg_kind((Opcode)instr->opcode) == ARGK_LOCAL;
            int count = successors(code, i, next);
            for (int s = 0; s < slots; s++) {
                bool want = local && instr->arg == s && reads_slot((Opcode)instr->opcode);
                for (int j = 0; j < count && !want && !(local && instr->arg == s); j++)
                    want = next[j] < code->instr_count && live[(size_t)next[j] * (size_t)slots + (size_t)s];
                changed |= want && !before[s];
                before[s] |= want;
            }
        }
    }
    return live + (size_t)pc * (size_t)slots;
}

/* ---- the code ---- */

typedef struct Layout { int *slot; int params, locals, frees; const char **names; } Layout; /* slot: user's -> resume's */

/* Arguments, then other locals, then the cells as free variables. */
static Layout layout_make(Arena *arena, const Resume *resume) {
    const Code *code = resume->original;
    int slots = code_localsplus_count(code), next = 0, cell = 0;
    Layout layout = {.slot = ARENA_ARRAY(arena, int, slots + 1), .names = ARENA_ARRAY(arena, const char *, slots + resume->stack_count + 1)};
    bool *placed = ARENA_ARRAY(arena, bool, slots + 1);
    for (int i = 0; i < resume->stack_count; i++) next += !resume->stack_null[i];
    for (int i = 0; i < resume->local_count; i++) {
        layout.slot[resume->locals[i]] = next;
        layout.names[next++] = code->localsplus[resume->locals[i]];
        placed[resume->locals[i]] = true;
    }
    layout.params = next;
    for (int i = 0; i < resume->cell_count; i++) placed[resume->cells[i]] = true;
    for (int i = 0; i < slots; i++) {
        if (placed[i]) continue;
        layout.slot[i] = next;
        layout.names[next++] = code->localsplus[i];
    }
    layout.locals = next;
    for (; cell < resume->cell_count; cell++) {
        layout.slot[resume->cells[cell]] = next;
        layout.names[next++] = code->localsplus[resume->cells[cell]];
    }
    layout.frees = resume->cell_count;
    return layout;
}

static void name_stack(Arena *arena, Interner *names, const Resume *resume, Layout *layout) {
    int next = 0;
    for (int i = 0; i < resume->stack_count; i++)
        if (!resume->stack_null[i]) {
            layout->names[next] = intern(names, arena_printf(arena, "___stack%d", next));
            next++;
        }
}

/* An exit method on the stack says which manager to enter again: its self. */
enum { ENTER_LENGTH = 5 };

static int prologue_length(const Resume *resume) { return (resume->cell_count > 0) + 1 + ENTER_LENGTH * resume->with_count + resume->stack_count + 1; }

static int argument_of(const Resume *resume, int stack) {
    int argument = 0;
    for (int i = 0; i < stack; i++) argument += !resume->stack_null[i];
    return argument;
}

static void write_prologue(const Resume *resume, Instr *out, int jump, Span span) {
    int at = 0, argument = 0;
    if (resume->cell_count) out[at++] = (Instr){OPCODE_COPY_FREE_VARS, resume->cell_count, span};
    out[at++] = (Instr){OPCODE_RESUME, 0, span};
    for (int i = 0; i < resume->with_count; i++) {
        out[at++] = (Instr){OPCODE_LOAD_FAST, argument_of(resume, resume->withs[i]), span};
        out[at++] = (Instr){OPCODE_LOAD_ATTR, resume->original->name_count << 1, span};
        out[at++] = (Instr){OPCODE_LOAD_ATTR, (resume->original->name_count + 1) << 1 | 1, span};
        out[at++] = (Instr){OPCODE_CALL, 0, span};
        out[at++] = (Instr){OPCODE_POP_TOP, 0, span};
    }
    for (int i = 0; i < resume->stack_count; i++) {
        bool null = resume->stack_null[i];
        out[at++] = (Instr){(uint16_t)(null ? OPCODE_PUSH_NULL : OPCODE_LOAD_FAST), null ? 0 : argument, span};
        argument += !null;
    }
    out[at] = (Instr){OPCODE_JUMP_FORWARD, jump, span};
}

/* The instructions that can be reached, in their order, with slots and jumps moved. where: old index -> new index, also of what was left out (the next kept). */
static void write_rest(Arena *arena, const Resume *resume, const Layout *layout, Code *made) {
    const Code *code = resume->original;
    bool *keep = code_reachable(arena, code, resume->pc, true);
    int *where = ARENA_ARRAY(arena, int, code->instr_count + 1), at = prologue_length(resume);
    for (int i = 0; i < code->instr_count; i++) {
        where[i] = at;
        at += keep[i];
    }
    where[code->instr_count] = at;
    Instr *out = ARENA_ARRAY(arena, Instr, at + 1);
    write_prologue(resume, out, where[resume->pc], code->instrs[resume->pc].span);
    for (int i = 0; i < code->instr_count; i++) {
        if (!keep[i]) continue;
        Instr instr = code->instrs[i];
        ArgKind kind = opcode_arg_kind((Opcode)instr.opcode);
        if (kind == ARGK_LOCAL) instr.arg = layout->slot[instr.arg];
        else if (kind == ARGK_JUMP) instr.arg = where[instr.arg];
        out[where[i]] = instr;
    }
    made->instrs = out;
    made->instr_count = at;
    int *origin = ARENA_ARRAY(arena, int, at + 1);
    for (int i = 0; i < at; i++) origin[i] = -1;
    for (int i = 0; i < code->instr_count; i++)
        if (keep[i]) origin[where[i]] = i;
    made->resumed_origin = origin;
    made->exceptions = ARENA_ARRAY(arena, ExceptionEntry, code->exception_count + 1);
    made->exception_count = 0;
    for (int i = 0; i < code->exception_count; i++) {
        ExceptionEntry entry = code->exceptions[i];
        entry.start = where[entry.start];
        entry.end = where[entry.end];
        if (entry.start >= entry.end) continue;
        entry.target = where[entry.target];
        made->exceptions[made->exception_count++] = entry;
    }
}

static Code *resume_code(Dynamo *dynamo, const Resume *resume) {
    Arena *arena = dynamo->arena;
    LangSession *lang = dynamo->vm->lang;
    const Code *code = resume->original;
    Layout layout = layout_make(arena, resume);
    name_stack(arena, lang->names, resume, &layout);
    Code *made = arena_copy(arena, code, sizeof *code);
    made->resumed_from = code;
    made->resumed_at = resume->pc;
    made->resumed_slots = layout.slot;
    made->name = intern(lang->names, arena_printf(arena, "torch_dynamo_resume_in_%s_at_%d", code->name, resume->line));
    made->qualname = made->name;
    made->id = lang->next_code_id++;
    made->flags &= ~(CODE_VARARGS | CODE_VARKEYWORDS);
    made->argcount = layout.params;
    made->posonlyargcount = made->kwonlyargcount = 0;
    made->nlocals = layout.locals;
    made->ncells = 0;
    made->nfrees = layout.frees;
    made->localsplus = layout.names;
    made->stacksize = code->stacksize + 2;
    made->cache = NULL;
    made->names = ARENA_ARRAY(arena, const char *, code->name_count + 2);
    memcpy(made->names, code->names, sizeof *made->names * (size_t)code->name_count);
    made->names[code->name_count] = intern(lang->names, "__self__");
    made->names[code->name_count + 1] = intern(lang->names, "__enter__");
    made->name_count = code->name_count + 2;
    made->doc = NULL;
    write_rest(arena, resume, &layout, made);
    return made;
}

static bool resume_same(const Resume *a, const Resume *b) {
    return a->original == b->original && a->pc == b->pc && a->line == b->line && a->stack_count == b->stack_count && a->local_count == b->local_count && a->cell_count == b->cell_count &&
           !memcmp(a->stack_null, b->stack_null, sizeof(bool) * (size_t)a->stack_count) && !memcmp(a->locals, b->locals, sizeof(int) * (size_t)a->local_count) &&
           !memcmp(a->cells, b->cells, sizeof(int) * (size_t)a->cell_count) && a->with_count == b->with_count && !memcmp(a->withs, b->withs, sizeof(int) * (size_t)a->with_count);
}

static int *int_array(Arena *arena, const int *from, int count) { return arena_copy(arena, from, sizeof(int) * (size_t)(count + 1)); }

int resume_slot(const Code *code, int original) { return code->resumed_slots ? code->resumed_slots[original] : original; }

/* A continuation of a continuation is one of the program's own code: the same place has the same continuation, whichever way it was come to. */
static void place_in_original(Resume *wanted, const Code *code) {
    wanted->original = code->resumed_from ? code->resumed_from : code;
    if (code->resumed_origin) wanted->pc = code->resumed_origin[wanted->pc];
}

static const Resume *resume_find(const Dynamo *dynamo, const Resume *wanted) {
    for (int i = 0; i < dynamo->resumes.count; i++)
        if (resume_same(dynamo->resumes.at[i], wanted)) return dynamo->resumes.at[i];
    return NULL;
}

static const Resume *resume_new(Dynamo *dynamo, const Resume *wanted) {
    Arena *arena = dynamo->arena;
    Resume *made = arena_copy(arena, wanted, sizeof *wanted);
    made->stack_null = arena_copy(arena, wanted->stack_null, sizeof(bool) * (size_t)(wanted->stack_count + 1));
    made->withs = int_array(arena, wanted->withs, wanted->with_count);
    made->locals = int_array(arena, wanted->locals, wanted->local_count);
    made->cells = int_array(arena, wanted->cells, wanted->cell_count);
    made->code = resume_code(dynamo, made);
    vec_push(&dynamo->resumes, made);
    return made;
}

const Resume *resume_at(Dynamo *dynamo, Resume wanted, const Frame *root, const bool *written) {
    Arena *scratch = arena_new("resume");
    place_in_original(&wanted, root->code);
    int slots = code_localsplus_count(wanted.original), *local_slots = ARENA_ARRAY(scratch, int, slots + 1), *cell_slots = ARENA_ARRAY(scratch, int, slots + 1);
    const bool *live = code_live_slots(scratch, wanted.original, wanted.pc);
    for (int i = 0; i < slots; i++) {
        int here = resume_slot(root->code, i);
        if (value_is(root->fast[here], OBJ_CELL)) cell_slots[wanted.cell_count++] = i;
        else if ((root->fast[here].tag != V_NULL || (written && written[here])) && live[i]) local_slots[wanted.local_count++] = i;
    }
    wanted.locals = local_slots;
    wanted.cells = cell_slots;
    const Resume *resume = resume_find(dynamo, &wanted);
    if (!resume) resume = resume_new(dynamo, &wanted);
    arena_free(scratch);
    return resume;
}
