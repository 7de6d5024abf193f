/* The command that shows shapes: the user's source, and beside each line the shape of what it computes.
 *
 *     [0/1] f  demo.py:4  inference, cpu, policy best
 *       s0 = L['x'].size()[0]   8 when compiled, 2 or more
 *       4  def f(x, w):                     L['x'] f32[s0, 3]   L['w'] f32[3, 2]
 *       5      y = x @ w                    y f32[s0, 2]
 *       6      return torch.relu(y)         relu f32[s0, 2]
 */
#include "repl/facts.h"
#include "repl/json.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct ShapeList { ShapeFacts *at; int count; } ShapeList;

static const char *range_text(Arena *arena, const SymbolFacts *s) {
    if (s->becomes) return arena_printf(arena, "is %s", s->becomes);
    if (s->low == INT64_MIN && s->high == INT64_MAX) return "any value";
    if (s->high == INT64_MAX) return arena_printf(arena, "%lld or more", (long long)s->low);
    if (s->low == INT64_MIN) return arena_printf(arena, "%lld or less", (long long)s->high);
    return arena_printf(arena, "%lld to %lld", (long long)s->low, (long long)s->high);
}

static void put_symbols(CommandCall *call, Entry *entry) {
    int count = entry_symbols(entry, NULL, 0);
    SymbolFacts *symbols = ARENA_ARRAY(call->arena, SymbolFacts, count + 1);
    entry_symbols(entry, symbols, count);
    cJSON *list = call->json ? json_list(call_document(call), "symbols") : NULL;
    for (int i = 0; i < count; i++) {
        const SymbolFacts *s = &symbols[i];
        if (list) {
            cJSON *item = json_item(list);
            json_put(item, "name", s->name);
            json_put(item, "place", s->place);
            json_integer(item, "hint", s->hint);
            json_put(item, "range", range_text(call->arena, s));
            json_put(item, "why", s->why);
        } else text_printf(&call->out, "  %s = %s   %lld when compiled, %s\n", s->name, s->place, (long long)s->hint, range_text(call->arena, s));
    }
}

static void put_json(CommandCall *call, const ShapeList *shapes) {
    cJSON *list = json_list(call_document(call), "shapes");
    for (int i = 0; i < shapes->count; i++) {
        cJSON *item = json_item(list);
        json_put(item, "name", shapes->at[i].name);
        json_put(item, "shape", shapes->at[i].shape);
        json_span(item, shapes->at[i].span);
    }
}

/* A line that is shown: of the function itself, or one that a value was made in. */
typedef struct Line { const SourceFile *file; int number; uint32_t at; } Line;
typedef VEC(Line) Lines;

static void add_line(Arena *arena, Lines *lines, Span span) {
    Line line = {span.file, span_line(span), span.start};
    for (int i = 0; i < lines->count; i++)
        if (lines->at[i].file == line.file && lines->at[i].number == line.number) return;
    vec_push_in(arena, lines, line);
}

static int by_place(const void *a, const void *b) {
    const Line *x = a, *y = b;
    if (x->file != y->file) return strcmp(x->file->name, y->file->name) < 0 ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static Lines find_lines(CommandCall *call, Entry *entry, const ShapeList *shapes) {
    Lines lines = {0};
    EntryFacts facts;
    entry_facts(entry, &facts);
    Span last = entry_last_line(entry), at = facts.span;
    for (at.end = at.start; at.file && at.start <= last.start; at.start++)
        if (at.start == facts.span.start || at.file->text[at.start - 1] == '\n') add_line(call->arena, &lines, (Span){at.file, at.start, at.start});
    for (int i = 0; i < shapes->count; i++)
        if (shapes->at[i].span.file) add_line(call->arena, &lines, shapes->at[i].span);
    if (lines.count) qsort(lines.at, (size_t)lines.count, sizeof *lines.at, by_place);
    return lines;
}

static void put_line(CommandCall *call, const Line *line, const ShapeList *shapes, int width) {
    char *source = span_source_line((Span){line->file, line->at, line->at}, call->arena);
    bool any = false;
    text_printf(&call->out, "  %4d  %-*s", line->number, width, source);
    for (int i = 0; i < shapes->count; i++) {
        const ShapeFacts *s = &shapes->at[i];
        if (s->span.file != line->file || span_line(s->span) != line->number) continue;
        text_printf(&call->out, "%s%s %s", any ? "   " : "   # ", s->name, s->shape);
        any = true;
    }
    while (call->out.length && call->out.data[call->out.length - 1] == ' ') call->out.length--;
    text_char(&call->out, '\n');
}

static void put_lines(CommandCall *call, Entry *entry, const ShapeList *shapes) {
    enum { WIDEST = 60 };
    Lines lines = find_lines(call, entry, shapes);
    int width = 0;
    for (int i = 0; i < lines.count; i++) {
        int length = (int)strlen(span_source_line((Span){lines.at[i].file, lines.at[i].at, lines.at[i].at}, call->arena));
        if (length > width && length <= WIDEST) width = length;
    }
    for (int i = 0; i < lines.count; i++) {
        if (i && lines.at[i].file != lines.at[i - 1].file) text_printf(&call->out, "  %s\n", lines.at[i].file->name);
        put_line(call, &lines.at[i], shapes, width);
    }
}

static bool run_shapes(CommandCall *call) {
    Selection selection;
    Entry *entry = facts_entry(call, &selection);
    if (!entry) return false;
    EntryFacts facts;
    entry_facts(entry, &facts);
    ShapeList shapes = {.count = entry_shapes(entry, NULL, 0)};
    shapes.at = ARENA_ARRAY(call->arena, ShapeFacts, shapes.count + 1);
    entry_shapes(entry, shapes.at, shapes.count);
    if (call->json) json_put(call_document(call), "id", facts.id);
    else facts_heading(call, &facts);
    put_symbols(call, entry);
    if (call->json) put_json(call, &shapes);
    else put_lines(call, entry, &shapes);
    return true;
}

const Command command_shapes = {
    .name = "shapes", .group = "look", .usage = "[ENTRY]", .most = -1, .complete = COMPLETE_STAGE, .run = run_shapes,
    .summary = "show your source with the shape of what each line computes",
    .help = "Sizes that may change from call to call are symbols: s0, s0//2. Above the source stands where each\n"
            "is read from and which values it may have; :why dynamic s0 says why it is one, and lists the guards\n"
            "that the code made of it.",
};
