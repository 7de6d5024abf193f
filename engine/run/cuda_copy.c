/* Copies on a card that the driver has no call for: by strides, one small kernel for each element size; and in 16-byte vectors, as generated kernels
 * do, against which they are measured. Compiled when first needed and kept on disk like all kernels.
 *
 * In: two views of the same sizes. Out: the elements copied, in the stream. Dimensions are sorted by the target's strides, so that writes run together.
 * Invariant: the views do not overlap. */
#ifdef HAVE_CUDA_H
#include "run/copy.h"
#include "run/cuda_api.h"

static const char source_format[] =
    "struct Loop { int rank; int unused; long sizes[12], dst[12], src[12]; };\n"
    "extern \"C\" __global__ void strided_copy_b%d(%s *dst, const %s *src, long count, Loop loop) {\n"
    "    for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < count; i += gridDim.x * (long)blockDim.x) {\n"
    "        long rest = i, to = 0, from = 0;\n"
    "        for (int d = loop.rank - 1; d >= 0; d--) {\n"
    "            long at = rest %% loop.sizes[d];\n"
    "            rest /= loop.sizes[d];\n"
    "            to += at * loop.dst[d];\n"
    "            from += at * loop.src[d];\n"
    "        }\n"
    "        dst[to] = src[from];\n"
    "    }\n"
    "}\n";

static const char vector_source[] =
    "struct __align__(16) Vector { unsigned a, b, c, d; };\n"
    "extern \"C\" __global__ void __launch_bounds__(256) vector_copy(Vector *dst, const Vector *src, long count) {\n"
    "    long i = blockIdx.x * 256l + threadIdx.x;\n"
    "    if (i < count) dst[i] = src[i];\n"
    "}\n";

static LoadedKernel *load_one(Runtime *runtime, const Card *card, const Kernel *kernel, LoadedKernel **place, OpError *error) {
    return *place || kernels_load(runtime, &kernel, 1, card->index, place, NULL, error) ? *place : NULL;
}

bool cuda_vector_copy(Runtime *runtime, int index, void *dst, const void *src, int64_t bytes, OpError *error) {
    Kernel kernel = {.name = "vector_copy", .entry = "vector_copy", .language = KERNEL_CUDA, .source = vector_source};
    Card *card = cuda_card(runtime, index, error);
    LoadedKernel *loaded = card ? load_one(runtime, card, &kernel, &card->vector_copy, error) : NULL;
    int64_t count = bytes / 16;
    void *params[] = {&dst, &src, &count};
    CudaLaunch launch = {.function = loaded ? loaded->function : NULL, .grid = {(unsigned)((count + 255) / 256), 1, 1}, .block = {256, 1, 1}, .params = params};
    return loaded && cuda_launch(runtime, &launch, NULL, error);
}

static LoadedKernel *copy_kernel(Runtime *runtime, Card *card, int64_t size, OpError *error) {
    static const char *const types[] = {"unsigned char", "unsigned short", "unsigned int", "unsigned long"};
    int power = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
    Kernel kernel = {.name = "strided_copy", .language = KERNEL_CUDA};
    if (card->strided[power]) return card->strided[power];
    kernel.entry = arena_printf(runtime->arena, "strided_copy_b%d", (int)size);
    kernel.source = arena_printf(runtime->arena, source_format, (int)size, types[power], types[power]);
    return load_one(runtime, card, &kernel, &card->strided[power], error);
}

bool cuda_strided_copy(Runtime *runtime, int index, void *dst, const Meta *dst_meta, const void *src, const Meta *src_meta, void *stream, OpError *error) {
    enum { THREADS = 256, MOST_BLOCKS = 1 << 20 };
    Card *card = cuda_card(runtime, index, error);
    int64_t size = dtype_size(dst_meta->dtype), count = meta_numel(dst_meta);
    if (!card || count == 0) return card != NULL;
    LoadedKernel *kernel = copy_kernel(runtime, card, size, error);
    if (!kernel) return false;
    struct { int32_t rank, unused; int64_t sizes[MAX_RANK], dst[MAX_RANK], src[MAX_RANK]; } loop = {0};
    CopyLoop made;
    copy_loop_make(&made, dst_meta, src_meta);
    loop.rank = made.rank;
    for (int i = 0; i < made.rank; i++) loop.sizes[i] = made.sizes[i], loop.dst[i] = made.dst[i], loop.src[i] = made.src[i];
    char *to = (char *)dst + dst_meta->offset * size;
    const char *from = (const char *)src + src_meta->offset * size;
    void *params[] = {&to, &from, &count, &loop};
    int64_t blocks = (count + THREADS - 1) / THREADS;
    CudaLaunch launch = {.function = kernel->function, .grid = {(unsigned)(blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS), 1, 1}, .block = {THREADS, 1, 1}, .params = params};
    return cuda_launch(runtime, &launch, stream, error);
}
#else
typedef int vitrine_without_cuda_strided;
#endif
