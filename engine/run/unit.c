/* Unit: kernels put together into one text, compiled by cc or NVRTC, several units at a time.
 *
 * In: kernels that are not in the cache. Out: a binary for each unit.
 * A kernel's symbol is made of the stem of its entry ("fused_add_relu") and of a hash of its text, so that equal texts from anywhere have equal
 * symbols, different ones never meet in a unit, and a profile is still readable.
 *
 * The number of kernels in a unit is a compromise (performance.md 5a): NVRTC and cc cost about 20 and 60 ms before the first kernel.
 * Invariant: compiling touches nothing but the unit: threads share only the Runtime, which the compilers' functions allow. */
#include "run/code.h"
#include "run/sha256.h"
#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CODE_VERSION = 1, FEWEST_IN_UNIT = 4, MOST_IN_UNIT = 16, STEM_LENGTH = 60 };

const char *unit_ending(KernelLanguage language) { return language == KERNEL_C ? "so" : "cubin"; }

/* ---- text ---- */

static bool starts_name(char c) { return isalpha((unsigned char)c) || c == '_'; }
static bool is_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

static const char *comment_end(const char *at) {
    if (at[1] == '/') return at + strcspn(at, "\n");
    const char *end = strstr(at + 2, "*/");
    return end ? end + 2 : at + strlen(at);
}

static const char *literal_end(const char *at) {
    char quote = *at++;
    for (; *at && *at != quote; at++)
        if (*at == '\\' && at[1]) at++;
    return *at ? at + 1 : at;
}

/* One token of C or CUDA: a comment, a literal, a name, a number, or a character. */
static const char *token_end(const char *at) {
    const char *end = at + 1;
    if (at[0] == '/' && (at[1] == '/' || at[1] == '*')) return comment_end(at);
    if (*at == '"' || *at == '\'') return literal_end(at);
    if (starts_name(*at))
        while (is_name(*end)) end++;
    else if (isdigit((unsigned char)*at))
        while (is_name(*end) || *end == '.') end++; /* a name never starts inside a number */
    return end;
}

void source_rename(Text *text, const char *source, const char *entry, const char *to, bool strip) {
    size_t length = strlen(entry);
    char gap = 0; /* white space and comments not yet put: a newline, a space, or none */
    for (const char *at = source, *end; *at; at = end) {
        end = token_end(at);
        bool blank = isspace((unsigned char)*at) || (at[0] == '/' && (at[1] == '/' || at[1] == '*'));
        if (strip && blank) {
            gap = *at == '\n' || gap == '\n' ? '\n' : ' ';
            continue;
        }
        if (gap) text_char(text, gap);
        gap = 0;
        size_t n = (size_t)(end - at);
        bool renamed = starts_name(*at) && n >= length && memcmp(at, entry, length) == 0 && (n == length || at[length] == '_');
        if (renamed) text_put(text, to);
        text_put_n(text, renamed ? at + length : at, renamed ? n - length : n);
    }
}

static void unit_text(const Unit *unit, Text *text) {
    ScalarTarget target = unit->language == KERNEL_C ? TARGET_C : TARGET_CUDA;
    for (int i = 0; i < unit->jobs.count; i++) scalar_support_uses(text, target, unit->jobs.at[i].kernel->source);
    scalar_support_put(text, target);
    for (int i = 0; i < unit->jobs.count; i++) {
        const Job *job = &unit->jobs.at[i];
        text_printf(text, "\n#line 1 ");
        text_quoted(text, job->kernel->name);
        text_char(text, '\n');
        source_rename(text, job->kernel->source, job->kernel->entry, job->symbol, false);
    }
    text_char(text, '\n');
}

/* ---- keys ---- */

void environment_key(Runtime *runtime, KernelLanguage language, CacheKey *key) {
    Sha256 hash;
    Text support = {0};
    unsigned char version = CODE_VERSION;
    sha256_start(&hash);
    sha256_add(&hash, &version, 1);
    sha256_add_text(&hash, language == KERNEL_C ? "c" : "cuda");
    sha256_add_text(&hash, language == KERNEL_C ? host_identity(runtime) : nvrtc_identity(runtime));
    if (language == KERNEL_CUDA) sha256_add_text(&hash, cuda_arch(runtime));
    scalar_support_put(&support, language == KERNEL_C ? TARGET_C : TARGET_CUDA);
    sha256_add_text(&hash, text_cstr(&support));
    text_free(&support);
    sha256_end(&hash, key->at);
}

/* "fused_add_relu_3" -> "fused_add_relu": the number only tells kernels of one plan apart. */
static int stem_length(const char *entry) {
    size_t n = strlen(entry), digits = n;
    while (digits > 0 && isdigit((unsigned char)entry[digits - 1])) digits--;
    if (digits < n && digits > 1 && entry[digits - 1] == '_') n = digits - 1;
    return n > STEM_LENGTH ? STEM_LENGTH : (int)n;
}

void kernel_key(const CacheKey *environment, const Kernel *kernel, CacheKey *key, char **symbol) {
    Sha256 hash;
    Text text = {0};
    int stem = stem_length(kernel->entry);
    source_rename(&text, kernel->source, kernel->entry, "@", true);
    sha256_start(&hash);
    sha256_add(&hash, environment->at, sizeof environment->at);
    sha256_add(&hash, kernel->entry, (size_t)stem);
    sha256_add_text(&hash, "");
    sha256_add_text(&hash, text_cstr(&text));
    sha256_end(&hash, key->at);
    text_clear(&text);
    text_printf(&text, "%.*s_", stem, kernel->entry);
    for (int i = 0; i < 8; i++) text_printf(&text, "%02x", key->at[i]);
    *symbol = strdup(text_cstr(&text));
    text_free(&text);
}

void unit_key(const CacheKey *environment, const Unit *unit, CacheKey *key) {
    Sha256 hash;
    sha256_start(&hash);
    sha256_add_text(&hash, "unit");
    sha256_add(&hash, environment->at, sizeof environment->at);
    for (int i = 0; i < unit->jobs.count; i++) sha256_add(&hash, unit->jobs.at[i].key.at, sizeof(CacheKey));
    sha256_end(&hash, key->at);
}

/* ---- making units ---- */

static int compare_length(const void *a, const void *b) {
    size_t x = strlen(((const Job *)a)->kernel->source), y = strlen(((const Job *)b)->kernel->source);
    return x != y ? (x < y ? 1 : -1) : ((const Job *)a)->place - ((const Job *)b)->place;
}

/* The longest first, each to the unit with the least text so far: units then take about the same time. */
void units_make(const Jobs *jobs, KernelLanguage language, bool alone, Units *units) {
    if (jobs->count == 0) return;
    int lanes = 2 * runtime_cores(), each = (jobs->count + lanes - 1) / lanes;
    each = alone ? 1 : each < FEWEST_IN_UNIT ? FEWEST_IN_UNIT : each > MOST_IN_UNIT ? MOST_IN_UNIT : each;
    int first = units->count, count = (jobs->count + each - 1) / each;
    for (int i = 0; i < count; i++) {
        Unit unit = {.language = language};
        vec_push(units, unit);
    }
    Job *sorted = calloc((size_t)jobs->count, sizeof *sorted);
    if (!sorted) abort();
    memcpy(sorted, jobs->at, (size_t)jobs->count * sizeof *sorted);
    qsort(sorted, (size_t)jobs->count, sizeof *sorted, compare_length);
    for (int i = 0; i < jobs->count; i++) {
        Unit *least = &units->at[first];
        for (int u = first; u < units->count; u++)
            if (units->at[u].weight < least->weight) least = &units->at[u];
        vec_push(&least->jobs, sorted[i]);
        least->weight += (int64_t)strlen(sorted[i].kernel->source) + 500;
    }
    free(sorted);
}

void units_free(Units *units) {
    for (int i = 0; i < units->count; i++) {
        vec_free(&units->at[i].jobs);
        free(units->at[i].output.binary);
        free(units->at[i].output.log);
    }
    vec_free(units);
}

/* ---- compiling ---- */

typedef struct Work { Runtime *runtime; Units *units; const char *arch; int next; } Work;

static void *compile_some(void *state) {
    Work *work = state;
    for (int i; (i = __atomic_fetch_add(&work->next, 1, __ATOMIC_RELAXED)) < work->units->count;) {
        Unit *unit = &work->units->at[i];
        Text text = {0};
        unit_text(unit, &text);
        unit->good = unit->language == KERNEL_C ? host_compile(work->runtime, text_cstr(&text), false, &unit->output)
                                                : nvrtc_compile_unit(work->runtime, text_cstr(&text), work->arch, true, false, &unit->output);
        text_free(&text);
    }
    return NULL;
}

void units_compile(Runtime *runtime, Units *units) {
    enum { MOST_THREADS = 64 };
    pthread_t threads[MOST_THREADS];
    char path[64];
    bool cuda = units->count && units->at[0].language == KERNEL_CUDA; /* units of one call are of one language */
    Work work = {.runtime = runtime, .units = units, .arch = cuda ? cuda_arch(runtime) : NULL};
    int wanted = units->count < runtime_cores() ? units->count : runtime_cores(), started = 0;
    runtime_scratch(runtime, "", path, sizeof path); /* the folder is there before the threads are */
    while (started < wanted - 1 && started < MOST_THREADS && pthread_create(&threads[started], NULL, compile_some, &work) == 0) started++;
    compile_some(&work);
    for (int i = 0; i < started; i++) pthread_join(threads[i], NULL);
}

/* ---- errors ---- */

/* "k0:12:5: error: …" of cc, "k0(12): error: …" of NVRTC: the line number behind the kernel's name, or 0. */
static int log_line(const char *log, const char *name, const char **message) {
    size_t length = strlen(name);
    for (const char *at = log; (at = strstr(at, name)); at++) {
        if ((at > log && is_name(at[-1])) || (at[length] != ':' && at[length] != '(') || !isdigit((unsigned char)at[length + 1])) continue;
        const char *end = at + strcspn(at, "\n"), *fault = strstr(at, "error");
        if (!fault || fault > end) continue;
        *message = at;
        return (int)strtol(at + length + 1, NULL, 10);
    }
    return 0;
}

static Span line_span(const Kernel *kernel, int line) {
    Span span = {0};
    int best = 0;
    for (int i = 0; i < kernel->lines.count; i++) {
        const KernelLine *entry = &kernel->lines.at[i];
        if (entry->line <= line && entry->line >= best && entry->span.file) best = entry->line, span = entry->span;
    }
    return span;
}

bool unit_error(const Unit *unit, OpError *error) {
    const char *log = unit->output.log ? unit->output.log : "", *message = log;
    const Kernel *kernel = unit->jobs.at[0].kernel;
    if (unit->output.interrupted) return op_error(error, ERROR_RUNTIME, "compiling was interrupted");
    int line = log_line(log, kernel->name, &message);
    Span span = line_span(kernel, line);
    int length = (int)strcspn(message, line ? "\n" : "");
    if (length > 300) length = 300;
    if (span.file)
        return op_error(error, ERROR_RUNTIME, "%s:%d: kernel %s (%s) does not compile: %.*s", span.file->name, span_line(span), kernel->name, kernel->entry, length, message);
    return op_error(error, ERROR_RUNTIME, "kernel %s (%s) does not compile: %.*s", kernel->name, kernel->entry, length, message);
}
