/* Host compiler: C kernels to a shared library, by the system's own compiler.
 *
 * In: one C unit (the support text and any number of kernels). Out: the shared library's bytes, or the compiler's messages.
 *
 *     CompilerOutput out;
 *     if (!host_compile(runtime, source, false, &out)) show(out.log);
 *
 * $CC, cc, gcc, clang are tried in this order. An empty unit is compiled once (the answer is kept in the disk cache) to see whether the compiler
 * knows OpenMP and -march=native: what it does not know is left out.
 * Invariant: host_identity changes when anything does that can change the code: compiler, flags, processor. */
#include "run/private.h"
#include "run/sha256.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COMMAND_WORDS = 8, ARGUMENT_LIMIT = 48 };

struct HostCompiler {
    char *words[COMMAND_WORDS]; /* "ccache", "gcc" of $CC; [0] is a full path */
    int word_count;
    bool no_openmp, no_native;
    const char *identity, *why_not;
};

static const char *const plain_flags[] = {"-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-w", "-fPIC", NULL};
static const char openmp_flag[] = "-fopenmp";
#ifdef __x86_64__
#define NATIVE "-march=native", "-mprefer-vector-width=512" /* where the processor has them: what computes much runs up to 1.7 times faster */
#else
#define NATIVE "-march=native"
#endif
static const char *const native_flags[] = {NATIVE, NULL};

/* ---- finding it ---- */

static bool take_words(Runtime *runtime, HostCompiler *host, const char *command) {
    char path[PATH_MAX], *rest = arena_strdup(runtime->arena, command), *word;
    host->word_count = 0;
    while ((word = strtok_r(rest, " \t", &rest)) && host->word_count < COMMAND_WORDS) host->words[host->word_count++] = word;
    if (!host->word_count || !program_find(host->words[0], NULL, path, sizeof path)) return false;
    host->words[0] = arena_strdup(runtime->arena, path);
    return true;
}

/* The lines of /proc/cpuinfo's first processor that say what it can do; those that change from moment to moment are left out. */
static void put_processor(Text *text) {
    static const char *const wanted[] = {"vendor_id", "cpu family", "model", "stepping", "flags", "Features", "CPU implementer", "CPU architecture", "CPU part", NULL};
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[8192];
    while (file && fgets(line, sizeof line, file) && line[0] != '\n')
        for (int i = 0; wanted[i]; i++)
            if (strncmp(line, wanted[i], strlen(wanted[i])) == 0) text_put(text, line);
    if (file) fclose(file);
}

static const char *make_identity(Runtime *runtime, const HostCompiler *host) {
    Text text = {0};
    for (int i = 0; i < host->word_count; i++) {
        char path[PATH_MAX], found[PATH_MAX];
        struct stat facts;
        text_printf(&text, "%s\n", host->words[i]);
        if (!program_find(host->words[i], NULL, found, sizeof found) || !realpath(found, path) || stat(path, &facts) != 0) continue;
        text_printf(&text, "%s %lld %lld\n", path, (long long)facts.st_size, (long long)facts.st_mtim.tv_sec);
    }
    for (int i = 0; plain_flags[i]; i++) text_printf(&text, "%s ", plain_flags[i]);
    text_printf(&text, "%s", host->no_openmp ? "" : openmp_flag);
    for (int i = 0; native_flags[i] && !host->no_native; i++) text_printf(&text, " %s", native_flags[i]);
    text_char(&text, '\n');
    put_processor(&text);
    const char *identity = text_in(&text, runtime->arena);
    text_free(&text);
    return identity;
}

/* ---- running it ---- */

static bool run_compiler(Runtime *runtime, const char *input, const char *result, bool assembly, ProcessResult *process) {
    const HostCompiler *host = runtime->host;
    const char *arguments[ARGUMENT_LIMIT];
    int n = 0;
    for (int i = 0; i < host->word_count; i++) arguments[n++] = host->words[i];
    for (int i = 0; plain_flags[i]; i++) arguments[n++] = plain_flags[i];
    if (!host->no_openmp) arguments[n++] = openmp_flag;
    for (int i = 0; native_flags[i] && !host->no_native; i++) arguments[n++] = native_flags[i];
    arguments[n++] = assembly ? "-S" : "-shared";
    arguments[n++] = "-o";
    arguments[n++] = result;
    arguments[n++] = input;
    arguments[n] = NULL;
    return process_run(arguments, runtime->interrupt, process);
}

static bool compile_files(Runtime *runtime, const char *source, bool assembly, CompilerOutput *output) {
    char input[PATH_MAX], result[PATH_MAX];
    memset(output, 0, sizeof *output);
    if (!runtime_scratch(runtime, ".c", input, sizeof input) || !runtime_scratch(runtime, assembly ? ".s" : ".so", result, sizeof result) ||
        !file_write(input, source, (int64_t)strlen(source))) {
        output->log = strdup("cannot write the unit into the folder for temporary files ($TMPDIR or /tmp)");
        return false;
    }
    ProcessResult process;
    bool good = run_compiler(runtime, input, result, assembly, &process) && file_read(result, &output->binary, &output->bytes);
    unlink(input);
    unlink(result);
    output->log = process.output;
    output->interrupted = process.interrupted;
    return good;
}

/* ---- what it knows ---- */

static bool compiles_empty(Runtime *runtime) {
    CompilerOutput output;
    bool good = compile_files(runtime, "void vitrine_probe(void) {}\n", false, &output);
    free(output.binary);
    free(output.log);
    return good;
}

enum { NO_OPENMP = 1, NO_NATIVE = 2 };

/* Bits of the flags to leave out; all flags stay when even without them an empty unit fails (then units say why). */
static int probe_flags(Runtime *runtime) {
    static const int attempts[] = {0, NO_OPENMP, NO_NATIVE, NO_OPENMP | NO_NATIVE};
    for (int i = 0; i < 4; i++) {
        runtime->host->no_openmp = attempts[i] & NO_OPENMP, runtime->host->no_native = attempts[i] & NO_NATIVE;
        if (compiles_empty(runtime)) return attempts[i];
    }
    return 0;
}

static void settle_flags(Runtime *runtime, HostCompiler *host) {
    CacheKey key;
    Sha256 hash;
    void *kept;
    int64_t bytes;
    sha256_start(&hash);
    sha256_add_text(&hash, "host flags");
    sha256_add_text(&hash, make_identity(runtime, host));
    sha256_end(&hash, key.at);
    int bits = -1;
    if (diskcache_get(runtime->disk, &key, "flags", &kept, &bytes)) {
        bits = bytes == 1 ? *(unsigned char *)kept & 3 : -1;
        free(kept);
    }
    if (bits < 0) {
        unsigned char found = (unsigned char)(bits = probe_flags(runtime));
        if (!runtime_interrupted(runtime)) diskcache_put(runtime->disk, &key, "flags", &found, 1);
    }
    host->no_openmp = bits & NO_OPENMP, host->no_native = bits & NO_NATIVE;
}

static HostCompiler *host_open(Runtime *runtime) {
    static const char *const usual[] = {"cc", "gcc", "clang", NULL};
    if (runtime->host) return runtime->host;
    HostCompiler *host = runtime->host = ARENA_NEW(runtime->arena, HostCompiler);
    const char *asked = getenv("CC");
    bool found = asked && *asked && take_words(runtime, host, asked);
    bool other = !found && asked && *asked;
    for (int i = 0; usual[i] && !found; i++) found = take_words(runtime, host, usual[i]);
    if (found && other) runtime_warn(runtime, "$CC (%s) was not found: kernels are compiled by %s", asked, host->words[0]);
    if (found) {
        settle_flags(runtime, host);
        host->identity = make_identity(runtime, host);
    } else host->why_not = asked && *asked ? arena_printf(runtime->arena, "no C compiler was found: neither $CC (%s) nor cc, gcc, clang is in PATH", asked)
                                         : "no C compiler was found: none of cc, gcc, clang is in PATH, and $CC is not set";
    return host;
}

bool host_available(Runtime *runtime, const char **why_not) {
    HostCompiler *host = host_open(runtime);
    if (why_not) *why_not = host->why_not;
    return !host->why_not;
}

const char *host_identity(Runtime *runtime) {
    const char *identity = host_open(runtime)->identity;
    return identity ? identity : "none";
}

bool host_compile(Runtime *runtime, const char *source, bool assembly, CompilerOutput *output) {
    HostCompiler *host = host_open(runtime);
    if (host->why_not) {
        *output = (CompilerOutput){.log = strdup(host->why_not)};
        return false;
    }
    return compile_files(runtime, source, assembly, output);
}
