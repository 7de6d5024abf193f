/* Settings, one row each; and what an op's row says. See engine.h.
 *
 * To add a setting: a row in `settings` with how it is read and written. */
#include "session.h"
#include "vm/formula.h"
#include "vm/torch_library.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

typedef enum SettingKind { SETTING_BOOL, SETTING_INT, SETTING_DOUBLE, SETTING_POLICY, SETTING_DEVICE, SETTING_OPS, SETTING_PARTITION } SettingKind;
typedef struct Setting { const char *name; SettingKind kind; void *(*place)(Session *session); double low, high; const char *meaning; } Setting;

#define POLICY_PLACE(field) static void *place_##field(Session *session) { return &session->policy.field; }
POLICY_PLACE(memory_budget)
POLICY_PLACE(partition)
POLICY_PLACE(emulate_precision_casts)
POLICY_PLACE(fallback_random)
POLICY_PLACE(fuse_vertical)
POLICY_PLACE(keep_whole)
POLICY_PLACE(fuse_horizontal)
POLICY_PLACE(max_fusion_size)
POLICY_PLACE(epilogue_in_library)
POLICY_PLACE(time_candidates)
static void *place_device(Session *session) { return &session->vm->default_device; }
static void *place_name(Session *session) { return &session->policy.name; }
static void *place_limit(Session *session) { return &session->dynamo->recompile_limit; }
static void *place_nodes(Session *session) { return &session->dynamo->node_limit; }
static void *place_recursion(Session *session) { return &session->vm->limits.recursion; }

static const Setting settings[] = {
    {"policy", SETTING_POLICY, place_name, 0, 0, "who decides: best (fastest) or pytorch (what PyTorch 2.11 would do)"},
    {"device", SETTING_DEVICE, place_device, 0, 0, "where tensors are made when the program names no device: cpu, cuda or cuda:N"},
    {"partition", SETTING_PARTITION, place_partition, 0, 0, "what is saved for backward: best (fewest bytes, no slower), pytorch (its min-cut), aggressive or save_all"},
    {"memory_budget", SETTING_DOUBLE, place_memory_budget, 0, 1, "share of the saved bytes that backward may use; below 1 more is recomputed"},
    {"emulate_precision_casts", SETTING_BOOL, place_emulate_precision_casts, 0, 1, "round 16-bit values after each op inside a fused kernel"},
    {"fallback_random", SETTING_BOOL, place_fallback_random, 0, 1, "compiled random ops give eager's numbers"},
    {"keep_whole", SETTING_OPS, place_keep_whole, 0, 0, "ops with a body that stay one node until they are lowered: names with commas between, or none"},
    {"fuse_vertical", SETTING_BOOL, place_fuse_vertical, 0, 1, "fuse producers into consumers"},
    {"fuse_horizontal", SETTING_BOOL, place_fuse_horizontal, 0, 1, "fuse loops side by side"},
    {"max_fusion_size", SETTING_INT, place_max_fusion_size, 1, 4096, "most nodes in one kernel"},
    {"epilogue_in_library", SETTING_BOOL, place_epilogue_in_library, 0, 1, "let a matmul's library call take bias, relu or gelu along"},
    {"time_candidates", SETTING_BOOL, place_time_candidates, 0, 1, "time matmul candidates where a card is there"},
    {"recompile_limit", SETTING_INT, place_limit, 1, 1024, "entries a code object may have"},
    {"node_limit", SETTING_INT, place_nodes, 1, 100000000, "nodes that a captured graph may have: a loop that goes on runs eagerly"},
    {"recursion_limit", SETTING_INT, place_recursion, 10, 100000, "depth of calls of the language"},
};
enum { SETTING_COUNT = sizeof settings / sizeof *settings };

static bool set_bool(bool *place, const char *value) {
    bool on = !strcmp(value, "on") || !strcmp(value, "true") || !strcmp(value, "True") || !strcmp(value, "1");
    bool off = !strcmp(value, "off") || !strcmp(value, "false") || !strcmp(value, "False") || !strcmp(value, "0");
    if (on || off) *place = on;
    return on || off;
}

static bool set_policy(Session *session, const char *value) {
    const Policy *policy = !strcmp(value, "best") ? &policy_best : !strcmp(value, "pytorch") ? &policy_pytorch : NULL;
    if (policy) session->policy = *policy;
    return policy != NULL;
}

static const char *const partition_names[] = {[PARTITION_BEST] = "best", [PARTITION_PYTORCH] = "pytorch", [PARTITION_AGGRESSIVE] = "aggressive", [PARTITION_SAVE_ALL] = "save_all"};

static bool set_partition(PartitionMode *place, const char *value) {
    for (size_t i = 0; i < sizeof partition_names / sizeof *partition_names; i++)
        if (!strcmp(partition_names[i], value)) return *place = (PartitionMode)i, true;
    return false;
}

/* Each name is a row that the decompose stage would expand; "none" is no row at all. */
static bool set_ops(Session *session, const char **place, const char *value) {
    bool none = !strcmp(value, "none"), good = true;
    for (const char *at = value; !none && good; at++) {
        size_t length = strcspn(at, ",");
        const Op *op = op_find(session->ops, arena_strndup(session->command, at, length));
        good = op && op->made_of && op->family != FAMILY_COMPOSITE;
        at += length;
        if (!*at) break;
    }
    if (good) *place = none ? NULL : arena_strdup(session->arena, value);
    return good;
}

static bool set_number(const Setting *setting, void *place, const char *value) {
    char *end;
    errno = 0;
    double number = strtod(value, &end);
    if (errno || end == value || *end || !(number >= setting->low && number <= setting->high)) return false;
    if (setting->kind == SETTING_DOUBLE) *(double *)place = number;
    else *(int *)place = (int)number;
    return true;
}

static bool set_value(Session *session, const Setting *s, const char *value) {
    switch (s->kind) {
    case SETTING_BOOL: return set_bool(s->place(session), value);
    case SETTING_POLICY: return set_policy(session, value);
    case SETTING_PARTITION: return set_partition(s->place(session), value);
    case SETTING_DEVICE: return session_device(value, s->place(session));
    case SETTING_OPS: return set_ops(session, s->place(session), value);
    case SETTING_INT: case SETTING_DOUBLE: break;
    }
    return set_number(s, s->place(session), value);
}

static const char *value_wanted(Session *session, const Setting *s) {
    switch (s->kind) {
    case SETTING_BOOL: return "on or off";
    case SETTING_POLICY: return "best or pytorch";
    case SETTING_PARTITION: return "best, pytorch, aggressive or save_all";
    case SETTING_DEVICE: return "cpu, cuda or cuda:N";
    case SETTING_OPS: return "names of ops that are decomposed (softmax is _softmax), with commas between, or none";
    case SETTING_INT: case SETTING_DOUBLE: break;
    }
    return arena_printf(session->command, "a number from %g to %g", s->low, s->high);
}

bool session_set(Session *session, const char *name, const char *value, const char **error) {
    *error = NULL;
    for (int i = 0; i < SETTING_COUNT; i++) {
        const Setting *s = &settings[i];
        if (strcmp(s->name, name)) continue;
        bool ok = set_value(session, s, value);
        if (ok) return true;
        const char *want = value_wanted(session, s);
        *error = arena_printf(session->command, "%s takes %s", name, want);
        return false;
    }
    *error = arena_printf(session->command, "there is no setting '%s' (:set lists them)", name);
    return false;
}

void session_settings(Session *session, void (*show)(void *state, const char *name, const char *value, const char *meaning), void *state) {
    for (int i = 0; i < SETTING_COUNT; i++) {
        const Setting *s = &settings[i];
        char text[64];
        const void *place = s->place(session);
        switch (s->kind) {
        case SETTING_BOOL: snprintf(text, sizeof text, "%s", *(const bool *)place ? "on" : "off"); break;
        case SETTING_INT: snprintf(text, sizeof text, "%d", *(const int *)place); break;
        case SETTING_DOUBLE: snprintf(text, sizeof text, "%g", *(const double *)place); break;
        case SETTING_DEVICE: {
            const Device *device = place;
            snprintf(text, sizeof text, device->kind == DEVICE_CUDA ? "cuda:%d" : "cpu", device->index);
            break;
        }
        case SETTING_PARTITION: snprintf(text, sizeof text, "%s", partition_names[*(const PartitionMode *)place]); break;
        case SETTING_OPS: snprintf(text, sizeof text, "%s", *(const char *const *)place ? *(const char *const *)place : "none"); break;
        case SETTING_POLICY: snprintf(text, sizeof text, "%s", *(const char *const *)place); break;
        }
        show(state, s->name, text, s->meaning);
    }
}

/* ---- op rows ---- */
typedef struct TraitName { unsigned trait; const char *name; } TraitName;
static const TraitName trait_names[] = {
    {TRAIT_COMMUTES, "commutes"}, {TRAIT_FLOAT_RESULT, "float result"}, {TRAIT_BOOL_RESULT, "bool result"}, {TRAIT_HEAVY, "heavy"}, {TRAIT_RANDOM, "random"}, {TRAIT_INPLACE, "in place"},
    {TRAIT_ALIAS, "alias"}, {TRAIT_METHOD, "method"}, {TRAIT_FUNCTION, "torch function"}, {TRAIT_NN, "nn.functional"}, {TRAIT_HIDDEN, "aten only"}, {TRAIT_SYNC, "depends on data"},
    {TRAIT_EFFECT, "effect"}, {TRAIT_NO_LOWER, "no loop form"}, {TRAIT_CARD, "made of others on a card"}, {TRAIT_KEPT, "not recomputed by PyTorch"}, {TRAIT_JOINS, "joins"},
};

static const char *traits_text(unsigned traits, Arena *arena) {
    Text text = {0};
    for (size_t i = 0; i < sizeof trait_names / sizeof *trait_names; i++)
        if (traits & trait_names[i].trait) text_printf(&text, "%s%s", text.length ? ", " : "", trait_names[i].name);
    char *copy = text_in(&text, arena);
    text_free(&text);
    return copy;
}

/* The language's text of an op's body, as a learner would open it. */
static void op_body_text(Session *session, const Op *op, OpFacts *facts, Arena *arena) {
    Object *own = op->body_function;
    Function *body = own && own->type == OBJ_FUNCTION ? (Function *)own
                   : op->made_of || op->family == FAMILY_DECOMPOSED ? op_body(session->vm, op) : NULL;
    vm_clear_exception(session->vm);
    if (!body || !body->code->span.file) return;
    Span span = body->code->span;
    facts->body = arena_strndup(arena, span.file->text + span.start, span.end - span.start);
    facts->body_file = arena_strdup(arena, span.file->name);
}

/* As the table has it: a composite whose name a row has, too, is there behind its module's. */
static const Op *op_named(const Session *session, const char *name, Arena *arena) {
    static const char *const owners[] = {"", "nn.functional.", "functional.", "Tensor."};
    const Op *op = NULL;
    for (size_t i = 0; !op && i < sizeof owners / sizeof *owners; i++) op = op_find(session->ops, arena_printf(arena, "%s%s", owners[i], name));
    return op;
}

/* As graphs print it (torch.nn.functional.gelu, torch.ops.aten._softmax.default) or programs write it (F.gelu, aten.mul): the name in it that the table has. */
static const Op *op_as_written(const Session *session, const char *name, Arena *arena) {
    static const char *const prefixes[] = {"torch.", "ops.", "aten.", "nn.functional.", "functional.", "F.", "Tensor."};
    const Op *op = op_named(session, name, arena);
    for (size_t i = 0; !op && i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t length = strlen(prefixes[i]);
        if (strncmp(name, prefixes[i], length) != 0) continue;
        name += length;
        op = op_named(session, name, arena);
    }
    const char *overload = op ? NULL : strchr(name, '.');
    return overload ? op_named(session, arena_strndup(arena, name, (size_t)(overload - name)), arena) : op;
}

/* Composites are in the table once their file of the library is loaded. */
static const Op *op_loaded(Session *session, const char *name, Arena *arena) {
    const Op *op = op_as_written(session, name, arena);
    if (op) return op;
    bool loaded = torch_module(session->vm, "torch.nn.functional") && torch_library_load_further(session->vm);
    vm_clear_exception(session->vm);
    return loaded ? op_as_written(session, name, arena) : NULL;
}

bool session_op(Session *session, const char *name, OpFacts *facts, Arena *arena) {
    const Op *op = op_loaded(session, name, arena);
    if (!op) return false;
    *facts = (OpFacts){.name = op->name, .family = family_name(op->family), .signature = op->signature_text, .scalar = op->scalar, .grad = op->grad, .made_of = op->made_of,
                       .grad_name = op->grad_name, .functional = op->functional, .traits = traits_text(op->traits, arena), .flops = op->flops};
    op_body_text(session, op, facts, arena);
    return true;
}

void session_op_names(Session *session, void (*offer)(void *state, const char *name), void *state) {
    for (int i = 0; i < op_count(session->ops); i++) offer(state, op_at(session->ops, i)->name);
}

void session_versions(Session *session, Text *text) { runtime_versions(session->runtime, text); }
