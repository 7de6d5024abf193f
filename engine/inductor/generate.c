/* Generate: from bound groups to a plan. In: a schedule. Out: launches with their kernels and buffers; equal kernels stand once.
 *
 *     Plan *plan = generate(c, s, device, "forward");
 *
 * Invariant: nothing in the plan points to the graph; strings, metas and arguments are in the compile's arena. */
#include "inductor/gen_cuda_call.h"
#include <stdio.h>
#include <string.h>

typedef struct Generator_ { Compile *c; const Schedule *s; const Lowered *l; Plan *plan; VEC(Dim) sizes; } Maker;

static int home_of(const Lowered *l, int buffer) { return buffer >= 0 && l->buffers.at[buffer].placed_in >= 0 ? l->buffers.at[buffer].placed_in : buffer; }

/* ---- schedule in words ---- */
static const char *describe_cpu(Maker *m, const Group *g) {
    const Binding *b = &g->binding;
    const char *threads = b->parallel ? "over threads" : "in one thread";
    switch (b->pattern) {
    case PATTERN_ROW: return arena_printf(m->c->arena, "rows %s, %d pass%s over the columns, %d accumulators", threads, g->passes, g->passes == 1 ? "" : "es", b->lanes);
    case PATTERN_COLUMN: return arena_printf(m->c->arena, "blocks of %d rows %s, columns one after another, %d pass%s", b->lanes, threads, g->passes, g->passes == 1 ? "" : "es");
    case PATTERN_TILED: return arena_printf(m->c->arena, "tiles of 32 x 32 %s", threads);
    case PATTERN_SCATTER: return "elements one after another, in order";
    default: return arena_printf(m->c->arena, "outer loops %s, innermost in vectors", threads);
    }
}

static const char *describe_cuda(Maker *m, const Group *g) {
    const Binding *b = &g->binding;
    switch (b->pattern) {
    case PATTERN_ROW:
        return arena_printf(m->c->arena, "%d row%s a block of %d threads, %s, vectors of %d", b->rows_per_block, b->rows_per_block == 1 ? "" : "s", b->threads * b->rows_per_block,
                            b->unroll ? "row in registers" : b->shared_row ? "row in shared memory" : "looped over the row", b->vector);
    case PATTERN_COLUMN: return arena_printf(m->c->arena, "32 x 8 threads, %d row%s each, columns strided over 8, joined in shared memory", b->vector, b->vector == 1 ? "" : "s");
    case PATTERN_TILED: return arena_printf(m->c->arena, "tiles of %d x %d through shared memory, 32 x 8 threads", 32 * b->vector, 32 * b->vector);
    case PATTERN_SCATTER: return "one element a thread, atomic adds";
    default: return arena_printf(m->c->arena, "one vector of %d a thread, %d threads a block", b->vector, b->threads);
    }
}

/* ---- kernels ---- */
static const Kernel *find_equal(const Plan *plan, const Kernel *kernel) {
    for (int i = 0; i < plan->kernels.count; i++) {
        const Kernel *old = plan->kernels.at[i];
        if (old->body_hash == kernel->body_hash && old->pointer_count == kernel->pointer_count && old->vector_bytes == kernel->vector_bytes && memcmp(old->grid, kernel->grid, sizeof old->grid) == 0) return old;
    }
    return NULL;
}

static void note_sizes(Maker *m, const Dim *sizes, int count) {
    for (int i = 0; i < count; i++) {
        bool known = sizes[i] == m->l->seed || sizes[i] == m->l->offset;
        for (int k = 0; k < m->sizes.count && !known; k++) known = m->sizes.at[k] == sizes[i];
        if (!known) vec_push_in(m->c->arena, &m->sizes, sizes[i]);
    }
}

static void note_var(const Sym *var, void *state) {
    Dim d = dim_of_sym(var);
    if (var->var_kind == SYM_SIZE || var->var_kind == SYM_UNBACKED || var->var_kind == SYM_FLOAT) note_sizes(state, &d, 1);
}

static void note_meta(Maker *m, const Meta *meta) {
    for (int i = 0; i < meta->rank; i++) dim_each_var(meta->sizes[i], note_var, m), dim_each_var(meta->strides[i], note_var, m);
    dim_each_var(meta->offset, note_var, m);
}

static const Kernel *add_kernel(Maker *m, Kernel *kernel) {
    const Kernel *equal = find_equal(m->plan, kernel);
    if (equal) return equal;
    kernel->name = arena_printf(m->c->arena, "k%d", m->plan->kernels.count);
    vec_push_in(m->c->arena, &m->plan->kernels, kernel);
    return kernel;
}

static void launch_kernel(const Kernel *kernel, const int *buffers, const Dim *sizes, Launch *launch) {
    launch->kind = LAUNCH_KERNEL;
    launch->kernel = kernel;
    launch->buffers = buffers;
    launch->buffer_count = kernel->pointer_count;
    launch->sizes = sizes;
    launch->size_count = kernel->size_count;
}

static void make_kernel(Maker *m, const Group *g, Launch *launch) {
    bool cuda = m->plan->device.kind == DEVICE_CUDA;
    Made made = cuda ? generate_cuda(m->c, m->l, g, g->binding.vector) : generate_c(m->c, m->l, g);
    Kernel *kernel = made.kernel;
    if (cuda && kernel->vector_bytes > 1) {
        Made twin = generate_cuda(m->c, m->l, g, 1);
        twin.kernel->name = arena_printf(m->c->arena, "k%d_scalar", m->plan->kernels.count);
        twin.kernel->schedule = describe_cuda(m, g);
        kernel->scalar_twin = twin.kernel;
        launch->scalar_buffers = twin.buffers;
        launch->scalar_sizes = twin.sizes;
        note_sizes(m, twin.sizes, twin.kernel->size_count);
    }
    kernel->schedule = cuda ? describe_cuda(m, g) : describe_cpu(m, g);
    const Kernel *equal = add_kernel(m, kernel);
    launch->flops = kernel->flops;
    launch->bytes = kernel->bytes_read + kernel->bytes_written;
    launch_kernel(equal, made.buffers, made.sizes, launch);
    note_sizes(m, made.sizes, kernel->size_count);
}

/* ---- calls ---- */
static int64_t accesses_bytes(const Lowered *l, const Loop *loop) {
    int64_t bytes = 0;
    for (int i = 0; i < loop->accesses.count; i++) bytes += buffer_hint_bytes(&l->buffers.at[loop->accesses.at[i].buffer]);
    return bytes;
}

static Arg homed_arg(Maker *m, const Arg *arg) {
    Arg copy = *arg;
    if (arg->tag == ARG_TENSOR) copy.tensor.owner = (void *)(uintptr_t)map_key(home_of(m->l, (int)(intptr_t)arg->tensor.owner - 1) + 1);
    if (arg->tag != ARG_TENSORS) return copy;
    Arg *items = ARENA_ARRAY(m->c->arena, Arg, arg->list.count ? arg->list.count : 1);
    for (int i = 0; i < arg->list.count; i++) items[i] = homed_arg(m, &arg->list.items[i]);
    copy.list.items = items;
    return copy;
}

static void make_extern(Maker *m, const Loop *loop, Launch *launch) {
    Arg *args = ARENA_ARRAY(m->c->arena, Arg, loop->nargs ? loop->nargs : 1);
    for (int i = 0; i < loop->nargs; i++) args[i] = homed_arg(m, &loop->args[i]);
    int *buffers = ARENA_ARRAY(m->c->arena, int, loop->accesses.count + 1), count = 0;
    for (int pass = 0; pass < 2; pass++) /* what it writes stands last */
        for (int i = 0; i < loop->accesses.count; i++)
            if (loop->accesses.at[i].is_store == (pass == 1)) buffers[count++] = home_of(m->l, loop->accesses.at[i].buffer);
    launch->kind = LAUNCH_EXTERN_OP;
    launch->op = loop->op;
    launch->args = args;
    launch->nargs = loop->nargs;
    launch->out_metas = loop->out_metas;
    launch->nouts = loop->nouts;
    launch->buffers = buffers;
    launch->buffer_count = count;
}

/* On a card some ops without a loop form have a kernel all the same. */
static bool make_call(Maker *m, const Group *g, const Loop *loop, Launch *launch) {
    Made made;
    if (m->plan->device.kind != DEVICE_CUDA || !generate_cuda_call(m->c, m->l, g, loop, &made)) return false;
    int *buffers = ARENA_ARRAY(m->c->arena, int, made.kernel->pointer_count + 1);
    for (int i = 0; i < made.kernel->pointer_count; i++) buffers[i] = home_of(m->l, made.buffers[i]);
    launch_kernel(add_kernel(m, made.kernel), buffers, made.sizes, launch);
    for (int i = 0; i < made.kernel->size_count; i++) dim_each_var(made.sizes[i], note_var, m);
    return true;
}

static void make_matmul(Maker *m, const Loop *loop, Launch *launch) {
    launch->kind = LAUNCH_MATMUL;
    launch->matmul = loop->matmul;
    int *all[] = {&launch->matmul.a, &launch->matmul.b, &launch->matmul.bias, &launch->matmul.add, &launch->matmul.out}, count = 0;
    int *buffers = ARENA_ARRAY(m->c->arena, int, 5);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        *all[i] = home_of(m->l, *all[i]);
        if (*all[i] >= 0) buffers[count++] = *all[i];
    }
    launch->buffers = buffers;
    launch->buffer_count = count;
}

static void make_launch(Maker *m, const Group *g) {
    Launch launch = {.name = g->name, .nodes = g->nodes, .node_count = g->node_count};
    const Loop *loop = g->members.at[0].loop;
    if (!group_is_extern(g)) make_kernel(m, g, &launch);
    else {
        if (loop->kind == LOOP_MATMUL) make_matmul(m, loop, &launch);
        else if (!make_call(m, g, loop, &launch)) make_extern(m, loop, &launch);
        launch.flops = loop->flops;
        launch.bytes = accesses_bytes(m->l, loop);
    }
    m->plan->bytes_moved += launch.bytes;
    vec_push_in(m->c->arena, &m->plan->launches, launch);
}

static void make_copy(Maker *m, const FinalCopy *copy) {
    int *buffers = ARENA_ARRAY(m->c->arena, int, 2);
    buffers[0] = home_of(m->l, copy->from);
    buffers[1] = copy->to;
    Launch launch = {.kind = LAUNCH_COPY, .name = arena_printf(m->c->arena, "copy to %s", m->l->buffers.at[copy->to].buffer.name), .buffers = buffers, .buffer_count = 2,
                     .copy_src = copy->from_meta, .copy_dst = copy->to_meta, .bytes = 2 * buffer_hint_bytes(&m->l->buffers.at[copy->to])};
    m->plan->bytes_moved += launch.bytes;
    vec_push_in(m->c->arena, &m->plan->launches, launch);
}

/* ---- the plan ---- */
static void add_buffers(Maker *m) {
    for (int i = 0; i < m->l->buffers.count; i++) {
        const LoopBuffer *b = &m->l->buffers.at[i];
        vec_push_in(m->c->arena, &m->plan->buffers, b->buffer);
        Buffer *buffer = &vec_last(&m->plan->buffers);
        if (buffer->role == BUFFER_INPUT) m->plan->input_count++;
        if (buffer->role == BUFFER_CONSTANT) m->plan->constant_count++;
        bool gone = buffer->role == BUFFER_TEMPORARY && (b->placed_in >= 0 || buffer->first_launch < 0);
        if (gone) buffer->offset = 0, buffer->bytes = 0, buffer->meta.rank = 1, buffer->meta.sizes[0] = 0, buffer->meta.strides[0] = 1; /* fused away: occupies nothing */
        note_meta(m, &buffer->meta);
    }
}

Plan *generate(Compile *c, const Schedule *s, Device device, const char *name) {
    Plan *plan = ARENA_NEW(c->arena, Plan);
    *plan = (Plan){.arena = c->arena, .device = device, .name = name, .block_bytes = s->block_bytes, .random_draws = s->lowered->random_draws,
                   .allocated_outputs = s->lowered->allocated_outputs};
    Maker m = {.c = c, .s = s, .l = s->lowered, .plan = plan};
    add_buffers(&m);
    for (int i = 0; i < s->groups.count; i++) make_launch(&m, s->groups.at[i]);
    for (int i = 0; i < s->lowered->copies.count; i++) make_copy(&m, &s->lowered->copies.at[i]);
    for (int i = 0; i < s->lowered->outputs.count; i++) vec_push_in(c->arena, &plan->outputs, s->lowered->outputs.at[i]);
    plan->size_inputs = m.sizes.count;
    vec_push_in(c->arena, &m.sizes, s->lowered->seed);
    vec_push_in(c->arena, &m.sizes, s->lowered->offset);
    plan->size_vars = m.sizes.at;
    return plan;
}
