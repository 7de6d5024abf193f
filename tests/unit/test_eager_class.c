/* Classes of single ops: plans whose sizes, strides and numbers are given at each run compute what the eager kernels compute, and serve every shape of
 * their class. Both are shown on the CPU: the same classes and plans, with kernels in C.
 *
 * A program runs on the CPU; beside each op its plan runs into memory of its own, and the results are compared. With VITRINE_TEST_CASES=1 all cases run so. */
#include "base/text.h"
#include "engine.h"
#include "eager.h"
#include "op/family.h"
#include "op/random.h"
#include "unit.h"
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Watch { Session *session; Executor cpu; Text wrong; int checked; Map *kernels; Arena *arena; bool compiles_only; } Watch;

static void complain(Watch *watch, const Op *op, const Arg *args, int nargs, const char *what) {
    Text line = {0};
    text_printf(&line, "%s(", op->name);
    for (int i = 0; i < nargs; i++) {
        if (args[i].tag == ARG_TENSOR) meta_print(&line, args[i].tensor.meta, true, false), text_put(&line, ", ");
        if (args[i].tag == ARG_INT) text_printf(&line, "%lld, ", (long long)args[i].i);
        if (args[i].tag == ARG_FLOAT) text_printf(&line, "%g, ", args[i].f);
    }
    text_printf(&line, "): %s\n", what);
    if (watch->wrong.length < 20000 && !strstr(text_cstr(&watch->wrong), text_cstr(&line))) text_put(&watch->wrong, text_cstr(&line));
    text_free(&line);
}

/* ---- comparing ---- */
static double element(DType dtype, const char *at) {
    switch (dtype) {
    case DTYPE_F64: return *(const double *)(const void *)at;
    case DTYPE_F32: return (double)*(const float *)(const void *)at;
    case DTYPE_I64: return (double)*(const int64_t *)(const void *)at;
    case DTYPE_I32: return (double)*(const int32_t *)(const void *)at;
    case DTYPE_I16: return (double)*(const int16_t *)(const void *)at;
    case DTYPE_I8: return (double)*(const signed char *)at;
    case DTYPE_U8: case DTYPE_BOOL: return (double)*(const unsigned char *)at;
    case DTYPE_BF16: {
        uint32_t bits = (uint32_t)*(const uint16_t *)(const void *)at << 16;
        float f;
        memcpy(&f, &bits, sizeof f);
        return (double)f;
    }
    default: {
        uint16_t bits = *(const uint16_t *)(const void *)at;
        int exponent = bits >> 10 & 31, fraction = bits & 1023;
        double value = exponent == 31 ? (fraction ? NAN : INFINITY) : exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
        return bits >> 15 ? -value : value;
    }
    }
}

static bool agrees(DType dtype, double a, double b) {
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
    if (a == b) return true;
    double part = !dtype_is_float(dtype) ? 0 : dtype == DTYPE_F64 ? 1e-12 : dtype == DTYPE_F32 ? 2e-5 : 2e-2;
    return fabs(a - b) <= part * (1 + fabs(a));
}

static bool same_elements(const Meta *meta, const char *a, const char *b) {
    int64_t index[MAX_RANK] = {0}, count = meta_numel(meta), size = dtype_size(meta->dtype);
    for (int64_t n = 0; n < count; n++) {
        int64_t at = meta->offset;
        for (int d = 0; d < meta->rank; d++) at += index[d] * meta->strides[d];
        if (!agrees(meta->dtype, element(meta->dtype, a + at * size), element(meta->dtype, b + at * size))) return false;
        for (int d = meta->rank - 1; d >= 0 && ++index[d] == meta->sizes[d]; d--) index[d] = 0;
    }
    return true;
}

/* ---- running both ---- */
enum { MOST = 64 };

static size_t bytes_of(const Arg *tensor) { return (size_t)(meta_storage_span(tensor->tensor.meta) * dtype_size(tensor->tensor.meta->dtype)); }

/* Room for all of the arguments that lie in the same storage. */
static void *copy_of(const Arg *tensor, const Arg *args, int nargs) {
    size_t bytes = bytes_of(tensor);
    for (int i = 0; i < nargs; i++)
        if (args[i].tag == ARG_TENSOR && args[i].tensor.data == tensor->tensor.data && bytes_of(&args[i]) > bytes) bytes = bytes_of(&args[i]);
    char *copy = aligned_alloc(64, (bytes + 127) / 64 * 64);
    if (bytes && tensor->tensor.data) memcpy(copy, tensor->tensor.data, bytes);
    return copy;
}

static bool run_plan(Watch *watch, const Op *op, const Arg *args, int nargs, Arg *outs, int nouts, const OpContext *context, OpError *error) {
    Arg mine[MOST];
    bool inplace = op_has(op, TRAIT_INPLACE);
    for (int i = 0; i < nargs; i++) mine[i] = args[i];
    for (int i = 0; inplace && i < nargs; i++)
        if (args[i].tag == ARG_TENSOR && args[i].tensor.data == args[0].tensor.data) mine[i].tensor.data = outs[0].tensor.data;
    return eager_cuda_run(watch->session, op, mine, nargs, inplace ? mine : outs, nouts, context, error);
}

static bool is_watched(const Op *op, int nargs, int nouts) { return nouts > 0 && nouts <= MOST && nargs <= MOST && !op_has(op, TRAIT_RANDOM) && !op_has(op, TRAIT_SYNC) && !strstr(op->name, "empty"); }

static void count_kernels(Watch *watch, const Op *op, const Arg *args, int nargs, const Arg *outs, int nouts) {
    const char *why;
    const Plan *plan = eager_cuda_plan(watch->session, op, args, nargs, outs, nouts, &why);
    if (!plan) complain(watch, op, args, nargs, why);
    for (int i = 0; plan && i < plan->kernels.count; i++) map_put(watch->kernels, map_key((int64_t)(plan->kernels.at[i]->body_hash | 1)), watch);
}

static bool watched_run(void *state, const Op *op, const Arg *args, int nargs, const Arg *outs, int nouts, const OpContext *context, OpError *error) {
    Watch *watch = state;
    if (!is_watched(op, nargs, nouts)) return watch->cpu.run(watch->cpu.state, op, args, nargs, outs, nouts, context, error);
    if (watch->compiles_only) {
        count_kernels(watch, op, args, nargs, outs, nouts);
        return watch->cpu.run(watch->cpu.state, op, args, nargs, outs, nouts, context, error);
    }
    Arg copies[MOST];
    OpError other = {0};
    for (int i = 0; i < nouts; i++) copies[i] = outs[i], copies[i].tensor.data = copy_of(&outs[i], args, nargs);
    bool good = run_plan(watch, op, args, nargs, copies, nouts, context, &other);
    bool expected = watch->cpu.run(watch->cpu.state, op, args, nargs, outs, nouts, context, error);
    if (expected && !good) complain(watch, op, args, nargs, other.message);
    for (int i = 0; i < nouts && expected && good; i++)
        if (!same_elements(outs[i].tensor.meta, outs[i].tensor.data, copies[i].tensor.data)) complain(watch, op, args, nargs, "another result");
    for (int i = 0; i < nouts; i++) free(copies[i].tensor.data);
    watch->checked++;
    return expected;
}

static void drop(void *state, const char *text, size_t length) { (void)state; (void)text; (void)length; }
static void show(void *state, const char *text, size_t length) { (void)state; fwrite(text, 1, length, stderr); }

static Watch *watch_open(bool compiles_only) {
    Arena *arena = arena_new("test");
    Watch *watch = ARENA_NEW(arena, Watch);
    SessionOptions options = {.out = {NULL, drop}, .notes = {NULL, show}, .plain = true};
    *watch = (Watch){.arena = arena, .kernels = map_new(arena), .compiles_only = compiles_only};
    watch->session = session_open(&options);
    watch->cpu = watch->session->vm->executors[DEVICE_CPU];
    watch->session->vm->executors[DEVICE_CPU] = (Executor){watch, watched_run, false};
    session_run_text(watch->session, "import torch\nimport torch.nn.functional as F\ntorch.compile = lambda model=None, **options: model if model is not None else (lambda f: f)\n", "<preamble>", 1, false, NULL, NULL);
    return watch;
}

static void watch_close(Watch *watch) {
    session_close(watch->session);
    text_free(&watch->wrong);
    arena_free(watch->arena);
}

static void run(Watch *watch, const char *text) {
    ck_assert_int_eq(session_run_text(watch->session, text, "<test>", 1, false, NULL, NULL), RUN_DONE);
}

/* ---- the tests ---- */
static const char pointwise_program[] =
    "torch.manual_seed(0)\n"
    "def values(*size, dtype=torch.float32):\n"
    "    x = torch.randn(*size) * 3\n"
    "    return x.to(dtype) if dtype is not torch.bool else x > 0\n"
    "for n, m in ((8, 12), (5, 7), (16, 1), (1, 9), (3, 4)):\n"
    "    for dtype in (torch.float32, torch.bfloat16, torch.int64):\n"
    "        x, y, row, column = values(n, m, dtype=dtype), values(n, m, dtype=dtype), values(m, dtype=dtype), values(n, 1, dtype=dtype)\n"
    "        x + y; x + row; x * column; row - x; x.t() + y.t(); x.t() * 2; x * 0.5 + y; x - 3; x + y.t().contiguous().t()\n"
    "        x[:, ::2] + y[:, ::2]; x[1:] * 1.5; torch.where(x > 0, x, y); x > 0.25; x.to(torch.float64); x.clone()\n"
    "        torch.add(x, y, alpha=3); x.clamp(-1, 1); x.abs(); torch.maximum(x, row); row[0] * x; x * row[0]; (x > 0) & (y > 0)\n"
    "        z = x.clone(); z += y; z.mul_(2); z[:, :2] += 1; z.t().add_(y.t()); z[0] = 5; z.fill_(3); z.copy_(y); z[::2] = y[::2]; z.add_(z)\n"
    "    u = values(2, n, m)\n"
    "    u + u.permute(2, 0, 1).contiguous().permute(1, 2, 0); u.transpose(0, 2) * u.transpose(0, 2); u.expand(3, 2, n, m) + 1; u * u[:, :1]; u.sigmoid(); u.exp(); F.gelu(u); F.silu(u)\n"
    "    torch.zeros(n, m); torch.full((n, m), 2.5); torch.full((n,), 7); torch.arange(n * m); torch.arange(2, 2 + n); torch.ones_like(u); torch.arange(0, n, 0.5)\n";

static const char reducing_program[] =
    "torch.manual_seed(0)\n"
    "for n, m in ((4, 8), (5, 7), (40, 3), (1, 6), (6, 300)):\n"
    "    for dtype in (torch.float32, torch.int64):\n"
    "        x = (torch.randn(n, m) * 3).to(dtype)\n"
    "        x.sum(); x.sum(0); x.sum(1); x.amax(1); x.max(0); x.argmin(1); x.t().sum(1); x[:, 1:].sum(1); x.prod(1); (x > 0).any(0); x.sum((0, 1), keepdim=True)\n"
    "    x = torch.randn(3, n, m)\n"
    "    x.mean(1); x.mean((0, 2)); x.var(2); x.std(0); x.softmax(-1); x.log_softmax(1); x.logsumexp(2); F.layer_norm(x, (m,)); F.layer_norm(x, (n, m), torch.ones(n, m), torch.zeros(n, m))\n"
    "    F.rms_norm(x, (m,)); x.norm(); F.cross_entropy(x[0], torch.zeros(n, dtype=torch.int64)); x.bfloat16().softmax(-1); F.group_norm(torch.randn(2, 4, n), 2)\n"
    "    torch.cat([x, x[:1]]); torch.cat([x, x[:, :, :2]], 2); torch.stack([x, x], 1); x.gather(2, torch.zeros(3, n, 1, dtype=torch.int64)); x.index_select(1, torch.tensor([0, n - 1])); x[x[0, 0].argmax() * 0]; x.flip(1)\n"
    "    torch.tril(x); x.roll(1, 2); F.pad(x, (1, 2)); F.embedding(torch.zeros(2, 3, dtype=torch.int64), x[0]); torch.zeros(n, m).scatter_add(1, torch.zeros(n, 2, dtype=torch.int64), x[0]); x[:, 0] @ x[0].t(); x @ x.transpose(1, 2)\n"
    "    x.repeat(1, 2, 1); x.reshape(-1).view(n, 3, m) + 1; x.cumsum(1); x.sort(2); x.topk(2, 1) if n > 1 else None; x[:, [0, -1]]; x[x > 0] ; x.transpose(1, 2).contiguous()\n";

static void check_program(const char *text) {
    Watch *watch = watch_open(false);
    run(watch, text);
    printf("%d ops by %d plans\n", watch->checked, eager_cuda_plans(watch->session));
    ck_assert_msg(watch->wrong.length == 0, "%s", text_cstr(&watch->wrong));
    ck_assert_int_gt(watch->checked, 100);
    watch_close(watch);
}

START_TEST(pointwise_classes_agree) { check_program(pointwise_program); } END_TEST
START_TEST(classes_of_other_ops_agree) { check_program(reducing_program); } END_TEST

/* Kernels made by the first shapes serve all others of their classes. */
static void check_serves(const char *first, const char *others) {
    Watch *watch = watch_open(true);
    run(watch, first);
    int kernels = map_count(watch->kernels);
    ck_assert_int_gt(kernels, 0);
    run(watch, others);
    ck_assert_msg(watch->wrong.length == 0, "%s", text_cstr(&watch->wrong));
    ck_assert_int_eq(map_count(watch->kernels), kernels);
    watch_close(watch);
}

START_TEST(one_kernel_serves_all_sizes) {
    check_serves("x = torch.ones(12, 16); y = x * 0.5 + x; y.relu(); y.exp(); y += x; x.t() + y.t(); (x + x[0])",
                 "for n in range(2, 40):\n    for m in (4, 8, 20, 64):\n        x = torch.ones(n + m, m); y = x * float(n) + x; (x * 0.25); y.relu(); y.exp(); y += x; x.t() + y.t(); (x + x[0])\n"
                 "for shape in ((16,), (2, 3, 4), (2, 2, 5, 8)): x = torch.ones(shape); y = x * 1.5 + x; y.relu(); y.exp(); y += x\n");
    check_serves("for n in (5, 9): x = torch.ones(n, 7); x + x; x * 2.0; x[:, 1:] + 1.0",
                 "for n in range(3, 30, 2):\n    for m in (5, 9, 33): x = torch.ones(n, m); x + x; x * 3.0; x[:, 1:] + float(n)\n");
    check_serves("x = torch.ones(24, 28); x.sum(1); x.softmax(1); torch.arange(30)",
                 "for n in range(17, 33):\n    for m in (16, 20, 24, 32):\n        if n != m: x = torch.ones(n, m); x.sum(1); x.softmax(1); torch.arange(6 * n * m)\n");
}
END_TEST

/* What PyTorch does in one kernel is one here. */
typedef struct Launches { Watch *watch; int launches; } Launches;

static bool counted_run(void *state, const Op *op, const Arg *args, int nargs, const Arg *outs, int nouts, const OpContext *context, OpError *error) {
    Launches *l = state;
    const char *why;
    const Plan *plan = nouts > 0 ? eager_cuda_plan(l->watch->session, op, args, nargs, outs, nouts, &why) : NULL;
    if (plan) l->launches += plan->launches.count;
    if (op->family != FAMILY_DECOMPOSED) return l->watch->cpu.run(l->watch->cpu.state, op, args, nargs, outs, nouts, context, error);
    for (int i = 0; i < nouts; i++) memset(outs[i].tensor.data, 0, (size_t)meta_bytes(outs[i].tensor.meta));
    return true;
}

START_TEST(rows_with_a_body_are_one_kernel) {
    static const struct { const char *text; int launches; } table[] = {
        {"x.softmax(-1)", 1}, {"x.log_softmax(-1)", 1}, {"F.layer_norm(x, (512,), w, w)", 1}, {"x.softmax(0)", 1}, {"x.bfloat16()", 1}, {"F.gelu(x)", 1}, {"x.var(1)", 1}, {"x.logsumexp(1)", 1},
    };
    Watch *watch = watch_open(true);
    run(watch, "x = torch.randn(300, 512); w = torch.ones(512)\n");
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        Launches l = {.watch = watch};
        watch->session->vm->executors[DEVICE_CPU] = (Executor){&l, counted_run, true};
        run(watch, table[i].text);
        ck_assert_msg(l.launches == table[i].launches, "%s: %d launches", table[i].text, l.launches);
    }
    watch_close(watch);
}
END_TEST

/* The card's stream and the CPU's numbers are apart, and a saved state holds both. */
START_TEST(streams_are_apart) {
    Arena *arena = arena_new("test");
    Generator *a = rng_new(arena), *b = rng_new(arena);
    unsigned char state[GENERATOR_STATE_BYTES];
    uint64_t seed, offset, again;
    rng_seed(a, 5), rng_seed(b, 5);
    rng_stream(a, 3, &seed, &offset);
    ck_assert_uint_eq(seed, 5);
    ck_assert_uint_eq(offset, 0);
    ck_assert_uint_eq(rng_next(a), rng_next(b));
    rng_save(a, state);
    rng_stream(a, 1, &seed, &offset);
    ck_assert_uint_eq(offset, 3);
    ck_assert(rng_load(a, state, sizeof state));
    rng_stream(a, 1, &seed, &again);
    ck_assert_uint_eq(again, 3);
    rng_seed_stream(a, 9);
    rng_stream(a, 1, &seed, &offset);
    ck_assert_uint_eq(seed, 9);
    ck_assert_uint_eq(offset, 0);
    ck_assert_uint_eq(rng_next(a), rng_next(b));
    arena_free(arena);
}
END_TEST

/* The program that a card is compared by, as it runs on a card: every op is its plan, and rows with a body come whole. Lines of words and numbers. */
static void keep(void *state, const char *text, size_t length) { text_put_n(state, text, length); }

static bool run_by_plan(void *state, const Op *op, const Arg *args, int nargs, const Arg *outs, int nouts, const OpContext *context, OpError *error) {
    return nouts == 0 || eager_cuda_run(state, op, args, nargs, outs, nouts, context, error);
}

static void run_program_of_the_card(bool by_plans, Text *out) {
    const char *top = getenv("abs_top_srcdir"), *path = getenv("VITRINE_TEST_PROGRAM");
    char standard[2048];
    int status;
    SessionOptions options = {.out = {out, keep}, .notes = {NULL, show}, .plain = true};
    Session *session = session_open(&options);
    snprintf(standard, sizeof standard, "%s/tests/gpu/eager_programs.py", top ? top : ".");
    if (by_plans) session->vm->executors[DEVICE_CPU] = (Executor){session, run_by_plan, true};
    ck_assert_int_eq(session_run_file(session, path ? path : standard, NULL, NULL, &status), RUN_DONE);
    session_close(session);
}

/* Words equal, numbers as near as 16-bit values are. */
static bool same_line(const char *a, const char *b) {
    while (*a && *a != '\n' && *b && *b != '\n') {
        char *a_end, *b_end;
        double x = strtod(a, &a_end), y = strtod(b, &b_end);
        if (a_end != a && b_end != b) {
            if (!(isnan(x) && isnan(y)) && x != y && !(fabs(x - y) <= 0.03 * (1 + fabs(x)))) return false;
            a = a_end, b = b_end;
        } else if (*a++ != *b++) return false;
    }
    return (*a == '\n' || !*a) == (*b == '\n' || !*b);
}

/* Every class of the program compiles for a card. Values are those of the CPU, but for rows with a body. */
static bool made_for_card(void *state, const Op *op, const Arg *args, int nargs, const Arg *outs, int nouts, const OpContext *context, OpError *error) {
    Watch *watch = state;
    const char *why = NULL;
    if (is_watched(op, nargs, nouts) && !eager_cuda_plan(watch->session, op, args, nargs, outs, nouts, &why)) complain(watch, op, args, nargs, why);
    if (op->family != FAMILY_DECOMPOSED) return watch->cpu.run(watch->cpu.state, op, args, nargs, outs, nouts, context, error);
    for (int i = 0; i < nouts; i++) memset(outs[i].tensor.data, 0, (size_t)meta_bytes(outs[i].tensor.meta));
    return true;
}

START_TEST(programs_of_the_card_compile) {
    const char *top = getenv("abs_top_srcdir");
    char path[2048];
    int status;
    Watch *watch = watch_open(true);
    watch->session->vm->executors[DEVICE_CPU] = (Executor){watch, made_for_card, true};
    snprintf(path, sizeof path, "%s/tests/gpu/eager_programs.py", top ? top : ".");
    ck_assert_int_eq(session_run_file(watch->session, path, NULL, NULL, &status), RUN_DONE);
    printf("%d plans\n", eager_cuda_plans(watch->session));
    ck_assert_msg(watch->wrong.length == 0, "%s", text_cstr(&watch->wrong));
    watch_close(watch);
}
END_TEST

/* Classes whose plan could not be made: op by op on the host, or by the row's body, with a note each. */
static const char program_without_plans[] =
    "import torch\nimport torch.nn.functional as F\ntorch.manual_seed(0)\n"
    "x = (torch.arange(48) * 0.7).sin().reshape(6, 8); w = torch.ones(8); z = x.clone(); z[:, 1:3].add_(1); z.t().mul_(2); z[0] = 5; y = x.clone().requires_grad_()\n"
    "F.layer_norm(y, (8,)).pow(2).sum().backward()\n"
    "print(z.tolist(), (x + w).tolist(), x.softmax(1).tolist(), x.sort(1)[1].tolist(), x[:, ::2].sum(0).tolist(), torch.cat([x, x.t().reshape(6, 8)]).tolist(), (x @ x.t()).tolist(), y.grad.tolist(), torch.arange(5).tolist(), F.layer_norm(x, (8,), w, w).tolist())\n";

static void spoil_plans(Session *session) {
    for (int i = 0; i < session->eager_plans->slot_count; i++)
        if (session->eager_plans->slots[i] && !session->eager_plans->slots[i]->go_exact) session->eager_plans->slots[i]->error = "made to fail";
}

START_TEST(classes_without_a_plan_run_all_the_same) {
    Text out[2] = {{0}}, notes = {0};
    for (int spoilt = 0; spoilt < 2; spoilt++) {
        SessionOptions options = {.out = {&out[spoilt], keep}, .notes = {&notes, keep}, .plain = true};
        Session *session = session_open(&options);
        session->vm->executors[DEVICE_CPU] = (Executor){session, run_by_plan, true};
        for (int i = 0; i < 1 + spoilt; i++) {
            ck_assert_int_eq(session_run_text(session, program_without_plans, "<test>", 1, false, NULL, NULL), RUN_DONE);
            if (spoilt && i == 0) spoil_plans(session), text_free(&out[1]);
        }
        session_close(session);
    }
    ck_assert_msg(same_line(text_cstr(&out[0]), text_cstr(&out[1])), "%.1500s\n%.1500s", text_cstr(&out[0]), text_cstr(&out[1]));
    ck_assert_ptr_nonnull(strstr(text_cstr(&notes), "has no CUDA kernel: it runs on the CPU, with copies there and back: made to fail"));
    ck_assert_ptr_nonnull(strstr(text_cstr(&notes), "its body runs op by op: made to fail"));
    text_free(&out[0]), text_free(&out[1]), text_free(&notes);
}
END_TEST

START_TEST(programs_of_the_card_agree) {
    Text expected = {0}, actual = {0}, wrong = {0};
    if (!getenv("VITRINE_TEST_CASES")) return;
    run_program_of_the_card(false, &expected);
    run_program_of_the_card(true, &actual);
    const char *a = text_cstr(&expected), *b = text_cstr(&actual);
    while (*a && *b) {
        int a_length = (int)strcspn(a, "\n"), b_length = (int)strcspn(b, "\n");
        if (!same_line(a, b) && wrong.length < 20000) text_printf(&wrong, "- %.*s\n+ %.*s\n", a_length, a, b_length, b);
        a += a_length + (a[a_length] == '\n'), b += b_length + (b[b_length] == '\n');
    }
    ck_assert_msg(wrong.length == 0 && !*a && !*b, "%s", text_cstr(&wrong));
    text_free(&expected), text_free(&actual), text_free(&wrong);
}
END_TEST

START_TEST(cases_agree) {
    const char *top = getenv("abs_top_srcdir");
    char path[2048];
    if (!getenv("VITRINE_TEST_CASES")) return;
    Watch *watch = watch_open(false);
    snprintf(path, sizeof path, "%s/tests/cases", top ? top : ".");
    DIR *dir = opendir(path);
    ck_assert_ptr_nonnull(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        size_t length = strlen(entry->d_name);
        int status;
        if (length < 4 || strcmp(entry->d_name + length - 3, ".py") || !strncmp(entry->d_name, "073", 3) || !strncmp(entry->d_name, "065", 3)) continue;
        snprintf(path, sizeof path, "%s/tests/cases/%s", top ? top : ".", entry->d_name);
        session_run_file(watch->session, path, NULL, NULL, &status);
        session_collect(watch->session);
    }
    closedir(dir);
    printf("%d ops by %d plans\n", watch->checked, eager_cuda_plans(watch->session));
    ck_assert_msg(watch->wrong.length == 0, "%s", text_cstr(&watch->wrong));
    watch_close(watch);
}
END_TEST

int main(void) {
    const TTest *tests[] = {pointwise_classes_agree, classes_of_other_ops_agree, one_kernel_serves_all_sizes, rows_with_a_body_are_one_kernel, streams_are_apart, programs_of_the_card_compile, classes_without_a_plan_run_all_the_same, programs_of_the_card_agree, cases_agree};
    return UNIT_RUN("eager_class", tests, NULL, NULL);
}
