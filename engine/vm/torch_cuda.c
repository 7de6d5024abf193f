/* torch.cuda: what programs ask of the card. Without a driver: is_available() is False, device_count() 0, and the rest says so.
 *
 * Memory statistics count what this process holds; streams and graphs are not part of vitrine. */
#include "op/random.h"
#include "run/runtime.h"
#include "vm/dispatch.h"
#include "vm/internal.h"
#include "vm/torch_library.h"
#include "vm/torch_state.h"

#define UNUSED_CALL (void)nargs, (void)kwnames

static bool device_argument(VM *vm, Value *args, int nargs, Device *device) {
    *device = (Device){DEVICE_CUDA, 0};
    return nargs == 0 || args[0].tag == V_NONE || device_of_value(vm, args[0], device);
}
static bool need_card(VM *vm) {
    const char *why = NULL;
    if (cuda_available(vm->runtime, &why)) return true;
    vm_raise(vm, "RuntimeError", "no CUDA device can be used: %s", why ? why : "no driver was found");
    return false;
}

static Value cuda_is_available(VM *vm, Value *args, int nargs, Tuple *kwnames) { UNUSED_CALL, (void)args; return value_bool(cuda_available(vm->runtime, NULL)); }
static Value cuda_count(VM *vm, Value *args, int nargs, Tuple *kwnames) { UNUSED_CALL, (void)args; return value_int(cuda_device_count(vm->runtime)); }
static Value cuda_current(VM *vm, Value *args, int nargs, Tuple *kwnames) { UNUSED_CALL, (void)args, (void)vm; return value_int(0); }
static Value cuda_nothing(VM *vm, Value *args, int nargs, Tuple *kwnames) { UNUSED_CALL, (void)args, (void)vm; return VALUE_NONE; }
static Value cuda_synchronize(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)kwnames;
    Device device;
    OpError error = {0};
    if (!device_argument(vm, args, nargs, &device)) return VALUE_ERROR;
    if (vm->torch->compile_only) return VALUE_NONE; /* nothing runs */
    if (!need_card(vm)) return VALUE_ERROR;
    return device_synchronize(vm->runtime, device, &error) ? VALUE_NONE : vm_raise_op_error(vm, &error);
}
static bool facts_of(VM *vm, Value *args, int nargs, DeviceFacts *facts) {
    Device device;
    if (!device_argument(vm, args, nargs, &device) || !need_card(vm)) return false;
    if (device_facts(vm->runtime, device, facts, false)) return true;
    vm_raise(vm, "RuntimeError", "CUDA error: invalid device ordinal %d", device.index);
    return false;
}
static Value cuda_name(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)kwnames;
    DeviceFacts facts;
    return facts_of(vm, args, nargs, &facts) ? str_from(vm, facts.name) : VALUE_ERROR;
}
static Value cuda_capability(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)kwnames;
    DeviceFacts facts;
    if (!facts_of(vm, args, nargs, &facts)) return VALUE_ERROR;
    Value pair[] = {value_int(facts.major), value_int(facts.minor)};
    return tuple_new(vm, pair, 2);
}
static Value cuda_memory(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)kwnames;
    Device device;
    if (!device_argument(vm, args, nargs, &device)) return VALUE_ERROR;
    return value_int(cuda_available(vm->runtime, NULL) ? device_memory_used(vm->runtime, device) : 0);
}
static Value cuda_bf16(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL, (void)args;
    return value_bool(cuda_available(vm->runtime, NULL));
}

static Value cuda_manual_seed(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    UNUSED_CALL;
    int64_t seed;
    if (!vm_as_int(vm, args[0], &seed)) return VALUE_ERROR;
    rng_seed_stream(vm->context.generator, (uint64_t)seed);
    return VALUE_NONE;
}

void torch_define_cuda(VM *vm, Dict *dict) {
    static const BuiltinDef functions[] = {
        {"is_available", cuda_is_available, 0, 0, 0}, {"device_count", cuda_count, 0, 0, 0}, {"current_device", cuda_current, 0, 0, 0}, {"set_device", cuda_nothing, 1, 1, BUILTIN_BREAK},
        {"synchronize", cuda_synchronize, 0, 1, BUILTIN_EFFECT}, {"empty_cache", cuda_nothing, 0, 0, BUILTIN_EFFECT}, {"init", cuda_nothing, 0, 0, 0},
        {"get_device_name", cuda_name, 0, 1, 0}, {"get_device_capability", cuda_capability, 0, 1, 0}, {"memory_allocated", cuda_memory, 0, 1, BUILTIN_EFFECT},
        {"max_memory_allocated", cuda_memory, 0, 1, BUILTIN_EFFECT}, {"memory_reserved", cuda_memory, 0, 1, BUILTIN_EFFECT}, {"reset_peak_memory_stats", cuda_nothing, 0, 1, BUILTIN_EFFECT},
        {"is_bf16_supported", cuda_bf16, 0, 1, 0}, {"manual_seed", cuda_manual_seed, 1, 1, BUILTIN_EFFECT}, {"manual_seed_all", cuda_manual_seed, 1, 1, BUILTIN_EFFECT},
    };
    vm_define(vm, dict, "torch.cuda", functions, COUNT_OF(functions));
}
