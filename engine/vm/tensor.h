/* Tensor: Meta + refcounted Storage + autograd link. Views share storage. A fake tensor (tracing) has a Storage without data, so that
 * aliasing and versions are the same in every domain. */
#ifndef VITRINE_VM_TENSOR_H
#define VITRINE_VM_TENSOR_H
#include "run/storage.h"
#include "vm/vm.h"

typedef struct GradNode GradNode;

enum ViewKind { VIEW_NONE, VIEW_NORMAL, VIEW_NO_GRAD /* made in no_grad mode */, VIEW_MULTI /* one of several outputs */, VIEW_CUSTOM /* by a custom Function */ };

struct Tensor {
    Object head;
    Meta meta;
    Storage *storage;
    uint64_t met;                  /* number of the last check of guards that met it (VM.guard_check) */
    bool has_marks;                /* sizes were marked dynamic: see dict */
    bool requires_grad;            /* leaf flag; for non-leaves grad_fn != NULL */
    bool is_parameter, retains_grad, is_view;
    bool of_inference;             /* its storage was made under inference_mode */
    GradNode *grad_fn; int grad_index; /* which output of grad_fn */
    GradNode *accumulator;         /* leaves: their AccumulateGrad, made on demand (weak) */
    Tensor *grad;                  /* .grad or NULL; owned */
    Tensor *base; const Op *view_op; Value view_args; /* a view of base (its parent, not the root) by view_op: for in-place on views. view_args:
                                                         tuple of the op's arguments after the first */
    uint32_t grad_version;         /* views: the storage's count of rebases for which grad_fn holds; older: it is made anew from the base's */
    uint8_t view_kind;             /* enum ViewKind */
    void *node;                    /* tracing domains: the Node that yields it */
    Value hooks, post_hooks;       /* lists of callables, or V_NULL: with the gradient on its way; with the leaf after .grad was added to */
    Value dict;                    /* attributes set by the program, or NULL */
    Span made_at;
};

Tensor *tensor_new(VM *vm, const Meta *meta);                         /* allocates storage on meta->device (uninitialized), sets OOM error and returns NULL */
Tensor *tensor_fake(VM *vm, const Meta *meta, void *node);            /* storage without data */
Tensor *tensor_view(VM *vm, Tensor *base, const Meta *meta);          /* shares storage; no autograd link */
Tensor *tensor_from_value(VM *vm, Value data, DType dtype_or_none, Device device); /* torch.tensor(list or number) */
static inline bool tensor_is_fake(const Tensor *t) { return t->storage->data == NULL && t->storage->bytes > 0; }
static inline bool tensor_needs_grad(const Tensor *t) { return t->requires_grad || t->grad_fn; }
static inline void *tensor_data(const Tensor *t) { return t->storage->data; } /* element 0 of the storage: meta.offset not added */
static inline Value value_tensor(Tensor *t) { return value_object(t); }
static inline Arg arg_of_tensor(Tensor *t) { return arg_tensor(&t->meta, t->storage->data, t); }
int64_t tensor_numel(const Tensor *t);                                 /* static metas only */
Value tensor_item(VM *vm, Tensor *t);                                  /* one element as bool, int or float (copies from the device) */
Value tensor_tolist(VM *vm, Tensor *t);
bool tensor_copy_to_host(VM *vm, Tensor *t, void *dst);                /* contiguous elements in logical order */
void tensor_print(VM *vm, Text *text, Tensor *t, bool parameter);      /* as PyTorch prints; vm/tensor_print.c */
Value tensor_subscript(VM *vm, Tensor *t, Value key);                  /* every kind of index, by view ops and index */
bool tensor_store_subscript(VM *vm, Tensor *t, Value key, Value value);
#endif
