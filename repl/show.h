/* Show: how output is formed: tables, units, colours, the pager. Commands fill a Text; nothing here knows what it means.
 *
 *     static const char *const heads[] = {"kernel", ">bytes"};            // > aligns to the right
 *     Table *table = table_new(arena, 2, heads);
 *     table_cell(table, "k0"); table_cell(table, "%s", show_bytes(arena, 4096));
 *     table_print(&text, show, table);
 */
#ifndef VITRINE_REPL_SHOW_H
#define VITRINE_REPL_SHOW_H
#include "base/text.h"
#include "base/vec.h"

typedef struct Show {
    bool json, plain, color, unicode;
    bool interactive;          /* a person reads: pager, progress */
    bool safe;
    int width, height;         /* of the terminal; width 0: lines are not broken */
    volatile int *interrupt;
} Show;

typedef struct Table Table;
Table *table_new(Arena *arena, int columns, const char *const *heads);
void table_cell(Table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
void table_print(Text *text, const Show *show, const Table *table); /* the last column is broken into lines where it is too long */

const char *show_bytes(Arena *arena, int64_t bytes);                /* "60 B", "1.5 KiB" */
const char *show_us(const Show *show, Arena *arena, double us);     /* "12.3 us", "1.20 ms"; "--" under --plain */
const char *show_rate(const Show *show, Arena *arena, double value, const char *unit); /* "--" under --plain */
const char *show_ratio(const Show *show, Arena *arena, double over, double under);     /* "2.5x" */
const char *show_bold(const Show *show, Arena *arena, const char *text);
const char *show_dim(const Show *show, Arena *arena, const char *text);

void show_terminal_size(Show *show);
/* To stdout, through the pager when a person reads and it is longer than the screen. False when stdout is gone. */
bool show_out(const Show *show, const char *text, size_t length);
void show_note(const char *text);                                   /* to stderr, after everything on stdout */
#endif
