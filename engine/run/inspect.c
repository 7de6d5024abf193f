/* Inspect: what a kernel became: registers, shared memory and spills; PTX, SASS, assembly.
 *
 * In: a Kernel, loaded or not. Out: numbers or text, or why there are none.
 * Registers and spills are what ptxas says (its report comes in NVRTC's log), so they need no card; SASS needs NVIDIA's cuobjdump.
 *
 * Invariant: nothing here changes what runs: kernels are compiled again, alone, with the same options. */
#include "run/code.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The kernel alone in a unit, under its own name. */
static char *kernel_text(const Kernel *kernel) {
    Text text = {0};
    ScalarTarget target = kernel->language == KERNEL_C ? TARGET_C : TARGET_CUDA;
    scalar_support_uses(&text, target, kernel->source);
    scalar_support_put(&text, target);
    text_put(&text, "\n#line 1 ");
    text_quoted(&text, kernel->name);
    text_printf(&text, "\n%s\n", kernel->source);
    return text.data;
}

static bool explain(const char **error, Arena *arena, const char *what, const char *log) {
    *error = arena_printf(arena, "%s: %.800s", what, log ? log : "no reason was given");
    return false;
}

bool nvrtc_compile(Runtime *runtime, const char *source, const char *arch, bool cubin, Arena *arena, CudaBuild *build) {
    CompilerOutput output;
    *build = (CudaBuild){0};
    bool good = nvrtc_compile_unit(runtime, source, arch ? arch : cuda_arch(runtime), cubin, false, &output);
    build->log = arena_strdup(arena, output.log ? output.log : "");
    if (good && cubin) build->cubin = arena_copy(arena, output.binary, (size_t)output.bytes), build->cubin_bytes = output.bytes;
    if (good && !cubin) build->ptx = arena_strndup(arena, output.binary, (size_t)output.bytes);
    free(output.binary);
    free(output.log);
    return good;
}

/* The number in front of `unit` on the part of the log that follows `from`: "Used 32 registers, 4 bytes smem". */
static int number_before(const char *from, const char *unit) {
    const char *at = from ? strstr(from, unit) : NULL;
    if (!at) return 0;
    while (at > from && at[-1] == ' ') at--;
    while (at > from && at[-1] >= '0' && at[-1] <= '9') at--;
    return (int)strtol(at, NULL, 10);
}

/* ptxas reports a function at a time: "Function properties for NAME", then spills, then "Used …" on the next line. */
static bool read_report(const char *log, const char *name, int *registers, int *shared, int *spills) {
    char heading[256];
    snprintf(heading, sizeof heading, "Compiling entry function '%.180s'", name);
    const char *at = log ? strstr(log, heading) : NULL;
    const char *used = at ? strstr(at, "Used ") : NULL;
    if (!used) return false;
    char report[1024];
    snprintf(report, sizeof report, "%.*s", (int)(used - at + (ptrdiff_t)strcspn(used, "\n")), at);
    *registers = number_before(strstr(report, "Used "), "registers");
    *shared = number_before(strstr(report, "Used "), "bytes smem");
    *spills = number_before(report, "bytes spill stores") + number_before(report, "bytes spill loads");
    return true;
}

bool kernel_cuda_resources(Runtime *runtime, const Kernel *kernel, Arena *arena, int *registers, int *shared_bytes, int *spill_bytes, const char **error) {
    CompilerOutput output;
    if (kernel->language != KERNEL_CUDA) return explain(error, arena, "only CUDA kernels have registers to count", kernel->name);
    char *source = kernel_text(kernel);
    bool good = nvrtc_compile_unit(runtime, source, cuda_arch(runtime), true, true, &output);
    if (!good) explain(error, arena, "the kernel does not compile", output.log);
    else if (!(good = read_report(output.log, kernel->entry, registers, shared_bytes, spill_bytes))) explain(error, arena, "ptxas gave no report", output.log);
    free(source);
    free(output.binary);
    free(output.log);
    return good;
}

static bool show_sass(Runtime *runtime, Arena *arena, const void *cubin, int64_t bytes, const char **text) {
    char tool[PATH_MAX], path[PATH_MAX];
    if (!program_find("cuobjdump", cuda_folders, tool, sizeof tool)) return explain(text, arena, "SASS needs cuobjdump of the CUDA toolkit", "it was not found");
    if (!runtime_scratch(runtime, ".cubin", path, sizeof path) || !file_write(path, cubin, bytes)) return explain(text, arena, "SASS", "cannot write a temporary file");
    ProcessResult process;
    bool good = process_run((const char *[]){tool, "--dump-sass", path, NULL}, runtime->interrupt, &process);
    unlink(path);
    *text = good ? arena_strdup(arena, process.output) : arena_printf(arena, "cuobjdump failed: %.500s", process.output ? process.output : "");
    free(process.output);
    return good;
}

static bool show_compiled(Runtime *runtime, const Kernel *kernel, const char *what, Arena *arena, CompilerOutput *output, const char **text) {
    bool sass = strcmp(what, "sass") == 0;
    char *source = kernel_text(kernel);
    bool good = kernel->language == KERNEL_C ? host_compile(runtime, source, true, output) : nvrtc_compile_unit(runtime, source, cuda_arch(runtime), sass, false, output);
    free(source);
    if (!good) return explain(text, arena, "the kernel does not compile", output->log);
    if (sass) return show_sass(runtime, arena, output->binary, output->bytes, text);
    *text = arena_strndup(arena, output->binary, (size_t)output->bytes);
    return true;
}

bool kernel_disassemble(Runtime *runtime, const Kernel *kernel, const char *what, Arena *arena, const char **text) {
    bool assembly = strcmp(what, "asm") == 0, c = kernel->language == KERNEL_C;
    if (c != assembly) {
        *text = arena_printf(arena, "%s is a %s kernel: it has %s", kernel->name, c ? "C" : "CUDA", c ? "asm, no ptx or sass" : "ptx and sass, no asm");
        return false;
    }
    CompilerOutput output = {0};
    bool good = show_compiled(runtime, kernel, what, arena, &output, text);
    free(output.binary);
    free(output.log);
    return good;
}
