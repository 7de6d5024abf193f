/* TorchState: what `torch` keeps in a session beside the VM's own fields: print options, autocast, formulas of rows, modes.
 *
 * Made by torch_state_new when the torch modules are defined, held by VM.torch, freed with the VM's arena.
 * Invariant: everything here is a value of one session; nothing of it is guarded by dynamo except through vm_global_state. */
#ifndef VITRINE_VM_TORCH_STATE_H
#define VITRINE_VM_TORCH_STATE_H
#include "vm/tensor.h"

typedef struct PrintOptions { int precision, threshold, edgeitems, linewidth; int sci_mode; /* -1: decided by the values */ } PrintOptions;
static const PrintOptions print_options_default = {4, 1000, 3, 80, -1};

typedef struct Autocast { bool enabled[2]; DType dtype[2]; bool cache; } Autocast; /* by DeviceKind */

typedef struct TorchState {
    PrintOptions print;
    Autocast autocast;
    Map *gradients, *inverses;     /* Op* -> Formulas* (vm/formula.h) */
    Map *named_formulas;           /* Op* -> formulas given by text (vm_run_formula) */
    Map *bodies;                   /* Op* -> Function* of a made_of body; held */
    Dict *formulas;                /* the namespace of all formulas; held */
    const Op *binary_ops[16];      /* rows of operators, by BinaryOp */
    Map *return_types;             /* Op* -> Class of torch.return_types; held */
    Arena *scratch; int depth;     /* lists of bound arguments; emptied when no call of an op is running */
    Map *tensor_attributes;        /* interned name -> TensorAttribute* */
    Map *tensor_methods;           /* interned name -> Builtin, Function or OpObject (owned) */
    bool compile_only;             /* no driver, and a tensor on cuda was made: they have no data (vm/tensor.c), and nothing runs on them */
    bool deterministic, anomaly, matmul_allow_tf32;
    const char *matmul_precision;
    int backward_of;               /* while the tape runs: the made_by of its node */
    int in_body;                   /* running the body of a row: autocast does not look inside */
    int row_count;                 /* rows of ops.def; composites of the library come after them */
    bool library_loaded;           /* tensor.py and functional.py are registered */
    bool further_loaded;           /* functional/further.py, too */
    Class *class_size, *class_generator, *class_function, *class_node;
    Map *node_classes;             /* interned "ReluBackward0" -> Class */
    Value default_generator;
    Value saved_hooks;             /* (pack, unpack) of saved_tensors_hooks that is entered, or V_NULL (vm/autograd_hooks.h) */
} TorchState;

#define tensor_of(value) ((Tensor *)(value).o)
static inline bool value_is_tensor(Value v) { return value_is(v, OBJ_TENSOR); }
#endif
