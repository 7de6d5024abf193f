/* Stops: what the machine looked like, and what happened, as text. In: the frame and capture at a stop. Out: a Stop in the stepper's record, and its facts.
 *
 *     stack  NULL, <function relu>, %matmul f32[4, 2]         locals  x = L['x'] (f32[4, 3])
 *
 * Invariant: nothing of the program is run to show a value, and no reference is kept to one. */
#include "step.h"
#include <string.h>

/* ---- values ---- */

enum { BRIEF_DEPTH = 3, BRIEF_ITEMS = 6, BRIEF_CHARACTERS = 40 };

static void brief_text(Text *text, const Str *s) {
    Text quoted = {0}, cut = {0};
    text_put_n(&cut, s->text, s->length > BRIEF_CHARACTERS ? BRIEF_CHARACTERS : s->length);
    text_quoted(&quoted, text_cstr(&cut));
    quoted.data[0] = quoted.data[quoted.length - 1] = '\'';
    text_printf(text, "%s%s", text_cstr(&quoted), s->length > BRIEF_CHARACTERS ? "..." : "");
    text_free(&quoted);
    text_free(&cut);
}

static void brief_tensor(Text *text, const Tensor *tensor) {
    if (tensor->node) text_printf(text, "%%%s ", ((const Node *)tensor->node)->name);
    else text_put(text, "tensor ");
    meta_print(text, &tensor->meta, false, false);
}

static const char *input_name(const Capture *capture, const Source *source) {
    for (int i = 0; capture && i < capture->inputs.count; i++)
        if (capture->inputs.at[i].source == source && capture->inputs.at[i].node) return capture->inputs.at[i].node->name;
    return NULL;
}

/* What was not looked at yet is its path, and what lies there; an input of the graph also has its name. */
static void brief_tracked(Text *text, VM *vm, const Capture *capture, const Tracked *tracked) {
    const char *input = input_name(capture, tracked->source);
    if (input) text_printf(text, "%%%s = ", input);
    source_print(text, tracked->source);
    if (value_is(tracked->inner, OBJ_CELL)) return;
    text_put(text, " (");
    value_brief(text, vm, NULL, tracked->inner, BRIEF_DEPTH);
    text_char(text, ')');
}

static void brief_items(Text *text, VM *vm, const Capture *capture, const Value *items, int count, int depth) {
    for (int i = 0; i < count && i < BRIEF_ITEMS; i++) {
        if (i) text_put(text, ", ");
        value_brief(text, vm, capture, items[i], depth + 1);
    }
    if (count > BRIEF_ITEMS) text_printf(text, ", ... %d in all", count);
}

static void brief_dict(Text *text, VM *vm, const Capture *capture, const Dict *dict, int depth, bool keys_only) {
    Value key, value;
    int position = 0, shown = 0;
    text_char(text, '{');
    while (dict_next(dict, &position, &key, &value) && shown < BRIEF_ITEMS) {
        if (shown++) text_put(text, ", ");
        value_brief(text, vm, capture, key, depth + 1);
        if (keys_only) continue;
        text_put(text, ": ");
        value_brief(text, vm, capture, value, depth + 1);
    }
    if (dict->live > BRIEF_ITEMS) text_printf(text, ", ... %d in all", dict->live);
    text_char(text, '}');
}

static void brief_object(Text *text, VM *vm, const Capture *capture, Value value, int depth) {
    Object *o = value.o;
    switch ((ObjectType)o->type) {
    case OBJ_STR: brief_text(text, (const Str *)o); return;
    case OBJ_TENSOR: brief_tensor(text, (const Tensor *)o); return;
    case OBJ_TRACKED: brief_tracked(text, vm, capture, (const Tracked *)o); return;
    case OBJ_FUNCTION: text_printf(text, "<function %s>", ((const Function *)o)->name); return;
    case OBJ_BUILTIN: text_printf(text, "<builtin %s>", ((const Builtin *)o)->name); return;
    case OBJ_OP: text_printf(text, "<%s>", ((const OpObject *)o)->spelled ? ((const OpObject *)o)->spelled : ((const OpObject *)o)->op->name); return;
    case OBJ_CLASS: text_printf(text, "<class %s>", ((const Class *)o)->name); return;
    case OBJ_MODULE: text_printf(text, "<module %s>", ((const ModuleObject *)o)->name); return;
    case OBJ_CODE: text_printf(text, "<code %s>", ((const CodeObject *)o)->code->name); return;
    case OBJ_SYM: dim_print(text, ((const SymObject *)o)->dim); return;
    case OBJ_INSTANCE: text_printf(text, "<%s object>", ((const Instance *)o)->cls->name); return;
    default: break;
    }
    if (depth >= BRIEF_DEPTH && (value_is(value, OBJ_TUPLE) || value_is(value, OBJ_LIST) || value_is(value, OBJ_DICT) || value_is(value, OBJ_SET) || value_is(value, OBJ_CELL))) {
        text_put(text, "...");
        return;
    }
    switch ((ObjectType)o->type) {
    case OBJ_TUPLE: text_char(text, '('), brief_items(text, vm, capture, ((const Tuple *)o)->items, ((const Tuple *)o)->count, depth), text_put(text, ((const Tuple *)o)->count == 1 ? ",)" : ")"); return;
    case OBJ_LIST: text_char(text, '['), brief_items(text, vm, capture, ((const List *)o)->items, ((const List *)o)->count, depth), text_char(text, ']'); return;
    case OBJ_DICT: brief_dict(text, vm, capture, (const Dict *)o, depth, false); return;
    case OBJ_SET: case OBJ_FROZENSET: brief_dict(text, vm, capture, ((const Set *)o)->dict, depth, true); return;
    case OBJ_CELL: text_put(text, "cell of "), value_brief(text, vm, capture, ((const Cell *)o)->value, depth + 1); return;
    case OBJ_METHOD:
        value_brief(text, vm, capture, ((const Method *)o)->function, depth + 1);
        text_put(text, " of "), value_brief(text, vm, capture, ((const Method *)o)->self, depth + 1);
        return;
    default: text_printf(text, "<%s>", type_name(vm, value)); return;
    }
}

void value_brief(Text *text, VM *vm, const Capture *capture, Value value, int depth) {
    switch (value.tag) {
    case V_NULL: text_put(text, "NULL"); return;
    case V_NONE: text_put(text, "None"); return;
    case V_BOOL: text_put(text, value.b ? "True" : "False"); return;
    case V_INT: text_printf(text, "%lld", (long long)value.i); return;
    case V_FLOAT: text_printf(text, "%.6g", value.f); return;
    case V_OBJECT: brief_object(text, vm, capture, value, depth); return;
    default: text_put(text, "..."); return;
    }
}

/* ---- records ---- */

static const char *brief_of(Stepper *stepper, const Capture *capture, Value value) {
    Text text = {0};
    value_brief(&text, stepper->session->vm, capture, value, 0);
    const char *kept = intern(stepper->texts, text_cstr(&text));
    text_free(&text);
    return kept;
}

static int inline_depth(const Capture *capture, const Frame *frame) {
    int depth = 0;
    for (const Frame *f = frame; f && f != capture->root; f = f->back) depth++;
    return depth;
}

void stop_instruction(Stepper *stepper, const Capture *capture, const Frame *frame) {
    const Code *code = frame->code;
    int slots = code_localsplus_count(code), depth = frame->sp - slots;
    Entry *entry = capture->entry;
    Stop stop = {.kind = STEP_INSTRUCTION, .entry = entry, .function = code->name, .code = code, .pc = frame->pc, .frame = frame, .depth = inline_depth(capture, frame), .span = code->instrs[frame->pc].span,
                 .stack_count = depth, .nodes = *entry->graph->next_id, .guards = entry->guards.all.count};
    stop.stack = ARENA_ARRAY(stepper->arena, const char *, depth + 1);
    for (int i = 0; i < depth; i++) stop.stack[i] = brief_of(stepper, capture, frame->fast[slots + i]);
    stop.locals = ARENA_ARRAY(stepper->arena, StepLocal, slots + 1);
    for (int i = 0; i < slots; i++)
        if (frame->fast[i].tag != V_NULL) stop.locals[stop.local_count++] = (StepLocal){code->localsplus[i], brief_of(stepper, capture, frame->fast[i])};
    vec_push_in(stepper->arena, &stepper->stops, stop);
}

static const char *arguments_text(Stepper *stepper, const Frame *frame) {
    Text text = {0};
    text_printf(&text, "%s(", frame->code->name);
    for (int i = 0; i < code_localsplus_count(frame->code); i++) {
        if (frame->fast[i].tag == V_NULL) continue;
        text_printf(&text, "%s%s = ", text.data[text.length - 1] == '(' ? "" : ", ", frame->code->localsplus[i]);
        value_brief(&text, stepper->session->vm, NULL, frame->fast[i], 0);
    }
    text_char(&text, ')');
    const char *copy = text_in(&text, stepper->arena);
    text_free(&text);
    return copy;
}

/* Why an older entry does not serve: all guards that say no. */
static const char *frame_text(Stepper *stepper, const Entry *entry, const Frame *frame) {
    const char *text = arena_printf(stepper->arena, "%s is about to be captured", arguments_text(stepper, frame));
    for (int i = 0; i < entry->compile.reasons.all.count; i++) {
        const Reason *reason = &entry->compile.reasons.all.at[i];
        if (reason->kind == REASON_RECOMPILE) text = arena_printf(stepper->arena, "%s\nnot served by %s", text, reason->text);
    }
    return text;
}

static const char *captured_text(Stepper *stepper, const Entry *entry) {
    int calls = 0;
    for (int i = 0; i < entry->graph->nodes.count; i++) calls += node_is_operation(entry->graph->nodes.at[i]);
    if (entry->empty) return "nothing to compile was captured";
    return arena_printf(stepper->arena, "captured: %d input%s, %d op%s, %d output%s, %d guard%s; the frame becomes %d instructions", entry->graph->inputs.count, entry->graph->inputs.count == 1 ? "" : "s", calls,
                        calls == 1 ? "" : "s", entry->graph->outputs.count, entry->graph->outputs.count == 1 ? "" : "s", entry->guards.all.count, entry->guards.all.count == 1 ? "" : "s",
                        entry->rewritten ? entry->rewritten->instr_count : entry->code->instr_count);
}

static Stop event_stop(Stepper *stepper, WatchEvent event, const Entry *entry, const Frame *frame, const char *text) {
    switch (event) {
    case WATCH_FRAME: return (Stop){.kind = STEP_FRAME, .text = frame_text(stepper, entry, frame)};
    case WATCH_SERVED: return (Stop){.kind = STEP_SERVED, .text = arena_printf(stepper->arena, "%s is served by [%s]: its %d guards hold", arguments_text(stepper, frame), entry->id, entry->guards.all.count)};
    case WATCH_BREAK: return (Stop){.kind = STEP_BREAK, .text = arena_strdup(stepper->arena, text)};
    case WATCH_EAGER: return (Stop){.kind = STEP_EAGER, .text = arena_printf(stepper->arena, "%s runs eagerly: %s", frame->code->name, text ? text : "it was not compiled")};
    case WATCH_CAPTURED: return (Stop){.kind = STEP_CAPTURED, .text = captured_text(stepper, entry)};
    case WATCH_RUN: return (Stop){.kind = STEP_RUN, .text = entry->rewritten ? "the rewritten code runs: what it prints and changes from here on stays" : "the frame's own code runs: what it prints and changes from here on stays"};
    case WATCH_RETURN: return (Stop){.kind = STEP_RETURN, .text = arena_printf(stepper->arena, "%s has returned", entry->code->name)};
    }
    return (Stop){0};
}

void stop_event(Stepper *stepper, WatchEvent event, Entry *entry, const Frame *frame, const char *text, Span span) {
    Stop stop = event_stop(stepper, event, entry, frame, text);
    stop.entry = entry;
    stop.function = frame->code->name;
    stop.span = span;
    if (entry) stop.nodes = *entry->graph->next_id, stop.guards = entry->guards.all.count;
    vec_push_in(stepper->arena, &stepper->stops, stop);
}

void stop_returned(Stepper *stepper) {
    VM *vm = stepper->session->vm;
    Value repr = vm_repr(vm, stepper->result);
    vm_clear_exception(vm);
    const char *printed = value_is(repr, OBJ_STR) ? arena_strdup(stepper->arena, str_text(repr)) : "a value that cannot be printed";
    value_unref(vm, repr);
    Stop stop = {.kind = STEP_RETURNED, .entry = stepper->stops.count ? stepper->stops.at[0].entry : NULL, .function = stepper->call, .text = printed};
    if (stop.entry) stop.nodes = *stop.entry->graph->next_id, stop.guards = stop.entry->guards.all.count;
    vec_push_in(stepper->arena, &stepper->stops, stop);
}

/* ---- facts ---- */

static const char *node_text(Arena *arena, const Graph *graph, const Node *node) {
    Text text = {0};
    if (node->kind == NODE_INPUT) {
        text_printf(&text, "%s: \"", node->name);
        meta_print(&text, &node->metas[0], true, true);
        text_put(&text, "\"  (input)");
    } else node_print(&text, graph, node);
    while (text.length && text.data[text.length - 1] == '\n') text.data[--text.length] = '\0';
    const char *line = text_cstr(&text);
    char *copy = arena_strdup(arena, line + strspn(line, " "));
    text_free(&text);
    return copy;
}

static int nodes_before(const Graph *graph, int id) {
    int count = 0;
    while (count < graph->nodes.count && graph->nodes.at[count]->id < id) count++;
    return count;
}

static void put_graph(StepFacts *facts, const Stop *stop, Arena *arena) {
    const Graph *graph = stop->entry->graph;
    facts->graph_count = nodes_before(graph, stop->nodes);
    facts->graph = ARENA_ARRAY(arena, const char *, facts->graph_count + 1);
    for (int i = 0; i < facts->graph_count; i++) facts->graph[i] = node_text(arena, graph, graph->nodes.at[i]);
}

static void put_guards(StepFacts *facts, const Stop *stop, VM *vm, Arena *arena) {
    const GuardSet *set = &stop->entry->guards;
    facts->guard_count = stop->guards < set->all.count ? stop->guards : set->all.count;
    facts->guards = ARENA_ARRAY(arena, const char *, facts->guard_count + 1);
    for (int i = 0; i < facts->guard_count; i++) {
        Text text = {0};
        text_printf(&text, "%s ", set->all.at[i].id);
        guard_print(&text, vm, &set->all.at[i]);
        facts->guards[i] = text_in(&text, arena);
        text_free(&text);
    }
}

static const char *kind_name(StepKind kind) {
    static const char *const names[] = {"frame", "instruction", "break", "captured", "stage", "run", "served", "eager", "return", "returned"};
    return names[kind];
}

bool session_step_facts(Session *session, StepFacts *facts, Arena *arena) {
    const Stepper *stepper = session->stepper;
    *facts = (StepFacts){0};
    if (!stepper || stepper->at < 0 || stepper->at >= stepper->stops.count) return false;
    const Stop *stop = &stepper->stops.at[stepper->at], *before = NULL;
    *facts = (StepFacts){.kind = stop->kind, .kind_name = kind_name(stop->kind), .entry = stop->entry ? stop->entry->id : NULL, .function = stop->function, .span = stop->span, .index = stop->pc,
                         .inlined = stop->depth > 0, .text = stop->text, .stage = stop->stage, .stack = stop->stack, .stack_count = stop->stack_count, .locals = stop->locals, .local_count = stop->local_count,
                         .number = stepper->dropped + stepper->at + 1, .newest = stepper->dropped + stepper->stops.count};
    if (stop->kind == STEP_INSTRUCTION) {
        Text text = {0};
        instr_print(&text, stop->code, stop->pc);
        facts->instruction = text_in(&text, arena);
        text_free(&text);
    }
    if (!stop->entry) return true;
    put_graph(facts, stop, arena);
    put_guards(facts, stop, session->vm, arena);
    if (stepper->at > 0 && stepper->stops.at[stepper->at - 1].entry == stop->entry) before = &stepper->stops.at[stepper->at - 1];
    facts->graph_new = before ? facts->graph_count - nodes_before(stop->entry->graph, before->nodes) : facts->graph_count;
    facts->guard_new = before ? facts->guard_count - before->guards : facts->guard_count;
    if (facts->graph_new < 0) facts->graph_new = 0; /* guards of shapes are made anew */
    if (facts->guard_new < 0) facts->guard_new = 0;
    return true;
}
