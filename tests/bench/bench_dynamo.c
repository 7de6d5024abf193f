/* What dynamo costs a call: the check of a frame's guards, warm, for frames of many tensor inputs. Run by scripts/bench-dynamo.
 *
 *     50 tensors as arguments                          412 ns a check
 *     50 parameters of a module                       1530 ns a check
 *
 *   100 ops written out          102 nodes      0.90 ms to capture    9.00 us an op
 *
 * The frame is made as a call makes it; then its entry's guards are checked a million times, in 200 rounds; the best counts. */
#include "session.h"
#include "vm/vm.h"
#include <stdio.h>
#include <string.h>

typedef struct Workload { const char *title, *setup, *function; int args; } Workload;

static const char arguments_text[] =
    "import torch\n"
    "xs = [torch.ones(4, 3 + i % 5) for i in range(50)]\n"
    "names = ', '.join([f'x{i}' for i in range(50)])\n";

static double nanoseconds_a_check(Session *session, Frame *frame, Entry *entry) {
    enum { CHECKS = 5000, ROUNDS = 200 };
    double best = 1e30;
    for (int round = 0; round < ROUNDS; round++) {
        double start = clock_us();
        for (int i = 0; i < CHECKS; i++)
            if (guards_check(&entry->guards, session->vm, frame)) return -1;
        double each = (clock_us() - start) * 1000 / CHECKS;
        if (each < best) best = each;
    }
    return best;
}

static void report(Session *session, const char *title, const char *function, Value *args, int nargs) {
    VM *vm = session->vm;
    Value callee = dict_get_name(vm, vm->main->dict, intern(vm->lang->names, function));
    callee = dynamo_inner(callee);
    Function *f = (Function *)callee.o;
    CodeCache *cache = f->code->cache;
    if (!value_is(callee, OBJ_FUNCTION) || !cache || !cache->entries.count) {
        printf("%-46s not compiled\n", title);
        return;
    }
    Frame *frame = frame_new(vm, f, f->code, f->globals);
    if (frame_bind(vm, frame, args, nargs, NULL)) {
        Entry *entry = cache->entries.at[cache->entries.count - 1];
        printf("%-46s %5d guards %8.0f ns a check\n", title, entry->guards.all.count, nanoseconds_a_check(session, frame, entry));
    }
    frame_free(vm, frame);
}

static void run_text(Session *session, const char *text) {
    if (session_run_text(session, text, "<bench>", 1, false, NULL, NULL)) exit(1);
}

static void bench_arguments(Session *session, const char *title, const char *function, const char *options, int calls) {
    VM *vm = session->vm;
    Text text = {0};
    text_put(&text, arguments_text);
    text_printf(&text, "@torch.compile(%s)\ndef %s(", options, function);
    for (int i = 0; i < 50; i++) text_printf(&text, "%sx%d", i ? ", " : "", i);
    text_put(&text, "):\n    return ");
    for (int i = 0; i < 50; i++) text_printf(&text, "%sx%d.sum()", i ? " + " : "", i);
    text_char(&text, '\n');
    for (int i = 0; i < calls; i++) text_printf(&text, "xs = [torch.ones(%d, 3 + i %% 5) for i in range(50)]\n%s(*xs)\n", 4 + i, function);
    run_text(session, text_cstr(&text));
    text_free(&text);
    Value xs = dict_get_name(vm, vm->main->dict, intern(vm->lang->names, "xs"));
    report(session, title, function, ((List *)xs.o)->items, 50);
}

static void bench_module(Session *session) {
    VM *vm = session->vm;
    run_text(session, "import torch\nimport torch.nn as nn\n"
                      "class Many(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.ps = nn.ParameterList([torch.ones(3, 4) for i in range(50)])\n"
                      "many = Many()\n"
                      "@torch.compile\ndef use(m, x):\n    for p in m.ps:\n        x = x + p\n    return x\n"
                      "x = torch.ones(3, 4)\nuse(many, x)\n");
    Value args[2] = {dict_get_name(vm, vm->main->dict, intern(vm->lang->names, "many")), dict_get_name(vm, vm->main->dict, intern(vm->lang->names, "x"))};
    report(session, "a module with 50 parameters", "use", args, 2);
}

/* A frame of n ops, captured anew each time: written out, or as the turns of a loop that is unrolled. */
static void frame_text(Text *text, bool loop, int ops) {
    text_printf(text, "import torch\n@torch.compile(backend='eager')\ndef many_%d_%d(x, y):\n", loop, ops);
    if (loop) text_printf(text, "    for i in range(%d):\n        x = x * y\n        x = x + i\n", ops / 2);
    for (int i = 0; !loop && i < ops; i++) text_printf(text, i % 2 ? "    x = x + %d\n" : "    x = x * y\n", i);
    text_printf(text, "    return x\nmany_%d_%d(torch.ones(4), torch.ones(4))\n", loop, ops);
}

static void bench_capture(Session *session, bool loop, int ops) {
    double best = 1e30;
    int nodes = 0;
    for (int round = 0; round < 5; round++) {
        Text text = {0};
        frame_text(&text, loop, ops);
        run_text(session, text_cstr(&text));
        text_free(&text);
        const Entry *entry = session->dynamo->entries.at[session->dynamo->entries.count - 1];
        nodes = entry->graph->nodes.count;
        if (entry->capture_ms < best) best = entry->capture_ms;
    }
    printf("%5d ops %-24s %7d nodes  %8.2f ms to capture  %6.2f us an op\n", ops, loop ? "in an unrolled loop" : "written out", nodes, best, best * 1000 / ops);
}

int main(void) {
    SessionOptions options = {.plain = true, .arch = NULL};
    Session *session = session_open(&options);
    bench_arguments(session, "50 tensor arguments", "static_sizes", "", 1);
    bench_arguments(session, "50 tensor arguments, one size dynamic in each", "dynamic_sizes", "", 2);
    bench_module(session);
    for (int loop = 0; loop < 2; loop++)
        for (int ops = 100; ops <= 10000; ops *= 10) bench_capture(session, loop, ops);
    session_close(session);
    return 0;
}
