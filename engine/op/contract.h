/* Product: one batched matrix product of strided matrices, out = alpha a b + beta added. Strides are in elements. */
#ifndef VITRINE_OP_CONTRACT_H
#define VITRINE_OP_CONTRACT_H
#include "op/family.h"

typedef struct Matrix { char *data; int64_t row, column, batch; } Matrix;
typedef struct Product { DType dtype; int64_t batches, m, n, k; double alpha, beta /* 0: nothing is added */; Matrix a, b, added, out; } Product;
bool product_run(const Product *product, int threads); /* false: no memory */
#endif
