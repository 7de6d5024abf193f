/* Hints: see hints.h. To add one: a row, before those of its kind that say less. */
#include "repl/hints.h"
#include <string.h>

typedef struct Hint { const char *kind, *reason /* a part of it; NULL: any */, *text; bool only_prints; } Hint;

static const Hint HINTS[] = {
    {"builtin", "call of print,", "print after the compiled call, or return what is to be printed", true},
    {"call", "logging", "log after the compiled call", true},
    {"call", "logger", "log after the compiled call", true},
    {"call", "warn", "warn before or after the compiled call", true},
    {"call", "graph_break()", "take the call of torch._dynamo.graph_break() out", true},
    {"call", "time", "read the clock outside of the compiled function", false},
    {"call", "random", "draw random numbers with torch, or outside of the compiled function", false},
    {"call", "exception leaves", "catch it outside of the compiled function, or test for its cause before", false},
    {"data_dependent_branch", NULL, "torch.where(condition, a, b) computes both sides without a branch; or decide outside of the compiled function", false},
    {"data_dependent_value", NULL, "keep it a tensor; or torch._dynamo.config.capture_scalar_outputs = True makes the number a symbol of the graph", false},
    {"data_dependent_shape", NULL, "torch.where with a mask keeps the shape; or torch._dynamo.config.capture_dynamic_output_shape_ops = True", false},
    {"disabled", NULL, "take torch.compiler.disable off the function, or call it outside of the compiled one", false},
    {"loop", NULL, "move the body of the loop into a function of its own: that is compiled by itself", false},
    {"builtin", NULL, "call it outside of the compiled function, before or after", false},
    {"call", NULL, "call it outside of the compiled function, or write it with torch's own functions", false},
};

static const Hint *hint_of(const char *kind, const char *reason) {
    for (size_t i = 0; i < sizeof HINTS / sizeof *HINTS; i++)
        if (strcmp(HINTS[i].kind, kind) == 0 && (!HINTS[i].reason || strstr(reason, HINTS[i].reason))) return &HINTS[i];
    return NULL;
}

const char *break_hint(const char *kind, const char *reason) {
    const Hint *hint = hint_of(kind, reason);
    return hint ? hint->text : "move what stops capture out of the compiled function; fullgraph=True makes the break an error";
}

bool break_only_prints(const char *kind, const char *reason) {
    const Hint *hint = hint_of(kind, reason);
    return hint && hint->only_prints;
}
