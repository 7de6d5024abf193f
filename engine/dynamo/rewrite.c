/* Rewrite: the code that runs instead of the captured frame. In: the state of symbolic execution at its end or at a break. Out: real bytecode.
 *
 *     RESUME 0
 *     graph(L['x'], G['w']) -> ___outputs         the compiled graph, on the inputs' sources
 *     L['xs'][:] = […]                            effects on what the program holds, in order
 *     at the end:    (outputs[0], L['x'], 3); RETURN_VALUE
 *     at a break:    the instruction itself; then torch_dynamo_resume_in_f_at_9(its result, outputs[0], L['x']); RETURN_VALUE
 *
 * emit.c rebuilds values, effects.c replays effects, resume.c makes the continuations. What is carried over is loaded before the first effect is
 * written, since effects may change what it is read from. */
#include "dynamo/numbers.h"
#include "dynamo/rewrite.h"
#include "dynamo/shapes.h"
#include <assert.h>
#include <string.h>

static bool has_calls(const Graph *graph) {
    for (int i = 0; i < graph->nodes.count; i++)
        if (graph->nodes.at[i]->kind == NODE_CALL) return true;
    return false;
}

/* ---- what stands before the body ---- */

static void emit_graph_call(Rewrite *r) {
    Entry *entry = r->capture->entry;
    emit(r, OPCODE_PUSH_NULL, 0);
    emit(r, OPCODE_LOAD_CONST, rewrite_const(r, (Const){.kind = CONST_OBJECT, .object = entry->graph_object}));
    for (int i = 0; i < entry->inputs.count; i++) emit_source(r, entry->inputs.at[i].source);
    emit(r, OPCODE_CALL, entry->inputs.count + emit_size_arguments(r));
    emit(r, OPCODE_STORE_FAST, -1);
}

static bool is_prologue(Opcode opcode) { return opcode == OPCODE_COPY_FREE_VARS || opcode == OPCODE_MAKE_CELL; }

/* Cells as the user's code makes them, then the graph; in front of what has been emitted. Jumps move along. */
static int put_prologue(Rewrite *r) {
    Rewrite front = *r;
    memset(&front.instrs, 0, sizeof front.instrs);
    front.depth = 0;
    front.span = r->capture->entry->code->span;
    const Code *user = r->capture->entry->code;
    for (int i = 0; i < user->instr_count && is_prologue((Opcode)user->instrs[i].opcode); i++) emit(&front, (Opcode)user->instrs[i].opcode, user->instrs[i].arg);
    emit(&front, OPCODE_RESUME, 0);
    emit_draws(&front);
    if (has_calls(r->capture->entry->graph)) emit_graph_call(&front);
    int length = front.instrs.count;
    for (int i = 0; i < r->instrs.count; i++) vec_push_in(r->arena, &front.instrs, r->instrs.at[i]);
    front.depth = r->depth;
    *r = front;
    return length;
}

/* ---- the code object ---- */

static void place_arguments(Rewrite *r, int front) {
    int nlocals = r->capture->entry->code->nlocals;
    for (int i = 0; i < r->instrs.count; i++) {
        Instr *instr = &r->instrs.at[i];
        ArgKind kind = opcode_arg_kind((Opcode)instr->opcode);
        if (kind == ARGK_LOCAL) instr->arg = instr->arg < 0 ? nlocals - instr->arg - 1 : instr->arg >= nlocals ? instr->arg + r->locals : instr->arg;
        else if (kind == ARGK_JUMP && i >= front) instr->arg += front;
    }
    for (int i = 0; i < r->exceptions.count; i++) {
        r->exceptions.at[i].start += front;
        r->exceptions.at[i].end += front;
        r->exceptions.at[i].target += front;
    }
}

static Code *finish_code(Rewrite *r) {
    const Code *user = r->capture->entry->code;
    place_arguments(r, put_prologue(r));
    Code *code = arena_copy(r->arena, user, sizeof *user);
    int slots = code_localsplus_count(user);
    code->id = r->vm->lang->next_code_id++; /* the VM keeps constants by it */
    code->name = rewrite_intern(r, arena_printf(r->arena, "compiled_%s", user->name));
    const char **names = ARENA_ARRAY(r->arena, const char *, slots + r->locals);
    memcpy(names, user->localsplus, sizeof *names * (size_t)user->nlocals);
    for (int i = 0; i < r->locals; i++) names[user->nlocals + i] = rewrite_intern(r, i == 0 ? "___outputs" : arena_printf(r->arena, "___value%d", i));
    memcpy(names + user->nlocals + r->locals, user->localsplus + user->nlocals, sizeof *names * (size_t)(slots - user->nlocals));
    code->localsplus = names;
    code->nlocals = user->nlocals + r->locals;
    code->flags &= ~CODE_GENERATOR;
    code->names = r->names.at;
    code->name_count = r->names.count;
    code->consts = r->consts.at;
    code->const_count = r->consts.count;
    code->instrs = r->instrs.at;
    code->instr_count = r->instrs.count;
    code->exceptions = r->exceptions.at;
    code->exception_count = r->exceptions.count;
    code->stacksize = r->max_depth + 8; /* an exception pushes up to four more */
    code->cache = NULL;
    return code;
}

static Rewrite rewrite_begin(Capture *capture) {
    Rewrite r = {.capture = capture, .vm = capture->vm, .arena = capture->entry->arena, .built = map_new(capture->entry->arena), .locals = 1 + capture->draws.count, .span = capture->entry->code->span};
    vec_push_in(r.arena, &r.consts, ((Const){.kind = CONST_NONE}));
    return r;
}

static bool rewrite_end(Rewrite *r) {
    Entry *entry = r->capture->entry;
    if (r->failed) {
        if (!r->vm->stopped) vm_stop(r->vm, "other", entry->code->span, "the result cannot be rebuilt");
        return false;
    }
    graph_output(entry->graph, r->outputs.at, r->outputs.count);
    capture_settle_modes(r->capture);
    capture_settle_numbers(r->capture);
    graph_finish(entry->graph);
    entry->empty = !has_calls(entry->graph);
    entry->rewritten = finish_code(r);
    return true;
}

/* ---- what is carried over the end of the graph ---- */

enum { NOT_CARRIED = INT32_MIN };

/* Values of the frame on their way over the break: for each, the local that it lies in (see emit_load), or NOT_CARRIED. */
typedef struct Carried { int *stack, *slots, *cells; int depth; } Carried;

/* An argument that was never assigned is still in its slot. */
static bool is_unchanged(Value v, int slot) {
    if (!value_is(v, OBJ_TRACKED)) return false;
    const Source *source = ((Tracked *)v.o)->source;
    return source->kind == SOURCE_LOCAL && !source->base && source->index == slot;
}

static int *none_carried(Arena *arena, int count) {
    int *locals = ARENA_ARRAY(arena, int, count + 1);
    for (int i = 0; i < count; i++) locals[i] = NOT_CARRIED;
    return locals;
}

static void carry_cell(Rewrite *r, Carried *carried, int slot, Value cell) {
    Value content = ((Cell *)cell.o)->value;
    if (map_has(r->capture->known, cell.o) || content.tag == V_NULL || is_unchanged(content, slot)) return;
    emit_value(r, content);
    carried->cells[slot] = emit_store_new(r);
}

/* needed: the slots that are read later. */
static Carried carry(Rewrite *r, const bool *needed) {
    const Frame *root = r->capture->root;
    int slots = code_localsplus_count(root->code);
    Carried c = {.depth = root->sp - slots};
    c.stack = none_carried(r->arena, c.depth);
    c.slots = none_carried(r->arena, slots);
    c.cells = none_carried(r->arena, slots);
    for (int i = 0; i < c.depth; i++) {
        if (root->fast[slots + i].tag == V_NULL) continue;
        emit_value(r, root->fast[slots + i]);
        c.stack[i] = emit_store_new(r);
    }
    for (int i = 0; i < slots; i++) {
        Value v = root->fast[i];
        if (value_is(v, OBJ_CELL)) {
            carry_cell(r, &c, i, v);
        } else if (needed[i] && v.tag != V_NULL) {
            c.slots[i] = i;
            if (is_unchanged(v, i)) continue;
            emit_value(r, v);
            c.slots[i] = emit_store_new(r);
        }
    }
    return c;
}

static void write_cells(Rewrite *r, const Carried *carried) {
    for (int i = 0; i < code_localsplus_count(r->capture->root->code); i++) {
        if (carried->cells[i] == NOT_CARRIED) continue;
        emit_load(r, carried->cells[i]);
        emit(r, OPCODE_STORE_DEREF, i);
    }
}

/* ---- the end of the frame ---- */

/* A function made here leaves: the cells that it shares with the frame get what they hold now. */
static bool loads_cells(const Rewrite *r) {
    for (int i = 0; i < r->instrs.count; i++)
        if (r->instrs.at[i].opcode == OPCODE_LOAD_CLOSURE) return true;
    return false;
}

/* Contents of what changed and the result, then the writes, then the result again. */
static void emit_effects_and_result(Rewrite *r, Value result) {
    Effect *effects = effects_build(r);
    emit_value(r, result);
    if (!capture_has_effects(r->capture) && !loads_cells(r)) return;
    int local = emit_store_new(r), slots = code_localsplus_count(r->capture->root->code);
    if (loads_cells(r)) {
        Carried carried = {.cells = none_carried(r->arena, slots)};
        for (int i = 0; i < slots; i++)
            if (value_is(r->capture->root->fast[i], OBJ_CELL)) carry_cell(r, &carried, i, r->capture->root->fast[i]);
        write_cells(r, &carried);
    }
    effects_write(r, effects);
    emit_load(r, local);
}

bool capture_rewrite(Capture *capture, Value result) {
    Entry *entry = capture->entry;
    if (!has_calls(entry->graph)) {
        entry->empty = true; /* nothing to compile: the user's own code runs */
        capture_settle_modes(capture);
        capture_settle_numbers(capture);
        graph_finish(entry->graph);
        return true;
    }
    Rewrite r = rewrite_begin(capture);
    emit_effects_and_result(&r, result);
    emit(&r, OPCODE_RETURN_VALUE, 0);
    return rewrite_end(&r);
}

/* ---- a break ---- */

static void emit_stack(Rewrite *r, int local) {
    if (local == NOT_CARRIED) emit(r, OPCODE_PUSH_NULL, 0);
    else emit_load(r, local);
}

/* The continuation is made a function here and now, with the frame's cells, called with what was carried, and its result returned. */
static void emit_resume(Rewrite *r, const Resume *resume, const Carried *carried) {
    int nargs = 0;
    emit(r, OPCODE_PUSH_NULL, 0);
    for (int i = 0; i < resume->cell_count; i++) emit(r, OPCODE_LOAD_CLOSURE, resume_slot(r->capture->root->code, resume->cells[i]));
    if (resume->cell_count) emit(r, OPCODE_BUILD_TUPLE, resume->cell_count);
    emit(r, OPCODE_LOAD_CONST, rewrite_const(r, (Const){.kind = CONST_CODE, .code = resume->code}));
    emit(r, OPCODE_MAKE_FUNCTION, resume->cell_count ? 8 : 0);
    for (int i = 0; i < resume->stack_count; i++) {
        if (resume->stack_null[i]) continue;
        emit_load(r, carried->stack[i]);
        nargs++;
    }
    for (int i = 0; i < resume->local_count; i++, nargs++) emit_load(r, carried->slots[resume_slot(r->capture->root->code, resume->locals[i])]);
    emit(r, OPCODE_CALL, nargs);
    emit(r, OPCODE_RETURN_VALUE, 0);
}

/* An instruction of the user's, with its names and constants where this code has them. */
static void emit_original(Rewrite *r, const Code *user, Instr instr) {
    int arg = instr.arg;
    switch (opcode_arg_kind((Opcode)instr.opcode)) {
    case ARGK_NAME: arg = rewrite_name(r, user->names[arg]); break;
    case ARGK_NAME_SHIFT1: arg = rewrite_name(r, user->names[arg >> 1]) << 1 | (arg & 1); break;
    case ARGK_NAME_SHIFT2: arg = rewrite_name(r, user->names[arg >> 2]) << 2 | (arg & 3); break;
    case ARGK_CONST: case ARGK_CONST_NAMES: arg = rewrite_const(r, user->consts[arg]); break;
    default: break;
    }
    r->span = instr.span;
    emit(r, (Opcode)instr.opcode, arg);
}

/* On an exception in [start, end) the `with` blocks are left, innermost first, and it goes on. Their exit methods lie lowest on the stack. */
static void emit_with_handlers(Rewrite *r, int withs, int start, int end) {
    for (int i = withs - 1; i >= 0; i--) {
        int handler = r->instrs.count;
        vec_push_in(r->arena, &r->exceptions, ((ExceptionEntry){start, end, handler, i + 1, true}));
        r->depth = i + 3;
        emit(r, OPCODE_PUSH_EXC_INFO, 0);
        emit(r, OPCODE_WITH_EXCEPT_START, 0);
        emit(r, OPCODE_POP_TOP, 0);
        emit(r, OPCODE_RERAISE, 2);
        int cleanup = r->instrs.count;
        vec_push_in(r->arena, &r->exceptions, ((ExceptionEntry){handler, cleanup, cleanup, i + 3, true}));
        emit(r, OPCODE_COPY, 3);
        emit(r, OPCODE_POP_EXCEPT, 0);
        emit(r, OPCODE_RERAISE, 1);
        start = cleanup; /* what these raise belongs to the next block */
        end = r->instrs.count;
    }
}

/* written: locals that the instructions bind (those of a comprehension). */
typedef struct Site { const Code *code; int pc, end, operands, results, withs, exits[BREAK_MAX_WITHS]; bool *written; const Resume *next, *jump; } Site;

/* The blocks are left before the continuation is called, innermost first; it enters them again. */
static void leave_withs(Rewrite *r, const Site *site, const Carried *carried) {
    for (int i = 0; i < site->withs; i++) emit(r, OPCODE_POP_TOP, 0);
    for (int i = 0; i < site->withs; i++) {
        emit(r, OPCODE_PUSH_NULL, 0);
        emit_load(r, carried->stack[site->exits[i]]);
        for (int j = 0; j < 3; j++) emit_plain(r, VALUE_NONE);
        emit(r, OPCODE_CALL, 3);
        emit(r, OPCODE_POP_TOP, 0);
    }
}

static const Resume *continuation(Rewrite *r, const Site *site, int pc, const bool *null, int depth) {
    int withs[BREAK_MAX_WITHS + 1];
    for (int i = 0; i < site->withs; i++) withs[i] = site->exits[site->withs - 1 - i];
    Resume wanted = {.original = site->code, .pc = pc, .line = span_line(site->code->instrs[site->pc].span), .stack_count = depth, .stack_null = null, .with_count = site->withs, .withs = withs};
    return resume_at(r->capture->dynamo, wanted, r->capture->root, site->written);
}

static bool *slots_written(Arena *arena, const Code *code, int pc, int end) {
    bool *written = ARENA_ARRAY(arena, bool, code_localsplus_count(code) + 1);
    for (int i = pc; i < end; i++)
        if (code->instrs[i].opcode == OPCODE_STORE_FAST) written[code->instrs[i].arg] = true;
    for (int i = pc; i < end; i++) /* saved, and put back as it was */
        if (code->instrs[i].opcode == OPCODE_LOAD_FAST_AND_CLEAR) written[code->instrs[i].arg] = false;
    return written;
}

static Site site_make(Rewrite *r) {
    const Frame *root = r->capture->root;
    const BreakPlan *plan = r->capture->plan;
    int slots = code_localsplus_count(root->code), depth = root->sp - slots;
    Site site = {.code = root->code, .pc = plan->pc, .end = plan->end, .operands = plan->operands, .results = plan->results};
    site.withs = break_with_blocks(root, site.pc, site.exits);
    for (int i = 0; i < site.withs; i++) site.exits[i] = site.code->exceptions[site.exits[i]].depth - 1; /* where the exit method lies on the stack */
    site.written = slots_written(r->arena, site.code, site.pc, site.end);
    bool *null = ARENA_ARRAY(r->arena, bool, depth + 2);
    int kept = depth - site.operands;
    for (int i = 0; i < kept; i++) null[i] = root->fast[slots + i].tag == V_NULL;
    site.next = continuation(r, &site, site.end, null, kept + site.results);
    if (plan->style == BREAK_BRANCH) site.jump = continuation(r, &site, site.code->instrs[site.pc].arg, null, kept);
    return site;
}

static bool is_piece(const Site *site) { return site->end > site->pc + 1; }

static bool *needed_slots(Rewrite *r, const Site *site) {
    int slots = code_localsplus_count(site->code);
    bool *needed = ARENA_ARRAY(r->arena, bool, slots + 1);
    for (int i = 0; i < site->next->local_count; i++) needed[resume_slot(site->code, site->next->locals[i])] = true;
    for (int i = 0; site->jump && i < site->jump->local_count; i++) needed[resume_slot(site->code, site->jump->locals[i])] = true;
    const bool *live = is_piece(site) ? code_live_slots(r->arena, site->code, site->pc) : needed;
    for (int i = 0; i < slots; i++) needed[i] |= live[i];
    return needed;
}

static void store_slots(Rewrite *r, const Code *user, Carried *carried) {
    for (int i = 0; i < code_localsplus_count(user); i++) {
        if (carried->slots[i] == NOT_CARRIED || carried->slots[i] == i) continue;
        emit_load(r, carried->slots[i]);
        emit(r, OPCODE_STORE_FAST, i);
        carried->slots[i] = i;
    }
}

/* A comprehension works on the frame's own locals. */
static void emit_piece(Rewrite *r, const Site *site, Carried *carried) {
    int first = r->instrs.count - site->pc;
    for (int i = site->pc; i < site->end; i++) {
        Instr instr = site->code->instrs[i];
        if (opcode_arg_kind((Opcode)instr.opcode) == ARGK_JUMP) instr.arg += first;
        emit_original(r, site->code, instr);
    }
    for (int i = 0; i < code_localsplus_count(site->code); i++)
        if (site->written[i]) carried->slots[i] = i;
}

/* The instructions, with their operands; exits of `with` blocks below them. */
static void emit_instructions(Rewrite *r, const Site *site, Carried *carried) {
    for (int i = site->withs - 1; i >= 0; i--) emit_load(r, carried->stack[site->exits[i]]);
    for (int i = carried->depth - site->operands; i < carried->depth; i++) emit_stack(r, carried->stack[i]);
    if (is_piece(site)) {
        emit_piece(r, site, carried);
        return;
    }
    if (r->capture->root->kwnames) emit_original(r, site->code, site->code->instrs[site->pc - 1]);
    emit_original(r, site->code, site->code->instrs[site->pc]);
}

static void emit_break(Rewrite *r) {
    Effect *effects = effects_build(r);
    Site site = site_make(r);
    Carried carried = carry(r, needed_slots(r, &site));
    write_cells(r, &carried);
    effects_write(r, effects);
    if (is_piece(&site)) store_slots(r, site.code, &carried);
    int start = r->instrs.count;
    emit_instructions(r, &site, &carried);
    int end = r->instrs.count, depth = site.withs;
    if (site.results) carried.stack[carried.depth - site.operands] = emit_store_new(r);
    leave_withs(r, &site, &carried);
    emit_resume(r, site.next, &carried);
    if (site.jump) {
        r->instrs.at[end - 1].arg = r->instrs.count;
        r->depth = depth;
        leave_withs(r, &site, &carried);
        emit_resume(r, site.jump, &carried);
    }
    emit_with_handlers(r, site.withs, start, end);
}

/* The rest of the user's own instructions, moved here. */
static void emit_rest(Rewrite *r, const Code *user, int pc) {
    bool *keep = code_reachable(r->arena, user, pc, true);
    int *where = ARENA_ARRAY(r->arena, int, user->instr_count + 1), first = r->instrs.count + 1, at = first;
    for (int i = 0; i < user->instr_count; i++) {
        where[i] = at;
        at += keep[i];
    }
    where[user->instr_count] = at;
    emit(r, OPCODE_JUMP_FORWARD, where[pc]);
    for (int i = 0; i < user->instr_count; i++) {
        if (!keep[i]) continue;
        Instr instr = user->instrs[i];
        if (opcode_arg_kind((Opcode)instr.opcode) == ARGK_JUMP) instr.arg = where[instr.arg];
        emit_original(r, user, instr);
    }
    for (int i = 0; i < user->exception_count; i++) {
        ExceptionEntry e = user->exceptions[i];
        if (where[e.start] < where[e.end]) vec_push_in(r->arena, &r->exceptions, ((ExceptionEntry){where[e.start], where[e.end], where[e.target], e.depth, e.lasti}));
    }
    r->max_depth += user->stacksize;
}

static void emit_statement_break(Rewrite *r) {
    const Code *user = r->capture->root->code;
    int pc = r->capture->plan->pc;
    Effect *effects = effects_build(r);
    Carried carried = carry(r, code_live_slots(r->arena, user, pc));
    write_cells(r, &carried);
    effects_write(r, effects);
    store_slots(r, user, &carried);
    emit_rest(r, user, pc);
}

bool capture_rewrite_break(Capture *capture) {
    Rewrite r = rewrite_begin(capture);
    r.span = capture->plan->span.file == capture->entry->code->span.file ? capture->root->code->instrs[capture->plan->pc].span : capture->entry->code->span;
    int withs[BREAK_MAX_WITHS], count = break_with_blocks(capture->root, capture->plan->pc, withs);
    if (count > 0) capture_leave_blocks(capture, capture->root->code->exceptions[withs[count - 1]].depth);
    if (capture->plan->style == BREAK_STATEMENT) emit_statement_break(&r);
    else emit_break(&r);
    return rewrite_end(&r);
}
