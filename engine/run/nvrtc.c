/* NVRTC: CUDA kernels to cubins (or PTX), in the process, with or without a card.
 *
 * In: one CUDA unit and an architecture. Out: the binary, and what the compiler said.
 *
 *     CompilerOutput out;
 *     nvrtc_compile_unit(runtime, source, "sm_90a", true, false, &out);
 *
 * No contraction (--fmad=false: decisions 10), no headers, every function a device function. NVRTC has no lock of its own: units compile in parallel.
 * Invariant: nvrtc_identity changes with the compiler and the options. */
#ifdef HAVE_CUDA_H
#include "run/private.h"
#include <dlfcn.h>
#include <limits.h>
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NVRTC_FUNCTIONS(F)                                                                                                   \
    F(nvrtcVersion) F(nvrtcGetErrorString) F(nvrtcCreateProgram) F(nvrtcDestroyProgram) F(nvrtcCompileProgram)                \
    F(nvrtcGetProgramLogSize) F(nvrtcGetProgramLog) F(nvrtcGetPTXSize) F(nvrtcGetPTX) F(nvrtcGetCUBINSize) F(nvrtcGetCUBIN)   \
    F(nvrtcGetNumSupportedArchs) F(nvrtcGetSupportedArchs)

struct Nvrtc {
    const char *why_not, *identity;
    int major, minor, newest_arch; /* 90, 100 … */
#define NVRTC_FIELD(name) __typeof__(&name) name;
    NVRTC_FUNCTIONS(NVRTC_FIELD)
#undef NVRTC_FIELD
};

static const char *const nvrtc_options[] = {"--fmad=false", "-default-device", "-diag-suppress=177,550", NULL};

/* ---- opening ---- */

static const char *bind_functions(Runtime *runtime, Nvrtc *nvrtc, void *library) {
#define NVRTC_BIND(name) \
    if (!(*(void **)&nvrtc->name = dlsym(library, #name))) return arena_printf(runtime->arena, "NVRTC is too old: it has no %s", #name);
    NVRTC_FUNCTIONS(NVRTC_BIND)
#undef NVRTC_BIND
    return NULL;
}

static void read_version(Runtime *runtime, Nvrtc *nvrtc, const char *path) {
    Text text = {0};
    struct stat facts = {0};
    int count = 0, archs[64];
    Dl_info where;
    nvrtc->nvrtcVersion(&nvrtc->major, &nvrtc->minor);
    if (nvrtc->nvrtcGetNumSupportedArchs(&count) == NVRTC_SUCCESS && count > 0 && count <= 64 && nvrtc->nvrtcGetSupportedArchs(archs) == NVRTC_SUCCESS) nvrtc->newest_arch = archs[count - 1];
    if (dladdr(*(void **)&nvrtc->nvrtcVersion, &where) && where.dli_fname) path = where.dli_fname;
    stat(path, &facts);
    text_printf(&text, "%d.%d, %s (%lld bytes,", nvrtc->major, nvrtc->minor, path, (long long)facts.st_size);
    for (int i = 0; nvrtc_options[i]; i++) text_printf(&text, " %s", nvrtc_options[i]);
    text_put(&text, ")");
    nvrtc->identity = text_in(&text, runtime->arena);
    text_free(&text);
}

static Nvrtc *nvrtc_open(Runtime *runtime) {
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", NULL};
    char path[PATH_MAX] = "";
    if (runtime->nvrtc) return runtime->nvrtc;
    Nvrtc *nvrtc = runtime->nvrtc = ARENA_NEW(runtime->arena, Nvrtc);
    void *library = library_open(names, cuda_folders, path, sizeof path);
    nvrtc->why_not = library ? bind_functions(runtime, nvrtc, library) : "no CUDA toolkit (libnvrtc.so was not found)";
    if (!nvrtc->why_not) read_version(runtime, nvrtc, path);
    return nvrtc;
}

bool nvrtc_available(Runtime *runtime, const char **why_not) {
    const char *why = nvrtc_open(runtime)->why_not;
    if (why_not) *why_not = why;
    return !why;
}

const char *nvrtc_identity(Runtime *runtime) {
    const char *identity = nvrtc_open(runtime)->identity;
    return identity ? identity : "none";
}

void nvrtc_close(Runtime *runtime) { runtime->nvrtc = NULL; }

/* ---- compiling ---- */

/* A card newer than NVRTC: PTX of the newest architecture that NVRTC knows, which the driver finishes. */
static bool choose_arch(const Nvrtc *nvrtc, const char *arch, bool cubin, char *option, size_t room) {
    int number = (int)strtol(arch + strcspn(arch, "0123456789"), NULL, 10);
    if (nvrtc->newest_arch && number > nvrtc->newest_arch) {
        snprintf(option, room, "--gpu-architecture=compute_%d", nvrtc->newest_arch);
        return false;
    }
    const char *digits = arch + strcspn(arch, "0123456789");
    snprintf(option, room, "--gpu-architecture=%s_%s", cubin ? "sm" : "compute", digits);
    return cubin;
}

static char *take_log(const Nvrtc *nvrtc, nvrtcProgram program) {
    size_t bytes = 0;
    if (nvrtc->nvrtcGetProgramLogSize(program, &bytes) != NVRTC_SUCCESS) return strdup("");
    char *log = calloc(1, bytes + 1);
    if (log && bytes) nvrtc->nvrtcGetProgramLog(program, log);
    return log;
}

static bool take_binary(const Nvrtc *nvrtc, nvrtcProgram program, bool cubin, CompilerOutput *output) {
    size_t bytes = 0;
    nvrtcResult result = cubin ? nvrtc->nvrtcGetCUBINSize(program, &bytes) : nvrtc->nvrtcGetPTXSize(program, &bytes);
    char *binary = result == NVRTC_SUCCESS && bytes > 0 ? calloc(1, bytes + 1) : NULL;
    if (!binary) return false;
    result = cubin ? nvrtc->nvrtcGetCUBIN(program, binary) : nvrtc->nvrtcGetPTX(program, binary);
    output->binary = binary;
    output->bytes = (int64_t)(cubin ? bytes : strlen(binary) + 1); /* PTX goes to the driver with its NUL */
    return result == NVRTC_SUCCESS;
}

bool nvrtc_compile_unit(Runtime *runtime, const char *source, const char *arch, bool cubin, bool verbose, CompilerOutput *output) {
    const Nvrtc *nvrtc = nvrtc_open(runtime);
    const char *options[12];
    char arch_option[64];
    int count = 0;
    nvrtcProgram program = NULL;
    *output = (CompilerOutput){.log = nvrtc->why_not ? strdup(nvrtc->why_not) : NULL};
    if (nvrtc->why_not) return false;
    cubin = choose_arch(nvrtc, arch, cubin, arch_option, sizeof arch_option);
    options[count++] = arch_option;
    for (int i = 0; nvrtc_options[i]; i++) options[count++] = nvrtc_options[i];
    if (nvrtc->major >= 13) options[count++] = "--minimal"; /* 6 % of the time */
    if (verbose) options[count++] = "--ptxas-options=-v";
    nvrtcResult result = nvrtc->nvrtcCreateProgram(&program, source, "kernels.cu", 0, NULL, NULL);
    if (result == NVRTC_SUCCESS) result = nvrtc->nvrtcCompileProgram(program, count, options);
    output->log = program ? take_log(nvrtc, program) : strdup(nvrtc->nvrtcGetErrorString(result));
    bool good = result == NVRTC_SUCCESS && take_binary(nvrtc, program, cubin, output);
    if (program) nvrtc->nvrtcDestroyProgram(&program);
    return good;
}
#else
typedef int vitrine_without_nvrtc;
#endif
