/* Span: where a thing stands in the user's text. Carried by tokens, AST, instructions, graph nodes, guards and
 * kernels, so that every later object can point at its source.
 *
 *     demo.py:3:9: no attribute 'sqirt'
 *         y = x.sqirt()
 *             ^~~~~~~~~
 *
 * Invariant: a SourceFile outlives every span into it (session arena). */
#ifndef VITRINE_BASE_SPAN_H
#define VITRINE_BASE_SPAN_H
#include "base/text.h"
#include <stdint.h>

typedef struct SourceFile {
    const char *name;      /* as shown: a path, "<stdin>", "<command>", or "torch/nn.py" for the shipped library */
    const char *text;      /* NUL-terminated */
    uint32_t length;
    uint32_t *line_starts; /* offsets; line_count of them */
    int line_count;
    int first_line;        /* number of the first line: 1, or where a piece of standard input began */
    bool shipped;          /* part of vitrine's own library, hidden from user-facing tracebacks and breaks */
} SourceFile;

typedef struct Span { const SourceFile *file; uint32_t start, end; } Span; /* end is exclusive; file NULL: nowhere */

/* Copies name and text. Texts are at most 4 GiB - 1. */
SourceFile *source_new(Arena *arena, const char *name, const char *text, size_t length, int first_line);
int span_line(Span span);                 /* 1-based (plus first_line); 0 when nowhere */
int span_column(Span span);               /* 1-based, counted in characters */
Span span_join(Span a, Span b);           /* from the start of a to the end of b */
/* The text of the span's first line, without the newline, in `arena`. */
char *span_source_line(Span span, Arena *arena);
/* The same, but of a long line only what lies around the span, with "..." where it was cut. */
char *span_source_near(Span span, Arena *arena);
/* `file:line:col: severity: message`, the source line and carets, each line ended. severity: "error", "note", "warning",
 * or NULL (then left out). A span that is nowhere gives the first line alone, without a position. */
void span_report(Text *text, Span span, const char *severity, const char *message);
#endif
