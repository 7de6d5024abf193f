/* Code: kernels to functions that can be called, through three stages: already loaded, on disk, compiled now.
 *
 * In: the kernels of a plan. Out: a LoadedKernel for each, counted by reference.
 *
 *     LoadedKernel *loaded[2];
 *     kernels_load(runtime, plan->kernels.at, 2, 0, loaded, &report, &error);
 *     loaded[0]->c(pointers, sizes);
 *     kernel_release(runtime, loaded[0]);
 *
 * On disk a kernel has two files: KEY.ref holds the key of the unit it was compiled in, UNIT.so or UNIT.cubin the code; so a plan that has
 * only some kernels of an older unit still finds them. Invariant: a module lives as long as one of its kernels is held. */
#include "run/code.h"
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct Module {
    CacheKey key;
    KernelLanguage language;
    int device, refs;
    void *handle; /* dlopen's, or a CUmodule; NULL for CUDA without a card */
};

struct CodeTable {
    VEC(LoadedKernel *) kernels;
    VEC(Module *) modules;
    CacheKey environment[2];
    bool known[2];
};

static CodeTable *code_table(Runtime *runtime) {
    if (!runtime->code) runtime->code = ARENA_NEW(runtime->arena, CodeTable);
    return runtime->code;
}

/* What keys begin with. While the caches are bypassed a salt makes it one that nothing was kept under. */
static CacheKey environment_of(Runtime *runtime, KernelLanguage language) {
    CodeTable *table = code_table(runtime);
    if (!table->known[language]) environment_key(runtime, language, &table->environment[language]);
    table->known[language] = true;
    CacheKey environment = table->environment[language];
    for (size_t i = 0; i < sizeof runtime->cache_salt; i++) environment.at[i] ^= (unsigned char)(runtime->cache_salt >> (8 * i));
    return environment;
}

static bool key_equal(const CacheKey *a, const CacheKey *b) { return memcmp(a->at, b->at, sizeof a->at) == 0; }

/* ---- modules ---- */

static void *so_open(Runtime *runtime, const void *binary, int64_t bytes, OpError *error) {
    char path[PATH_MAX];
    if (!runtime_scratch(runtime, ".so", path, sizeof path) || !file_write(path, binary, bytes)) {
        op_error(error, ERROR_RUNTIME, "cannot write a kernel into the folder for temporary files ($TMPDIR or /tmp)");
        return NULL;
    }
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) op_error(error, ERROR_RUNTIME, "a compiled kernel cannot be loaded: %s", dlerror());
    unlink(path);
    return handle;
}

static Module *module_find(CodeTable *table, const CacheKey *key, int device) {
    for (int i = 0; i < table->modules.count; i++)
        if (table->modules.at[i]->device == device && key_equal(&table->modules.at[i]->key, key)) return table->modules.at[i];
    return NULL;
}

static Module *module_open(Runtime *runtime, const CacheKey *key, KernelLanguage language, int device, const void *binary, int64_t bytes, OpError *error) {
    void *handle = NULL;
    if (language == KERNEL_C && !(handle = so_open(runtime, binary, bytes, error))) return NULL;
    if (language == KERNEL_CUDA && cuda_ready(runtime) && !cuda_module_load(runtime, device, binary, &handle, error)) return NULL;
    Module *module = calloc(1, sizeof *module);
    if (!module) abort();
    *module = (Module){.key = *key, .language = language, .device = device, .handle = handle};
    vec_push(&code_table(runtime)->modules, module);
    return module;
}

static void module_close(Runtime *runtime, Module *module) {
    CodeTable *table = runtime->code;
    for (int i = 0; i < table->modules.count; i++)
        if (table->modules.at[i] == module) {
            table->modules.at[i] = vec_pop(&table->modules);
            break;
        }
    if (module->handle && module->language == KERNEL_C) dlclose(module->handle);
    else if (module->handle) cuda_module_unload(runtime, module->device, module->handle);
    free(module);
}

/* ---- kernels ---- */

static LoadedKernel *kernel_find(CodeTable *table, const CacheKey *key, int device) {
    for (int i = 0; i < table->kernels.count; i++)
        if (table->kernels.at[i]->device == device && key_equal(&table->kernels.at[i]->key, key)) return table->kernels.at[i];
    return NULL;
}

/* A module without users is closed: it came from the cache, and did not have what it should. */
static LoadedKernel *kernel_resolve(Runtime *runtime, Module *module, const Job *job, OpError *error) {
    CKernelFn c = NULL;
    void *function = NULL;
    bool found = true;
    if (module->language == KERNEL_C) {
        *(void **)&c = dlsym(module->handle, job->symbol);
        found = c || op_error(error, ERROR_RUNTIME, "kernel %s: no symbol %s in its library", job->kernel->name, job->symbol);
    } else if (module->handle) found = cuda_module_function(runtime, module->handle, job->symbol, &function, error);
    if (!found) {
        if (module->refs == 0) module_close(runtime, module);
        return NULL;
    }
    LoadedKernel *loaded = calloc(1, sizeof *loaded);
    if (!loaded) abort();
    *loaded = (LoadedKernel){.key = job->key, .symbol = strdup(job->symbol), .module = module, .c = c, .function = function, .device = module->device};
    module->refs++;
    vec_push(&code_table(runtime)->kernels, loaded);
    return loaded;
}

void kernel_release(Runtime *runtime, LoadedKernel *loaded) {
    if (!loaded || --loaded->refs > 0) return;
    CodeTable *table = runtime->code;
    for (int i = 0; i < table->kernels.count; i++)
        if (table->kernels.at[i] == loaded) {
            table->kernels.at[i] = vec_pop(&table->kernels);
            break;
        }
    if (--loaded->module->refs == 0) module_close(runtime, loaded->module);
    free(loaded->symbol);
    free(loaded);
}

void kernels_close(Runtime *runtime) {
    CodeTable *table = runtime->code;
    if (!table) return;
    while (table->kernels.count) {
        vec_last(&table->kernels)->refs = 1;
        kernel_release(runtime, vec_last(&table->kernels));
    }
    vec_free(&table->kernels);
    vec_free(&table->modules);
}

/* ---- on disk ---- */

static LoadedKernel *kernel_from_disk(Runtime *runtime, const Job *job, int device) {
    KernelLanguage language = job->kernel->language;
    void *data;
    int64_t bytes;
    CacheKey key;
    OpError ignored;
    if (!diskcache_get(runtime->disk, &job->key, "ref", &data, &bytes)) return NULL;
    bool whole = bytes == (int64_t)sizeof key;
    if (whole) memcpy(key.at, data, sizeof key.at);
    free(data);
    if (!whole) return NULL;
    Module *module = module_find(runtime->code, &key, device);
    if (!module) {
        if (!diskcache_get(runtime->disk, &key, unit_ending(language), &data, &bytes)) return NULL;
        module = module_open(runtime, &key, language, device, data, bytes, &ignored);
        free(data);
    }
    return module ? kernel_resolve(runtime, module, job, &ignored) : NULL;
}

static bool unit_accept(Runtime *runtime, const Unit *unit, int device, LoadedKernel **loaded, OpError *error) {
    CacheKey key, environment = environment_of(runtime, unit->language);
    unit_key(&environment, unit, &key);
    Module *module = module_open(runtime, &key, unit->language, device, unit->output.binary, unit->output.bytes, error);
    if (!module) return false;
    diskcache_put(runtime->disk, &key, unit_ending(unit->language), unit->output.binary, unit->output.bytes);
    for (int i = 0; i < unit->jobs.count; i++) {
        const Job *job = &unit->jobs.at[i];
        LoadedKernel *kernel = loaded[job->place] = kernel_resolve(runtime, module, job, error);
        if (!kernel) return false;
        kernel->refs++;
        diskcache_put(runtime->disk, &job->key, "ref", key.at, sizeof key.at);
    }
    return true;
}

/* ---- the whole ---- */

/* Compiles the jobs in units; a unit that fails is tried again kernel by kernel, since two kernels may only not fit together. */
static bool jobs_compile(Runtime *runtime, const Jobs *jobs, KernelLanguage language, int device, LoadedKernel **loaded, OpError *error) {
    Units units = {0}, singles = {0};
    bool good = true;
    units_make(jobs, language, false, &units);
    units_compile(runtime, &units);
    for (int i = 0; i < units.count && good; i++) {
        Unit *unit = &units.at[i];
        if (unit->good) good = unit_accept(runtime, unit, device, loaded, error);
        else if (unit->jobs.count > 1 && !unit->output.interrupted) units_make(&unit->jobs, language, true, &singles);
        else good = unit_error(unit, error);
    }
    if (good && singles.count) units_compile(runtime, &singles);
    for (int i = 0; i < singles.count && good; i++)
        good = singles.at[i].good ? unit_accept(runtime, &singles.at[i], device, loaded, error) : unit_error(&singles.at[i], error);
    units_free(&units);
    units_free(&singles);
    return good;
}

static void jobs_free(Jobs *jobs) {
    for (int i = 0; i < jobs->count; i++) free(jobs->at[i].symbol);
    vec_free(jobs);
}

/* Same text as an earlier kernel of the list: it is compiled once, and taken from the table afterwards. */
static bool is_queued(const Jobs *jobs, const CacheKey *key) {
    for (int i = 0; i < jobs->count; i++)
        if (key_equal(&jobs->at[i].key, key)) return true;
    return false;
}

typedef struct Request { const Kernel *const *kernels; int count, device; LoadedKernel **loaded; } Request;

static bool load_language(Runtime *runtime, const Request *request, KernelLanguage language, CompileReport *report, OpError *error) {
    Jobs all = {0}, missing = {0};
    CodeTable *table = code_table(runtime);
    CacheKey environment = environment_of(runtime, language);
    for (int i = 0; i < request->count; i++) {
        if (request->kernels[i]->language != language) continue;
        Job job = {.kernel = request->kernels[i], .place = i};
        kernel_key(&environment, job.kernel, &job.key, &job.symbol);
        vec_push(&all, job);
        LoadedKernel *found = kernel_find(table, &job.key, request->device);
        if (!found && !is_queued(&missing, &job.key)) found = kernel_from_disk(runtime, &job, request->device);
        if (found) found->refs++;
        else if (!is_queued(&missing, &job.key)) vec_push(&missing, job);
        request->loaded[i] = found;
    }
    bool good = missing.count == 0 || jobs_compile(runtime, &missing, language, request->device, request->loaded, error);
    for (int i = 0; i < all.count && good; i++) {
        LoadedKernel **place = &request->loaded[all.at[i].place];
        if (*place) continue;
        *place = kernel_find(table, &all.at[i].key, request->device);
        if (*place) (*place)->refs++;
        else good = op_error(error, ERROR_RUNTIME, "kernel %s was compiled but is not there", all.at[i].kernel->name);
    }
    report->kernels += all.count;
    report->cached += all.count - missing.count;
    vec_free(&missing);
    jobs_free(&all);
    return good;
}

bool kernels_load(Runtime *runtime, const Kernel *const *kernels, int count, int device_index, LoadedKernel **loaded, CompileReport *report, OpError *error) {
    Request request = {kernels, count, device_index, loaded};
    CompileReport ignored = {0};
    double start = clock_us();
    if (!report) report = &ignored;
    memset(loaded, 0, (size_t)count * sizeof *loaded);
    bool has[2] = {false, false}, good = true;
    for (int i = 0; i < count; i++) has[kernels[i]->language] = true;
    for (int language = KERNEL_C; language <= KERNEL_CUDA && good; language++)
        if (has[language]) good = load_language(runtime, &request, (KernelLanguage)language, report, error);
    for (int i = 0; i < count && !good; i++) {
        kernel_release(runtime, loaded[i]);
        loaded[i] = NULL;
    }
    report->seconds += (clock_us() - start) / 1e6;
    return good;
}

bool kernels_compile(Runtime *runtime, const Kernel *const *kernels, int count, CompileReport *report, OpError *error) {
    LoadedKernel **loaded = calloc((size_t)count + 1, sizeof *loaded);
    bool good = loaded && kernels_load(runtime, kernels, count, 0, loaded, report, error);
    for (int i = 0; i < count && good; i++) kernel_release(runtime, loaded[i]);
    free(loaded);
    return good;
}
