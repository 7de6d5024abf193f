/* See sizes.h. In: an entry's bindings (dynamo/shapes.h) and a call's tensors and ints. Out: values of its symbols, and metas computed from them. */
#include "sizes.h"
#include <string.h>

int64_t *sizes_of_call(const Entry *entry, Tensor *const *inputs, const Value *ints, Arena *arena) {
    int count = entry->bindings.count;
    if (!count) return NULL;
    int64_t *values = ARENA_ARRAY(arena, int64_t, count);
    for (int i = 0; i < count; i++) {
        const ShapeBinding *b = &entry->bindings.at[i];
        if (!b->defines) continue;
        if (b->at.property == VALUE_OF) values[i] = ints[b->argument].i;
        else values[i] = b->at.property == SIZE_OF ? inputs[b->input]->meta.sizes[b->at.dim] : inputs[b->input]->meta.strides[b->at.dim];
    }
    return values;
}

/* ---- programs of one side ---- */

typedef struct Maker { Entry *entry; Dim *vars; int var_count; bool failed; } Maker;

static void make_meta(Maker *m, const Meta *meta, MetaCode *code) {
    Meta now = meta_resolved(meta);
    if (!metacode_make(m->entry->arena, &now, m->vars, m->var_count, code)) m->failed = true;
}

static MetaCode *metas_new(Maker *m, int count) { return ARENA_ARRAY(m->entry->arena, MetaCode, count + 1); }

static void make_outputs(Maker *m, const Plan *plan, SideSizes *sizes) {
    MetaCode *outputs = metas_new(m, plan->outputs.count), *buffers = metas_new(m, plan->allocated_outputs);
    for (int i = 0; i < plan->outputs.count; i++)
        if (!plan->outputs.at[i].is_none) make_meta(m, &plan->outputs.at[i].meta, &outputs[i]);
    for (int i = 0; i < plan->buffers.count; i++)
        if (plan->buffers.at[i].role == BUFFER_OUTPUT) make_meta(m, &plan->buffers.at[i].meta, &buffers[plan->buffers.at[i].index]);
    sizes->outputs = outputs;
    sizes->buffers = buffers;
}

static void make_graph(Maker *m, const Graph *graph, SideSizes *sizes) {
    MetaCode *inputs = metas_new(m, graph->inputs.count), *aliases = metas_new(m, graph->aliases.count);
    for (int i = 0; i < graph->inputs.count; i++) make_meta(m, &graph->inputs.at[i]->metas[0], &inputs[i]);
    for (int i = 0; i < graph->aliases.count; i++) make_meta(m, &graph->aliases.at[i].meta, &aliases[i]);
    sizes->inputs = inputs;
    sizes->aliases = aliases;
}

static void make_vars(Maker *m, const Plan *plan, SideSizes *sizes) {
    DimCode *vars = ARENA_ARRAY(m->entry->arena, DimCode, plan->size_inputs + 1);
    for (int i = 0; i < plan->size_inputs; i++)
        if (!dimcode_make(m->entry->arena, dim_resolve(plan->size_vars[i]), m->vars, m->var_count, &vars[i])) m->failed = true;
    sizes->vars = vars;
    sizes->var_count = plan->size_inputs;
}

const SideSizes *side_sizes(Entry *entry, Side *side) {
    if (side->sizes) return side->sizes;
    Maker m = {.entry = entry, .var_count = entry->bindings.count, .vars = ARENA_ARRAY(entry->arena, Dim, entry->bindings.count + 1)};
    for (int i = 0; i < m.var_count; i++) m.vars[i] = entry->bindings.at[i].defines ? entry->bindings.at[i].dim : 0;
    SideSizes *sizes = ARENA_NEW(entry->arena, SideSizes);
    make_vars(&m, side->plan, sizes);
    make_outputs(&m, side->plan, sizes);
    make_graph(&m, side->graph, sizes);
    if (m.failed) {
        vm_raise(entry->dynamo->vm, "RuntimeError", "[%s] a size of the compiled graph cannot be computed from its inputs", entry->id);
        return NULL;
    }
    side->sizes = sizes;
    return sizes;
}

int64_t *sizes_of_plan(const SideSizes *sizes, const Plan *plan, const int64_t *values, Arena *arena) {
    (void)plan;
    int64_t *result = ARENA_ARRAY(arena, int64_t, sizes->var_count + 2);
    for (int i = 0; i < sizes->var_count; i++) result[i] = dimcode_run(&sizes->vars[i], values);
    return result;
}

/* ---- assumptions made when the entry ran already ---- */

typedef struct Lookup { const Entry *entry; const int64_t *values; } Lookup;

static int64_t value_of_var(const Sym *var, void *state) {
    const Lookup *lookup = state;
    for (int i = 0; i < lookup->entry->bindings.count; i++)
        if (lookup->entry->bindings.at[i].defines && lookup->entry->bindings.at[i].dim == dim_of_sym(var)) return lookup->values[i];
    return var->hint;
}

bool sizes_allow(const Entry *entry, int first, int count, const int64_t *values) {
    Lookup lookup = {entry, values};
    for (int i = first; i < first + count; i++)
        if (!dim_evaluate(assumption_at(entry->compile.syms, i)->relation, value_of_var, &lookup)) return false;
    return true;
}

void sizes_as_hints(const Entry *entry, const int64_t *values) {
    for (int i = 0; values && i < entry->bindings.count; i++)
        if (entry->bindings.at[i].defines) var_set_hint(entry->bindings.at[i].dim, values[i]);
}
