/* What can be looked at of an entry's shapes: its symbols, and the shape of every value that the captured graph computes. See engine.h. */
#include "session.h"
#include "dynamo/shapes.h"
#include <string.h>

static char *text_taken(Text *text, Arena *arena) {
    char *copy = text_in(text, arena);
    text_free(text);
    return copy;
}

static const char *place_of(Entry *entry, const SizeSource *at) {
    Text text = {0};
    source_print(&text, at->source);
    if (at->property != VALUE_OF) text_printf(&text, ".%s()[%d]", at->property == SIZE_OF ? "size" : "stride", at->dim);
    return text_taken(&text, entry->arena);
}

static const char *now_text(Entry *entry, Dim dim) {
    Text text = {0};
    dim_print(&text, dim_resolve(dim));
    return text_taken(&text, entry->arena);
}

int entry_symbols(Entry *entry, SymbolFacts *symbols, int room) {
    int count = 0;
    for (int i = 0; i < entry->bindings.count; i++) {
        const ShapeBinding *b = &entry->bindings.at[i];
        if (!b->defines) continue;
        Dim now = dim_resolve(b->dim);
        if (count < room)
            symbols[count] = (SymbolFacts){dim_sym(b->dim)->name, place_of(entry, &b->at), now == b->dim ? NULL : now_text(entry, now), b->why, dim_hint(b->dim), dim_low(now), dim_high(now), b->span};
        count++;
    }
    return count;
}

/* The place in a frame behind an input: L['x']. */
static const char *input_place(Entry *entry, const Node *node) {
    if (node->index < 0 || node->index >= entry->inputs.count) return node->name;
    Text text = {0};
    source_print(&text, entry->inputs.at[node->index].source);
    return text_taken(&text, entry->arena);
}

int entry_shapes(Entry *entry, ShapeFacts *shapes, int room) {
    const Graph *graph = entry->graph;
    int count = 0;
    for (int i = 0; graph && i < graph->nodes.count; i++) {
        const Node *node = graph->nodes.at[i];
        bool is_input = node->kind == NODE_INPUT;
        if (node->noutputs != 1 || node->kind == NODE_CONSTANT) continue;
        if (count < room) {
            Text text = {0};
            meta_print(&text, &node->metas[0], false, false);
            shapes[count] = (ShapeFacts){is_input ? input_place(entry, node) : node->name, text_taken(&text, entry->arena), is_input ? entry->code->span : node->span, is_input};
        }
        count++;
    }
    return count;
}

Span entry_last_line(Entry *entry) {
    Span last = entry->code->span;
    for (int i = 0; i < entry->code->instr_count; i++) {
        Span span = entry->code->instrs[i].span;
        if (span.file == last.file && span.start > last.start) last = span;
    }
    return last;
}
