/* Canvas: cells, lines that join, and the characters they become.
 *
 * In: boxes, lines, text. Out: lines of UTF-8 or ASCII, without blanks at their ends.
 * A cell remembers which ways a line leaves it (UP, DOWN, LEFT, RIGHT) and whose lines they are: where a vertical and a horizontal
 * line of different owners meet, the vertical one is drawn over the horizontal one. */
#include "viz/canvas.h"
#include <string.h>

enum { UP = 1, DOWN = 2, LEFT = 4, RIGHT = 8, ARROW = 16, COVERED = 0x110000 /* second half of a wide character */ };

typedef struct Cell { uint32_t code; uint8_t ways, color; int vertical, horizontal; /* owners + 1 */ } Cell;
struct Canvas { int width, height; Cell *cells; };

Canvas *canvas_new(Arena *arena, int width, int height) {
    Canvas *canvas = ARENA_NEW(arena, Canvas);
    canvas->width = width;
    canvas->height = height;
    canvas->cells = ARENA_ARRAY(arena, Cell, (size_t)width * (size_t)height + 1);
    return canvas;
}

static Cell *cell_at(const Canvas *canvas, int x, int y) {
    if (x < 0 || y < 0 || x >= canvas->width || y >= canvas->height) return NULL;
    return &canvas->cells[(size_t)y * (size_t)canvas->width + (size_t)x];
}

static void put_code(Canvas *canvas, int x, int y, uint32_t code, int color) {
    Cell *cell = cell_at(canvas, x, y);
    if (!cell) return;
    cell->code = code;
    cell->color = (uint8_t)color;
}

int text_columns(const char *text) {
    int columns = 0;
    uint32_t code;
    for (const char *at = text; *at;) {
        int bytes = utf8_decode(at, strnlen(at, 4), &code);
        columns += utf8_width(code);
        at += bytes ? bytes : 1;
    }
    return columns;
}

void canvas_text(Canvas *canvas, int x, int y, const char *text, int columns, int color) {
    Text visible = {0};
    text_visible(&visible, text);
    const char *at = text_cstr(&visible);
    bool cut = text_columns(at) > columns;
    for (int used = 0; *at;) {
        uint32_t code;
        int bytes = utf8_decode(at, strnlen(at, 4), &code), width = utf8_width(code);
        if (used + width > columns - cut) break;
        if (width > 0) put_code(canvas, x + used, y, code == '\n' || code == '\t' ? ' ' : code, color);
        if (width == 2) put_code(canvas, x + used + 1, y, COVERED, color);
        used += width;
        at += bytes ? bytes : 1;
        if (cut && used >= columns - 1) put_code(canvas, x + columns - 1, y, 0x2026, color);
    }
    text_free(&visible);
}

static void add_way(Canvas *canvas, int x, int y, int ways, int line, int color) {
    Cell *cell = cell_at(canvas, x, y);
    if (!cell || cell->code) return;
    bool vertical = (ways & (UP | DOWN)) != 0;
    if (vertical && cell->horizontal && cell->horizontal != line + 1) cell->ways &= (uint8_t)~(LEFT | RIGHT);
    if (!vertical && cell->vertical && cell->vertical != line + 1) return;
    cell->ways |= (uint8_t)ways;
    cell->color = (uint8_t)color;
    if (vertical) cell->vertical = line + 1;
    else cell->horizontal = line + 1;
}

void canvas_down(Canvas *canvas, int x, int from_y, int to_y, bool hangs, int line, int color) {
    for (int y = from_y; y <= to_y; y++)
        add_way(canvas, x, y, (y > from_y || hangs ? UP : 0) | (y < to_y ? DOWN : 0), line, color);
}

void canvas_across(Canvas *canvas, int y, int from_x, int to_x, int line, int color) {
    int low = from_x < to_x ? from_x : to_x, high = from_x < to_x ? to_x : from_x;
    for (int x = low; x <= high; x++) add_way(canvas, x, y, (x > low ? LEFT : 0) | (x < high ? RIGHT : 0), line, color);
}

void canvas_box(Canvas *canvas, int x, int y, int width, int height, int color) {
    for (int row = y; row < y + height; row++)
        for (int column = x; column < x + width; column++) put_code(canvas, column, row, ' ', 0);
    for (int column = x + 1; column < x + width - 1; column++) {
        put_code(canvas, column, y, 0x2500, color);
        put_code(canvas, column, y + height - 1, 0x2500, color);
    }
    for (int row = y + 1; row < y + height - 1; row++) {
        put_code(canvas, x, row, 0x2502, color);
        put_code(canvas, x + width - 1, row, 0x2502, color);
    }
    put_code(canvas, x, y, 0x256d, color);
    put_code(canvas, x + width - 1, y, 0x256e, color);
    put_code(canvas, x, y + height - 1, 0x2570, color);
    put_code(canvas, x + width - 1, y + height - 1, 0x256f, color);
}

void canvas_arrow(Canvas *canvas, int x, int y, int color) {
    Cell *cell = cell_at(canvas, x, y);
    if (!cell) return;
    cell->ways = ARROW;
    cell->color = (uint8_t)color;
}

bool canvas_is_free(const Canvas *canvas, int x, int y, int columns) {
    for (int i = 0; i < columns; i++) {
        const Cell *cell = cell_at(canvas, x + i, y);
        if (!cell || cell->code || cell->ways) return false;
    }
    return true;
}

/* ---- printing ---- */

static uint32_t line_character(int ways) {
    static const uint32_t characters[16] = {' ',    0x2575, 0x2577, 0x2502, 0x2574, 0x2518, 0x2510, 0x2524,
                                            0x2576, 0x2514, 0x250c, 0x251c, 0x2500, 0x2534, 0x252c, 0x253c};
    return ways & ARROW ? 0x25bc : characters[ways & 15];
}

static uint32_t code_of(const Cell *cell) {
    return cell->code ? cell->code : cell->ways ? line_character(cell->ways) : ' ';
}

/* Lines and arrows in ASCII; other characters stay as they are. */
static uint32_t ascii_line(uint32_t code) {
    switch (code) {
    case 0x2500: case 0x2574: case 0x2576: return '-';
    case 0x2502: case 0x2575: case 0x2577: return '|';
    case 0x25bc: return 'v';
    case 0x2026: return '~';
    default: return code >= 0x2500 && code < 0x2580 ? '+' : code;
    }
}

static void put_utf8(Text *text, uint32_t code) {
    char bytes[4];
    size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const uint32_t lead[5] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = n; i-- > 1; code >>= 6) bytes[i] = (char)(0x80 | (code & 0x3f));
    bytes[0] = (char)(lead[n] | code);
    text_put_n(text, bytes, n);
}

static int last_column(const Canvas *canvas, int y) {
    int last = -1;
    for (int x = 0; x < canvas->width; x++)
        if (code_of(cell_at(canvas, x, y)) != ' ') last = x;
    return last;
}

static void print_row(Text *text, const Canvas *canvas, int y, bool unicode, bool color) {
    int last = last_column(canvas, y), current = 0;
    for (int x = 0; x <= last; x++) {
        const Cell *cell = cell_at(canvas, x, y);
        uint32_t code = code_of(cell);
        int wanted = code == ' ' ? current : cell->color;
        if (color && wanted != current) text_printf(text, wanted ? "\x1b[0;%dm" : "\x1b[0m", wanted);
        current = wanted;
        if (code != COVERED) put_utf8(text, unicode ? code : ascii_line(code));
    }
    if (color && current) text_put(text, "\x1b[0m");
    text_char(text, '\n');
}

void canvas_print(Text *text, const Canvas *canvas, bool unicode, bool color) {
    for (int y = 0; y < canvas->height; y++) print_row(text, canvas, y, unicode, color);
}
