/* Walk: several strided tensors gone over together, in the order in which the first lies in memory.
 *
 *     Walk walk;
 *     walk_begin(&walk, rank, sizes);
 *     walk_add(&walk, out_meta, out_data);        // operand 0 leads
 *     walk_add(&walk, in_meta, in_data);          // broadcast from the right
 *     walk_finish(&walk, 2048);                   // dims sorted, merged; tiles of at most 2048 elements chosen
 *     for (int64_t t = 0; t < walk.tiles; t++) { Tile tile; walk_tile(&walk, t, &tile); ... }
 *
 * A tile is rows x columns elements: operand i has element (r, c) at tile.data[i] + r * tile.row_stride[i] + c * tile.column_stride[i] (bytes).
 * Where operands lie across each other (one is transposed), tiles are nearly square, so that each cache line is used whole.
 * Invariant: the tiles cover every element once; the order does not depend on the number of threads. */
#ifndef VITRINE_OP_WALK_H
#define VITRINE_OP_WALK_H
#include "ir/row.h"

enum { WALK_OPERANDS = 8, WALK_TILE = 2048 /* elements of a tile of copies: what fits a first-level cache a few times */ };
typedef struct Walk {
    int rank, count, logical_rank;
    int64_t sizes[MAX_RANK], numel;
    char *data[WALK_OPERANDS];
    int64_t strides[WALK_OPERANDS][MAX_RANK]; /* bytes; dim 0 is the innermost after walk_finish */
    int partner;                              /* dim along which a tile's rows run */
    bool crossing;                            /* some operand is denser along the partner than along the columns */
    int64_t columns, rows, tiles;
    int64_t tile_counts[MAX_RANK];            /* tiles along each dim */
} Walk;
typedef struct Tile { int64_t rows, columns; char *data[WALK_OPERANDS]; int64_t row_stride[WALK_OPERANDS], column_stride[WALK_OPERANDS]; } Tile;

void walk_begin(Walk *walk, int rank, const Dim *sizes);
void walk_add(Walk *walk, const Meta *meta, void *data);        /* data: of meta->offset 0 */
void walk_finish(Walk *walk, int64_t tile_elements);
void walk_tile(const Walk *walk, int64_t index, Tile *tile);
void tile_prefetch(const Tile *tile, int operand);              /* asks for the operand's columns, which lie dense along the rows */
/* A thread for each 65536 elements, as many as there are: fewer elements take less time than waking somebody up, and on a busy machine much less. */
static inline int threads_of(int64_t elements, int threads) { return elements < 131072 || threads < 2 ? 1 : elements / 65536 < threads ? (int)(elements / 65536) : threads; }
static inline int walk_threads(const Walk *walk, int threads) { return threads_of(walk->numel, threads); }
static inline int64_t walk_part(const Walk *walk, int part, int parts) { return walk->tiles / parts * part + walk->tiles % parts * part / parts; } /* first tile of a part */

/* dst[...] = src[...] with broadcast and conversion; shapes must fit. dst and src do not overlap. */
void copy_elements(const Meta *dst_meta, void *dst, const Meta *src_meta, const void *src, int threads);
#endif
