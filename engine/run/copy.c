/* Copy: strided copies on the host, between views of the same sizes and element size.
 *
 * In: two views. Out: the elements of the one in the other.
 * Dimensions of size 1 are dropped, those that lie one behind the other in both views become one, and the innermost becomes a block where
 * both are dense there. Invariant: the views do not overlap, unless they are the same. */
#include "run/copy.h"
#include "run/private.h"
#include <string.h>

bool meta_layout_equal(const Meta *a, const Meta *b) {
    if (a->rank != b->rank) return false;
    for (int i = 0; i < a->rank; i++)
        if (a->sizes[i] != b->sizes[i] || (a->sizes[i] != 1 && a->strides[i] != b->strides[i])) return false;
    return meta_is_dense(a);
}

/* Outermost first, by the strides of dst: writes then run forward. */
static void loop_sort(CopyLoop *loop) {
    for (int i = 1; i < loop->rank; i++)
        for (int j = i; j > 0 && loop->dst[j - 1] < loop->dst[j]; j--) {
            int64_t *rows[] = {loop->sizes, loop->dst, loop->src};
            for (int r = 0; r < 3; r++) {
                int64_t kept = rows[r][j];
                rows[r][j] = rows[r][j - 1];
                rows[r][j - 1] = kept;
            }
        }
}

void copy_loop_make(CopyLoop *loop, const Meta *dst, const Meta *src) {
    loop->rank = 0;
    for (int i = 0; i < dst->rank; i++)
        if (dst->sizes[i] != 1) {
            loop->sizes[loop->rank] = dst->sizes[i];
            loop->dst[loop->rank] = dst->strides[i];
            loop->src[loop->rank++] = src->strides[i];
        }
    loop_sort(loop);
    int last = 0; /* the dimension that is being grown */
    for (int i = 1; i < loop->rank; i++) {
        bool joins = loop->dst[last] == loop->sizes[i] * loop->dst[i] && loop->src[last] == loop->sizes[i] * loop->src[i];
        if (joins) loop->sizes[last] *= loop->sizes[i];
        else loop->sizes[++last] = loop->sizes[i];
        loop->dst[last] = loop->dst[i];
        loop->src[last] = loop->src[i];
    }
    if (loop->rank) loop->rank = last + 1;
}

#define COPY_ROW(Type)                                                                                      \
    for (int64_t i = 0; i < n; i++) ((Type *)dst)[i * dst_stride] = ((const Type *)src)[i * src_stride];

static void copy_row(void *dst, int64_t dst_stride, const void *src, int64_t src_stride, int64_t n, int64_t size) {
    if (dst_stride == 1 && src_stride == 1) memmove(dst, src, (size_t)(n * size));
    else if (size == 1) { COPY_ROW(uint8_t) }
    else if (size == 2) { COPY_ROW(uint16_t) }
    else if (size == 4) { COPY_ROW(uint32_t) }
    else { COPY_ROW(uint64_t) }
}

static void copy_dim(const CopyLoop *loop, int dim, char *dst, const char *src, int64_t size) {
    if (dim >= loop->rank - 1) {
        bool any = loop->rank > 0;
        copy_row(dst, any ? loop->dst[dim] : 1, src, any ? loop->src[dim] : 1, any ? loop->sizes[dim] : 1, size);
        return;
    }
    for (int64_t i = 0; i < loop->sizes[dim]; i++) copy_dim(loop, dim + 1, dst + i * loop->dst[dim] * size, src + i * loop->src[dim] * size, size);
}

void strided_copy(void *dst, const Meta *dst_meta, const void *src, const Meta *src_meta) {
    CopyLoop loop;
    int64_t size = dtype_size(dst_meta->dtype);
    for (int i = 0; i < dst_meta->rank; i++)
        if (dst_meta->sizes[i] == 0) return;
    copy_loop_make(&loop, dst_meta, src_meta);
    copy_dim(&loop, 0, (char *)dst + dst_meta->offset * size, (const char *)src + src_meta->offset * size, size);
}
