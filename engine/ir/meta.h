/* Meta: what is known of a tensor without its data. A fake tensor is a Meta without storage. */
#ifndef VITRINE_IR_META_H
#define VITRINE_IR_META_H
#include "base/text.h"
#include "ir/dim.h"
#include "ir/sym.h"

typedef enum DType {
#define DTYPE(id, ...) DTYPE_##id,
#include "ir/dtype.def"
#undef DTYPE
    DTYPE_COUNT, DTYPE_NONE = -1
} DType;

typedef struct DTypeInfo { const char *name, *short_name; int size, category; const char *c_type; DType compute; } DTypeInfo;
extern const DTypeInfo dtype_info[DTYPE_COUNT];
static inline int dtype_size(DType d) { return dtype_info[d].size; }
static inline bool dtype_is_float(DType d) { return dtype_info[d].category == 2; }
static inline bool dtype_is_int(DType d) { return dtype_info[d].category == 1; } /* not bool */
DType dtype_promote(DType a, DType b); /* torch.promote_types */
DType dtype_find(const char *torch_name); /* "float32", "float", "long", "half", … ; DTYPE_NONE */

typedef enum DeviceKind { DEVICE_CPU, DEVICE_CUDA } DeviceKind;
typedef struct Device { DeviceKind kind; int index; } Device;
static inline bool device_equal(Device a, Device b) { return a.kind == b.kind && a.index == b.index; }

enum { MAX_RANK = 12 }; /* more is refused by name */

typedef struct Meta {
    DType dtype;
    Device device;
    int rank;
    Dim sizes[MAX_RANK], strides[MAX_RANK], offset; /* strides and offset in elements */
    bool requires_grad;                              /* graph inputs and outputs; not part of a type */
} Meta;

Meta meta_new(DType dtype, Device device, int rank, const Dim *sizes);       /* contiguous, offset 0 */
void meta_set_contiguous(Meta *meta, SymTable *syms);                       /* strides from sizes; syms may be NULL when static */
bool meta_is_static(const Meta *meta);
Meta meta_resolved(const Meta *meta);                                        /* sizes as assumptions left them: dim_resolve */
int64_t meta_numel(const Meta *meta);                                        /* of symbolic sizes: those seen (so the two below) */
Dim meta_numel_dim(const Meta *meta, SymTable *syms);
int64_t meta_bytes(const Meta *meta);                                        /* numel * size; what a dense copy occupies */
int64_t meta_storage_span(const Meta *meta);                                 /* elements from the first to the last touched, plus offset: what a storage must hold */
int64_t meta_storage_bytes(const Meta *meta);                                /* the same in bytes; both INT64_MAX when 64 bits do not hold them */
bool meta_is_countable(const Meta *meta);                                    /* 64 bits hold the bytes of all elements; a size of 0 counts as 1, as strides count it, a negative one is what wrapped around */
bool meta_is_contiguous(const Meta *meta);                                   /* PyTorch's rule: size-1 dims are ignored, empty is contiguous */
bool meta_is_channels_last(const Meta *meta);                                /* rank 4, channels innermost: memory_format=torch.channels_last */
bool meta_is_dense(const Meta *meta);                                        /* non-overlapping and dense in some order of dims */
bool meta_same_shape(const Meta *a, const Meta *b);
bool meta_equal(const Meta *a, const Meta *b);                               /* dtype, device, sizes, strides */
/* Strides of an output that keeps its operand's layout (preserve_format): PyTorch's empty_like rule. */
void meta_preserve_strides(Meta *meta, const Meta *like, SymTable *syms);
/* 'f32[3, 4][4, 1]cpu', the form of the cases; `strides`/`device` may be left out. */
void meta_print(Text *text, const Meta *meta, bool strides, bool device);
bool sizes_broadcast(Dim *out, int *out_rank, const Dim *a, int a_rank, const Dim *b, int b_rank); /* false: shapes do not match */
#endif
