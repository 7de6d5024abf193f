/* Unit tests of engine/base and engine/trace: what their headers promise, and the edges of it. */
#include "unit.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/span.h"
#include "base/text.h"
#include "base/vec.h"
#include "trace/reason.h"
#include "trace/snapshot.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static Arena *arena;

static void open_arena(void) { arena = arena_new("test"); }
static void close_arena(void) { arena_free(arena); }

static bool all_zero(const unsigned char *at, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        if (at[i]) return false;
    return true;
}

START_TEST(arena_gives_zeroed_aligned_memory) {
    for (size_t bytes = 0; bytes < 20000; bytes = bytes * 3 / 2 + 1) {
        unsigned char *at = arena_alloc(arena, bytes);
        ck_assert_uint_eq((uintptr_t)at % 16, 0);
        ck_assert(all_zero(at, bytes));
        memset(at, 0xff, bytes);
    }
}
END_TEST

START_TEST(arena_keeps_contents_apart) {
    int *pieces[2000];
    for (int i = 0; i < 2000; i++) {
        pieces[i] = ARENA_ARRAY(arena, int, i % 50 + 1);
        pieces[i][i % 50] = i;
    }
    for (int i = 0; i < 2000; i++) ck_assert_int_eq(pieces[i][i % 50], i);
}
END_TEST

START_TEST(arena_large_piece_keeps_the_block_in_use) {
    char *before = arena_alloc(arena, 16);
    arena_alloc(arena, 1 << 22);
    char *after = arena_alloc(arena, 16);
    ck_assert(after > before && after - before < 4096);
    ck_assert_uint_eq(arena_bytes(arena), 32 + (1 << 22));
}
END_TEST

static char closed[8];
static void note_closed(void *letter) { strncat(closed, letter, 1); }
static void close_twice(void *other) { arena_defer(arena, note_closed, other); }

START_TEST(arena_closers_run_in_reverse) {
    closed[0] = '\0';
    arena_defer(arena, note_closed, "a");
    arena_defer(arena, note_closed, "b");
    arena_defer(arena, close_twice, "c");
    arena_reset(arena);
    ck_assert_str_eq(closed, "cba");
    arena_reset(arena);
    ck_assert_str_eq(closed, "cba");
    ck_assert_uint_eq(arena_bytes(arena), 0);
    ck_assert_str_eq(arena_printf(arena, "%d-%s", 7, "x"), "7-x");
}
END_TEST

START_TEST(arena_strings) {
    arena_free(NULL);
    ck_assert_ptr_null(arena_strdup(arena, NULL));
    ck_assert_str_eq(arena_strndup(arena, "abcdef", 3), "abc");
    char *copy = arena_copy(arena, "ab\0cd", 5);
    ck_assert_mem_eq(copy, "ab\0cd", 5);
}
END_TEST

START_TEST(vec_on_heap_and_in_arena) {
    VEC(int) heap = {0}, in_arena = {0};
    for (int i = 0; i < 1000; i++) {
        vec_push(&heap, i);
        vec_push_in(arena, &in_arena, -i);
    }
    for (int i = 0; i < 1000; i++) ck_assert(heap.at[i] == i && in_arena.at[i] == -i);
    ck_assert_int_eq(vec_pop(&heap), 999);
    ck_assert_int_eq(vec_last(&heap), 998);
    vec_free(&heap);
    ck_assert(heap.at == NULL && heap.count == 0 && heap.capacity == 0);
}
END_TEST

START_TEST(map_keeps_order_and_replaces) {
    Map *map = map_new(arena);
    ck_assert(!map_has(map, NULL) && map_get(map, map_key(3)) == NULL);
    for (int i = 4999; i >= 0; i--) map_put(map, map_key(i), (void *)(intptr_t)(i + 1));
    map_put(map, map_key(4999), NULL);
    ck_assert_int_eq(map_count(map), 5000);
    ck_assert(map_has(map, map_key(4999)) && map_get(map, map_key(4999)) == NULL);
    for (int i = 0; i < 5000; i++) ck_assert_ptr_eq(map_at(map, i).key, map_key(4999 - i));
    for (int i = 0; i < 4999; i++) ck_assert_int_eq((intptr_t)map_get(map, map_key(i)), i + 1);
    ck_assert(!map_has(map, map_key(5000)) && !map_has(map, map_key(-1)));
}
END_TEST

START_TEST(intern_gives_one_address) {
    Interner *interner = interner_new(arena);
    const char *seen[3000];
    for (int i = 0; i < 3000; i++) seen[i] = intern(interner, arena_printf(arena, "name%d", i));
    for (int i = 0; i < 3000; i++) {
        char *again = arena_printf(arena, "name%d tail", i);
        ck_assert_ptr_eq(intern_n(interner, again, strlen(again) - 5), seen[i]);
        ck_assert_int_eq(atoi(seen[i] + 4), i);
    }
    ck_assert_ptr_eq(intern(interner, ""), intern_n(interner, NULL, 0));
    ck_assert_ptr_ne(intern_n(interner, "a\0b", 3), intern(interner, "a"));
}
END_TEST

START_TEST(text_grows_and_indents) {
    Text text = {0};
    ck_assert_str_eq(text_cstr(&text), "");
    text_printf(&text, "for (%s) {\n", "i");
    text_indent(&text, 4);
    text_line(&text, "x = %d;", 3);
    text_line(&text, "%s", "");
    text_indent(&text, -9);
    text_line(&text, "}");
    ck_assert_str_eq(text_cstr(&text), "for (i) {\n    x = 3;\n    \n}\n");
    char *copy = text_in(&text, arena);
    text_clear(&text);
    ck_assert(text.length == 0 && strlen(copy) == 28);
    for (int i = 0; i < 10000; i++) text_char(&text, 'x');
    ck_assert_uint_eq(strlen(text.data), 10000);
    text_free(&text);
    ck_assert_ptr_null(text.data);
}
END_TEST

static const struct { const char *in, *out; } QUOTED[] = {
    {"", "\"\""}, {"a\"b\\c", "\"a\\\"b\\\\c\""}, {"\n\t\r\b\f", "\"\\n\\t\\r\\b\\f\""}, {"\x1b[0m", "\"\u241b[0m\""},
    {"\xc3\xa9", "\"\xc3\xa9\""}, {"\xff\xc3", "\"\ufffd\ufffd\""}, {"\xc0\x80", "\"\ufffd\ufffd\""}};
static const struct { const char *in, *out; } IDENTIFIERS[] = {
    {"", "_"}, {"layers.0.weight", "layers_0_weight"}, {"3d", "_3d"}, {"for", "for_"}, {"template", "template_"},
    {"Graph", "Graph_"}, {"xor_eq", "xor_eq_"}, {"alignas", "alignas_"}, {"a\xc3\xa9", "a__"}, {"relu_1", "relu_1"}};
static const struct { const char *in, *out; } VISIBLE[] = {
    {"a\tb\n", "a\tb\n"}, {"\x1b]0;x\x07", "\\x1b]0;x\\x07"}, {"\r\x7f", "\\x0d\\x7f"}, {"\xc2\x9b", "\\u009b"},
    {"\xe2\x80\xae", "\\u202e"}, {"\xff", "\\xff"}, {"\xed\xa0\x80", "\\xed\\xa0\\x80"}, {"\xe7\x8c\xab", "\xe7\x8c\xab"}};

#define CHECK_TABLE(table, function)                              \
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {   \
        Text text = {0};                                          \
        function(&text, table[i].in);                             \
        ck_assert_str_eq(text_cstr(&text), table[i].out);         \
        text_free(&text);                                         \
    }

START_TEST(text_escapes) {
    CHECK_TABLE(QUOTED, text_quoted)
    CHECK_TABLE(IDENTIFIERS, text_identifier)
    CHECK_TABLE(VISIBLE, text_visible)
}
END_TEST

static Span span_of(const SourceFile *file, const char *part) {
    const char *at = strstr(file->text, part);
    ck_assert_ptr_nonnull(at);
    uint32_t start = (uint32_t)(at - file->text);
    return (Span){file, start, start + (uint32_t)strlen(part)};
}

static void expect_report(Span span, const char *severity, const char *message, const char *expected) {
    Text text = {0};
    span_report(&text, span, severity, message);
    ck_assert_str_eq(text_cstr(&text), expected);
    text_free(&text);
}

START_TEST(span_lines_and_columns) {
    const char *source = "def f(x):\n    y = x.sqirt()\r\n\u732b = y";
    SourceFile *file = source_new(arena, "demo.py", source, strlen(source), 2);
    Span call = span_of(file, "x.sqirt()"), last = span_of(file, "= y"), nowhere = {0};
    ck_assert_int_eq(file->line_count, 3);
    ck_assert(span_line(call) == 3 && span_column(call) == 9);
    ck_assert(span_line(last) == 4 && span_column(last) == 3);
    ck_assert(span_line(nowhere) == 0 && span_column(nowhere) == 0);
    ck_assert_str_eq(span_source_line(call, arena), "    y = x.sqirt()");
    Span joined = span_join(call, last);
    ck_assert(joined.start == call.start && joined.end == last.end);
    ck_assert_uint_eq(span_join(nowhere, last).start, last.start);
    ck_assert_uint_eq(span_join(call, nowhere).end, call.end);
    Span end = {file, file->length, file->length}, beyond = {file, 1000, 2000};
    ck_assert(span_line(end) == 4 && span_line(beyond) == 4 && span_column(beyond) == span_column(end));
}
END_TEST

START_TEST(span_reports) {
    const char *source = "def f(x):\n    y = x.sqirt()\n\t\u732b = '\x1b' + y\nif (x\n  )\n";
    SourceFile *file = source_new(arena, "demo.py", source, strlen(source), 1);
    Span nowhere = {0};
    expect_report(span_of(file, "x.sqirt()"), NULL, "no attribute 'sqirt'",
                  "demo.py:2:9: no attribute 'sqirt'\n    y = x.sqirt()\n        ^~~~~~~~~\n");
    expect_report(span_of(file, "+ y"), "error", "bad", "demo.py:3:10: error: bad\n\t\u732b = '\\x1b' + y\n\t            ^~~\n");
    expect_report(span_of(file, "\u732b"), "note", "cat", "demo.py:3:2: note: cat\n\t\u732b = '\\x1b' + y\n\t^~\n");
    expect_report(span_of(file, "(x\n  )"), NULL, "two lines", "demo.py:4:4: two lines\nif (x\n   ^~\n");
    expect_report((Span){file, file->length, file->length}, NULL, "end", "demo.py:6:1: end\n\n^\n");
    expect_report(nowhere, "error", "no \x1bplace", "error: no \\x1bplace\n");
}
END_TEST

/* Of a long line only what lies around the span is shown, and the carets stand under it. */
START_TEST(span_reports_cut_long_lines) {
    Text source = {0};
    for (int i = 0; i < 100; i++) text_put(&source, "a + ");
    text_put(&source, "\u732b\u732b.wrong");
    for (int i = 0; i < 100; i++) text_put(&source, " + b");
    SourceFile *file = source_new(arena, "long.py", text_cstr(&source), source.length, 1);
    text_free(&source);
    Text report = {0};
    span_report(&report, span_of(file, "wrong"), NULL, "no");
    const char *line = strchr(text_cstr(&report), '\n') + 1, *carets = strchr(line, '\n') + 1, *wrong = strstr(line, "wrong"), *caret = strchr(carets, '^');
    ck_assert(!strncmp(line, "...", 3) && !strncmp(carets - 4, "...\n", 4) && carets - line < 160);
    ck_assert_int_eq(wrong - line - 2, caret - carets); /* each of the two cats has three bytes and two columns */
    ck_assert_str_eq(caret, "^~~~~\n");
    text_clear(&report);
    span_report(&report, (Span){file, 0, file->length}, NULL, "all of it");
    line = strchr(text_cstr(&report), '\n') + 1;
    ck_assert(!strncmp(line, "a + a", 5) && strchr(line, '\n') - line < 160);
    text_free(&report);
}
END_TEST

static Failure outer, inner;
static void fail_inside(void *file) { fail(&inner, (Span){file, 1, 2}, "shape %d", 7); }
static void pass_on(void *file) {
    if (!fail_catch(&inner, fail_inside, file)) fail(&outer, inner.span, "outer: %s", inner.message);
}
static void succeed(void *count) { ++*(int *)count; }
static void fail_at_length(void *unused) {
    (void)unused;
    Text text = {0};
    for (int i = 0; i < 2000; i++) text_put(&text, "\xe7\x8c\xab");
    char *message = text_in(&text, arena);
    text_free(&text);
    fail(&outer, (Span){0}, "%s", message);
}

START_TEST(fail_nests_and_can_be_used_again) {
    SourceFile *file = source_new(arena, "f", "abc", 3, 1);
    int count = 0;
    for (int round = 0; round < 2; round++) {
        ck_assert(!fail_catch(&outer, pass_on, file));
        ck_assert_str_eq(outer.message, "outer: shape 7");
        ck_assert(outer.span.file == file && outer.span.start == 1 && !outer.armed && !inner.armed);
        ck_assert(fail_catch(&outer, succeed, &count));
    }
    ck_assert_int_eq(count, 2);
    ck_assert(!fail_catch(&outer, fail_at_length, NULL));
    ck_assert_str_eq(outer.message + strlen(outer.message) - 6, "\xe7\x8c\xab...");
}
END_TEST

START_TEST(reasons_are_kept) {
    ReasonLog log = {.arena = arena};
    char code[] = "fused.vertical";
    Reason *reason = reason_add(&log, REASON_FUSED, code, "k0", NULL, (Span){0}, "saves %d bytes", 40);
    reason->policy = "size";
    code[0] = 'x';
    for (int i = 0; i < 100; i++) reason_add(&log, REASON_NOT_FUSED, "c", "a", "b", (Span){0}, "%d", i);
    ck_assert_int_eq(log.all.count, 101);
    ck_assert_str_eq(log.all.at[0].code, "fused.vertical");
    ck_assert_str_eq(log.all.at[0].text, "saves 40 bytes");
    ck_assert_str_eq(log.all.at[0].policy, "size");
    ck_assert_str_eq(reason_kind_name(REASON_NOT_FUSED), "not fused");
    for (int kind = 0; kind <= REASON_NOTE; kind++) ck_assert_str_ne(reason_kind_name((ReasonKind)kind), "unknown");
}
END_TEST

START_TEST(snapshot_holds_what_was_put) {
    Snapshot *snapshot = snapshot_new(arena, "dynamo", "[0/0] f");
    SnapshotItem *first = snapshot_item(snapshot, "%x", "input", "x");
    for (int i = 0; i < 500; i++) snapshot_item(snapshot, arena_printf(arena, "%%n%d", i), "pointwise", "relu");
    snapshot_row(snapshot, first, "f32[%d]", 3); /* `first` has moved by now */
    ck_assert_int_eq(snapshot_find(snapshot, "%x")->rows.count, 1);
    ck_assert_str_eq(snapshot->items.at[0].rows.at[0], "f32[3]");
    ck_assert_ptr_eq(snapshot_find(snapshot, "%n499"), &snapshot->items.at[500]);
    ck_assert_ptr_null(snapshot_find(snapshot, "%y"));
    SnapshotLink *link = snapshot_link(snapshot, "%x", "%n0", "data");
    SnapshotGroup *group = snapshot_group(snapshot, "g", "kernel", "k0", NULL);
    ck_assert(link->label == NULL && group->parent == NULL);
    ck_assert_str_eq(snapshot->links.at[0].to, "%n0");
    ck_assert_str_eq(snapshot->groups.at[0].title, "k0");
}
END_TEST

int main(void) {
    const TTest *tests[] = {arena_gives_zeroed_aligned_memory, arena_keeps_contents_apart,
                            arena_large_piece_keeps_the_block_in_use, arena_closers_run_in_reverse, arena_strings,
                            vec_on_heap_and_in_arena, map_keeps_order_and_replaces, intern_gives_one_address,
                            text_grows_and_indents, text_escapes, span_lines_and_columns, span_reports, span_reports_cut_long_lines,
                            fail_nests_and_can_be_used_again, reasons_are_kept, snapshot_holds_what_was_put};
    return UNIT_RUN("base", tests, open_arena, close_arena);
}
