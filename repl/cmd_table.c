/* The table of all commands, by the groups of :help. */
#include "repl/cmd.h"
#include <stddef.h>

extern const Command command_load, command_compile, command_explain, command_time, command_bench, command_device, command_set, command_reset, command_quit;
extern const Command command_step, command_next, command_back, command_into, command_continue, command_until, command_break, command_stack, command_locals, command_done;
extern const Command command_stages, command_bytecode, command_graph, command_breaks, command_guards, command_recompiles, command_cache, command_shapes, command_diff;
extern const Command command_saved, command_cut, command_budget, command_fusion, command_schedule, command_memory, command_kernels, command_kernel;
extern const Command command_try, command_sweep;
extern const Command command_why, command_draw, command_help, command_op;

const Command *const command_table[] = {
    &command_load, &command_compile, &command_explain, &command_time, &command_bench, &command_device, &command_set, &command_reset, &command_quit,
    &command_step, &command_next, &command_back, &command_into, &command_continue, &command_until, &command_break, &command_stack, &command_locals, &command_done,
    &command_stages, &command_bytecode, &command_graph, &command_breaks, &command_guards, &command_recompiles, &command_cache, &command_shapes, &command_diff,
    &command_saved, &command_cut, &command_fusion, &command_schedule, &command_memory, &command_kernels, &command_kernel,
    &command_why, &command_try, &command_sweep,
    &command_budget,
    &command_draw,
    &command_help, &command_op,
    NULL};
