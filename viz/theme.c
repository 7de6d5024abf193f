/* Theme: kind -> shape and colour.
 *
 * The hues are those of Okabe and Ito, which people with any colour vision tell apart, as light fills under dark text;
 * what matters is told by shape and border too, so that a drawing survives a black and white printer.
 * To add a kind: one row. The first row of each table is what unknown kinds get. */
#include "viz/theme.h"
#include <stddef.h>
#include <string.h>

/* clang-format off */
static const ItemTheme ITEMS[] = {
    {"",          "box",           "rounded,filled",        "#ffffff", "#6b7280", 0,  false},
    {"input",     "box",           "rounded,filled,bold",   "#e3effa", "#0072b2", 34, false},
    {"output",    "box",           "rounded,filled,bold",   "#dff3ec", "#00735a", 32, false},
    {"parameter", "box",           "rounded,filled",        "#e3effa", "#0072b2", 34, false},
    {"constant",  "note",          "filled",                "#f3f4f6", "#6b7280", 0,  false},
    {"pointwise", "box",           "rounded,filled",        "#ffffff", "#374151", 0,  false},
    {"reduce",    "box",           "filled,bold",           "#fdf0d5", "#a86500", 33, false},
    {"scan",      "box",           "filled,bold",           "#fdf0d5", "#a86500", 33, false},
    {"view",      "box",           "rounded,dashed,filled", "#fbfbfb", "#9ca3af", 90, false},
    {"contract",  "box3d",         "filled,bold",           "#fbe4d8", "#b34700", 31, false},
    {"conv",      "box3d",         "filled,bold",           "#fbe4d8", "#b34700", 31, false},
    {"pool",      "box",           "filled,bold",           "#fdf0d5", "#a86500", 33, false},
    {"index",     "tab",           "filled",                "#f7e9f2", "#9b4f7c", 35, false},
    {"create",    "note",          "filled",                "#f3f4f6", "#6b7280", 0,  false},
    {"mutate",    "box",           "filled,bold",           "#fff2cc", "#7a5c00", 33, false},
    {"random",    "component",     "filled",                "#e8f6fb", "#2b7ea1", 36, false},
    {"number",    "box",           "rounded,dashed,filled", "#fffbe0", "#857000", 33, false},
    {"effect",    "tab",           "filled",                "#f3f4f6", "#6b7280", 90, false},
    {"composite", "folder",        "filled",                "#eef2ff", "#4b5aa8", 34, false},
    {"collective","component",     "filled,bold",           "#e8f6fb", "#2b7ea1", 36, false},
    {"guard",     "box",           "filled",                "#fffbe0", "#857000", 33, false},
    {"source",    "box",           "rounded,filled,bold",   "#e3effa", "#0072b2", 34, false},
    {"kernel",    "component",     "filled,bold",           "#dff3ec", "#00735a", 32, false},
    {"extern",    "box3d",         "filled,bold",           "#fbe4d8", "#b34700", 31, false},
    {"launch",    "component",     "filled",                "#dff3ec", "#00735a", 32, false},
    {"loop",      "box",           "filled",                "#ffffff", "#374151", 0,  true},
    {"buffer",    "cylinder",      "filled",                "#eceff3", "#4b5563", 0,  false},
    {"block",     "box",           "filled",                "#ffffff", "#374151", 0,  true},
    {"saved",     "cylinder",      "filled,bold",           "#e6e0f5", "#5b3fa0", 35, false},
    {"folded",    "box3d",         "filled",                "#f3f4f6", "#374151", 90, false},
};

static const MarkTheme MARKS[] = {
    {"",           "\xe2\x80\xa2", "*", "#374151", 0},
    {"forward",    "F",            "F", "#0072b2", 34},
    {"backward",   "B",            "B", "#b34700", 31},
    {"changed",    "~",            "~", "#857000", 33},
    {"added",      "+",            "+", "#00735a", 32},
    {"removed",    "\xe2\x88\x92", "-", "#6b7280", 90},
    {"saved",      "saved",        "saved", "#5b3fa0", 35},
    {"recomputed", "again",        "again", "#2b7ea1", 36},
    {"library",    "library",      "library", "#b34700", 31},
    {"first",      "first",        "first", "#00735a", 32},
};

static const LinkTheme LINKS[] = {
    {"",          "#374151", "solid",  "normal", 1.0, true,  0},
    {"data",      "#374151", "solid",  "normal", 1.0, true,  0},
    {"control",   "#6b7280", "solid",  "vee",    1.0, true,  0},
    {"true",      "#00735a", "solid",  "vee",    1.3, true,  32},
    {"false",     "#b34700", "dashed", "vee",    1.3, true,  31},
    {"saved",     "#5b3fa0", "bold",   "normal", 2.0, true,  35},
    {"alias",     "#9b4f7c", "dotted", "open",   1.2, false, 35},
    {"origin",    "#9ca3af", "dotted", "open",   1.0, false, 90},
    {"exception", "#b34700", "dotted", "vee",    1.2, true,  31},
    {"not-fused", "#6b7280", "dashed", "none",   1.0, false, 90},
};
/* clang-format on */

#define COUNT(table) (sizeof(table) / sizeof *(table))

const ItemTheme *theme_item(const char *kind) {
    for (size_t i = 1; kind && i < COUNT(ITEMS); i++)
        if (strcmp(ITEMS[i].kind, kind) == 0) return &ITEMS[i];
    return &ITEMS[0];
}

const LinkTheme *theme_link(const char *kind) {
    for (size_t i = 1; kind && i < COUNT(LINKS); i++)
        if (strcmp(LINKS[i].kind, kind) == 0) return &LINKS[i];
    return &LINKS[0];
}

const MarkTheme *theme_mark(const char *mark) {
    if (!mark || !*mark) return NULL;
    for (size_t i = 1; i < COUNT(MARKS); i++)
        if (strcmp(MARKS[i].mark, mark) == 0) return &MARKS[i];
    return &MARKS[0];
}

/* Nested groups alternate, so that an inner one stands out from the outer. */
const char *theme_group_fill(const char *kind, int depth) {
    if (kind && (strcmp(kind, "kernel") == 0 || strcmp(kind, "group") == 0)) return "#f2f7f4";
    if (kind && strcmp(kind, "folded") == 0) return "#f5f3fa";
    return depth % 2 ? "#ffffff" : "#f7f8fa";
}
