/* Gen CUDA call: kernels of ops without a loop form (gen_cuda_call.c). */
#ifndef VITRINE_INDUCTOR_GEN_CUDA_CALL_H
#define VITRINE_INDUCTOR_GEN_CUDA_CALL_H
#include "inductor/gen.h"

/* The kernel of a LOOP_EXTERN, buffers not yet homed; false: there is none, and the plan calls the eager kernel. */
bool generate_cuda_call(Compile *c, const Lowered *l, const Group *g, const Loop *loop, Made *made);
#endif
