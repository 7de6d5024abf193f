/* Random numbers of torch: the default generator's seed and state, and torch.Generator objects.
 *
 *     torch.manual_seed(0); state = torch.get_rng_state(); g = torch.Generator().manual_seed(1); torch.rand(3, generator=g)
 *
 * A generator object is what a row's `generator` parameter takes: while the op runs it is the context's generator.
 * Invariant: VM.context.generator is never NULL once torch is imported. */
#include "op/random.h"
#include "vm/dispatch.h"
#include "vm/native.h"
#include "vm/scalar_value.h"
#include "vm/tensor_method.h"
#include "vm/torch_library.h"
#include "vm/torch_state.h"
#include <string.h>
#include <time.h>

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))
#define UNUSED_CALL (void)nargs, (void)kwnames

typedef struct GeneratorObject { Object head; Generator *generator; Device device; } GeneratorObject;

static Value generator_object(VM *vm, Generator *generator, Device device) {
    GeneratorObject *g = (GeneratorObject *)object_new(vm, OBJ_RNG, sizeof *g);
    g->generator = generator;
    g->device = device;
    return value_object(g);
}
static Generator *generator_of(Value v) { return ((GeneratorObject *)v.o)->generator; }

Generator *generator_argument(const Arg *arg) { return arg->tag == ARG_OBJECT && ((Object *)arg->object)->type == OBJ_RNG ? ((GeneratorObject *)arg->object)->generator : NULL; }

/* ---- seeds ---- */

/* Negative seeds are taken modulo 2**64, as PyTorch does. */
static bool read_seed(VM *vm, Value v, uint64_t *seed) {
    int64_t i;
    if (v.tag == V_FLOAT) { *seed = (uint64_t)(int64_t)v.f; return true; }
    if (!vm_as_int(vm, v, &i)) return false;
    *seed = (uint64_t)i;
    return true;
}

static Value set_seed(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL;
    uint64_t seed;
    if (!read_seed(vm, args[0], &seed)) return VALUE_ERROR;
    rng_seed(vm->context.generator, seed);
    return value_ref(vm->torch->default_generator);
}
static uint64_t seed_of_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return ((uint64_t)now.tv_sec * 1000000007u + (uint64_t)now.tv_nsec) & (uint64_t)INT64_MAX;
}
static Value fresh_seed(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL, (void)args;
    uint64_t seed = seed_of_clock();
    rng_seed(vm->context.generator, seed);
    return value_int((int64_t)seed);
}
static Value initial_seed(VM *vm, Value *args, int nargs, Tuple *kwnames) { UNUSED_CALL, (void)args; return value_int((int64_t)rng_initial_seed(vm->context.generator)); }

/* ---- state ---- */

static Value state_tensor(VM *vm, const Generator *generator) {
    Meta meta = meta_new(DTYPE_U8, (Device){DEVICE_CPU, 0}, 1, (Dim[]){GENERATOR_STATE_BYTES});
    Tensor *t = tensor_new(vm, &meta);
    if (!t) return VALUE_ERROR;
    rng_save(generator, tensor_data(t));
    return value_tensor(t);
}
static Value load_state(VM *vm, Generator *generator, Value state) {
    if (!value_is_tensor(state) || tensor_of(state)->meta.dtype != DTYPE_U8) return vm_raise(vm, "TypeError", "RNG state must be a torch.ByteTensor");
    int64_t count = tensor_numel(tensor_of(state));
    unsigned char *bytes = malloc((size_t)count + 1);
    bool ok = bytes && tensor_copy_to_host(vm, tensor_of(state), bytes) && rng_load(generator, bytes, count);
    free(bytes);
    if (ok) return VALUE_NONE;
    return vm->exception.tag != V_NULL ? VALUE_ERROR : vm_raise(vm, "RuntimeError", "RNG state is wrong size");
}
static Value get_rng_state(VM *vm, Value *args, int nargs, Tuple *kwnames) { UNUSED_CALL, (void)args; return state_tensor(vm, vm->context.generator); }
static Value set_rng_state(VM *vm, Value *args, int nargs, Tuple *kwnames) { UNUSED_CALL; return load_state(vm, vm->context.generator, args[0]); }

void torch_define_random(VM *vm, Dict *dict) {
    static const BuiltinDef functions[] = {
        {"manual_seed", set_seed, 1, 1, BUILTIN_EFFECT}, {"seed", fresh_seed, 0, 0, BUILTIN_EFFECT}, {"initial_seed", initial_seed, 0, 0, BUILTIN_EFFECT},
        {"get_rng_state", get_rng_state, 0, 0, BUILTIN_EFFECT}, {"set_rng_state", set_rng_state, 1, 1, BUILTIN_EFFECT},
    };
    vm_define(vm, dict, "torch", functions, COUNT_OF(functions));
    if (vm->torch->default_generator.tag != V_NULL) define_value(vm, dict, "default_generator", value_ref(vm->torch->default_generator));
}

/* ---- torch.Generator ---- */

static Value object_manual_seed(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL;
    uint64_t seed;
    if (!read_seed(vm, args[1], &seed)) return VALUE_ERROR;
    rng_seed(generator_of(args[0]), seed);
    return value_ref(args[0]);
}
static Value object_seed(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL, (void)vm;
    uint64_t seed = seed_of_clock();
    rng_seed(generator_of(args[0]), seed);
    return value_int((int64_t)seed);
}
static Value object_initial_seed(VM *vm, Value *args, int nargs, Tuple *kwnames) { UNUSED_CALL, (void)vm; return value_int((int64_t)rng_initial_seed(generator_of(args[0]))); }
static Value object_get_state(VM *vm, Value *args, int nargs, Tuple *kwnames) { UNUSED_CALL; return state_tensor(vm, generator_of(args[0])); }
static Value object_set_state(VM *vm, Value *args, int nargs, Tuple *kwnames) { UNUSED_CALL; return load_state(vm, generator_of(args[0]), args[1]); }

static Value object_attr(VM *vm, Object *self, const char *name) {
    static const BuiltinDef methods[] = {
        {"manual_seed", object_manual_seed, 2, 2, BUILTIN_EFFECT}, {"seed", object_seed, 1, 1, BUILTIN_EFFECT}, {"initial_seed", object_initial_seed, 1, 1, BUILTIN_EFFECT},
        {"get_state", object_get_state, 1, 1, BUILTIN_EFFECT}, {"set_state", object_set_state, 2, 2, BUILTIN_EFFECT},
    };
    if (strcmp(name, "device") == 0) return device_new(vm, ((GeneratorObject *)self)->device);
    for (int i = 0; i < COUNT_OF(methods); i++) {
        if (strcmp(name, methods[i].name)) continue;
        Value method = builtin_new(vm, methods[i].name, methods[i].fn, methods[i].min, methods[i].max, methods[i].effects);
        ((Builtin *)method.o)->self = value_ref(value_object(self));
        return method;
    }
    return VALUE_NULL;
}
static Value object_repr(VM *vm, Object *self) { return str_printf(vm, "<torch._C.Generator object at %p>", (void *)self); }

static Value generator_make(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    static const char *const names[] = {"device"};
    Value out[1];
    Device device = {DEVICE_CPU, 0};
    if (!vm_parse_args(vm, "Generator", args + 1, nargs - 1, kwnames, names, 1, 0, out)) return VALUE_ERROR;
    if (out[0].tag != V_NULL && out[0].tag != V_NONE && !device_of_value(vm, out[0], &device)) return VALUE_ERROR;
    return generator_object(vm, rng_new(vm->arena), device);
}

void torch_random_init(VM *vm) {
    static const NativeType native = {.name = "Generator", .module = "torch._C", .load_attr = object_attr, .repr = object_repr};
    vm_native_register(vm, OBJ_RNG, &native);
    if (!vm->context.generator) vm->context.generator = rng_new(vm->arena);
    vm->torch->default_generator = generator_object(vm, vm->context.generator, (Device){DEVICE_CPU, 0});
    Value maker = builtin_new(vm, "__new__", generator_make, 1, -1, 0);
    if (vm->classes[OBJ_RNG]) dict_set_name(vm, vm->classes[OBJ_RNG]->dict, intern(vm->lang->names, "__new__"), maker);
    value_unref(vm, maker);
}
