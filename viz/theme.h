/* Theme: how each kind of item, mark and link looks, everywhere. One table each; theme.c says how to add a row. */
#ifndef VITRINE_VIZ_THEME_H
#define VITRINE_VIZ_THEME_H
#include <stdbool.h>

typedef struct ItemTheme {
    const char *kind;
    const char *shape, *style;  /* Graphviz */
    const char *fill, *border;  /* #rrggbb */
    int terminal;               /* ANSI foreground colour, 0: none */
    bool code;                  /* rows are code: monospaced, none left out */
} ItemTheme;

typedef struct MarkTheme { const char *mark, *badge, *ascii, *color; int terminal; } MarkTheme;

typedef struct LinkTheme {
    const char *kind;
    const char *color, *style, *arrow;
    double width;
    bool ranks;                 /* does it push its target below its source? */
    int terminal;
} LinkTheme;

/* Kinds that no table knows look like plain boxes and lines; never NULL. */
const ItemTheme *theme_item(const char *kind);
const LinkTheme *theme_link(const char *kind);
const MarkTheme *theme_mark(const char *mark); /* NULL for no mark */
const char *theme_group_fill(const char *kind, int depth);
#endif
