/* Commands that measure: time, bench. */
#include "repl/cmd.h"
#include "repl/json.h"
#include <math.h>
#include <string.h>

static double gbs(double bytes, double us) { return us > 0 ? bytes / us / 1e3 : (double)NAN; }
static double tflops(double flops, double us) { return us > 0 && flops > 0 ? flops / us / 1e6 : (double)NAN; }

static const char *flop_rate(CommandCall *call, double flops, double us) {
    double rate = tflops(flops, us);
    return rate < 1 ? show_rate(call->show, call->arena, rate * 1e3, "GFLOP/s") : show_rate(call->show, call->arena, rate, "TFLOP/s");
}

static bool put_json(CommandCall *call, const CallTiming *t) {
    cJSON *document = call_document(call);
    json_put(document, "call", call->rest.text);
    json_put(document, "device", t->device);
    json_time(document, "eager_us", call->show, t->eager_us);
    json_time(document, "compiled_us", call->show, t->compiled_us);
    json_time(document, "eager_wall_us", call->show, t->eager_wall_us);
    json_time(document, "wall_us", call->show, t->wall_us);
    json_time(document, "first_ms", call->show, t->first_ms);
    json_integer(document, "eager_launches", t->eager_launches);
    json_integer(document, "launches", t->launches);
    json_integer(document, "eager_bytes", t->eager_bytes);
    json_integer(document, "bytes", t->bytes);
    json_number(document, "flops", t->flops);
    json_time(document, "gbs", call->show, gbs((double)t->bytes, t->compiled_us));
    json_time(document, "copy_gbs", call->show, t->copy_gbs);
    json_time(document, "tflops", call->show, tflops(t->flops, t->compiled_us));
    json_number(document, "max_difference", t->max_difference);
    json_integer(document, "runs", t->runs);
    return true;
}

static const char *share(CommandCall *call, double rate, double of) {
    if (call->show->plain || !isfinite(rate) || of <= 0) return "--";
    return arena_printf(call->arena, "%.0f%%", 100 * rate / of);
}

static void put_row(Table *table, const char *what, const char *eager, const char *compiled, const char *remark) {
    table_cell(table, "%s", what);
    table_cell(table, "%s", eager);
    table_cell(table, "%s", compiled);
    table_cell(table, "%s", remark);
}

static void put_table(CommandCall *call, const CallTiming *t) {
    static const char *const heads[] = {"", ">eager", ">compiled", ""};
    const Show *show = call->show;
    Arena *arena = call->arena;
    Table *table = table_new(arena, 4, heads);
    double eager_rate = gbs((double)t->eager_bytes, t->eager_us), rate = gbs((double)t->bytes, t->compiled_us);
    put_row(table, "a call", show_us(show, arena, t->eager_us), show_us(show, arena, t->compiled_us),
            arena_printf(arena, "%s as fast, medians of %s", show_ratio(show, arena, t->eager_us, t->compiled_us),
                         show->plain ? "--" : arena_printf(arena, "%d", t->runs)));
    put_row(table, "to issue it", show_us(show, arena, t->eager_wall_us), show_us(show, arena, t->wall_us), "host time");
    put_row(table, "first call", "", show_us(show, arena, t->first_ms * 1000), "with compiling");
    put_row(table, "launches", arena_printf(arena, "%d", t->eager_launches), arena_printf(arena, "%d", t->launches), "");
    put_row(table, "moved", show_bytes(arena, t->eager_bytes), show_bytes(arena, t->bytes), "");
    put_row(table, "rate", show_rate(show, arena, eager_rate, "GB/s"), show_rate(show, arena, rate, "GB/s"),
            arena_printf(arena, "%s of a copy's %s", share(call, rate, t->copy_gbs), show_rate(show, arena, t->copy_gbs, "GB/s")));
    if (t->flops > 0)
        put_row(table, "arithmetic", flop_rate(call, t->flops, t->eager_us), flop_rate(call, t->flops, t->compiled_us), arena_printf(arena, "%.4g floating-point operations", t->flops));
    put_row(table, "difference", "", arena_printf(arena, "%.3g", t->max_difference), "largest, eager against compiled");
    table_print(&call->out, show, table);
}

static bool run_time(CommandCall *call) {
    CallTiming timing = {0};
    if (!session_time_call(call->session, call->rest.text, &timing)) return command_error(call, call->span, "the call could not be timed");
    if (call->json) return put_json(call, &timing);
    text_visible(&call->out, call->rest.text);
    text_printf(&call->out, " on %s\n", timing.device ? timing.device : "cpu");
    put_table(call, &timing);
    return true;
}

const Command command_time = {
    .name = "time", .group = "run", .usage = "CALL", .least = 1, .flags = COMMAND_TAKES_CODE, .complete = COMPLETE_CODE, .run = run_time,
    .summary = "time a call, eager against compiled",
    .help = "Both run on the same inputs, decorated or not; times of a call are the device's, medians, with a\n"
            "cold cache. The rate is what the launches must move, over that time, beside the rate that a copy\n"
            "reached in the same run. Example: :time f(x)",
};

/* 0 says "not measured here": null. */
static void put_measured(CommandCall *call, const char *name, double value) {
    json_time(call->document, name, call->show, value > 0 ? value : (double)NAN);
}

static bool bench_file(CommandCall *call, int word) {
    BenchResult r = {0};
    const char *path = call_word(call, word), *base = strrchr(path, '/');
    if (!session_bench(call->session, path, call->repl->options->device, &r))
        return command_error(call, call_span(call, word), "%s: the workload did not run (it defines build(), and perhaps run(f, args), BYTES, FLOPS)", path);
    cJSON *document = call_document(call);
    json_put(document, "file", r.file ? r.file : base ? base + 1 : path);
    json_put(document, "mode", r.mode ? r.mode : "default");
    put_measured(call, "eager_us", r.eager_us);
    put_measured(call, "compiled_us", r.compiled_us);
    put_measured(call, "kernel_us", r.kernel_us);
    put_measured(call, "eager_wall_us", r.eager_wall_us);
    put_measured(call, "wall_us", r.wall_us);
    put_measured(call, "first_s", r.first_s);
    put_measured(call, "warm_s", r.warm_s);
    json_number(document, "bytes", r.bytes);
    json_number(document, "flops", r.flops);
    json_integer(document, "eager_kernels", r.eager_kernels);
    json_integer(document, "kernels", r.kernels);
    put_measured(call, "copy_gbs", r.copy_gbs);
    json_number(document, "max_difference", r.max_difference);
    call_flush(call); /* a line a file, as soon as it is known */
    return true;
}

static bool run_bench(CommandCall *call) {
    for (int i = 0; i < call->words.count; i++)
        if (!bench_file(call, i)) return false;
    return true;
}

const Command command_bench = {
    .name = "bench", .group = "run", .usage = "FILE...", .least = 1, .most = -1, .flags = COMMAND_NEEDS_FILES | COMMAND_OFFERS_FILES, .complete = COMPLETE_FILE, .run = run_bench,
    .summary = "measure workload files, a JSON object a line",
    .help = "A workload defines build(), which gives a function and its arguments; optionally run(f, args), a\n"
            "step; BYTES and FLOPS, the least that a step must move and compute. Times are in microseconds:\n"
            "medians on the device with a cold cache; first_s with nothing cached.",
};
