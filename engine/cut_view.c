/* Views of the partition: what is saved and who reads it, the flow network and its cut, one value's alternatives. (Other budgets: budget_view.c.)
 *
 *     CutAnswer answer; if (entry_cut_of(entry, "%tanh", &answer, arena, &error)) …      // answer.with, answer.without, answer.flops
 *
 * In: an entry. Out: the facts of engine.h. Nothing here changes the entry: what-ifs are made in memory of their own, from the joint graph that it keeps.
 * Invariant: the same questions give the same answers on every run; times are predictions. */
#include "aot/recompute.h"
#include "view.h"
#include <math.h>
#include <string.h>

static const Partition *partition_of(const Entry *entry) {
    const Artifacts *artifacts = entry->artifacts;
    const Partition *partition = artifacts ? artifacts->partition : NULL;
    return partition && partition->backward && partition->facts ? partition : NULL;
}

static const char *const mode_names[] = {[PARTITION_BEST] = "best", [PARTITION_PYTORCH] = "pytorch", [PARTITION_AGGRESSIVE] = "aggressive", [PARTITION_SAVE_ALL] = "save_all"};

/* Weights of storages have the distance in their last ten bits (recompute.c). */
static double weight_shown(const RecomputeFacts *facts, int64_t weight) {
    if (weight >= FLOW_INFINITE) return INFINITY;
    return facts->rules.storages ? (double)(weight >> 10) : (double)weight;
}

static bool is_saved(const Partition *partition, const Node *node) {
    for (int i = 0; i < partition->saved.count; i++)
        if (partition->saved.at[i].joint_node == node) return true;
    return false;
}

static bool *saved_set(const Partition *partition, Arena *arena) {
    bool *saved = ARENA_ARRAY(arena, bool, partition->joint->nodes.count + 1);
    for (int i = 0; i < partition->saved.count; i++)
        if (partition->saved.at[i].joint_node) saved[facts_place(partition->facts, partition->saved.at[i].joint_node)] = true;
    return saved;
}

/* Does an output before `end` live in the same buffer? */
static bool shares_buffer(const Plan *plan, int first, int end, int buffer) {
    for (int i = first; i < end; i++)
        if (!plan->outputs.at[i].is_none && plan->outputs.at[i].alias_input < 0 && plan->outputs.at[i].buffer == buffer) return true;
    return false;
}

/* What the forward's plan allocates for saved values, beyond the user's outputs. */
static int64_t allocated_bytes(const Entry *entry, const Partition *p) {
    const Plan *plan = ((const Artifacts *)entry->artifacts)->forward.plan;
    int64_t bytes = 0;
    int first = plan ? plan->outputs.count - p->saved.count : 0;
    for (int i = first; plan && i < plan->outputs.count; i++) {
        const PlanOutput *output = &plan->outputs.at[i];
        if (output->is_none || output->alias_input >= 0 || plan->buffers.at[output->buffer].role != BUFFER_OUTPUT) continue;
        if (shares_buffer(plan, 0, p->forward_outputs, output->buffer) || shares_buffer(plan, first, i, output->buffer)) continue;
        bytes += meta_bytes(&plan->buffers.at[output->buffer].meta);
    }
    return bytes;
}

bool entry_partition(Entry *entry, PartitionFacts *facts) {
    const Partition *p = partition_of(entry);
    if (!p) return false;
    *facts = (PartitionFacts){.mode = mode_names[entry->policy.partition], .chosen = p->chosen, .memory_budget = entry->policy.memory_budget, .saved_bytes = p->saved_bytes,
                              .storage_bytes = p->storage_bytes, .allocated_bytes = allocated_bytes(entry, p), .saved_bytes_no_recompute = p->saved_bytes_no_recompute, .saved = p->saved.count, .recomputed = p->recomputed_count};
    for (int i = 0; i < p->saved.count; i++) facts->cut += weight_shown(p->facts, p->facts->at[facts_place(p->facts, p->saved.at[i].joint_node)].weight);
    return true;
}

/* ---- names and types ---- */

static const char *label_of(Arena *arena, const Node *node) { return arena_printf(arena, "%%%s", node->name); }

static const char *taken(Text *text, Arena *arena) {
    const char *copy = text_in(text, arena);
    text_free(text);
    return copy;
}

static const char *type_of(Arena *arena, const Node *node) {
    Text text = {0};
    meta_print(&text, &node->metas[0], false, false);
    return taken(&text, arena);
}

static const char *shape_of(Arena *arena, const Node *node) {
    const char *type = type_of(arena, node), *bracket = strchr(type, '[');
    return bracket ? bracket : "";
}

static const Reason *reason_about(Entry *entry, ReasonKind kind, const char *label) {
    const ReasonLog *log = &entry->compile.reasons;
    for (int i = 0; i < log->all.count; i++)
        if (log->all.at[i].kind == kind && log->all.at[i].subject && !strcmp(log->all.at[i].subject, label)) return &log->all.at[i];
    return NULL;
}

typedef struct Readers { const Node *of; bool found; } Readers;

static void look_for(Node *input, void *state) {
    Readers *readers = state;
    readers->found |= input == readers->of;
}

static const char *readers_of(const Graph *graph, const Node *node, Arena *arena) {
    Text text = {0};
    for (int i = 0; i < graph->nodes.count; i++) {
        Readers readers = {node, false};
        node_each_input(graph->nodes.at[i], look_for, &readers);
        if (readers.found) text_printf(&text, "%s%%%s", text.length ? " " : "", graph->nodes.at[i]->name);
    }
    for (int i = 0; i < graph->outputs.count; i++)
        if (graph->outputs.at[i] == node) text_printf(&text, "%sgradient %d", text.length ? " " : "", i);
    return taken(&text, arena);
}

static const char *held_by(const Partition *p, int i, Arena *arena) {
    const SavedTensor *saved = &p->saved.at[i];
    if (saved->held == HELD_BY_INPUT) return saved->joint_node == saved->storage ? "the caller" : arena_printf(arena, "input %%%s", saved->storage->name);
    if (saved->held == HELD_BY_OUTPUT) return "an output";
    for (int j = 0; j < i; j++)
        if (p->saved.at[j].storage == saved->storage) return label_of(arena, p->saved.at[j].joint_node);
    return "the backward";
}

int entry_saved(Entry *entry, SavedFacts *out, int room, Arena *arena) {
    const Partition *p = partition_of(entry);
    if (!p) return -1;
    for (int i = 0; i < p->saved.count && i < room; i++) {
        const SavedTensor *saved = &p->saved.at[i];
        const Node *node = saved->joint_node;
        const Reason *reason = reason_about(entry, REASON_SAVED, label_of(arena, node));
        out[i] = (SavedFacts){.name = label_of(arena, node), .type = type_of(arena, node), .dtype = dtype_info[node->metas[0].dtype].name, .shape = shape_of(arena, node), .held = held_by(p, i, arena),
                              .readers = readers_of(p->backward, p->backward->inputs.at[i], arena), .code = reason ? reason->code : NULL, .why = reason ? reason->text : NULL, .bytes = saved->bytes,
                              .storage_bytes = saved->storage_bytes, .span = node->span};
    }
    return p->saved.count;
}

static const Node *node_of_id(const Graph *graph, int id) {
    for (int i = 0; i < graph->nodes.count; i++)
        if (graph->nodes.at[i]->id == id) return graph->nodes.at[i];
    return NULL;
}

/* The copy on the backward's side of a node of the joint graph. */
static const Node *copy_in(const Graph *graph, const Node *node) {
    for (int i = 0; i < graph->nodes.count; i++)
        if (graph->nodes.at[i]->origin_count && graph->nodes.at[i]->origins[graph->nodes.at[i]->origin_count - 1] == node->id) return graph->nodes.at[i];
    return NULL;
}

int entry_recomputed(Entry *entry, RecomputedFacts *out, int room, Arena *arena) {
    const Partition *p = partition_of(entry);
    if (!p) return -1;
    for (int i = 0; i < p->recomputed_count && i < room; i++) {
        const Node *node = node_of_id(p->joint, p->recomputed[i]), *copy = copy_in(p->backward, node);
        const Reason *reason = reason_about(entry, REASON_RECOMPUTED, label_of(arena, node));
        out[i] = (RecomputedFacts){.name = label_of(arena, node), .type = type_of(arena, node), .readers = copy ? readers_of(p->backward, copy, arena) : "", .code = reason ? reason->code : NULL,
                                   .why = reason ? reason->text : NULL, .bytes = meta_bytes(&node->metas[0]), .span = node->span};
    }
    return p->recomputed_count;
}

/* ---- the network ---- */

static const char *source_of(const RecomputeFacts *facts, int place) {
    const NodeFacts *fact = &facts->at[place];
    const Node *node = facts->graph->nodes.at[place];
    if (node->kind == NODE_INPUT) return "an input";
    if (node->kind == NODE_CONSTANT) return "a constant";
    return fact->banned ? fact->ban_text : NULL;
}

int entry_cut(Entry *entry, CutFacts *out, int room, Arena *arena) {
    const Partition *p = partition_of(entry);
    int count = 0;
    if (!p) return -1;
    for (int i = 0; i < p->joint->nodes.count; i++) {
        const NodeFacts *fact = &p->facts->at[i];
        const Node *node = p->joint->nodes.at[i];
        if (fact->needs_tangent) continue;
        CutFacts row = {.name = label_of(arena, node), .type = type_of(arena, node), .source = source_of(p->facts, i), .capacity = weight_shown(p->facts, fact->weight), .bytes = fact->bytes,
                        .sink = fact->used_backward, .again = fact->must_recompute, .cut = is_saved(p, node), .span = node->span};
        if (count < room) out[count] = row;
        count++;
    }
    return count;
}

static void describe_value(Snapshot *snapshot, const CutFacts *row) {
    SnapshotItem *item = snapshot_item(snapshot, row->name, row->cut ? "saved" : row->again ? "recomputed" : "value", row->name + 1);
    if (row->again) snapshot_row(snapshot, item, "%s, computed again", row->type);
    else if (isfinite(row->capacity)) snapshot_row(snapshot, item, "%s, costs %.0f", row->type, row->capacity);
    else snapshot_row(snapshot, item, "%s, is not saved", row->type);
    item->mark = row->cut ? "saved" : row->again ? "recomputed" : NULL;
    item->detail = row->source;
    item->span = row->span;
    if (row->source) snapshot_link(snapshot, "source", row->name, "control");
    if (row->sink || row->again) snapshot_link(snapshot, row->name, "sink", row->cut ? "saved" : "control");
}

typedef struct UseLink { Snapshot *snapshot; const char *to; } UseLink;

static void link_use(Node *input, void *state) {
    UseLink *link = state;
    const char *from = label_of(link->snapshot->arena, input);
    const SnapshotItem *item = snapshot_find(link->snapshot, from);
    if (item) snapshot_link(link->snapshot, from, link->to, "data");
}

bool view_cut(View *view) {
    Arena *arena = view->snapshot->arena;
    const Partition *p = partition_of(view->entry);
    if (!p) return false;
    int room = p->joint->nodes.count + 1;
    CutFacts *rows = ARENA_ARRAY(arena, CutFacts, room);
    int count = entry_cut(view->entry, rows, room, arena);
    snapshot_item(view->snapshot, "source", "input", "source")->detail = "what must not be computed twice hangs here";
    for (int i = 0; i < count; i++) describe_value(view->snapshot, &rows[i]);
    for (int i = 0; i < p->joint->nodes.count; i++) {
        const Node *node = p->joint->nodes.at[i];
        UseLink link = {view->snapshot, label_of(arena, node)};
        if (!p->facts->at[i].needs_tangent) node_each_input(node, link_use, &link);
    }
    snapshot_item(view->snapshot, "sink", "output", "sink: the backward")->detail = "what the backward reads hangs here";
    return true;
}

/* ---- one value ---- */

static const char *difference(const RecomputeFacts *facts, const bool *a, const bool *b, Arena *arena) {
    Text text = {0};
    for (int i = 0; i < facts->graph->nodes.count; i++)
        if (a[i] && !b[i]) text_printf(&text, "%s%%%s", text.length ? " " : "", facts->graph->nodes.at[i]->name);
    return taken(&text, arena);
}

static CutSide cut_side(const Partition *p, int forced, int avoided, bool *saved, Arena *arena) {
    bool *now = saved_set(p, arena);
    int64_t weight = cut_find(p->facts, saved, forced, avoided);
    CutSide side = {.exists = weight < FLOW_INFINITE};
    if (!side.exists) return side;
    cut_trim(p->facts, saved, NULL);
    if (forced >= 0) saved[forced] = now[forced] = true; /* the value asked about is not said to be saved besides itself */
    side.weight = weight_shown(p->facts, weight);
    side.storage_bytes = cut_storage_bytes(p->facts, saved);
    side.more = difference(p->facts, saved, now, arena);
    side.less = difference(p->facts, now, saved, arena);
    return side;
}

static int place_named(const Partition *p, const char *name) {
    for (int i = 0; i < p->joint->nodes.count; i++)
        if (!strcmp(p->joint->nodes.at[i]->name, name + (*name == '%'))) return i;
    return -1;
}

/* What computing the value from a set takes. In memory of its own: nothing of it stays in the entry. */
static void price_again(Entry *entry, const Partition *p, int place, const bool *saved, CutAnswer *answer, Arena *arena) {
    Compile scratch = entry->compile;
    Arena *own = arena_new("what if");
    RecomputeFacts facts = *p->facts;
    Partition parts = {.joint = p->joint, .forward_outputs = p->joint->forward_outputs};
    Prediction prediction = {0};
    Text from = {0}, nodes = {0};
    scratch.arena = own;
    scratch.reasons = (ReasonLog){.arena = own};
    facts.c = &scratch;
    partition_list(&facts, saved, &parts);
    const Graph *graph = side_again(&facts, &parts, place);
    for (int i = 0; i < graph->nodes.count; i++) {
        const Node *node = graph->nodes.at[i];
        bool given = node->kind == NODE_INPUT || node->kind == NODE_CONSTANT;
        if (!given) answer->steps++;
        if (!given || node->users) text_printf(given ? &from : &nodes, "%s%%%s", (given ? &from : &nodes)->length ? " " : "", node->name);
    }
    answer->from = taken(&from, arena);
    answer->nodes = taken(&nodes, arena);
    if (entry->compile.predict && entry->compile.predict(&scratch, graph, &prediction)) answer->flops = prediction.flops, answer->us = prediction.us, answer->bytes = prediction.bytes;
    arena_free(own);
}

bool entry_cut_of(Entry *entry, const char *name, CutAnswer *answer, Arena *arena, const char **error) {
    const Partition *p = partition_of(entry);
    *error = !p ? "no training graph" : NULL;
    int place = p ? place_named(p, name) : -1;
    if (p && place < 0) *error = arena_printf(arena, "no %s in the graph that was cut: :cut lists its values", name);
    else if (p && p->facts->at[place].needs_tangent) *error = arena_printf(arena, "%s depends on a gradient, so it is computed in the backward alone", name);
    if (*error) return false;
    const Node *node = p->joint->nodes.at[place];
    bool *with = ARENA_ARRAY(arena, bool, p->joint->nodes.count + 1), *without = ARENA_ARRAY(arena, bool, p->joint->nodes.count + 1);
    *answer = (CutAnswer){.name = label_of(arena, node), .type = type_of(arena, node), .ban = source_of(p->facts, place), .saved = is_saved(p, node)};
    for (int i = 0; i < p->recomputed_count; i++) answer->recomputed |= p->recomputed[i] == node->id;
    answer->with = cut_side(p, place, -1, with, arena);
    answer->without = cut_side(p, -1, place, without, arena);
    bool *from = saved_set(p, arena);
    from[place] = false;
    for (int i = 0; i < p->joint->nodes.count; i++) from[i] |= p->joint->nodes.at[i]->kind == NODE_INPUT && !p->joint->nodes.at[i]->is_tangent && i != place;
    if (node->kind == NODE_CALL || node->kind == NODE_GETITEM) price_again(entry, p, place, answer->without.exists ? without : from, answer, arena);
    return true;
}
