/* Canvas: a grid of character cells with text and lines that know which line they belong to.
 *
 *     Canvas *canvas = canvas_new(arena, 40, 10);
 *     canvas_box(canvas, 0, 0, 12, 3, 34);
 *     canvas_text(canvas, 2, 1, "relu", 8, 0);
 *     canvas_down(canvas, 5, 3, 6, true, 1, 0);            // line 1, column 5, rows 3 to 6, coming from above
 *     canvas_print(&text, canvas, true, false);
 *
 * Invariant: two lines that cross are drawn as crossing, one that branches as a branch: they never look the same. */
#ifndef VITRINE_VIZ_CANVAS_H
#define VITRINE_VIZ_CANVAS_H
#include "base/text.h"

typedef struct Canvas Canvas;

Canvas *canvas_new(Arena *arena, int width, int height);
/* Puts at most `columns` columns of visible text; what does not fit ends in an ellipsis ("~" in ASCII). Colours are ANSI numbers, 0: none. */
void canvas_text(Canvas *canvas, int x, int y, const char *text, int columns, int color);
void canvas_box(Canvas *canvas, int x, int y, int width, int height, int color);
/* Ends included. `hangs`: something above row from_y is joined (a box, a bend); else the line turns there. */
void canvas_down(Canvas *canvas, int x, int from_y, int to_y, bool hangs, int line, int color);
void canvas_across(Canvas *canvas, int y, int from_x, int to_x, int line, int color);
void canvas_arrow(Canvas *canvas, int x, int y, int color);
bool canvas_is_free(const Canvas *canvas, int x, int y, int columns);
void canvas_print(Text *text, const Canvas *canvas, bool unicode, bool color);
int text_columns(const char *text); /* width on a terminal */
#endif
