/* Commands that teach: help, op. Help texts of commands stand beside them; those of other topics are here. */
#include "repl/cmd.h"
#include "repl/json.h"
#include <string.h>

typedef struct Topic { const char *name, *summary, *text; } Topic;

static const Topic TOPICS[] = {
    {"stages", "what each stage is",
     "A call goes through these; :graph STAGE prints one, :draw STAGE draws it.\n"
     "\n"
     "  bytecode    The frame's instructions (CPython 3.12's), and what they are replaced by. The hook sees\n"
     "              the frame under a compiled call and inlines the functions that it calls; a @ b is a\n"
     "              BINARY_OP.\n"
     "  dynamo      The graph that symbolic execution captured: torch calls and tensor methods, one node\n"
     "              each. Only tests of tensor values break it: Python values are guarded, loops over them\n"
     "              unrolled.\n"
     "  guards      What must hold to run it again: dtype, device, exact sizes and strides, requires_grad,\n"
     "              grad mode, Python values and types, lengths, keys, identity, aliasing. A size that\n"
     "              changes recompiles once and is dynamic from then on (dynamic=True: from the start).\n"
     "  joint       Forward and backward in one graph: autograd traced over fake tensors. Drawn, each forward\n"
     "              op is joined to those of its backward by a dotted line.\n"
     "  functional  The same without changes in place; an input that was changed gets a copy at the end.\n"
     "  decomposed  The same in few simple ops, common ones and dead ones gone.\n"
     "  cut         The flow network of the values that the backward may want, and its minimum cut: the\n"
     "              fewest bytes to save, under bans on computing twice what is heavy, random or far.\n"
     "  partition   The joint graph cut in two there. A real trade-off of memory for time needs the memory\n"
     "              budget (:budget shows it, :set memory_budget and checkpoint regions use it).\n"
     "  forward     The graph of the forward, compiled by itself; so is\n"
     "  backward    the graph of the backward. What is won is the choice of what crosses between them.\n"
     "  ir          A loop for each value: its axes, and what it loads, computes and stores.\n"
     "  fusion      Which loops go together. Chains of pointwise ops become one kernel; matrix products stay\n"
     "              calls of a library, unless a template with an epilogue won.\n"
     "  schedule    The groups in the order in which they run.\n"
     "  memory      Which buffer lives when, and which takes over another's memory.\n"
     "  kernels     The code: CUDA C++ or C. :kernel k0 prints one.\n"
     "  wrapper     The launches in order. A compiled function is guards on every call, this wrapper, and\n"
     "              its kernels.\n"
     "  timeline    The launches over time.\n"},
    {"selection", "how to name a compile and a part of a stage",
     "  [0/1]  [0/1]:backward   the compile (frame 0, its second compile), and its side; without: the one\n"
     "                          last compiled or explained\n"
     "  %relu  %relu~2          a node; with its neighbours, up to two links away\n"
     "  %relu~3/%mm             the same, but not past %mm\n"
     "  %x..%mean               all paths from one to the other\n"
     "  k0  buf2  b12~1         a kernel's nodes; anything by its name\n"
     "  line:12  mod:layers.0   the nodes of a line of the source; those of a module and what is inside it\n"
     "  changed                 what this stage changed\n"
     "Example: :draw forward [0/1] %relu~2 part.svg\n"},
    {"breaks", "what a graph break is and costs",
     "Capture stops where it would need a tensor's value (an if on a tensor, .item(), printing) or calls\n"
     "what it cannot follow. What was captured is compiled, the rest of the frame becomes a function of its\n"
     "own that is captured when it runs. k breaks in a straight line make k+1 graphs. The work over the ops\n"
     "is about the same; each piece adds guards, a wrapper and launches, nothing is fused across, and each\n"
     "side of a branch gets its own continuation. A break inside a loop or try gives the frame up; what it\n"
     "calls is compiled by itself. :breaks lists them with what would remove each and what the pieces took\n"
     "to compile, :breaks f(x) compiles a call with and without its prints, :why break shows the lines.\n"},
    {"scripts", "running without a prompt",
     "vitrine FILE.py runs a file, vitrine < FILE its standard input statement by statement, vitrine -c TEXT\n"
     "a text. In a .py file a comment that starts with #: is a command, so that one file runs under Python\n"
     "too. There is no prompt, colour or pager then; --json gives one document a command; --plain hides\n"
     "times, so that output can be compared. Exit status: 0; 1 an error in the program; 2 wrong use; 3 a\n"
     "failed command (--keep-going goes on and ends with 3); 130 interrupted. Accepted in scripts, for good,\n"
     "are the full names and these prefixes:\n"
     "  :b breaks  :by bytecode  :c compile  :ca cache  :d draw  :dev device  :e explain  :f fusion  :g graph\n"
     "  :gu guards  :h help  :k kernel  :ks kernels  :l load  :m memory  :o op  :q quit  :r recompiles\n"
     "  :s stages  :sa saved  :sc schedule  :t time  :w why  :st step  :n next  :i into  :ba back\n"
     "  :con continue  :u until  :do done  :tr try  :sw sweep\n"},
    {"stepping", "walking a call through capture and the stages",
     ":step f(x) stops where f is about to be captured. :next goes from instruction to instruction, over\n"
     "inlined calls; :into goes into them; :back shows the stop before; :continue goes to the next graph\n"
     "break, line of :break or the end; :until takes a stage, a line, break or run. At the prompt an empty\n"
     "line repeats the last of them. At each instruction stand the symbolic stack, the locals, and what the\n"
     "graph and the guards have grown by; after capture come the stages, each with what it changed, then\n"
     "the run, and after a graph break the resume function, captured in its turn.\n"
     "What runs has effects at the stop where it runs, and :back does not undo them: it reads a record. A\n"
     "copy of the cache is used, in which no older entry serves. An exception, or Ctrl-C, leaves the session\n"
     "as it is. Between stops every other command and statement can be used; :done leaves the rest unrun.\n"},
    {"keys", "editing at the prompt",
     "Tab completes commands, stages, nodes, names of the program and files. Up and Down search the history\n"
     "for what begins like the line; a definition is recalled whole. Pasted scripts are one input. An empty\n"
     "line ends a block. Ctrl-C stops what runs or drops the line, Ctrl-D leaves.\n"},
};

static const Topic *find_topic(const char *name) {
    for (size_t i = 0; i < sizeof TOPICS / sizeof *TOPICS; i++)
        if (strcmp(TOPICS[i].name, name) == 0) return &TOPICS[i];
    return NULL;
}

static const char *group_title(const char *group) {
    static const char *const titles[][2] = {{"run", "run and measure"}, {"step", "step through capture and the stages"}, {"look", "look"}, {"ask", "ask"}, {"change", "what if"}, {"draw", "draw"}, {"learn", "learn"}};
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        if (strcmp(titles[i][0], group) == 0) return titles[i][1];
    return group;
}

static void put_command_line(CommandCall *call, const Command *command) {
    char *usage = arena_printf(call->arena, ":%s %s", command->name, command->usage);
    if (strlen(usage) > 34) usage = arena_printf(call->arena, ":%s ...", command->name);
    text_printf(&call->out, "  %-34s %s\n", usage, command->summary);
}

static bool list_commands(CommandCall *call) {
    const char *group = "";
    text_put(&call->out, "A line that starts with a colon is a command, any other is Python. Commands may be shortened.\n");
    for (int i = 0; command_table[i]; i++) {
        if (strcmp(group, command_table[i]->group) != 0) text_printf(&call->out, "\n%s\n", show_bold(call->show, call->arena, group_title(command_table[i]->group)));
        group = command_table[i]->group;
        put_command_line(call, command_table[i]);
    }
    text_printf(&call->out, "\n%s (:help TOPIC)\n", show_bold(call->show, call->arena, "topics"));
    for (size_t i = 0; i < sizeof TOPICS / sizeof *TOPICS; i++) text_printf(&call->out, "  %-34s %s\n", TOPICS[i].name, TOPICS[i].summary);
    return true;
}

static bool list_json(CommandCall *call) {
    cJSON *commands = json_list(call_document(call), "commands"), *topics = json_list(call->document, "topics");
    for (int i = 0; command_table[i]; i++) {
        cJSON *item = json_item(commands);
        json_put(item, "name", command_table[i]->name);
        json_put(item, "group", command_table[i]->group);
        json_put(item, "usage", command_table[i]->usage);
        json_put(item, "summary", command_table[i]->summary);
        json_put(item, "help", command_table[i]->help);
    }
    for (size_t i = 0; i < sizeof TOPICS / sizeof *TOPICS; i++) {
        cJSON *item = json_item(topics);
        json_put(item, "name", TOPICS[i].name);
        json_put(item, "summary", TOPICS[i].summary);
    }
    return true;
}

static bool help_topic(CommandCall *call, const Topic *topic) {
    if (call->json) {
        json_put(call_document(call), "name", topic->name);
        json_put(call->document, "text", topic->text);
    } else text_put(&call->out, topic->text);
    return true;
}

static bool help_command(CommandCall *call, const Command *command) {
    if (call->json) {
        json_put(call_document(call), "name", command->name);
        json_put(call->document, "usage", command->usage);
        json_put(call->document, "text", command->help);
        return true;
    }
    text_printf(&call->out, ":%s%s%s\n%s%s.\n", command->name, *command->usage ? " " : "", command->usage, "  ", command->summary);
    text_printf(&call->out, "\n%s\n", command->help);
    return true;
}

static bool run_help(CommandCall *call) {
    const char *name = call_word(call, 0), *suggestion = NULL;
    if (!name) return call->json ? list_json(call) : list_commands(call);
    if (*name == ':') name++;
    const Topic *topic = find_topic(name);
    if (topic) return help_topic(call, topic);
    const Command *command = command_find(name, strlen(name), &suggestion);
    if (command) return help_command(call, command);
    if (suggestion) return command_error(call, call_span(call, 0), "no help about %s: is it %s?", name, suggestion);
    return command_error(call, call_span(call, 0), "no help about %s: :help lists commands and topics", name);
}

const Command command_help = {
    .name = "help", .group = "learn", .usage = "[TOPIC]", .most = 1, .complete = COMPLETE_COMMAND, .run = run_help,
    .summary = "this list, or help about a command or topic",
    .help = "Topics: stages, selection, breaks, stepping, scripts, keys; and every command.",
};

/* ---- op ---- */

typedef struct NameList { const char *names[1024]; int count; Arena *arena; } NameList;

static void collect_name(void *state, const char *name) {
    NameList *list = state;
    if (list->count < 1023) list->names[list->count++] = arena_strdup(list->arena, name);
}

static bool no_op(CommandCall *call, const char *name) {
    NameList *list = ARENA_NEW(call->arena, NameList);
    list->arena = call->arena;
    session_op_names(call->session, collect_name, list);
    const char *near = nearest_name(name, list->names);
    return command_error(call, call_span(call, 0), "no op %s%s%s%s", name, near ? ": is it " : "", near ? near : "", near ? "?" : "");
}

static void put_line(CommandCall *call, const char *label, const char *value) {
    if (!value || !*value) return;
    bool several = strchr(value, '\n') != NULL;
    if (call->json) {
        json_put(call_document(call), label, value);
        return;
    }
    text_printf(&call->out, "  %-12s", label);
    if (several) text_char(&call->out, '\n');
    text_visible(&call->out, value);
    if (call->out.data[call->out.length - 1] != '\n') text_char(&call->out, '\n');
}

static bool run_op(CommandCall *call) {
    OpFacts facts = {0};
    const char *name = call_word(call, 0);
    if (!session_op(call->session, name, &facts, call->arena)) return no_op(call, name);
    if (call->json) json_put(call_document(call), "name", facts.name);
    else text_printf(&call->out, "%s\n", show_bold(call->show, call->arena, facts.name));
    put_line(call, "family", facts.family);
    put_line(call, "signature", facts.signature);
    put_line(call, "traits", facts.traits);
    put_line(call, "scalar", facts.scalar);
    put_line(call, "c", facts.c_text);
    put_line(call, "cuda", facts.cuda_text);
    put_line(call, "gradient", facts.grad);
    put_line(call, "grad_name", facts.grad_name);
    put_line(call, "made_of", facts.made_of);
    put_line(call, "functional", facts.functional);
    put_line(call, "file", facts.body_file);
    put_line(call, "body", facts.body);
    if (call->json) json_number(call->document, "flops", facts.flops);
    else if (facts.flops > 0) put_line(call, "flops", arena_printf(call->arena, "%g an element", facts.flops));
    return true;
}

const Command command_op = {
    .name = "op", .group = "learn", .usage = "NAME", .least = 1, .most = 1, .complete = COMPLETE_OP, .run = run_op,
    .summary = "show an op's row: its meaning, gradient, code",
    .help = "An op is one row of a table: its signature, its meaning as an expression over scalars, the C and\n"
            "CUDA text that is printed from it, its derivative as a formula in the language, its traits. Those\n"
            "that PyTorch writes in Python have a body in the language.",
};
