/* Unit tests of engine/run: NVRTC, and what needs a card, through a driver of the tests' own (fake_cuda.c). */
#include "run_unit.h"
#include "run/half.h"
#include <dlfcn.h>

/* ---- NVRTC ---- */

static const char cuda_kernel[] = "extern \"C\" __global__ void scale(float *x, float *y, long n) {\n    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;\n    if (i < n) y[i] = 2.0f * x[i];\n}\n";

START_TEST(nvrtc_compiles_without_a_card) {
    Runtime *rt = open_runtime(folder);
    const char *why = NULL, *text = NULL, *error_text = NULL;
    CudaBuild build;
    if (!nvrtc_available(rt, &why)) {
        ck_assert_ptr_nonnull(why);
        ck_assert(!nvrtc_compile(rt, cuda_kernel, "sm_90a", true, arena, &build));
        return;
    }
    static const char *const archs[] = {"sm_80", "sm_90a"};
    for (int i = 0; i < 2; i++) {
        ck_assert_msg(nvrtc_compile(rt, cuda_kernel, archs[i], true, arena, &build), "%s", build.log);
        ck_assert(build.cubin_bytes > 500 && memcmp(build.cubin, "\177ELF", 4) == 0);
        ck_assert_msg(nvrtc_compile(rt, cuda_kernel, archs[i], false, arena, &build), "%s", build.log);
        ck_assert_ptr_nonnull(strstr(build.ptx, ".entry scale"));
        ck_assert_ptr_nonnull(strstr(build.ptx, arena_printf(arena, ".target %s", archs[i])));
    }
    ck_assert(!nvrtc_compile(rt, "extern \"C\" __global__ void broken() { nonsense; }", "sm_90a", true, arena, &build));
    ck_assert_ptr_nonnull(strstr(build.log, "nonsense"));
    Kernel kernel = {.name = "k0", .entry = "scale", .language = KERNEL_CUDA, .source = cuda_kernel};
    int registers = 0, shared = -1, spills = -1;
    ck_assert_msg(kernel_cuda_resources(rt, &kernel, arena, &registers, &shared, &spills, &error_text), "%s", error_text);
    ck_assert(registers >= 4 && registers < 64 && shared == 0 && spills == 0);
    ck_assert(kernel_disassemble(rt, &kernel, "ptx", arena, &text));
    ck_assert_ptr_nonnull(strstr(text, ".entry scale"));
    ck_assert(!kernel_disassemble(rt, &kernel, "asm", arena, &text));
    if (!kernel_disassemble(rt, &kernel, "sass", arena, &text)) ck_assert_ptr_nonnull(strstr(text, "cuobjdump"));
}
END_TEST

START_TEST(cuda_plans_compile_and_refuse_to_run_without_a_card) {
    Runtime *rt = open_runtime(folder);
    if (cuda_available(rt, NULL) || !nvrtc_available(rt, NULL)) return;
    CompileReport report;
    OpError error = {0};
    for (int i = 0; i < 2; i++) {
        Plan *plan = plan_new();
        plan->device = (Device){DEVICE_CUDA, 0};
        Kernel *kernel = kernel_new("scale", "");
        kernel->language = KERNEL_CUDA, kernel->source = cuda_kernel;
        plan_kernel(plan, kernel, NULL, 0);
        ck_assert_msg(plan_load(rt, plan, &report, &error), "%s", error.message);
        ck_assert_int_eq(report.cached, i);
        ck_assert(!plan_run(rt, plan, NULL, NULL, NULL, NULL, &error));
        ck_assert_ptr_nonnull(strstr(error.message, "CUDA kernels cannot run here"));
        plan_unload(rt, plan);
    }
}
END_TEST

/* ---- cards, through a driver of our own ---- */

#ifdef HAVE_CUDA_H
static void *driver;
static int *counter(const char *name) { return dlsym(driver, name); }
static void fail_next(const char *name) { *(const char **)dlsym(driver, "fake_failing") = name; }

/* Compiled and loaded under the name libcuda.so, which later dlopens of that name then mean (libcuda.so.1 would be NVRTC's too). False: a real driver or no NVRTC is here. */
static bool load_driver(void) {
    const char *root = getenv("abs_top_srcdir");
    char *source = arena_printf(arena, "%s/tests/unit/fake_cuda.c", root ? root : "."), *library = arena_printf(arena, "%s/libcuda.so", folder);
    ProcessResult process;
    Runtime *probe = open_runtime("");
    if (cuda_available(probe, NULL) || !nvrtc_available(probe, NULL)) return false;
    bool good = process_run((const char *[]){"cc", "-w", "-shared", "-fPIC", "-Wl,-soname,libcuda.so", "-o", library, source, NULL}, NULL, &process);
    ck_assert_msg(good, "%s", process.output);
    free(process.output);
    driver = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(driver != NULL, "%s", dlerror());
    return true;
}

static const Device card = {DEVICE_CUDA, 0};

static Kernel *cuda_kernel_new(const char *entry, int vector_bytes, const Kernel *twin) {
    Kernel *kernel = ARENA_NEW(arena, Kernel);
    *kernel = (Kernel){.name = entry, .entry = entry, .language = KERNEL_CUDA, .grid = {1, 1, 1}, .block = {32, 1, 1}, .vector_bytes = vector_bytes, .scalar_twin = twin};
    kernel->source = arena_printf(arena, "extern \"C\" __global__ void %s(float *x, float *y, long n) { for (long i = 0; i < n; i++) y[i] = 2.0f * x[i]; }\n", entry);
    return kernel;
}

/* y = 2 * (2 * x): the twin of this driver's "scale" is "triple", so that one sees which ran. */
static Plan *card_plan(Kernel *kernel) {
    static const Dim size = 64;
    Plan *plan = plan_new();
    plan->device = card;
    int x = plan_buffer(plan, BUFFER_INPUT, 0, vector_of(DTYPE_F32, 64)), y = plan_buffer(plan, BUFFER_OUTPUT, 0, vector_of(DTYPE_F32, 64)), t = plan_buffer(plan, BUFFER_TEMPORARY, 0, vector_of(DTYPE_F32, 64));
    plan->block_bytes = 256;
    plan_kernel(plan, kernel, (int[]){x, t}, 2);
    plan_kernel(plan, kernel, (int[]){t, y}, 2);
    for (int i = 0; i < 2; i++) plan->launches.at[i].sizes = &size, plan->launches.at[i].size_count = 1;
    return plan;
}

static float first_of(Runtime *rt, const void *at) {
    float value = 0;
    OpError error;
    ck_assert(device_copy(rt, &value, cpu, at, card, 4, &error));
    return value;
}

START_TEST(a_card_copies_fills_and_pools) {
    if (!load_driver()) return;
    Runtime *rt = open_runtime(folder);
    OpError error = {0};
    DeviceFacts facts;
    ck_assert(cuda_available(rt, NULL));
    ck_assert_int_eq(cuda_device_count(rt), 2);
    ck_assert(device_facts(rt, card, &facts, false) && facts.major == 9);
    ck_assert_str_eq(cuda_arch(rt), "sm_90a");
    char data[1000], back[1000];
    for (int i = 0; i < 1000; i++) data[i] = (char)i;
    Storage *a = storage_new(rt, card, 1000), *b = storage_new(rt, (Device){DEVICE_CUDA, 1}, 1000);
    ck_assert(device_copy(rt, a->data, card, data, cpu, 1000, &error));
    ck_assert(device_copy(rt, b->data, b->device, a->data, card, 1000, &error));
    ck_assert(device_copy(rt, back, cpu, b->data, b->device, 1000, &error));
    ck_assert_mem_eq(data, back, 1000);
    ck_assert(device_fill(rt, card, a->data, 3, 1000));
    ck_assert(first_of(rt, a->data) == bits_float(0x03030303));
    ck_assert_ptr_null(storage_new(rt, card, INT64_C(1) << 40));
    ck_assert_ptr_null(storage_new(rt, (Device){DEVICE_CUDA, 2}, 16));
    Storage *large = storage_new(rt, card, 10 << 20);
    storage_unref(large);
    int frees = *counter("fake_frees");
    fail_next("cuMemAlloc"); /* short of memory: the cache is emptied and the driver asked again */
    Storage *again = storage_new(rt, card, 30 << 20);
    ck_assert_ptr_nonnull(again);
    ck_assert_int_eq(*counter("fake_frees"), frees + 1);
    storage_unref(again);
    ck_assert(device_copy_gbs(rt, card) >= 0);
    device_flush_cache(rt, card);
    storage_unref(a);
    storage_unref(b);
    runtime_close(rt);
    ck_assert_int_eq(*counter("fake_live"), 0);
}
END_TEST

/* The grid and the sizes of both variants follow from the run's sizes, and the twin's list of them is its own. */
START_TEST(a_scalar_twin_has_symbolic_sizes_of_its_own) {
    if (!load_driver()) return;
    Runtime *rt = open_runtime(folder);
    OpError error = {0};
    SymTable *syms = sym_table_new(arena);
    Dim quarter = sym_var(syms, "s0", 1, 1 << 20, SYM_SIZE), whole = dim_mul(syms, quarter, 4), lists[1] = {dim_mul(syms, quarter, 4)};
    Kernel *twin = cuda_kernel_new("triple_0", 0, NULL), *kernel = cuda_kernel_new("scale_0", 16, twin);
    twin->pointer_count = kernel->pointer_count = 2;
    twin->size_count = kernel->size_count = 1;
    twin->grid[0] = whole, kernel->grid[0] = quarter;
    Plan *plan = card_plan(kernel);
    plan->size_inputs = 1;
    plan->size_vars = &quarter;
    for (int i = 0; i < 2; i++) {
        Launch *launch = &plan->launches.at[i];
        launch->sizes = lists;
        launch->scalar_buffers = launch->buffers;
        launch->scalar_sizes = lists;
    }
    ck_assert_msg(plan_load(rt, plan, NULL, &error), "%s", error.message);
    float ones[64];
    int64_t size = 16;
    for (int i = 0; i < 64; i++) ones[i] = 1;
    Storage *x = storage_new(rt, card, 256), *y = storage_new(rt, card, 512);
    ck_assert(device_copy(rt, x->data, card, ones, cpu, 256, &error));
    for (int place = 0; place < 2; place++) {
        void *out = (char *)y->data + 4 * place;
        device_fill(rt, card, y->data, 0, 512);
        ck_assert_msg(plan_run(rt, plan, &x->data, NULL, &out, &size, &error), "%s", error.message);
        ck_assert(first_of(rt, out) == (place ? 6 : 4));
    }
    storage_unref(x);
    storage_unref(y);
    plan_unload(rt, plan);
    runtime_close(rt);
}
END_TEST

START_TEST(a_card_runs_plans_and_replays_graphs) {
    if (!load_driver()) return;
    Runtime *rt = open_runtime(folder);
    OpError error = {0};
    Kernel *twin = cuda_kernel_new("triple_0", 0, NULL), *kernel = cuda_kernel_new("scale_0", 16, twin);
    kernel->shared_bytes = 100 << 10; /* more than is had without asking */
    Plan *plan = card_plan(kernel);
    ck_assert_msg(plan_load(rt, plan, NULL, &error), "%s", error.message);
    float ones[64];
    for (int i = 0; i < 64; i++) ones[i] = 1;
    Storage *x = storage_new(rt, card, 256), *y = storage_new(rt, card, 512), *z = storage_new(rt, card, 256);
    ck_assert(device_copy(rt, x->data, card, ones, cpu, 256, &error));
    ck_assert_msg(plan_run(rt, plan, &x->data, NULL, &y->data, NULL, &error), "%s", error.message);
    ck_assert(first_of(rt, y->data) == 4);
    void *unaligned = (char *)y->data + 4;
    ck_assert_msg(plan_run(rt, plan, &x->data, NULL, &unaligned, NULL, &error), "%s", error.message);
    ck_assert(first_of(rt, unaligned) == 6); /* scale, then triple */
    LaunchTime times[2];
    ck_assert(plan_profile(rt, plan, &x->data, NULL, &y->data, NULL, times, &error));
    ck_assert(times[1].start_us == 1000 && times[1].length_us == 1000);
    runtime_replay_graphs(rt, true);
    for (int i = 0; i < 6; i++) {
        void **out = i % 2 ? &y->data : &z->data;
        device_fill(rt, card, *out, 0, 256);
        ck_assert(plan_run(rt, plan, &x->data, NULL, out, NULL, &error));
        ck_assert(first_of(rt, *out) == 4);
    }
    ck_assert_int_eq(*counter("fake_graph_launches"), 5);
    ck_assert_int_eq(*counter("fake_launches"), 6 + 2 + 4); /* three runs, the warm one, two recordings */
    for (int i = 0; i < 40; i++) { /* a plan that keeps moving */
        Storage *moving = storage_new(rt, card, 256 + 256 * i);
        ck_assert(plan_run(rt, plan, &x->data, NULL, &moving->data, NULL, &error));
        ck_assert(first_of(rt, moving->data) == 4);
        vec_push_in(arena, &plan->outputs, ((PlanOutput){.buffer = i})); /* any allocation */
        storage_unref(moving);
    }
    ck_assert_int_lt(*counter("fake_graph_launches"), 5 + 40);
    storage_unref(x);
    storage_unref(y);
    storage_unref(z);
    runtime_close(rt);
    ck_assert_int_eq(*counter("fake_live"), 0);
}
END_TEST

START_TEST(a_card_copies_by_strides_and_through_the_host) {
    if (!load_driver()) return;
    Runtime *rt = open_runtime(folder);
    static const FamilyOps family = {.run_cpu = run_scale};
    Op op = {.name = "scale", .family_ops = &family, .outputs = 1};
    OpError error = {0};
    Plan *plan = plan_new();
    plan->device = card;
    Meta meta = meta_of(DTYPE_F32, 2, (Dim[]){3, 4}), turned = meta, flat = vector_of(DTYPE_F32, 12);
    turned.strides[0] = 1, turned.strides[1] = 3;
    int x = plan_buffer(plan, BUFFER_INPUT, 0, flat), y = plan_buffer(plan, BUFFER_OUTPUT, 0, flat), t = plan_buffer(plan, BUFFER_TEMPORARY, 0, flat);
    plan->block_bytes = 64;
    Arg item = arg_tensor(&flat, NULL, (void *)(uintptr_t)map_key(x + 1)), args[2] = {{.tag = ARG_TENSORS, .list = {&item, 1}}, arg_int(10)};
    Launch launches[2] = {{.kind = LAUNCH_EXTERN_OP, .name = "extern scale", .op = &op, .args = args, .nargs = 2, .out_metas = &flat, .nouts = 1, .buffers = &t, .buffer_count = 1},
                          {.kind = LAUNCH_COPY, .name = "copy", .buffers = (int[]){t, y}, .buffer_count = 2, .copy_src = meta, .copy_dst = turned}};
    for (int i = 0; i < 2; i++) vec_push_in(arena, &plan->launches, launches[i]);
    ck_assert_msg(plan_load(rt, plan, NULL, &error), "%s", error.message);
    float in[12], out[12];
    for (int i = 0; i < 12; i++) in[i] = (float)i;
    Storage *sx = storage_new(rt, card, 48), *sy = storage_new(rt, card, 48);
    ck_assert(device_copy(rt, sx->data, card, in, cpu, 48, &error));
    ck_assert_msg(plan_run(rt, plan, &sx->data, NULL, &sy->data, NULL, &error), "%s", error.message);
    ck_assert_int_eq(warnings, 1);
    ck_assert(device_copy(rt, out, cpu, sy->data, card, 48, &error));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++) ck_assert_float_eq(out[j * 3 + i], (float)(10 * (i * 4 + j)));
    storage_unref(sx);
    storage_unref(sy);
    runtime_close(rt);
    ck_assert_int_eq(*counter("fake_live"), 0);
}
END_TEST

START_TEST(errors_of_the_driver_name_the_call) {
    static const char *const calls[] = {"cuModuleLoadData", "cuModuleGetFunction", "cuFuncSetAttribute", "cuLaunchKernel", "cuMemcpyHtoD", "cuEventCreate", "cuEventRecord", "cuCtxSynchronize"};
    if (!load_driver()) return;
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) {
        Runtime *rt = open_runtime("");
        OpError error = {0};
        Kernel *kernel = cuda_kernel_new("scale_0", 0, NULL);
        kernel->shared_bytes = 100 << 10;
        Plan *plan = card_plan(kernel);
        Storage *x = storage_new(rt, card, 256), *y = storage_new(rt, card, 256);
        float zeros[64] = {0};
        LaunchTime times[2];
        fail_next(calls[c]);
        bool good = device_copy(rt, x->data, card, zeros, cpu, 256, &error) && plan_load(rt, plan, NULL, &error) && plan_run(rt, plan, &x->data, NULL, &y->data, NULL, &error) &&
                    plan_profile(rt, plan, &x->data, NULL, &y->data, NULL, times, &error) && device_synchronize(rt, card, &error);
        ck_assert_msg(!good, "%s", calls[c]);
        ck_assert_msg(strncmp(error.message, calls[c], strlen(calls[c])) == 0 && strstr(error.message, "made to fail (CUDA_ERROR_UNKNOWN, 999)"), "%s: %s", calls[c], error.message);
        storage_unref(x);
        storage_unref(y);
        runtime_close(rt);
        ck_assert_int_eq(*counter("fake_live"), 0);
    }
    Runtime *rt = open_runtime("");
    OpError error = {0};
    fail_next("cuCtxSetCurrent"); /* once in a thread, at its first use of the card */
    ck_assert(!device_synchronize(rt, card, &error));
    ck_assert_msg(strstr(error.message, "cuCtxSetCurrent: made to fail") != NULL, "%s", error.message);
    ck_assert(device_synchronize(rt, card, &error));
    runtime_close(rt);
    fail_next("cuInit");
    rt = open_runtime("");
    const char *why = NULL;
    ck_assert(!cuda_available(rt, &why));
    ck_assert_ptr_nonnull(strstr(why, "cuInit: made to fail"));
}
END_TEST
#endif

int main(void) {
    const TTest *tests[] = {
        nvrtc_compiles_without_a_card, cuda_plans_compile_and_refuse_to_run_without_a_card,
#ifdef HAVE_CUDA_H
        a_card_copies_fills_and_pools, a_card_runs_plans_and_replays_graphs, a_scalar_twin_has_symbolic_sizes_of_its_own, a_card_copies_by_strides_and_through_the_host,
        errors_of_the_driver_name_the_call,
#endif
    };
    return UNIT_RUN("run_cuda", tests, open_all, close_all);
}
