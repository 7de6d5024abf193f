/* Lines: going over a tensor along one dim: each line is all elements that differ in that dim only.
 *
 *     Lines lines = lines_of(meta, dim);
 *     for (int64_t i = 0; i < lines.count; i++) { const char *first = data + line_offset(&lines, i); ... stride lines.stride, lines.length elements }
 *
 * Offsets and strides are in bytes. Lines of tensors of equal shape, with the same dim, correspond by number.
 * A 0-dim tensor is one line of one element. Invariant: lines are numbered in logical order of the other dims. */
#ifndef VITRINE_OP_LINES_H
#define VITRINE_OP_LINES_H
#include "ir/meta.h"

typedef struct Lines { int rank; int64_t sizes[MAX_RANK], strides[MAX_RANK], start, count, length, stride; } Lines;

static inline Lines lines_of(const Meta *meta, int dim) {
    int item = dtype_size(meta->dtype);
    Lines lines = {.start = meta->offset * item, .count = 1, .length = meta->rank ? meta->sizes[dim] : 1, .stride = meta->rank ? meta->strides[dim] * item : item};
    for (int i = 0; i < meta->rank; i++) {
        if (i == dim) continue;
        lines.sizes[lines.rank] = meta->sizes[i];
        lines.strides[lines.rank++] = meta->strides[i] * item;
        lines.count *= meta->sizes[i];
    }
    return lines;
}

static inline int64_t line_offset(const Lines *lines, int64_t number) {
    int64_t offset = lines->start;
    for (int i = lines->rank - 1; i >= 0; i--) {
        offset += number % lines->sizes[i] * lines->strides[i];
        number /= lines->sizes[i];
    }
    return offset;
}
#endif
