/* Copy: the loop of a strided copy, with dimensions dropped, sorted and joined: what the host and the card both walk. */
#ifndef VITRINE_RUN_COPY_H
#define VITRINE_RUN_COPY_H
#include "ir/meta.h"

typedef struct CopyLoop { int rank; int64_t sizes[MAX_RANK], dst[MAX_RANK], src[MAX_RANK]; } CopyLoop; /* strides in elements, outermost first */
void copy_loop_make(CopyLoop *loop, const Meta *dst, const Meta *src);
#endif
