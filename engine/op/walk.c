/* Walk: sorts and merges the dims of strided operands, cuts them into tiles; and the copy that is built on it.
 *
 * In: metas and data. Out: tiles. The source of the idea is TensorIterator (reordering, coalescing); tiles in two dims are ours.
 * Invariant: after walk_finish dims of size 1 are gone, and no two neighbouring dims can be merged for all operands. */
#include "op/walk.h"
#include "op/convert.h"
#include <string.h>

void walk_begin(Walk *walk, int rank, const Dim *sizes) {
    walk->rank = walk->logical_rank = rank;
    walk->count = 0;
    walk->numel = 1;
    for (int i = 0; i < rank; i++) {
        walk->sizes[i] = sizes[rank - 1 - i];
        walk->numel *= sizes[i];
    }
}

void walk_add(Walk *walk, const Meta *meta, void *data) {
    int operand = walk->count++, item = dtype_size(meta->dtype);
    walk->data[operand] = data ? (char *)data + meta->offset * item : NULL;
    for (int i = 0; i < walk->logical_rank; i++) {
        int at = meta->rank - 1 - i;
        walk->strides[operand][i] = at < 0 || meta->sizes[at] == 1 ? 0 : meta->strides[at] * item;
    }
}

static int64_t magnitude(int64_t x) { return x < 0 ? -x : x; }

static void swap_dims(Walk *walk, int a, int b) {
    int64_t size = walk->sizes[a];
    walk->sizes[a] = walk->sizes[b];
    walk->sizes[b] = size;
    for (int i = 0; i < walk->count; i++) {
        int64_t stride = walk->strides[i][a];
        walk->strides[i][a] = walk->strides[i][b];
        walk->strides[i][b] = stride;
    }
}

static void drop_dim(Walk *walk, int dim) {
    for (int i = dim; i + 1 < walk->rank; i++) swap_dims(walk, i, i + 1);
    walk->rank--;
}

/* By the first operand's strides; where it says nothing (0, or equal), by the others'. */
static bool goes_inside(const Walk *walk, int a, int b) {
    for (int i = 0; i < walk->count; i++) {
        int64_t stride_a = magnitude(walk->strides[i][a]), stride_b = magnitude(walk->strides[i][b]);
        if (stride_a && stride_b && stride_a != stride_b) return stride_a < stride_b;
    }
    return false;
}

static void sort_dims(Walk *walk) {
    for (int i = 1; i < walk->rank; i++)
        for (int j = i; j > 0 && goes_inside(walk, j, j - 1); j--) swap_dims(walk, j, j - 1);
}

static bool can_merge(const Walk *walk, int inner) {
    for (int i = 0; i < walk->count; i++)
        if (walk->strides[i][inner + 1] != walk->strides[i][inner] * walk->sizes[inner]) return false;
    return true;
}

static void merge_dims(Walk *walk) {
    for (int i = 0; i + 1 < walk->rank;) {
        if (!can_merge(walk, i)) {
            i++;
            continue;
        }
        walk->sizes[i] *= walk->sizes[i + 1];
        drop_dim(walk, i + 1);
    }
}

/* The dim in which some operand is denser than along the columns, and densest: rows of tiles run along it. 0: none. */
static int crossing_dim(const Walk *walk) {
    for (int i = 0; i < walk->count; i++) {
        int64_t least = magnitude(walk->strides[i][0]);
        int best = 0;
        for (int d = 1; d < walk->rank; d++)
            if (walk->strides[i][d] && magnitude(walk->strides[i][d]) < least) best = d, least = magnitude(walk->strides[i][d]);
        if (best) return best;
    }
    return 0;
}

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

static void choose_tiles(Walk *walk, int64_t elements) {
    int crossing = crossing_dim(walk);
    walk->crossing = crossing != 0;
    walk->partner = crossing ? crossing : walk->rank > 1 ? 1 : 0;
    walk->columns = smaller(walk->sizes[0], crossing ? 64 : elements);
    if (walk->columns < 1) walk->columns = 1;
    walk->rows = walk->partner ? smaller(walk->sizes[walk->partner], elements / walk->columns) : 1;
    if (walk->rows < 1) walk->rows = 1;
    walk->tiles = 1;
    for (int i = 0; i < walk->rank; i++) {
        int64_t extent = i == 0 ? walk->columns : i == walk->partner ? walk->rows : 1;
        walk->tile_counts[i] = (walk->sizes[i] + extent - 1) / extent;
        walk->tiles *= walk->tile_counts[i];
    }
}

void walk_finish(Walk *walk, int64_t tile_elements) {
    for (int i = walk->rank - 1; i >= 0; i--)
        if (walk->sizes[i] == 1) drop_dim(walk, i);
    sort_dims(walk);
    merge_dims(walk);
    if (walk->rank == 0) {
        walk->rank = 1;
        walk->sizes[0] = 1;
        for (int i = 0; i < walk->count; i++) walk->strides[i][0] = 0;
    }
    choose_tiles(walk, tile_elements);
    if (walk->numel == 0) walk->tiles = 0;
}

/* Tiles of operands that lie across each other go down in strips of 8: the pages that a strip touches stay in the processor's table of pages
 * until they are used up. Returns what is left of the index for the other dims. */
static int64_t start_crossing(const Walk *walk, int64_t index, int64_t *start) {
    int64_t across = walk->tile_counts[0], down = walk->tile_counts[walk->partner], plane = across * down, at = index % plane;
    int64_t first = at / (8 * down) * 8, width = smaller(8, across - first), within = at - first * down;
    start[0] = (first + within % width) * walk->columns;
    start[walk->partner] = within / width * walk->rows;
    return index / plane;
}

void walk_tile(const Walk *walk, int64_t index, Tile *tile) {
    int64_t start[MAX_RANK];
    bool grouped = walk->crossing;
    if (grouped) index = start_crossing(walk, index, start);
    for (int i = 0; i < walk->rank; i++) {
        if (grouped && (i == 0 || i == walk->partner)) continue;
        int64_t count = walk->tile_counts[i], at = count == 1 ? 0 : index % count;
        index = count == 1 ? index : index / count;
        start[i] = at * (i == 0 ? walk->columns : i == walk->partner ? walk->rows : 1);
    }
    tile->columns = smaller(walk->columns, walk->sizes[0] - start[0]);
    tile->rows = walk->partner ? smaller(walk->rows, walk->sizes[walk->partner] - start[walk->partner]) : 1;
    for (int k = 0; k < walk->count; k++) {
        int64_t offset = 0;
        for (int i = 0; i < walk->rank; i++) offset += start[i] * walk->strides[k][i];
        tile->data[k] = walk->data[k] ? walk->data[k] + offset : NULL;
        tile->column_stride[k] = walk->strides[k][0];
        tile->row_stride[k] = walk->partner ? walk->strides[k][walk->partner] : 0;
    }
}

/* No prefetcher of the hardware sees many short columns coming. To the second level: columns a power of two apart share a set of the first. */
void tile_prefetch(const Tile *tile, int operand) {
    int64_t down = tile->row_stride[operand], reach = tile->rows * magnitude(down);
    for (int64_t c = 0; c < tile->columns; c++) {
        const char *column = tile->data[operand] + c * tile->column_stride[operand];
        for (int64_t r = 0; r < reach; r += 64) __builtin_prefetch(column + (down < 0 ? -r : r), 0, 2);
    }
}

/* ---- copy ---- */

#define COPY_ITEMS(type)                                                                                                       \
    for (int64_t o = 0; o < outer; o++) {                                                                                      \
        char *dst = to + o * dst_outer;                                                                                        \
        const char *src = from + o * src_outer;                                                                                \
        for (int64_t i = 0; i < inner; i++) *(type *)(void *)(dst + i * dst_inner) = *(const type *)(const void *)(src + i * src_inner); \
    }

static void copy_strided(int item, int64_t outer, int64_t inner, char *to, int64_t dst_outer, int64_t dst_inner, const char *from, int64_t src_outer, int64_t src_inner) {
    switch (item) {
    case 1: COPY_ITEMS(uint8_t) break;
    case 2: COPY_ITEMS(uint16_t) break;
    case 4: COPY_ITEMS(uint32_t) break;
    default: COPY_ITEMS(uint64_t) break;
    }
}

#if defined __has_builtin
#if __has_builtin(__builtin_shufflevector)
#define HAVE_SHUFFLE 1
#endif
#endif
#ifdef HAVE_SHUFFLE
typedef uint32_t Four __attribute__((vector_size(16)));

/* Four columns of four elements, turned; distances in bytes. */
static void turn_four(char *to, int64_t to_step, const char *from, int64_t from_step) {
    Four a, b, c, d;
    memcpy(&a, from, 16), memcpy(&b, from + from_step, 16), memcpy(&c, from + 2 * from_step, 16), memcpy(&d, from + 3 * from_step, 16);
    Four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    Four ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7), cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    a = __builtin_shufflevector(ab, cd, 0, 1, 4, 5), b = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
    c = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5), d = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
    memcpy(to, &a, 16), memcpy(to + to_step, &b, 16), memcpy(to + 2 * to_step, &c, 16), memcpy(to + 3 * to_step, &d, 16);
}

/* How many of `columns` were done: those in fours. */
static int64_t turn_words(int64_t columns, int64_t rows, char *to, int64_t to_step, const char *from, int64_t from_step) {
    for (int64_t c = 0; c + 4 <= columns; c += 4)
        for (int64_t r = 0; r + 4 <= rows; r += 4) turn_four(to + r * to_step + c * 4, to_step, from + c * from_step + r * 4, from_step);
    for (int64_t c = 0; c + 4 <= columns && rows % 4; c += 4) copy_strided(4, 4, rows % 4, to + rows / 4 * 4 * to_step + c * 4, 4, to_step, from + c * from_step + rows / 4 * 16, from_step, 4);
    return columns / 4 * 4;
}
#else
static int64_t turn_words(int64_t columns, int64_t rows, char *to, int64_t to_step, const char *from, int64_t from_step) {
    (void)columns, (void)rows, (void)to, (void)to_step, (void)from, (void)from_step;
    return 0;
}
#endif

/* Source and destination lie across each other: the source is read along its own dense direction into a small square, which is then written along
 * the destination's. Rows that lie a power of two apart share few places of the cache, so that neither side may be walked across for long. */
static void copy_turned(const Tile *tile, int item) {
    double square[WALK_TILE];
    int64_t rows = tile->rows, columns = tile->columns;
    tile_prefetch(tile, 1);
    int64_t done = item == 4 && tile->row_stride[1] == 4 ? turn_words(columns, rows, (char *)square, columns * 4, tile->data[1], tile->column_stride[1]) : 0;
    copy_strided(item, columns - done, rows, (char *)square + done * item, item, columns * item, tile->data[1] + done * tile->column_stride[1], tile->column_stride[1], tile->row_stride[1]);
    for (int64_t r = 0; r < rows && tile->column_stride[0] == item; r++) memcpy(tile->data[0] + r * tile->row_stride[0], (char *)square + r * columns * item, (size_t)(columns * item));
    if (tile->column_stride[0] != item) copy_strided(item, rows, columns, tile->data[0], tile->row_stride[0], tile->column_stride[0], (char *)square, columns * item, item);
}

static void copy_same(const Tile *tile, int item) {
    if (tile->column_stride[0] == item && tile->column_stride[1] == item) {
        for (int64_t r = 0; r < tile->rows; r++)
            memcpy(tile->data[0] + r * tile->row_stride[0], tile->data[1] + r * tile->row_stride[1], (size_t)(tile->columns * item));
        return;
    }
    bool turned = tile->rows > 1 && tile->row_stride[1] != 0 && magnitude(tile->row_stride[1]) < magnitude(tile->column_stride[1]);
    if (turned) copy_turned(tile, item);
    else copy_strided(item, tile->rows, tile->columns, tile->data[0], tile->row_stride[0], tile->column_stride[0], tile->data[1], tile->row_stride[1], tile->column_stride[1]);
}

typedef struct Conversion { LoadFn load; StoreFn store; } Conversion;

static void copy_converted(const Tile *tile, const Conversion *conversion) {
    double buffer[WALK_TILE];
    for (int64_t r = 0; r < tile->rows; r++) {
        conversion->load(tile->columns, buffer, tile->data[1] + r * tile->row_stride[1], tile->column_stride[1]);
        conversion->store(tile->columns, buffer, tile->data[0] + r * tile->row_stride[0], tile->column_stride[0]);
    }
}

typedef struct Copy { Walk walk; Conversion conversion; bool same; int item; } Copy;

static void copy_tiles(const Copy *copy, int64_t first, int64_t last) {
    for (int64_t t = first; t < last; t++) {
        Tile tile;
        walk_tile(&copy->walk, t, &tile);
        if (copy->same) copy_same(&tile, copy->item);
        else copy_converted(&tile, &copy->conversion);
    }
}

void copy_elements(const Meta *dst_meta, void *dst, const Meta *src_meta, const void *src, int threads) {
    Copy copy = {.same = dst_meta->dtype == src_meta->dtype, .item = dtype_size(dst_meta->dtype)};
    walk_begin(&copy.walk, dst_meta->rank, dst_meta->sizes);
    walk_add(&copy.walk, dst_meta, dst);
    walk_add(&copy.walk, src_meta, (void *)(uintptr_t)src);
    walk_finish(&copy.walk, WALK_TILE);
    DType compute = dtype_info[src_meta->dtype].compute;
    copy.conversion = (Conversion){load_function(src_meta->dtype, compute), store_function(compute, dst_meta->dtype)};
    int parts = walk_threads(&copy.walk, threads);
    if (parts <= 1) {
        copy_tiles(&copy, 0, copy.walk.tiles);
        return;
    }
#pragma omp parallel for schedule(static) num_threads(parts)
    for (int part = 0; part < parts; part++) copy_tiles(&copy, walk_part(&copy.walk, part, parts), walk_part(&copy.walk, part + 1, parts));
}
