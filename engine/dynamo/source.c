/* See source.h. */
#include "dynamo/source.h"
#include "base/map.h"

struct SourceTable { Arena *arena; VEC(Source *) all; };

SourceTable *source_table_new(Arena *arena) {
    SourceTable *table = ARENA_NEW(arena, SourceTable);
    table->arena = arena;
    return table;
}

static bool key_same(Value a, Value b) { return a.tag == b.tag && (a.tag < V_BOOL || a.i == b.i); }

/* A compile has few hundred sources; most lookups find their source among the last made of the same base. */
const Source *source_make(SourceTable *table, SourceKind kind, const Source *base, const char *name, int index, Value key) {
    for (int i = table->all.count - 1; i >= 0; i--) {
        const Source *s = table->all.at[i];
        if (s->kind == kind && s->base == base && s->name == name && s->index == index && key_same(s->key, key)) return s;
    }
    Source *source = ARENA_NEW(table->arena, Source);
    *source = (Source){.kind = kind, .base = base, .name = name, .index = index, .key = key, .id = table->all.count};
    vec_push_in(table->arena, &table->all, source);
    return source;
}

int source_count(const SourceTable *table) { return table->all.count; }

void source_print(Text *text, const Source *source) {
    if (source->base) source_print(text, source->base);
    switch (source->kind) {
    case SOURCE_LOCAL: text_printf(text, "L['%s']", source->name); break;
    case SOURCE_GLOBAL: text_printf(text, "G['%s']", source->name); break;
    case SOURCE_ATTR: text_printf(text, ".%s", source->name); break;
    case SOURCE_ITEM: text_printf(text, "[%d]", source->index); break;
    case SOURCE_KEY: text_printf(text, "[%s]", source->name); break;
    case SOURCE_CELL:
        if (source->base) text_printf(text, ".__closure__[%d].cell_contents", source->index);
        else text_printf(text, "L['%s']", source->name ? source->name : "?"); /* a free variable of the frame is one of its names */
        break;
    case SOURCE_DEFAULT: text_printf(text, ".__defaults__[%d]", source->index); break;
    case SOURCE_SELF: text_put(text, ".__self__"); break;
    case SOURCE_FUNC: text_put(text, ".__func__"); break;
    case SOURCE_GRAD: text_put(text, ".grad"); break;
    case SOURCE_SUBJECT: text_put(text, ".__iterated__"); break;
    case SOURCE_TYPE: text_put(text, ".__class__"); break;
    case SOURCE_PLUS_ZERO: case SOURCE_AS_TENSOR: break; /* printed as the number that it is made from */
    case SOURCE_SCALAR: text_put(text, ".item()"); break;
    case SOURCE_UNBACKED: text_printf(text, "u%d", source->index); break;
    case SOURCE_RANDOM: text_printf(text, "random_value_%d", source->index); break;
    case SOURCE_NUMBER: text_printf(text, "number_%d", source->index); break;
    case SOURCE_COMPUTED: text_put(text, source->name); break;
    case SOURCE_GLOBAL_STATE: text_put(text, "GLOBAL_STATE"); break;
    }
}
