/* Version: what was found outside the process, for --version: a line each. */
#include "run/private.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_compiler(Runtime *runtime, Text *text) {
    const char *why;
    ProcessResult process = {0};
    char path[1024];
    const char *asked = getenv("CC");
    const char *name = asked && *asked ? asked : "cc";
    if (!host_available(runtime, &why)) text_printf(text, "C compiler: %s\n", why);
    else if (strchr(name, ' ') || !program_find(name, NULL, path, sizeof path) || !process_run((const char *[]){path, "--version", NULL}, NULL, &process)) text_printf(text, "C compiler: found\n");
    else text_printf(text, "C compiler: %s, %.*s\n", path, (int)strcspn(process.output, "\n"), process.output);
    free(process.output);
}

static void put_driver(Runtime *runtime, Text *text) {
    const char *why;
    if (!cuda_available(runtime, &why)) {
        text_printf(text, "CUDA driver: %s\n", why);
        return;
    }
    int version = cuda_driver_version(runtime);
    text_printf(text, "CUDA driver: %d.%d\n", version / 1000, version % 1000 / 10);
    for (int i = 0; i < cuda_device_count(runtime); i++) {
        DeviceFacts facts;
        if (cuda_facts(runtime, i, &facts)) text_printf(text, "  cuda:%d %s, sm_%d%d, %.0f GiB\n", i, facts.name, facts.major, facts.minor, (double)facts.memory_bytes / (1 << 30));
    }
}

static void put_nccl(Text *text) {
    static const char *const names[] = {"libnccl.so.2", "libnccl.so", NULL};
    void *nccl = library_open(names, cuda_folders, NULL, 0);
    int (*get_version)(int *) = NULL;
    int version = 0;
    if (nccl) *(void **)&get_version = dlsym(nccl, "ncclGetVersion");
    if (!get_version || get_version(&version) != 0) text_put(text, "NCCL: not found\n");
    else text_printf(text, "NCCL: %d.%d.%d\n", version / 10000, version % 10000 / 100, version % 100);
}

void runtime_versions(Runtime *runtime, Text *text) {
    const char *why;
    char found[256];
    put_compiler(runtime, text);
    put_driver(runtime, text);
    if (nvrtc_available(runtime, &why)) text_printf(text, "NVRTC: %s\n", nvrtc_identity(runtime));
    else text_printf(text, "NVRTC: %s\n", why);
    cublaslt_version(runtime, found, sizeof found);
    text_printf(text, "cuBLASLt: %s\n", found);
    put_nccl(text);
    const char *folder = diskcache_folder(runtime->disk);
    text_printf(text, "cache: %s\n", *folder ? folder : "off");
}
