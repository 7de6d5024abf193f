/* Eager ops on a card, without a card: every op that the cases run eagerly must be kernels of the generator or a library's matmul, never a detour through
 * the host; and every kernel compiles under NVRTC for sm_80 and sm_90a where the toolkit is.
 *
 * VITRINE_TEST_CASES=1: every kernel for both; else a part of them, for the newer one.
 * The cases run on the CPU with torch.compile as the identity; beside each op the plan is made that it would have on a card. */
#include "base/text.h"
#include "engine.h"
#include "session.h"
#include "unit.h"
#include <dirent.h>
#include <stdio.h>
#include <string.h>

/* What asks for a value. */
static const char *const on_host[] = {"_local_scalar_dense", "item", "equal"};

typedef struct Watch { Session *session; Executor cpu; Text missing; int plans, kernels; Text sources; Map *seen; } Watch;

/* Rows that a card makes of others are seen as those, when their bodies run (card_bodies.py). */
static bool is_passed_over(const Op *op) {
    for (size_t i = 0; i < sizeof on_host / sizeof *on_host; i++)
        if (!strcmp(on_host[i], op->name)) return true;
    return op_has(op, TRAIT_CARD) && strcmp(op->name, "sort") && strcmp(op->name, "topk");
}

static void complain(Watch *watch, const Op *op, const char *what) {
    char line[512];
    snprintf(line, sizeof line, "%s: %s\n", op->name, what);
    if (!strstr(text_cstr(&watch->missing), line)) text_put(&watch->missing, line);
}

/* The compiler takes most of the time here: one kernel in eight goes through it, all with VITRINE_TEST_CASES=1. */
static bool is_compiled(const Kernel *kernel) { return getenv("VITRINE_TEST_CASES") || kernel->body_hash % 8 == 0; }

/* Kernels of different plans may have one name: each gets its own in the unit that is compiled. */
static void add_source(Watch *watch, const Kernel *kernel) {
    const char *at = kernel->source, *found;
    size_t length = strlen(kernel->entry);
    while ((found = strstr(at, kernel->entry))) {
        text_put_n(&watch->sources, at, (size_t)(found - at));
        text_printf(&watch->sources, "entry%d", watch->kernels);
        at = found + length;
    }
    text_printf(&watch->sources, "%s\n", at);
}

static void complain_of_host(Watch *watch, const Op *op, const Arg *args, int nargs, const Launch *launch) {
    Text text = {0};
    text_printf(&text, "%s would go through the host:", launch->name);
    for (int i = 0; i < nargs; i++) {
        if (args[i].tag != ARG_TENSOR) continue;
        text_printf(&text, " %s[", dtype_info[args[i].tensor.meta->dtype].name);
        for (int d = 0; d < args[i].tensor.meta->rank; d++) text_printf(&text, " %lld", (long long)args[i].tensor.meta->sizes[d]);
        text_put(&text, "]");
    }
    complain(watch, op, text_cstr(&text));
    text_free(&text);
}

static void look_at_plan(Watch *watch, const Op *op, const Arg *args, int nargs, const Plan *plan) {
    for (int i = 0; i < plan->launches.count; i++)
        if (plan->launches.at[i].kind == LAUNCH_EXTERN_OP) complain_of_host(watch, op, args, nargs, &plan->launches.at[i]);
    for (int i = 0; i < plan->kernels.count; i++) {
        const Kernel *kernel = plan->kernels.at[i];
        if (map_has(watch->seen, map_key((int64_t)(kernel->body_hash | 1)))) continue;
        map_put(watch->seen, map_key((int64_t)(kernel->body_hash | 1)), watch);
        watch->kernels++;
        if (is_compiled(kernel)) add_source(watch, kernel);
    }
}

static bool watched_run(void *state, const Op *op, const Arg *args, int nargs, const Arg *outs, int nouts, const OpContext *context, OpError *error) {
    Watch *watch = state;
    const char *why;
    if (nouts > 0 && !is_passed_over(op)) {
        const Plan *plan = eager_cuda_plan(watch->session, op, args, nargs, outs, nouts, &why);
        watch->plans++;
        if (plan) look_at_plan(watch, op, args, nargs, plan);
        else complain(watch, op, why ? why : "no plan");
    }
    return watch->cpu.run(watch->cpu.state, op, args, nargs, outs, nouts, context, error);
}

static void drop(void *state, const char *text, size_t length) { (void)state; (void)text; (void)length; }

static Watch *watch_open(Arena *arena) {
    Watch *watch = ARENA_NEW(arena, Watch);
    SessionOptions options = {.out = {NULL, drop}, .notes = {NULL, drop}, .plain = true};
    watch->session = session_open(&options);
    watch->seen = map_new(arena);
    watch->cpu = watch->session->vm->executors[DEVICE_CPU];
    watch->session->vm->executors[DEVICE_CPU] = (Executor){watch, watched_run, false};
    return watch;
}

static const char eager_preamble[] = "import torch\ntorch.compile = lambda model=None, **options: model if model is not None else (lambda f: f)\n";

/* What the cases do not have: each kind of scan and sort in each way that its kernel is made. */
static const char scans_and_sorts[] =
    "import torch\n"
    "for dtype in (torch.float32, torch.int64):\n"
    "    for shape, dim in (((5000,), 0), ((3, 100), 1), ((300, 2000), 0), ((2, 3, 4), 1), ((), 0)):\n"
    "        x = torch.ones(shape, dtype=dtype)\n"
    "        x.cumsum(dim); x.cumprod(dim); x.cummax(dim); x.cummin(dim); x.sort(dim) ; x.sort(dim, descending=True); x.topk(1, dim); x.topk(1, dim, largest=False); x.argsort(dim)\n"
    "        if dtype.is_floating_point: x.logcumsumexp(dim)\n"
    "x = torch.ones(2, 3); (x > 0).sort(1); (x > 0).cumsum(1); x.t().cumsum(0); x.exponential_(2.0); x.uniform_(1, 2); x.normal_(3, 4); x.random_(5); torch.randn(4, 4); torch.rand(3); torch.randint(5, (3, 4)); x.bernoulli_(0.5)\n";

static void run_case(Watch *watch, const char *folder, const char *name) {
    char path[1024];
    int status;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    session_run_text(watch->session, eager_preamble, "<preamble>", 1, false, NULL, NULL);
    session_run_file(watch->session, path, NULL, NULL, &status);
    session_collect(watch->session);
}

static char *read_text(Arena *arena, const char *path) {
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s", path);
    Text text = {0};
    char block[4096];
    for (size_t n; (n = fread(block, 1, sizeof block, file)) > 0;) text_put_n(&text, block, n);
    fclose(file);
    char *made = text_in(&text, arena);
    text_free(&text);
    return made;
}

/* One line in forty of the programs that are compared on a card, and the bodies of rows that a card makes of others. */
static void run_programs(Watch *watch, Arena *arena) {
    const char *top = getenv("abs_top_srcdir"), *pieces = "PIECE, PIECES = 0, 1";
    char *programs = read_text(arena, arena_printf(arena, "%s/tests/gpu/eager_programs.py", top ? top : ".")), *at = strstr(programs, pieces);
    ck_assert_ptr_nonnull(at);
    *at = '\0';
    programs = arena_printf(arena, "%sPIECE, PIECES = 3, 40%s", programs, at + strlen(pieces));
    session_run_text(watch->session, programs, "eager_programs", 1, false, NULL, NULL);
    session_run_text(watch->session, read_text(arena, arena_printf(arena, "%s/tests/library/card_bodies.py", top ? top : ".")), "card_bodies", 1, false, NULL, NULL);
}

static void run_cases(Watch *watch) {
    const char *top = getenv("abs_top_srcdir");
    char folder[900];
    snprintf(folder, sizeof folder, "%s/tests/cases", top ? top : ".");
    DIR *dir = opendir(folder);
    ck_assert_ptr_nonnull(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        size_t length = strlen(entry->d_name);
        if (length > 3 && !strcmp(entry->d_name + length - 3, ".py") && entry->d_name[0] >= '0' && entry->d_name[0] <= '9' && strncmp(entry->d_name, "073", 3) && strncmp(entry->d_name, "065", 3))
            run_case(watch, folder, entry->d_name);
    }
    closedir(dir);
}

static void check_compiles(Watch *watch, Arena *arena, const char *arch) {
    const char *why = NULL;
    if (!nvrtc_available(watch->session->runtime, &why)) {
        printf("skipped: NVRTC is not here (%s)\n", why ? why : "");
        return;
    }
    CudaBuild build = {0};
    Text source = {0};
    scalar_support_put(&source, TARGET_CUDA);
    text_put(&source, text_cstr(&watch->sources));
    bool ok = nvrtc_compile(watch->session->runtime, text_cstr(&source), arch, false, arena, &build);
    text_free(&source);
    ck_assert_msg(ok, "NVRTC for %s:\n%.2000s", arch, build.log ? build.log : "no log");
}

START_TEST(eager_ops_of_the_cases_are_kernels_on_a_card) {
    Arena *arena = arena_new("test");
    Watch *watch = watch_open(arena);
    run_cases(watch);
    run_programs(watch, arena);
    printf("%d op plans, %d distinct kernels\n", watch->plans, watch->kernels);
    ck_assert_msg(watch->missing.length == 0, "%s", text_cstr(&watch->missing));
    ck_assert(watch->kernels > 100);
    if (getenv("VITRINE_TEST_CASES")) check_compiles(watch, arena, "sm_80");
    check_compiles(watch, arena, "sm_90a");
    session_close(watch->session);
    arena_free(arena);
}
END_TEST

START_TEST(scans_sorts_and_random_numbers_are_kernels_on_a_card) {
    Arena *arena = arena_new("test");
    Watch *watch = watch_open(arena);
    ck_assert_int_eq(session_run_text(watch->session, scans_and_sorts, "<test>", 1, false, NULL, NULL), RUN_DONE);
    ck_assert_msg(watch->missing.length == 0, "%s", text_cstr(&watch->missing));
    ck_assert(watch->kernels > 60);
    if (getenv("VITRINE_TEST_CASES")) check_compiles(watch, arena, "sm_80");
    check_compiles(watch, arena, "sm_90a");
    session_close(watch->session);
    arena_free(arena);
}
END_TEST

static const char few_ops[] = "import torch as _t\n_x = _t.ones(6, 16)\n_x + _x; _x * 0.5; _x.sum(1); _x.softmax(1)\ndel _x, _t\n";

/* The kernels of common ops (of a few, without VITRINE_TEST_CASES=1) into an empty cache; a second session finds every one of them there. */
static void warm_once(const char *folder, const char *expected) {
    SessionOptions options = {.out = {NULL, drop}, .notes = {NULL, drop}, .plain = true, .cache_dir = folder};
    Session *session = session_open(&options);
    Text report = {0};
    const char *why = NULL;
    if (nvrtc_available(session->runtime, &why)) {
        bool all = getenv("VITRINE_TEST_CASES") != NULL;
        ck_assert_msg(all ? session_warm(session, &report) : session_warm_program(session, few_ops, &report), "%s", text_cstr(&report));
        ck_assert_msg(strstr(text_cstr(&report), expected) != NULL, "%s", text_cstr(&report));
    } else ck_assert(!session_warm(session, &report));
    text_free(&report);
    session_close(session);
}

START_TEST(common_kernels_are_made_ahead) {
    char folder[] = "/tmp/vitrine-warm-XXXXXX", command[64];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    warm_once(folder, ": 0 were there, ");
    warm_once(folder, " were there, 0 compiled");
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

int main(void) {
    const TTest *tests[] = {eager_ops_of_the_cases_are_kernels_on_a_card, scans_sorts_and_random_numbers_are_kernels_on_a_card, common_kernels_are_made_ahead};
    return UNIT_RUN("eager_cuda", tests, NULL, NULL);
}
