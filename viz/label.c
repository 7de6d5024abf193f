/* Label: items as HTML-like labels and as plain strings for Graphviz.
 *
 *     relu            F        title and mark
 *     %relu_1                  id, when the title does not say it
 *     f32[3, 5]                rows
 *
 * Invariant: whatever the item holds (quotes, tags, escapes, control characters, no UTF-8), what comes out is well-formed. */
#include "viz/label.h"
#include "viz/theme.h"
#include <string.h>

enum { TITLE_COLUMNS = 48, ROW_COLUMNS = 64, CODE_COLUMNS = 80, MAX_ROWS = 12, MAX_CODE_ROWS = 48, TOOLTIP_BYTES = 4000 };

static bool is_forbidden(uint32_t code) {
    return (code >= 0x7f && code < 0xa0) || (code >= 0x200e && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069) || code == 0xfeff || (code & 0xfffe) == 0xfffe;
}

/* One character in XML: markup escaped, controls as their pictures, what XML forbids as U+FFFD. */
static void put_character(Text *text, const char *at, int bytes, uint32_t code) {
    if (!bytes || is_forbidden(code)) text_put(text, "\xef\xbf\xbd");
    else if (code < 0x20) text_printf(text, "\xe2\x90%c", (char)(0x80 + (int)code));
    else if (code == '<') text_put(text, "&lt;");
    else if (code == '>') text_put(text, "&gt;");
    else if (code == '&') text_put(text, "&amp;");
    else if (code == '"') text_put(text, "&quot;");
    else text_put_n(text, at, (size_t)bytes);
}

void label_html(Text *text, const char *string, int columns) {
    int used = 0;
    bool leading = true;
    for (const char *at = string; *at;) {
        uint32_t code;
        int bytes = utf8_decode(at, strnlen(at, 4), &code);
        used += utf8_width(code);
        if (columns && used > columns) {
            text_put(text, "\xe2\x80\xa6");
            return;
        }
        leading = leading && code == ' ';
        if (leading) text_put(text, "&#160;");
        else put_character(text, at, bytes, code);
        /* Graphviz replaces \N, \G, \L in such labels and has no escape for it: a word joiner keeps the letter away. */
        if (code == '\\') text_put(text, "\xe2\x81\xa0");
        at += bytes ? bytes : 1;
    }
}

void label_plain(Text *text, const char *string) {
    for (const char *at = string; *at;) {
        uint32_t code;
        int bytes = utf8_decode(at, strnlen(at, 4), &code);
        if (code == '\n') text_put(text, "\\n");
        else if (code == '\\') text_put(text, "\\\\");
        else put_character(text, at, bytes, code);
        at += bytes ? bytes : 1;
    }
}

static void put_cell(Text *text, const char *string, int columns, const char *align, const char *open, const char *close) {
    text_printf(text, "<TR><TD COLSPAN=\"2\" ALIGN=\"%s\">%s", align, open);
    label_html(text, *string ? string : " ", columns);
    text_printf(text, "%s</TD></TR>", close);
}

/* Cells of one row, each line of it by itself. Returns how many lines were put. */
static int put_row(Text *text, const char *row, const ItemTheme *theme, int room) {
    int lines = 0;
    Text line = {0};
    for (const char *at = row; *at && lines < room; lines++) {
        const char *end = strchr(at, '\n');
        size_t length = end ? (size_t)(end - at) : strlen(at);
        text_clear(&line);
        text_put_n(&line, at, length);
        put_cell(text, text_cstr(&line), theme->code ? CODE_COLUMNS : ROW_COLUMNS, "LEFT",
                 "<FONT FACE=\"monospace\" POINT-SIZE=\"9\" COLOR=\"#374151\">", "</FONT>");
        at += length + (end != NULL);
    }
    text_free(&line);
    return lines;
}

static void put_title(Text *text, const SnapshotItem *item) {
    const MarkTheme *mark = theme_mark(item->mark);
    text_printf(text, "<TR><TD ALIGN=\"LEFT\"%s><B>", mark ? "" : " COLSPAN=\"2\"");
    label_html(text, *item->title ? item->title : item->id, TITLE_COLUMNS);
    text_put(text, "</B></TD>");
    if (mark) text_printf(text, "<TD ALIGN=\"RIGHT\"><FONT POINT-SIZE=\"8\" COLOR=\"%s\"><B>%s</B></FONT></TD>", mark->color, mark->badge);
    text_put(text, "</TR>");
}

/* Is the id more than the title again ("%x" of "x", "g3" of "g3 TENSOR_MATCH")? */
static bool id_tells_more(const SnapshotItem *item) {
    const char *bare = item->id + (*item->id == '%');
    size_t length = strlen(bare);
    bool repeats = strncmp(item->title, bare, length) == 0 && (!item->title[length] || item->title[length] == ' ');
    return !repeats && *item->title;
}

void label_item(Text *text, const SnapshotItem *item) {
    const ItemTheme *theme = theme_item(item->kind);
    text_put(text, "<TABLE BORDER=\"0\" CELLBORDER=\"0\" CELLSPACING=\"0\" CELLPADDING=\"1\">");
    put_title(text, item);
    if (id_tells_more(item))
        put_cell(text, item->id, ROW_COLUMNS, "LEFT", "<FONT FACE=\"monospace\" POINT-SIZE=\"9\" COLOR=\"#6b7280\">", "</FONT>");
    int room = theme->code ? MAX_CODE_ROWS : MAX_ROWS, i = 0;
    for (; i < item->rows.count && room > 0; i++) room -= put_row(text, item->rows.at[i], theme, room);
    if (i < item->rows.count)
        text_printf(text, "<TR><TD COLSPAN=\"2\" ALIGN=\"LEFT\"><I>%d more</I></TD></TR>", item->rows.count - i);
    text_put(text, "</TABLE>");
}

static void put_source(Text *text, Span span) {
    if (!span.file) return;
    Arena *scratch = arena_new("tooltip");
    char *line = span_source_line(span, scratch);
    text_printf(text, "\n%s:%d: %s", span.file->name, span_line(span), line + strspn(line, " \t"));
    arena_free(scratch);
}

void label_tooltip(Text *text, const SnapshotItem *item) {
    Text all = {0};
    text_printf(&all, "%s  %s", item->id, item->title);
    for (int i = 0; i < item->rows.count && all.length < TOOLTIP_BYTES; i++) text_printf(&all, "\n%s", item->rows.at[i]);
    if (item->detail) text_printf(&all, "\n%s", item->detail);
    put_source(&all, item->span);
    if (all.length > TOOLTIP_BYTES) all.data[TOOLTIP_BYTES] = 0;
    label_plain(text, text_cstr(&all));
    text_free(&all);
}
