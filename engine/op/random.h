/* Random: PyTorch's CPU generator: MT19937, and the draws that its distributions make from it (../shared facts, reproduced to the digit).
 *
 *     Generator *g = rng_new(arena);       // seeded as torch's default generator is: 67280421310721
 *     rng_seed(g, 0);                      // torch.manual_seed(0)
 *     uint32_t r = rng_next(g);            // tempered 32-bit output
 *
 * Invariant: a draw of 64 bits is two of 32, the first one high; the second value of Box-Muller stays in the generator. */
#ifndef VITRINE_OP_RANDOM_H
#define VITRINE_OP_RANDOM_H
#include "base/arena.h"
#include "ir/row.h"

enum { GENERATOR_WORDS = 624 };
Generator *rng_new(Arena *arena);
void rng_seed(Generator *generator, uint64_t seed);
uint64_t rng_initial_seed(const Generator *generator);
uint32_t rng_next(Generator *generator);
uint64_t rng_next64(Generator *generator);
double rng_uniform_float(Generator *generator);  /* [0, 1), 24 bits */
double rng_uniform_double(Generator *generator); /* [0, 1), 53 bits */
double rng_normal(Generator *generator);         /* double, with the cached second value */
/* The card's numbers come from a counter (Philox) beside: its key is the seed, and `draws` counters are taken from the stream, which seeding starts anew. */
void rng_seed_stream(Generator *generator, uint64_t seed); /* torch.cuda.manual_seed: the CPU's numbers go on as they were */
void rng_stream(Generator *generator, uint64_t draws, uint64_t *seed, uint64_t *offset);
/* State as bytes (torch.get_rng_state, set_rng_state): size of the blob, writing it, reading it (false: not such a blob). */
enum { GENERATOR_STATE_BYTES = 8 + 4 * GENERATOR_WORDS + 4 + 1 + 8 + 16 /* the card's stream: a checkpointed dropout is the same dropout there, too */ };
void rng_save(const Generator *generator, unsigned char *bytes);
bool rng_load(Generator *generator, const unsigned char *bytes, int64_t count);
#endif
