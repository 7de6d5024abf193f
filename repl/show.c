/* Show: tables, units, colours, pager.
 *
 * In: cells of any text. Out: lines whose columns line up; user text is made visible, so that it cannot drive the terminal.
 * Invariant: under --plain nothing here depends on time, terminal or environment. */
#include "repl/show.h"
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { MAX_CELL = 60, COLUMN_GAP = 2, LEAST_LAST = 24 };

struct Table { Arena *arena; int columns; const char *const *heads; VEC(const char *) cells; };

/* ---- units ---- */

const char *show_bytes(Arena *arena, int64_t bytes) {
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    if (bytes < 1024 && bytes > -1024) return arena_printf(arena, "%lld B", (long long)bytes);
    int unit = -1;
    while (unit < 3 && fabs(value) >= 1023.95) {
        value /= 1024;
        unit++;
    }
    return arena_printf(arena, "%.1f %s", value, units[unit < 0 ? 0 : unit]);
}

const char *show_us(const Show *show, Arena *arena, double us) {
    if (show->plain || !isfinite(us)) return "--";
    if (us < 1e3) return arena_printf(arena, "%.1f us", us);
    if (us < 1e6) return arena_printf(arena, "%.2f ms", us / 1e3);
    return arena_printf(arena, "%.2f s", us / 1e6);
}

const char *show_rate(const Show *show, Arena *arena, double value, const char *unit) {
    if (show->plain || !isfinite(value)) return "--";
    return arena_printf(arena, value >= 100 ? "%.0f %s" : "%.3g %s", value, unit);
}

const char *show_ratio(const Show *show, Arena *arena, double over, double under) {
    if (show->plain || under <= 0 || !isfinite(over / under)) return "--";
    return arena_printf(arena, "%.2fx", over / under);
}

static const char *styled(const Show *show, Arena *arena, const char *text, const char *style) {
    return show->color ? arena_printf(arena, "\x1b[%sm%s\x1b[0m", style, text) : text;
}

const char *show_bold(const Show *show, Arena *arena, const char *text) { return styled(show, arena, text, "1"); }
const char *show_dim(const Show *show, Arena *arena, const char *text) { return styled(show, arena, text, "90"); }

/* ---- tables ---- */

Table *table_new(Arena *arena, int columns, const char *const *heads) {
    Table *table = ARENA_NEW(arena, Table);
    table->arena = arena;
    table->columns = columns;
    table->heads = heads;
    return table;
}

/* One line of visible text: newlines in cells would break the rows. */
static const char *flat(Arena *arena, const char *string) {
    Text text = {0};
    text_visible(&text, string);
    for (size_t i = 0; i < text.length; i++)
        if (text.data[i] == '\n' || text.data[i] == '\t') text.data[i] = ' ';
    char *result = text_in(&text, arena);
    text_free(&text);
    return result;
}

void table_cell(Table *table, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const char *cell = flat(table->arena, arena_vprintf(table->arena, format, arguments));
    va_end(arguments);
    vec_push_in(table->arena, &table->cells, cell);
}

static int columns_of(const char *text) {
    int columns = 0;
    uint32_t code;
    for (const char *at = text; *at;) {
        int bytes = utf8_decode(at, strnlen(at, 4), &code);
        columns += utf8_width(code);
        at += bytes ? bytes : 1;
    }
    return columns;
}

static bool is_right(const Table *table, int column) { return table->heads[column][0] == '>'; }
static const char *head_text(const Table *table, int column) { return table->heads[column] + is_right(table, column); }

static int *measure(const Table *table) {
    int *widths = ARENA_ARRAY(table->arena, int, table->columns + 1);
    for (int c = 0; c < table->columns; c++) widths[c] = columns_of(head_text(table, c));
    for (int i = 0; i < table->cells.count; i++) {
        int width = columns_of(table->cells.at[i]);
        if (width > widths[i % table->columns]) widths[i % table->columns] = width;
    }
    for (int c = 0; c + 1 < table->columns; c++)
        if (widths[c] > MAX_CELL) widths[c] = MAX_CELL;
    return widths;
}

static void put_blanks(Text *text, int count) {
    while (count-- > 0) text_char(text, ' ');
}

/* How many bytes of `text` go on a line of `width` columns: up to a blank where there is one. */
static size_t line_length(const char *text, int width) {
    size_t last_blank = 0;
    int used = 0;
    for (const char *at = text; *at;) {
        uint32_t code;
        int bytes = utf8_decode(at, strnlen(at, 4), &code);
        used += utf8_width(code);
        if (used > width) return last_blank ? last_blank : at > text ? (size_t)(at - text) : (size_t)(bytes ? bytes : 1);
        at += bytes ? bytes : 1;
        if (*at == ' ') last_blank = (size_t)(at - text);
    }
    return strlen(text);
}

static void put_last(Text *text, const char *cell, int column, int width) {
    bool first = true;
    do {
        size_t length = width > 0 ? line_length(cell, width) : strlen(cell);
        if (!first) put_blanks(text, column);
        text_put_n(text, cell, length);
        text_char(text, '\n');
        cell += length;
        cell += strspn(cell, " ");
        first = false;
    } while (*cell);
}

static void put_row(Text *text, const Show *show, const Table *table, const int *widths, const char *const *cells) {
    int column = COLUMN_GAP;
    size_t start = text->length;
    put_blanks(text, COLUMN_GAP);
    for (int c = 0; c + 1 < table->columns; c++) {
        int space = widths[c] - columns_of(cells[c]);
        if (is_right(table, c)) put_blanks(text, space);
        text_put(text, cells[c]);
        if (!is_right(table, c)) put_blanks(text, space);
        put_blanks(text, COLUMN_GAP);
        column += widths[c] + COLUMN_GAP;
    }
    int last = table->columns - 1, room = show->width > 0 ? show->width - column : 0;
    if (is_right(table, last)) put_blanks(text, widths[last] - columns_of(cells[last]));
    put_last(text, cells[last], column, show->width > 0 && room < LEAST_LAST ? LEAST_LAST : room);
    size_t end = text->length - 1; /* no blanks before the newline */
    while (end > start && text->data[end - 1] == ' ') end--;
    if (end < text->length - 1) {
        text->data[end] = '\n';
        text->data[end + 1] = 0;
        text->length = end + 1;
    }
}

void table_print(Text *text, const Show *show, const Table *table) {
    int *widths = measure(table);
    const char **heads = ARENA_ARRAY(table->arena, const char *, table->columns + 1);
    for (int c = 0; c < table->columns; c++) heads[c] = head_text(table, c);
    if (show->color) text_put(text, "\x1b[1m");
    put_row(text, show, table, widths, heads);
    if (show->color) {
        text->data[--text->length] = 0; /* the newline: bold ends before it */
        text_put(text, "\x1b[0m\n");
    }
    for (int i = 0; i + table->columns <= table->cells.count; i += table->columns)
        put_row(text, show, table, widths, &table->cells.at[i]);
}

/* ---- where it goes ---- */

void show_terminal_size(Show *show) {
    struct winsize size;
    if (show->plain) show->width = 100;
    else if (show->interactive && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        show->width = size.ws_col;
        show->height = size.ws_row;
    }
}

static int count_lines(const char *text, size_t length) {
    int lines = 0;
    for (size_t i = 0; i < length; i++) lines += text[i] == '\n';
    return lines;
}

static bool page(const char *text, size_t length) {
    const char *pager = getenv("PAGER");
    if (!pager || !*pager) pager = "less -FRX";
    fflush(stdout);
    FILE *pipe = popen(pager, "w");
    if (!pipe) return false;
    fwrite(text, 1, length, pipe); /* a pager that is left early reads no further: nothing is wrong then */
    int status = pclose(pipe);
    return status != 127 << 8;     /* the shell did not find it */
}

bool show_out(const Show *show, const char *text, size_t length) {
    bool long_text = show->interactive && show->height > 0 && count_lines(text, length) >= show->height;
    if (long_text && !show->safe && page(text, length)) return true;
    return fwrite(text, 1, length, stdout) == length && !ferror(stdout);
}

void show_note(const char *text) {
    fflush(stdout);
    fputs(text, stderr);
    fflush(stderr);
}
