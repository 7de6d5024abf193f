/* Eager warm: the kernels of common single ops, made ahead into the disk cache: vitrine --warm. No card is needed, the toolkit's compiler is.
 *
 * In: nothing but the architecture (--arch, or the card's). Out: kernels on disk, compiled in few compiler calls side by side.
 * A program of the language calls each op on small CPU tensors; beside each call the plan is made that it would have on a card, and its kernels are
 * kept. Since a class of calls has one kernel (eager.h), a few shapes stand for all.
 * To add an op: a word in the program. Invariant: what the program computes is thrown away; the session is the caller's and can go on. */
#include "eager.h"

typedef struct Warm { Session *session; Executor cpu; Arena *arena; Map *seen; VEC(const Kernel *) kernels; } Warm;

static const char program[] =
    "import torch as _t\n"
    "import torch.nn.functional as _F\n"
    "def _warm():\n"
    "    for dtype in (_t.float32, _t.bfloat16, _t.float16, _t.int64, _t.float64):\n"
    "        floating = dtype.is_floating_point\n"
    "        for n, m in ((6, 16), (6, 15)):\n"
    "            x = _t.ones(n, m, dtype=dtype); row = x[0]; column = x[:, :1]; s = x[0, 0]\n"
    "            x + x; x - x; x * x; x + row; x * row; x - column; x * column; x * s; x + 2; x * 2; x - 1; 1 - x; -x; x > 0; x == x; x < x; x.abs(); x.clone(); x.t().contiguous()\n"
    "            y = x.clone(); y += x; y *= x; y -= x; y += 1; y *= 2; y.zero_(); y.fill_(1); y.copy_(x); y.clamp_(0, 1); _t.where(x > 0, x, y); x.clamp(0, 1); _t.maximum(x, y); x.to(_t.float32); x.sum(); x.sum(0); x.sum(1)\n"
    "            _t.zeros(n, m, dtype=dtype); _t.ones(n, m, dtype=dtype); _t.full((n, m), 2, dtype=dtype); x.amax(1); x.argmax(1); x.cumsum(1); _t.cat([x, x]); x[_t.tensor([0, 1])]\n"
    "            if not floating: continue\n"
    "            x / x; x * 0.5; x + 0.5; x / 2.0; x ** 2; x.exp(); x.log(); x.sqrt(); x.rsqrt(); x.tanh(); x.sigmoid(); x.relu(); _F.gelu(x); _F.silu(x); _t.add(x, x, alpha=-0.1); y.add_(x, alpha=-0.1); y.mul_(0.9); y.addcmul_(x, x, value=0.1); y.addcdiv_(x, x, value=-0.1); y.lerp_(x, 0.1)\n"
    "            x.to(_t.bfloat16); x.to(_t.float16); x.to(_t.float64); x.mean(); x.mean(1); x.var(1); _F.dropout(x); x.norm()\n"
    "        if not floating: continue\n"
    "        for m in (16, 128, 512, 1024, 4096):\n"
    "            x = _t.ones(20, m, dtype=dtype); w = x[0].clone()\n"
    "            x.softmax(1); x.log_softmax(1); _F.layer_norm(x, (m,), w, w); _F.rms_norm(x, (m,), w); x.sum(1); x.mean(1); x.amax(1)\n"
    "    _t.arange(16); _t.arange(15); _t.rand(16); _t.randn(16); _t.randint(5, (16,)); _F.cross_entropy(_t.ones(8, 16), _t.zeros(8, dtype=_t.int64)); _F.mse_loss(_t.ones(16), _t.ones(16))\n"
    "_warm()\n"
    "del _warm, _t, _F\n";

static void keep_kernels(Warm *warm, const Plan *plan) {
    for (int i = 0; i < plan->kernels.count; i++) {
        const void *key = map_key((int64_t)(plan->kernels.at[i]->body_hash | 1));
        if (map_has(warm->seen, key)) continue;
        map_put(warm->seen, key, warm);
        vec_push_in(warm->arena, &warm->kernels, plan->kernels.at[i]);
    }
}

static bool warm_run(void *state, const Op *op, const Arg *args, int nargs, const Arg *outs, int nouts, const OpContext *context, OpError *error) {
    Warm *warm = state;
    const char *why;
    const Plan *plan = nouts > 0 && !op_has(op, TRAIT_SYNC) ? eager_cuda_plan(warm->session, op, args, nargs, outs, nouts, &why) : NULL;
    if (plan) keep_kernels(warm, plan);
    if (op->family == FAMILY_DECOMPOSED) return true; /* it came whole, for its plan: values are of no use here */
    return warm->cpu.run(warm->cpu.state, op, args, nargs, outs, nouts, context, error);
}

bool session_warm_program(Session *session, const char *text, Text *report) {
    Arena *arena = arena_new("warm");
    Warm warm = {.session = session, .arena = arena, .seen = map_new(arena)};
    CompileReport compiled = {0};
    OpError error = {0};
    const char *why = NULL;
    Executor *cpu = &session->vm->executors[DEVICE_CPU];
    warm.cpu = *cpu;
    *cpu = (Executor){&warm, warm_run, true};
    bool good = nvrtc_available(session->runtime, &why) || op_error(&error, ERROR_RUNTIME, "%s", why ? why : "NVRTC was not found");
    Device former = session->vm->default_device;
    session->vm->default_device = (Device){DEVICE_CPU, 0};
    if (good && session_run_text(session, text, "<warm>", 1, false, NULL, NULL) != RUN_DONE) good = op_error(&error, ERROR_RUNTIME, "the program of common ops failed");
    session->vm->default_device = former;
    *cpu = warm.cpu;
    good = good && kernels_compile(session->runtime, warm.kernels.at, warm.kernels.count, &compiled, &error);
    if (good) text_printf(report, "%d kernels for %s: %d were there, %d compiled in %.1f s\n", compiled.kernels, cuda_arch(session->runtime), compiled.cached, compiled.kernels - compiled.cached, compiled.seconds);
    else text_printf(report, "no kernels made: %s\n", error.message);
    arena_free(arena);
    return good;
}

bool session_warm(Session *session, Text *report) { return session_warm_program(session, program, report); }
