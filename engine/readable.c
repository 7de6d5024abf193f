/* Readable: bytecode as Python. In: a code, as dynamo's rewriting leaves it. Out: the statements that it stands for.
 *
 *     PUSH_NULL; LOAD_CONST (graph); LOAD_FAST (x); CALL 1; STORE_FAST (___outputs)      ->  ___outputs = graph(x)
 *     … LOAD_CONST (resume); MAKE_FUNCTION; LOAD_FAST (___value2); …; RETURN_VALUE       ->  return torch_dynamo_resume_in_f_at_9(print('mid'), ___outputs[0])
 *
 * A stack of texts is run through the instructions. A value that rewriting keeps in a local of its own and loads once stands where it is loaded, if
 * nothing happens in between. Branches whose arms return are `if`s; a loop, which only the user's own instructions have, ends the text with a remark.
 * To read another opcode: its case in `one`. */
#include "readable.h"
#include "dynamo/dynamo.h"
#include <string.h>

typedef struct Expression { const char *text; bool pure, null, atom; } Expression;

typedef struct Reader {
    Text *out; Arena *arena; VM *vm; const Entry *entry; const Code *code;
    Expression stack[256]; int depth;
    const int *loads;               /* by slot: how often it is loaded */
    Expression *held; bool *is_held; /* by slot: what stands for it where it is loaded */
    const Const *kwnames;
    int indent;
    bool ended;                     /* the rest cannot be said */
} Reader;

/* ---- the stack ---- */

static void push(Reader *r, Expression e) {
    if (r->depth < 256) r->stack[r->depth++] = e;
}

static Expression pop(Reader *r) { return r->depth ? r->stack[--r->depth] : (Expression){.text = "...", .pure = true, .atom = true}; }

static void push_text(Reader *r, const char *text, bool pure, bool atom) { push(r, (Expression){text, pure, false, atom}); }

static const char *operand(Reader *r, Expression e) { return e.atom ? e.text : arena_printf(r->arena, "(%s)", e.text); }

static void statement(Reader *r, const char *text) {
    text_printf(r->out, "%*s%s\n", r->indent * 4, "", text);
}

/* ---- constants ---- */

static const char *quoted(Reader *r, const char *string) {
    Text text = {0};
    text_quoted(&text, string);
    if (!strchr(string, '\'')) text.data[0] = text.data[text.length - 1] = '\'';
    const char *copy = text_in(&text, r->arena);
    text_free(&text);
    return copy;
}

static const char *object_text(Reader *r, const Object *object) {
    Value value = value_object((void *)(uintptr_t)object);
    if (object == r->entry->graph_object) return "graph";
    if (value_is(value, OBJ_STR)) return quoted(r, str_text(value));
    if (value_is(value, OBJ_BUILTIN)) return ((const Builtin *)object)->name;
    if (value_is(value, OBJ_FUNCTION)) return ((const Function *)object)->name;
    if (value_is(value, OBJ_CLASS)) return ((const Class *)object)->name;
    if (value_is(value, OBJ_MODULE)) return ((const ModuleObject *)object)->name;
    return arena_printf(r->arena, "<%s>", type_name(r->vm, value));
}

static const char *const_text(Reader *r, const Const *c);

static const char *items_text(Reader *r, const Const *items, int count) {
    const char *text = "";
    for (int i = 0; i < count; i++) text = arena_printf(r->arena, "%s%s%s", text, i ? ", " : "", const_text(r, &items[i]));
    return text;
}

static const char *const_text(Reader *r, const Const *c) {
    switch (c->kind) {
    case CONST_NONE: return "None";
    case CONST_TRUE: return "True";
    case CONST_FALSE: return "False";
    case CONST_ELLIPSIS: return "...";
    case CONST_INT: return arena_printf(r->arena, "%lld", (long long)c->i);
    case CONST_FLOAT: return arena_printf(r->arena, "%.17g", c->f);
    case CONST_STR: return quoted(r, c->s.text);
    case CONST_TUPLE: return arena_printf(r->arena, c->tuple.count == 1 ? "(%s,)" : "(%s)", items_text(r, c->tuple.items, c->tuple.count));
    case CONST_FROZENSET: return arena_printf(r->arena, "{%s}", items_text(r, c->tuple.items, c->tuple.count));
    case CONST_CODE: return c->code->name;
    case CONST_OBJECT: return object_text(r, c->object);
    }
    return "...";
}

/* ---- expressions ---- */

static void build(Reader *r, int count, const char *open, const char *close) {
    const char *text = "";
    bool pure = true;
    int first = r->depth - count < 0 ? 0 : r->depth - count;
    for (int i = first; i < r->depth; i++) {
        text = arena_printf(r->arena, "%s%s%s", text, i > first ? ", " : "", r->stack[i].text);
        pure &= r->stack[i].pure;
    }
    r->depth = first;
    push_text(r, arena_printf(r->arena, "%s%s%s%s", open, text, count == 1 && *open == '(' ? "," : "", close), pure, true);
}

static void build_map(Reader *r, int count) {
    const char *text = "";
    int first = r->depth - 2 * count < 0 ? 0 : r->depth - 2 * count;
    for (int i = first; i + 1 < r->depth; i += 2) text = arena_printf(r->arena, "%s%s%s: %s", text, i > first ? ", " : "", r->stack[i].text, r->stack[i + 1].text);
    r->depth = first;
    push_text(r, arena_printf(r->arena, "{%s}", text), false, true);
}

/* [NULL, callable] or [callable, self], then the arguments, the last ones with names. */
static void call(Reader *r, int count) {
    int names = r->kwnames ? r->kwnames->tuple.count : 0, first = r->depth - count;
    const char *text = "";
    if (first < 2) first = r->depth < 2 ? r->depth : 2;
    Expression below = first >= 2 ? r->stack[first - 2] : (Expression){.null = true}, callee = first >= 1 ? r->stack[first - 1] : (Expression){.text = "...", .atom = true};
    if (!below.null) text = callee.text, callee = below;
    for (int i = first; i < r->depth; i++) {
        int name = i - (r->depth - names);
        text = arena_printf(r->arena, "%s%s%s%s%s", text, *text ? ", " : "", name >= 0 ? r->kwnames->tuple.items[name].s.text : "", name >= 0 ? "=" : "", r->stack[i].text);
    }
    r->depth = first >= 2 ? first - 2 : 0;
    r->kwnames = NULL;
    push_text(r, arena_printf(r->arena, "%s(%s)", operand(r, callee), text), false, true);
}

static void call_spread(Reader *r, int flags) {
    const char *named = flags & 1 ? arena_printf(r->arena, ", **%s", operand(r, pop(r))) : "";
    Expression args = pop(r), callee = pop(r);
    pop(r);
    push_text(r, arena_printf(r->arena, "%s(*%s%s)", operand(r, callee), operand(r, args), named), false, true);
}

static void make_function(Reader *r, int flags) {
    Expression code = pop(r);
    for (int bit = 1; bit <= 8; bit <<= 1)
        if (flags & bit) pop(r);
    push_text(r, code.text, true, true);
}

static void binary(Reader *r, const char *symbol) {
    Expression b = pop(r), a = pop(r);
    push_text(r, arena_printf(r->arena, "%s %s %s", operand(r, a), symbol, operand(r, b)), false, false);
}

static void unary(Reader *r, const char *symbol) { push_text(r, arena_printf(r->arena, "%s%s", symbol, operand(r, pop(r))), false, false); }

static void load_attr(Reader *r, int arg) {
    Expression object = pop(r);
    if (arg & 1) push(r, (Expression){.text = "NULL", .pure = true, .null = true, .atom = true});
    push_text(r, arena_printf(r->arena, "%s.%s", operand(r, object), r->code->names[arg >> 1]), object.pure, true);
}

static void load_slot(Reader *r, int slot) {
    if (r->is_held[slot]) push(r, r->held[slot]);
    else push_text(r, r->code->localsplus[slot], true, true);
}

/* ---- statements ---- */

/* Instructions that only move values: an expression may be said behind them. */
static bool is_quiet(const Reader *r, int i) {
    const Instr *instr = &r->code->instrs[i];
    switch ((Opcode)instr->opcode) {
    case OPCODE_PUSH_NULL: case OPCODE_LOAD_CONST: case OPCODE_LOAD_FAST: case OPCODE_LOAD_CLOSURE: case OPCODE_BUILD_TUPLE: case OPCODE_MAKE_FUNCTION: case OPCODE_BINARY_SUBSCR: case OPCODE_LOAD_DEREF: return true;
    default: return false;
    }
}

static bool reaches_load(const Reader *r, int from, int slot) {
    for (int i = from; i < r->code->instr_count; i++) {
        const Instr *instr = &r->code->instrs[i];
        if (instr->opcode == OPCODE_LOAD_FAST && instr->arg == slot) return true;
        if (!is_quiet(r, i)) return false;
    }
    return false;
}

static void store_slot(Reader *r, int at, int slot) {
    Expression e = pop(r);
    bool own = !strncmp(r->code->localsplus[slot], "___value", 8) && r->loads[slot] == 1;
    if (own && (e.pure || reaches_load(r, at + 1, slot))) {
        r->held[slot] = e;
        r->is_held[slot] = true;
    } else statement(r, arena_printf(r->arena, "%s = %s", r->code->localsplus[slot], e.text));
}

static void store_name(Reader *r, const char *name) { statement(r, arena_printf(r->arena, "%s = %s", name, pop(r).text)); }

static void store_attr(Reader *r, const char *name) {
    Expression object = pop(r), value = pop(r);
    statement(r, arena_printf(r->arena, "%s.%s = %s", operand(r, object), name, value.text));
}

static void store_subscript(Reader *r) {
    Expression key = pop(r), object = pop(r), value = pop(r);
    statement(r, arena_printf(r->arena, "%s[%s] = %s", operand(r, object), key.text, value.text));
}

static const char *slice_text(Reader *r, Expression stop, Expression start) {
    return arena_printf(r->arena, "%s:%s", strcmp(start.text, "None") ? start.text : "", strcmp(stop.text, "None") ? stop.text : "");
}

static void store_slice(Reader *r) {
    Expression stop = pop(r), start = pop(r), object = pop(r), value = pop(r);
    statement(r, arena_printf(r->arena, "%s[%s] = %s", operand(r, object), slice_text(r, stop, start), value.text));
}

static void drop(Reader *r) {
    Expression e = pop(r);
    if (!e.pure && !e.null) statement(r, e.text);
}

static void add_to(Reader *r, int below, const char *method) {
    Expression item = pop(r);
    if (below > r->depth || below < 1) return;
    Expression *target = &r->stack[r->depth - below];
    bool empty = !strcmp(target->text, "[]") || !strcmp(target->text, "{}");
    if (!strcmp(method, "extend") && empty) *target = (Expression){arena_printf(r->arena, "[*%s]", operand(r, item)), item.pure, false, true};
    else if (!strcmp(method, "update") && empty) *target = (Expression){arena_printf(r->arena, "{**%s}", operand(r, item)), item.pure, false, true};
    else target->text = arena_printf(r->arena, "%s.%s(%s)", operand(r, *target), method, item.text), target->pure = false;
}

/* What has no reading of its own: named, with its effect on the stack. */
static void remark(Reader *r, int at) {
    const Instr *instr = &r->code->instrs[at];
    Text text = {0};
    text_put(&text, "# ");
    instr_print(&text, r->code, at);
    statement(r, text_cstr(&text));
    text_free(&text);
    int effect = opcode_stack_effect((Opcode)instr->opcode, instr->arg, false);
    for (; effect < 0; effect++) pop(r);
    for (; effect > 0; effect--) push_text(r, "...", true, true);
}

static void leave(Reader *r, int at) {
    statement(r, arena_printf(r->arena, "# from line %d on: the frame's own instructions (:bytecode lists them)", span_line(r->code->instrs[at].span)));
    r->ended = true;
}

/* One instruction that is no jump. */
static void one(Reader *r, int at) {
    const Instr *instr = &r->code->instrs[at];
    const Code *code = r->code;
    int arg = instr->arg;
    Expression a, b;
    switch ((Opcode)instr->opcode) {
    case OPCODE_RESUME: case OPCODE_NOP: case OPCODE_COPY_FREE_VARS: case OPCODE_MAKE_CELL: break;
    case OPCODE_PUSH_NULL: push(r, (Expression){.text = "NULL", .pure = true, .null = true, .atom = true}); break;
    case OPCODE_LOAD_CONST: push_text(r, const_text(r, &code->consts[arg]), true, true); break;
    case OPCODE_LOAD_FAST: case OPCODE_LOAD_FAST_CHECK: case OPCODE_LOAD_DEREF: case OPCODE_LOAD_CLOSURE: load_slot(r, arg); break;
    case OPCODE_LOAD_GLOBAL:
        if (arg & 1) push(r, (Expression){.text = "NULL", .pure = true, .null = true, .atom = true});
        push_text(r, code->names[arg >> 1], true, true);
        break;
    case OPCODE_LOAD_ATTR: load_attr(r, arg); break;
    case OPCODE_STORE_FAST: store_slot(r, at, arg); break;
    case OPCODE_STORE_DEREF: store_name(r, code->localsplus[arg]); break;
    case OPCODE_STORE_GLOBAL: store_name(r, code->names[arg]); break;
    case OPCODE_DELETE_GLOBAL: statement(r, arena_printf(r->arena, "del %s", code->names[arg])); break;
    case OPCODE_STORE_ATTR: store_attr(r, code->names[arg]); break;
    case OPCODE_DELETE_ATTR: statement(r, arena_printf(r->arena, "del %s.%s", operand(r, pop(r)), code->names[arg])); break;
    case OPCODE_STORE_SUBSCR: store_subscript(r); break;
    case OPCODE_STORE_SLICE: store_slice(r); break;
    case OPCODE_BINARY_SUBSCR: b = pop(r), a = pop(r), push_text(r, arena_printf(r->arena, "%s[%s]", operand(r, a), b.text), a.pure && b.pure, true); break;
    case OPCODE_BINARY_SLICE: b = pop(r), a = pop(r), push_text(r, arena_printf(r->arena, "%s[%s]", operand(r, pop(r)), slice_text(r, b, a)), false, true); break;
    case OPCODE_BINARY_OP: binary(r, binary_op_symbol(arg >= BINARY_INPLACE ? arg - BINARY_INPLACE : arg)); break;
    case OPCODE_COMPARE_OP: binary(r, compare_op_symbol(arg >> 4)); break;
    case OPCODE_IS_OP: binary(r, arg ? "is not" : "is"); break;
    case OPCODE_CONTAINS_OP: binary(r, arg ? "not in" : "in"); break;
    case OPCODE_UNARY_NOT: unary(r, "not "); break;
    case OPCODE_UNARY_NEGATIVE: unary(r, "-"); break;
    case OPCODE_UNARY_INVERT: unary(r, "~"); break;
    case OPCODE_KW_NAMES: r->kwnames = &code->consts[arg]; break;
    case OPCODE_CALL: call(r, arg); break;
    case OPCODE_CALL_FUNCTION_EX: call_spread(r, arg); break;
    case OPCODE_MAKE_FUNCTION: make_function(r, arg); break;
    case OPCODE_BUILD_TUPLE: build(r, arg, "(", ")"); break;
    case OPCODE_BUILD_LIST: build(r, arg, "[", "]"); break;
    case OPCODE_BUILD_SET: build(r, arg, "{", "}"); break;
    case OPCODE_BUILD_SLICE: build(r, arg, "slice(", ")"); break;
    case OPCODE_BUILD_MAP: build_map(r, arg); break;
    case OPCODE_BUILD_STRING: build(r, arg, "''.join((", "))"); break;
    case OPCODE_FORMAT_VALUE: a = arg & 4 ? pop(r) : (Expression){.text = "''", .pure = true, .atom = true}, push_text(r, arena_printf(r->arena, "format(%s, %s)", pop(r).text, a.text), false, true); break;
    case OPCODE_LIST_APPEND: add_to(r, arg, "append"); break;
    case OPCODE_LIST_EXTEND: add_to(r, arg, "extend"); break;
    case OPCODE_SET_UPDATE: case OPCODE_DICT_UPDATE: case OPCODE_DICT_MERGE: add_to(r, arg, "update"); break;
    case OPCODE_COPY: if (arg <= r->depth) push(r, r->stack[r->depth - arg]); break;
    case OPCODE_POP_TOP: drop(r); break;
    case OPCODE_RETURN_VALUE: statement(r, arena_printf(r->arena, "return %s", pop(r).text)); break;
    case OPCODE_RETURN_CONST: statement(r, arena_printf(r->arena, "return %s", const_text(r, &code->consts[arg]))); break;
    case OPCODE_GET_ITER: case OPCODE_FOR_ITER: leave(r, at); break;
    default: remark(r, at); break;
    }
}

/* ---- branches ---- */

static bool ends_flow(const Instr *instr) {
    return instr->opcode == OPCODE_RETURN_VALUE || instr->opcode == OPCODE_RETURN_CONST || instr->opcode == OPCODE_RAISE_VARARGS || instr->opcode == OPCODE_RERAISE;
}

static const char *condition(Reader *r, Opcode opcode) {
    Expression e = pop(r);
    switch (opcode) { /* when the jump is not taken */
    case OPCODE_POP_JUMP_IF_TRUE: return arena_printf(r->arena, "not %s", operand(r, e));
    case OPCODE_POP_JUMP_IF_NONE: return arena_printf(r->arena, "%s is not None", operand(r, e));
    case OPCODE_POP_JUMP_IF_NOT_NONE: return arena_printf(r->arena, "%s is None", operand(r, e));
    default: return e.text;
    }
}

static void range(Reader *r, int start, int end);

/* if …: the instructions up to the target, which return; then those behind it. */
static bool branch(Reader *r, int at, int end) {
    const Instr *instr = &r->code->instrs[at];
    if (instr->arg <= at || instr->arg > end || !ends_flow(&r->code->instrs[instr->arg - 1])) return false;
    statement(r, arena_printf(r->arena, "if %s:", condition(r, (Opcode)instr->opcode)));
    Reader arm = *r;
    arm.indent++;
    range(&arm, at + 1, instr->arg);
    r->ended = arm.ended;
    return true;
}

static void range(Reader *r, int start, int end) {
    for (int i = start; i < end && !r->ended; i++) {
        const Instr *instr = &r->code->instrs[i];
        Opcode opcode = (Opcode)instr->opcode;
        if (opcode == OPCODE_PUSH_EXC_INFO) return; /* handlers: only exceptions come here */
        if (opcode_arg_kind(opcode) != ARGK_JUMP) {
            one(r, i);
            continue;
        }
        if (opcode == OPCODE_JUMP_FORWARD && instr->arg > i && instr->arg <= end) {
            i = instr->arg - 1;
            continue;
        }
        bool conditional = opcode == OPCODE_POP_JUMP_IF_FALSE || opcode == OPCODE_POP_JUMP_IF_TRUE || opcode == OPCODE_POP_JUMP_IF_NONE || opcode == OPCODE_POP_JUMP_IF_NOT_NONE;
        if (!conditional || !branch(r, i, end)) {
            leave(r, i);
            return;
        }
        i = instr->arg - 1;
    }
}

static void put_signature(Reader *r) {
    const Code *code = r->code;
    text_printf(r->out, "def %s(", code->name);
    int total = code->argcount + code->kwonlyargcount, shown = 0;
    for (int i = 0; i < total; i++) text_printf(r->out, "%s%s%s", shown++ ? ", " : "", i == code->argcount && !(code->flags & CODE_VARARGS) ? "*, " : "", code->localsplus[i]);
    if (code->flags & CODE_VARARGS) text_printf(r->out, "%s*%s", shown++ ? ", " : "", code->localsplus[total++]);
    if (code->flags & CODE_VARKEYWORDS) text_printf(r->out, "%s**%s", shown++ ? ", " : "", code->localsplus[total]);
    text_put(r->out, "):\n");
}

void code_as_python(Text *out, const Entry *entry, const Code *code, Arena *arena) {
    int slots = code_localsplus_count(code), *loads = ARENA_ARRAY(arena, int, slots + 1);
    for (int i = 0; i < code->instr_count; i++)
        if (code->instrs[i].opcode == OPCODE_LOAD_FAST) loads[code->instrs[i].arg]++;
    Reader *r = ARENA_NEW(arena, Reader);
    *r = (Reader){.out = out, .arena = arena, .vm = entry->dynamo->vm, .entry = entry, .code = code, .loads = loads, .held = ARENA_ARRAY(arena, Expression, slots + 1), .is_held = ARENA_ARRAY(arena, bool, slots + 1), .indent = 1};
    put_signature(r);
    range(r, 0, code->instr_count);
}

const char *const_object_text(const Entry *entry, const Const *c, Arena *arena) {
    Reader *r = ARENA_NEW(arena, Reader);
    *r = (Reader){.arena = arena, .vm = entry->dynamo->vm, .entry = entry};
    return object_text(r, c->object);
}
