/* Span: positions into source files, and the report with carets.
 *
 * In: byte offsets. Out: lines and columns as a person counts them, and the message form that is used everywhere.
 * Invariant: a span outside its file (a mistake of ours) is clamped, never read beyond the text. */
#include "base/span.h"
#include "base/vec.h"
#include <assert.h>
#include <string.h>

static void find_lines(Arena *arena, SourceFile *file) {
    int count = 1, i = 0;
    for (uint32_t at = 0; at < file->length; at++) count += file->text[at] == '\n';
    file->line_starts = ARENA_ARRAY(arena, uint32_t, count);
    for (uint32_t at = 0; at < file->length; at++)
        if (file->text[at] == '\n') file->line_starts[++i] = at + 1;
    file->line_count = count;
}

SourceFile *source_new(Arena *arena, const char *name, const char *text, size_t length, int first_line) {
    assert(length < UINT32_MAX);
    SourceFile *file = ARENA_NEW(arena, SourceFile);
    file->name = arena_strdup(arena, name);
    file->text = arena_strndup(arena, text, length);
    file->length = (uint32_t)length;
    file->first_line = first_line;
    find_lines(arena, file);
    return file;
}

static uint32_t clamp(const SourceFile *file, uint32_t at) { return at < file->length ? at : file->length; }

/* Which of line_starts the span starts on: the last one that is not behind it. */
static int line_index(Span span) {
    int low = 0, high = span.file->line_count - 1;
    uint32_t at = clamp(span.file, span.start);
    while (low < high) {
        int middle = low + (high - low + 1) / 2;
        if (span.file->line_starts[middle] <= at) low = middle;
        else high = middle - 1;
    }
    return low;
}

int span_line(Span span) { return span.file ? span.file->first_line + line_index(span) : 0; }

int span_column(Span span) {
    if (!span.file) return 0;
    int column = 1;
    for (uint32_t at = span.file->line_starts[line_index(span)]; at < clamp(span.file, span.start); at++)
        column += ((unsigned char)span.file->text[at] & 0xc0) != 0x80; /* UTF-8's later bytes are no characters */
    return column;
}

Span span_join(Span a, Span b) {
    if (!a.file) return b;
    if (b.file != a.file) return a;
    return (Span){a.file, a.start < b.start ? a.start : b.start, a.end > b.end ? a.end : b.end};
}

/* Bounds of the span's first line, without its newline (or carriage return and newline). */
static uint32_t line_bounds(Span span, uint32_t *start) {
    const SourceFile *file = span.file;
    *start = file->line_starts[line_index(span)];
    const char *newline = memchr(file->text + *start, '\n', file->length - *start);
    uint32_t end = newline ? (uint32_t)(newline - file->text) : file->length;
    return end > *start && file->text[end - 1] == '\r' ? end - 1 : end;
}

char *span_source_line(Span span, Arena *arena) {
    if (!span.file) return arena_strdup(arena, "");
    uint32_t start, end = line_bounds(span, &start);
    return arena_strndup(arena, span.file->text + start, end - start);
}

/* Visible form of the bytes [start, end) of the file; embedded NULs are shown too. */
static Text visible_piece(const SourceFile *file, uint32_t start, uint32_t end) {
    Text piece = {0}, visible = {0};
    for (uint32_t at = start; at < end; at++) {
        if (file->text[at]) text_char(&piece, file->text[at]);
        else text_put(&piece, "\\0");
    }
    text_visible(&visible, text_cstr(&piece));
    text_free(&piece);
    return visible;
}

/* For each column of `piece`, `fill`; with keep_tabs a tab stays one, so that what follows stands under its character. */
static int put_under(Text *text, const Text *piece, char fill, bool keep_tabs) {
    int columns = 0;
    for (size_t at = 0; at < piece->length;) {
        uint32_t code;
        int bytes = utf8_decode(piece->data + at, piece->length - at, &code), width = utf8_width(code);
        at += (size_t)(bytes ? bytes : 1);
        columns += width;
        if (keep_tabs && code == '\t') text_char(text, '\t');
        else for (int i = 0; i < width; i++) text_char(text, fill);
    }
    return columns;
}

static void put_carets(Text *text, const Text *before, const Text *under) {
    put_under(text, before, ' ', true);
    size_t caret = text->length;
    if (put_under(text, under, '~', false) == 0) text_char(text, '^');
    text->data[caret] = '^';
    text_char(text, '\n');
}

/* What is shown of a line: of a long one only what lies around the span, so that the carets stay in sight. */
typedef struct Window { uint32_t from, start, end, to; bool cut_left, cut_right; } Window;
enum { LONG_LINE = 160, KEPT_BEFORE = 60, KEPT_UNDER = 80, KEPT_AFTER = 40 };

static bool inside_character(const SourceFile *file, uint32_t at) { return ((unsigned char)file->text[at] & 0xc0) == 0x80; }

static Window window_of(Span span) {
    uint32_t line_start, line_end = line_bounds(span, &line_start);
    uint32_t start = span.start < line_end ? span.start : line_end;
    uint32_t end = span.end > line_end ? line_end : span.end < start ? start : span.end;
    Window w = {line_start, start, end, line_end, false, false};
    if (line_end - line_start <= LONG_LINE) return w;
    if (start - line_start > KEPT_BEFORE) w.from = start - KEPT_BEFORE;
    if (end - start > KEPT_UNDER) w.end = start + KEPT_UNDER;
    if (line_end - w.end > KEPT_AFTER) w.to = w.end + KEPT_AFTER;
    while (w.from > line_start && inside_character(span.file, w.from)) w.from--;
    while (w.end > start && w.end < line_end && inside_character(span.file, w.end)) w.end--;
    while (w.to < line_end && inside_character(span.file, w.to)) w.to++;
    w.cut_left = w.from > line_start;
    w.cut_right = w.to < line_end;
    return w;
}

char *span_source_near(Span span, Arena *arena) {
    if (!span.file) return arena_strdup(arena, "");
    Window w = window_of(span);
    return arena_printf(arena, "%s%.*s%s", w.cut_left ? "..." : "", (int)(w.to - w.from), span.file->text + w.from, w.cut_right ? "..." : "");
}

static void put_source(Text *text, Span span) {
    Window w = window_of(span);
    Text kept = visible_piece(span.file, w.from, w.start), before = {0}, under = visible_piece(span.file, w.start, w.end);
    Text after = visible_piece(span.file, w.end, w.to);
    if (w.cut_left) text_put(&before, "...");
    text_put(&before, text_cstr(&kept));
    text_free(&kept);
    text_printf(text, "%s%s%s%s\n", text_cstr(&before), text_cstr(&under), text_cstr(&after), w.cut_right ? "..." : "");
    put_carets(text, &before, &under);
    text_free(&before);
    text_free(&under);
    text_free(&after);
}

void span_report(Text *text, Span span, const char *severity, const char *message) {
    if (span.file) {
        text_visible(text, span.file->name);
        text_printf(text, ":%d:%d: ", span_line(span), span_column(span));
    }
    if (severity) text_printf(text, "%s: ", severity);
    text_visible(text, message);
    text_char(text, '\n');
    if (span.file) put_source(text, span);
}
