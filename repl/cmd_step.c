/* Commands that step: a call walked instruction by instruction through capture, then stage by stage, through its graph breaks.
 *
 *     :step f(x)    :next    :into    :until functional    :back    :continue    :done
 *
 * What is shown is a record that the engine keeps (session_step_facts); here it is only printed.
 * To add a move: its StepMove in engine.h, its row at the end of this file. */
#include "repl/facts.h"
#include "repl/json.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_SHOWN = 4 };

/* ---- what a stop shows ---- */

static void put_list(CommandCall *call, const char *label, const char *const *items, int count) {
    text_printf(&call->out, "  %-7s ", label);
    if (!count) text_put(&call->out, "empty");
    for (int i = 0; i < count; i++) {
        if (i) text_put(&call->out, "  |  ");
        text_visible(&call->out, items[i]);
    }
    text_char(&call->out, '\n');
}

static void put_locals_line(CommandCall *call, const StepFacts *facts) {
    const char **items = ARENA_ARRAY(call->arena, const char *, facts->local_count + 1);
    for (int i = 0; i < facts->local_count; i++) items[i] = arena_printf(call->arena, "%s = %s", facts->locals[i].name, facts->locals[i].value);
    put_list(call, "locals", items, facts->local_count);
}

/* The last lines of a list that grows: at least so many, and all that are new, with a '+'. */
static void put_growing(CommandCall *call, const char *label, const char *one, const char **lines, int count, int new_ones, int least) {
    int shown = new_ones > least ? new_ones : count < least ? count : least;
    const char *which = shown == count ? ":" : shown ? arena_printf(call->arena, ", the last %d:", shown) : "";
    text_printf(&call->out, "  %-7s %d %s%s%s\n", label, count, one, count == 1 ? "" : "s", count ? which : "");
    for (int i = count - shown; i < count; i++) {
        text_put(&call->out, i >= count - new_ones ? "        + " : "          ");
        text_visible(&call->out, lines[i]);
        text_char(&call->out, '\n');
    }
}

static void put_source(CommandCall *call, const StepFacts *facts) {
    if (!facts->span.file) return;
    text_printf(&call->out, "  %5d   ", span_line(facts->span));
    text_visible(&call->out, span_source_near(facts->span, call->arena));
    text_char(&call->out, '\n');
}

static void put_text_lines(CommandCall *call, const char *text, const char *indent) {
    for (const char *at = text; at && *at;) {
        size_t length = strcspn(at, "\n");
        text_put(&call->out, indent);
        text_visible(&call->out, arena_strndup(call->arena, at, length));
        text_char(&call->out, '\n');
        at += length + (at[length] == '\n');
    }
}

static const char *heading(CommandCall *call, const StepFacts *facts) {
    const char *id = facts->entry ? arena_printf(call->arena, "[%s] ", facts->entry) : "", *place = facts_place(call->arena, facts->span);
    switch (facts->kind) {
    case STEP_INSTRUCTION: return arena_printf(call->arena, "%s%s  %s%s", id, facts->function, place, facts->inlined ? ", inlined" : "");
    case STEP_STAGE: return arena_printf(call->arena, "%s%s  stage %s", id, facts->function, facts->stage);
    case STEP_RETURNED: return arena_printf(call->arena, "%s has returned", facts->function);
    case STEP_BREAK: return arena_printf(call->arena, "%s%s  graph break at %s", id, facts->function, place);
    default: return arena_printf(call->arena, "%s%s  %s", id, facts->function, facts->kind_name);
    }
}

static void put_stop(CommandCall *call, const StepFacts *facts) {
    text_visible(&call->out, show_bold(call->show, call->arena, heading(call, facts)));
    if (facts->number < facts->newest) text_printf(&call->out, "  (stop %d of %d so far)", facts->number, facts->newest);
    text_char(&call->out, '\n');
    if (facts->kind == STEP_INSTRUCTION || facts->kind == STEP_BREAK) put_source(call, facts);
    if (facts->text) put_text_lines(call, facts->text, "  ");
    if (facts->kind != STEP_INSTRUCTION) return;
    text_put(&call->out, "  ");
    text_visible(&call->out, arena_printf(call->arena, "%5d > %s\n", facts->index, facts->instruction));
    put_list(call, "stack", facts->stack, facts->stack_count);
    put_locals_line(call, facts);
    put_growing(call, "graph", "node", facts->graph, facts->graph_count, facts->graph_new, LINES_SHOWN);
    put_growing(call, "guards", "guard", facts->guards, facts->guard_count, facts->guard_new, 0);
}

static void put_strings(cJSON *object, const char *name, const char *const *items, int count) {
    cJSON *list = json_list(object, name);
    for (int i = 0; i < count; i++) json_add(list, items[i]);
}

static void put_json_stop(CommandCall *call, const StepFacts *facts) {
    cJSON *document = call_document(call);
    json_put(document, "kind", facts->kind_name);
    json_put(document, "entry", facts->entry);
    json_put(document, "function", facts->function);
    json_span(document, facts->span);
    if (facts->stage) json_put(document, "stage", facts->stage);
    if (facts->text) json_put(document, "text", facts->text);
    if (facts->kind == STEP_INSTRUCTION) {
        json_integer(document, "index", facts->index);
        json_put(document, "instruction", facts->instruction);
        json_bool(document, "inlined", facts->inlined);
        put_strings(document, "stack", facts->stack, facts->stack_count);
        cJSON *locals = json_object(document, "locals");
        for (int i = 0; i < facts->local_count; i++) json_put(locals, facts->locals[i].name, facts->locals[i].value);
    }
    put_strings(document, "graph", facts->graph, facts->graph_count);
    put_strings(document, "guards", facts->guards, facts->guard_count);
    json_integer(document, "stop", facts->number);
    json_integer(document, "newest", facts->newest);
}

/* ---- moving ---- */

static bool no_call(CommandCall *call) { return command_error(call, call->span, "no call is being stepped: :step f(x) begins one"); }

static bool show_here(CommandCall *call) {
    StepFacts facts;
    if (!session_step_facts(call->session, &facts, call->arena)) return no_call(call);
    if (call->json) put_json_stop(call, &facts);
    else put_stop(call, &facts);
    bool stopped_by_hand = call->repl->interrupt && *call->repl->interrupt;
    return !stopped_by_hand;
}

static bool tell_result(CommandCall *call, StepResult result) {
    switch (result) {
    case STEP_STOPPED: return show_here(call);
    case STEP_AT_START: return command_error(call, call->span, "this is the first stop");
    case STEP_ENDED: return command_error(call, call->span, "the call is at its end: :back looks back, :done leaves");
    case STEP_FAILED: return command_error(call, call->span, "the call did not succeed: :back looks at its last steps");
    case STEP_NOTHING: break;
    }
    return no_call(call);
}

static bool move(CommandCall *call, const StepGoal *goal) { return tell_result(call, session_step(call->session, goal)); }

/* `:next 3` makes three moves, or as many as there are, and shows the last. */
static bool move_times(CommandCall *call, StepMove kind) {
    StepGoal goal = {.move = kind};
    char *end = NULL;
    errno = 0;
    long times = call->words.count ? strtol(call_word(call, 0), &end, 10) : 1;
    if (end && (*end || errno || times < 1 || times > 1000000)) return command_error(call, call_span(call, 0), "a number of moves is expected");
    StepResult result = session_step(call->session, &goal);
    bool moved = result == STEP_STOPPED;
    for (; times > 1 && result == STEP_STOPPED; times--) {
        if (call->repl->interrupt && *call->repl->interrupt) break;
        result = session_step(call->session, &goal);
    }
    bool at_end = result == STEP_ENDED || result == STEP_AT_START;
    return tell_result(call, moved && at_end ? STEP_STOPPED : result);
}

/* Going back behind a run: what it printed or changed stays. Said when the run is passed. */
static bool run_back(CommandCall *call) {
    StepFacts before, after;
    bool known = session_step_facts(call->session, &before, call->arena);
    if (!move_times(call, STEP_BACK)) return false;
    if (!known || call->json || !session_step_facts(call->session, &after, call->arena)) return true;
    bool ran_before = before.kind == STEP_RETURN || before.kind == STEP_RETURNED || before.kind == STEP_RUN || before.kind == STEP_FRAME;
    bool ran_after = after.kind == STEP_RETURN || after.kind == STEP_RETURNED;
    if (ran_before && !ran_after && (after.number > 1)) text_put(&call->out, "  (nothing is undone: what ran has run)\n");
    return true;
}

static bool run_step(CommandCall *call) {
    if (!*call->rest.text) return show_here(call);
    if (!session_step_begin(call->session, call->rest.text)) return command_error(call, call->span, "the call did not succeed");
    call->repl->last_step = ":next"; /* what an empty line does first */
    return show_here(call);
}

const Command command_step = {
    .name = "step", .group = "step", .usage = "[CALL]", .flags = COMMAND_TAKES_CODE, .complete = COMPLETE_CODE, .run = run_step,
    .summary = "walk a call through capture, stage by stage",
    .help = "Stops before each instruction that capture runs, and shows the line, the instruction, the symbolic\n"
            "stack, locals, the graph and the guards so far (+ marks what the last instruction added). Then come\n"
            "the stages, each with what it changed, the run, and after a graph break the resume function.\n"
            "  :next [N]   the next instruction of this function, or the next stage\n"
            "  :into [N]   the very next one, in inlined functions too\n"
            "  :back [N]   the one before; what was printed or changed stays so\n"
            "  :continue   to the next graph break, line of :break, or the end\n"
            "  :until X    to a stage, a line, the next break or run\n"
            "  :stack :locals   all of them, one a line        :done   leave; the rest is not run\n"
            "A copy of the cache is used, in which no older entry serves. :step alone shows where it stands. All\n"
            "other commands work meanwhile: :graph dynamo and :guards show what is there so far.",
};

static bool run_next(CommandCall *call) { return move_times(call, STEP_NEXT); }
const Command command_next = {
    .name = "next", .group = "step", .usage = "[N]", .most = 1, .flags = COMMAND_STEPS, .run = run_next,
    .summary = "the next instruction here, or the next stage",
    .help = "Inlined calls are stepped over. At the prompt an empty line repeats it.",
};

static bool run_into(CommandCall *call) { return move_times(call, STEP_INTO); }
const Command command_into = {
    .name = "into", .group = "step", .usage = "[N]", .most = 1, .flags = COMMAND_STEPS, .run = run_into,
    .summary = "the very next instruction, in inlined calls too",
    .help = "nn.Modules are inlined as well: their forward is code of the library that can be stepped through.",
};

const Command command_back = {
    .name = "back", .group = "step", .usage = "[N]", .most = 1, .flags = COMMAND_STEPS, .run = run_back,
    .summary = "the instruction or stage before",
    .help = "Through capture and through the stages. It shows what was recorded: nothing is run again, and\n"
            "what the run printed or changed is not undone.",
};

static bool run_continue(CommandCall *call) {
    StepGoal goal = {.move = STEP_CONTINUE};
    return move(call, &goal);
}
const Command command_continue = {
    .name = "continue", .group = "step", .usage = "", .flags = COMMAND_STEPS, .run = run_continue,
    .summary = "go on to a graph break, a :break line or the end",
    .help = "Ctrl-C stops at the next instruction or stage, and stepping goes on from there.",
};

/* ---- until ---- */

/* Names of stages as the looking commands have them, and the step of the pipeline that makes each. */
static const char *const UNTIL_STAGES[][2] = {
    {"bytecode", "bytecode"}, {"dynamo", "dynamo"}, {"guards", "dynamo"}, {"joint", "joint"}, {"functional", "functional"}, {"decomposed", "decomposed"}, {"partition", "partition"},
    {"forward", "partition"}, {"backward", "partition"}, {"ir", "lower"}, {"lower", "lower"}, {"fusion", "fuse"}, {"fuse", "fuse"}, {"schedule", "order"}, {"order", "order"},
    {"memory", "memplan"}, {"memplan", "memplan"}, {"bind", "bind"}, {"kernels", "generate"}, {"generate", "generate"}, {"wrapper", "compile kernels"}, {"compile", "compile kernels"},
    {"break", "break"}, {"run", "run"},
};
enum { UNTIL_COUNT = sizeof UNTIL_STAGES / sizeof *UNTIL_STAGES };

static bool no_goal(CommandCall *call) {
    const char *names[UNTIL_COUNT + 1] = {0};
    for (size_t i = 0; i < UNTIL_COUNT; i++) names[i] = UNTIL_STAGES[i][0];
    const char *near = nearest_name(call_word(call, 0), names);
    return command_error(call, call_span(call, 0), near ? "no stage %s: is it %s?" : "no stage or line %s: :help until", call_word(call, 0), near);
}

static bool run_until(CommandCall *call) {
    const char *word = call_word(call, 0);
    StepGoal goal = {.move = STEP_UNTIL};
    if (strncmp(word, "line:", 5) == 0) word += 5;
    char *end;
    long line = strtol(word, &end, 10);
    if (*word && !*end && line > 0 && line < 1 << 30) goal.line = (int)line;
    for (size_t i = 0; !goal.line && i < UNTIL_COUNT; i++)
        if (strcmp(UNTIL_STAGES[i][0], word) == 0) goal.stage = UNTIL_STAGES[i][1];
    return goal.line || goal.stage ? move(call, &goal) : no_goal(call);
}
const Command command_until = {
    .name = "until", .group = "step", .usage = "STAGE | LINE | break | run", .least = 1, .most = 1, .flags = COMMAND_STEPS, .complete = COMPLETE_STAGE, .run = run_until,
    .summary = "go on to a stage, a line, the next break or run",
    .help = "Stages are those of :stages, or the pipeline's own steps (lower, fuse, order, memplan, bind,\n"
            "generate, compile). A line is one of the stepped function's file. Lines of :break stop it too.",
};

/* ---- lines ---- */

static bool list_line_breaks(CommandCall *call) {
    int count = session_step_breaks(call->session, NULL, 0);
    LineBreakFacts *breaks = ARENA_ARRAY(call->arena, LineBreakFacts, count + 1);
    session_step_breaks(call->session, breaks, count);
    cJSON *list = call->json ? json_list(call_document(call), "line_breaks") : NULL;
    for (int i = 0; i < count; i++) {
        if (list) {
            cJSON *item = json_item(list);
            json_put(item, "file", breaks[i].file);
            json_integer(item, "line", breaks[i].line);
        } else text_printf(&call->out, "  %s:%d\n", breaks[i].file ? breaks[i].file : "(the stepped function's file)", breaks[i].line);
    }
    if (!list && !count) text_put(&call->out, "no lines to stop at (graph breaks: :breaks)\n");
    return true;
}

static bool run_break(CommandCall *call) {
    if (!call->words.count) return list_line_breaks(call);
    const char *word = call_word(call, 0), *colon = strrchr(word, ':'), *file = colon && strncmp(word, "line:", 5) ? arena_strndup(call->arena, word, (size_t)(colon - word)) : NULL;
    const char *off = call_word(call, 1);
    char *end;
    long line = strtol(colon ? colon + 1 : word, &end, 10);
    if (*end || line < 1 || line >= 1 << 30) return command_error(call, call_span(call, 0), "a line is expected: :break 12, :break model.py:12");
    if (off && strcmp(off, "off") != 0) return command_error(call, call_span(call, 1), "off is expected, or nothing");
    if (!session_step_break(call->session, file, (int)line, !off)) return command_error(call, call_span(call, 0), "there is no such line to stop at: :break lists them");
    return !call->json || list_line_breaks(call);
}
const Command command_break = {
    .name = "break", .group = "step", .usage = "[[FILE:]LINE [off]]", .most = 2, .run = run_break,
    .summary = "a line at which :continue and :until stop",
    .help = "Without FILE it is a line of the file of the function that is stepped. :break alone lists them. The\n"
            "graph breaks of the program are listed by :breaks.",
};

/* ---- looking ---- */

static bool run_stack(CommandCall *call) {
    StepFacts facts;
    if (!session_step_facts(call->session, &facts, call->arena)) return no_call(call);
    if (call->json) {
        put_strings(call_document(call), "stack", facts.stack, facts.stack_count);
        return true;
    }
    for (int i = facts.stack_count - 1; i >= 0; i--) text_visible(&call->out, arena_printf(call->arena, "  %3d  %s\n", i, facts.stack[i]));
    if (!facts.stack_count) text_put(&call->out, facts.kind == STEP_INSTRUCTION ? "the stack is empty\n" : "there is no stack at this stop\n");
    return true;
}
const Command command_stack = {
    .name = "stack", .group = "step", .usage = "", .run = run_stack,
    .summary = "the symbolic stack at this stop, top first",
    .help = "L['x'] is an argument that was not looked at, %relu a node of the graph, s0 a symbolic size.",
};

static bool run_locals(CommandCall *call) {
    StepFacts facts;
    if (!session_step_facts(call->session, &facts, call->arena)) return no_call(call);
    cJSON *object = call->json ? json_object(call_document(call), "locals") : NULL;
    for (int i = 0; i < facts.local_count; i++) {
        if (object) json_put(object, facts.locals[i].name, facts.locals[i].value);
        else text_visible(&call->out, arena_printf(call->arena, "  %-12s %s\n", facts.locals[i].name, facts.locals[i].value));
    }
    if (!object && !facts.local_count) text_put(&call->out, facts.kind == STEP_INSTRUCTION ? "no local is bound\n" : "there are no locals at this stop\n");
    return true;
}
const Command command_locals = {
    .name = "locals", .group = "step", .usage = "", .run = run_locals,
    .summary = "the locals at this stop, as capture holds them",
    .help = "A local that was assigned shows its node, an argument that was not touched its path.",
};

static bool run_done(CommandCall *call) {
    StepFacts facts;
    if (!session_step_facts(call->session, &facts, call->arena)) return no_call(call);
    session_step_end(call->session);
    call->repl->last_step = NULL;
    if (call->json) json_bool(call_document(call), "done", true);
    return true;
}
const Command command_done = {
    .name = "done", .group = "step", .usage = "", .run = run_done,
    .summary = "leave the call that is stepped",
    .help = "What has not run does not run. What was compiled can still be looked at.",
};
