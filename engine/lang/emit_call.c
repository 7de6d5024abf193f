/* Emit calls: plain, method, keyword, starred, super().
 *
 * In: CALL nodes; also the bases and keywords of a class. Out: code that leaves the result.
 *
 *     x.f(1, k=2)  ->  LOAD x; LOAD_ATTR (NULL|self + f); LOAD_CONST 1; LOAD_CONST 2; KW_NAMES ('k',); CALL 2
 *     f(*a, **b)   ->  PUSH_NULL; LOAD f; LOAD a; BUILD_MAP 0; LOAD b; DICT_MERGE 1; CALL_FUNCTION_EX 1
 *
 * Invariant: below the arguments stand the callable and, below it, NULL; or a function and its self. */
#include "lang/emit.h"
#include <string.h>

static bool has_unpacking(const NodeList *arguments, const NodeList *keywords) {
    for (int i = 0; i < arguments->count; i++)
        if (arguments->at[i]->kind == NODE_STARRED) return true;
    for (int i = 0; i < keywords->count; i++)
        if (!keywords->at[i]->name.id) return true;
    return false;
}

/* Attributes of imported modules are called as plain functions. */
static bool is_imported(const Emitter *emitter, const Node *node) {
    if (node->kind != NODE_NAME) return false;
    const Symbol *symbol = scope_symbol(emitter->top, node->name.id);
    return symbol && (symbol->flags & SYMBOL_IMPORT);
}

bool is_method_call(const Emitter *emitter, const Node *call) {
    const Node *callee = call->left;
    int arguments = call->call.arguments.count, keywords = call->call.keywords.count;
    if (callee->kind != NODE_ATTRIBUTE || is_imported(emitter, callee->left)) return false;
    return arguments + keywords + (keywords != 0) < STACK_GUIDE && !has_unpacking(&call->call.arguments, &call->call.keywords);
}

/* super().name and super(A, b).name, where nothing hides the builtin. */
bool is_super_attribute(Emitter *emitter, const Node *attribute) {
    const Node *call = attribute->left;
    if (attribute->kind != NODE_ATTRIBUTE || call->kind != NODE_CALL || call->left->kind != NODE_NAME || strcmp(call->left->name.id, "super") != 0)
        return false;
    if (strcmp(attribute->name.id, "__class__") == 0 || call->call.keywords.count) return false;
    const char *super = call->left->name.id;
    if (scope_place(emitter->unit->scope, super) != PLACE_GLOBAL_IMPLICIT || scope_symbol(emitter->top, super)) return false;
    if (call->call.arguments.count == 2) return !has_unpacking(&call->call.arguments, &call->call.keywords);
    if (call->call.arguments.count != 0 || emitter->unit->code->argcount == 0) return false;
    return scope_place(emitter->unit->scope, emit_intern(emitter, "__class__")) == PLACE_FREE;
}

void emit_super_attribute(Emitter *emitter, Node *attribute, bool method) {
    Node *call = attribute->left;
    emit_expression(emitter, call->left);
    bool two = call->call.arguments.count == 2;
    if (two) {
        emit_expression(emitter, call->call.arguments.at[0]);
        emit_expression(emitter, call->call.arguments.at[1]);
    } else {
        emit_variable(emitter, emit_intern(emitter, "__class__"), CONTEXT_LOAD, call->span);
        emit_variable(emitter, emitter->unit->locals.names.at[0], CONTEXT_LOAD, call->span);
    }
    emit_attribute_op(emitter, OPCODE_LOAD_SUPER_ATTR, attribute->name.id, (two ? 2 : 0) | method, 2, attribute->span);
    emit_op(emitter, OPCODE_NOP, attribute_span(attribute, attribute->span));
}

void emit_before_call(Emitter *emitter, Node *call) {
    if (!is_method_call(emitter, call)) emit_op(emitter, OPCODE_PUSH_NULL, call->left->span);
}

static void check_keywords(Emitter *emitter, const NodeList *keywords) {
    Map *seen = keywords->count > 8 ? map_new(emitter->session->arena) : NULL;
    for (int i = 0; i < keywords->count; i++) {
        const char *name = keywords->at[i]->name.id;
        bool again = name && seen && map_has(seen, name);
        for (int k = 0; name && !seen && k < i; k++) again = again || keywords->at[k]->name.id == name;
        if (again) emit_fail(emitter, keywords->at[i]->span, "SyntaxError: keyword argument repeated: %s", name);
        if (name && strcmp(name, "__debug__") == 0) emit_fail(emitter, keywords->at[i]->span, "SyntaxError: cannot assign to __debug__");
        if (name && seen) map_put(seen, name, keywords->at[i]);
    }
}

static Const keyword_names(Emitter *emitter, const NodeList *keywords, int from, int to) {
    Const *names = ARENA_ARRAY(emitter->session->arena, Const, to - from);
    for (int i = from; i < to; i++) names[i - from] = const_string(emitter, keywords->at[i]->name.id);
    return (Const){.kind = CONST_TUPLE, .tuple = {names, to - from}};
}

static void emit_values(Emitter *emitter, const NodeList *nodes) {
    for (int i = 0; i < nodes->count; i++) emit_expression(emitter, nodes->at[i]->kind == NODE_KEYWORD ? nodes->at[i]->left : nodes->at[i]);
}

static void emit_keyword_values(Emitter *emitter, const NodeList *keywords, Span span) {
    if (!keywords->count) return;
    emit_values(emitter, keywords);
    emit_arg(emitter, OPCODE_KW_NAMES, flow_const(&emitter->unit->flow, keyword_names(emitter, keywords, 0, keywords->count)), span);
}

/* Named keywords from..to as one dict. */
static void emit_keyword_dict(Emitter *emitter, const NodeList *keywords, int from, int to, Span span) {
    int count = to - from;
    bool big = count * 2 > STACK_GUIDE;
    if (count > 1 && !big) {
        for (int i = from; i < to; i++) emit_expression(emitter, keywords->at[i]->left);
        emit_const(emitter, keyword_names(emitter, keywords, from, to), span);
        emit_arg(emitter, OPCODE_BUILD_CONST_KEY_MAP, count, span);
        return;
    }
    if (big) emit_arg(emitter, OPCODE_BUILD_MAP, 0, NOWHERE);
    for (int i = from; i < to; i++) {
        emit_const(emitter, const_string(emitter, keywords->at[i]->name.id), span);
        emit_expression(emitter, keywords->at[i]->left);
        if (big) emit_arg(emitter, OPCODE_MAP_ADD, 1, NOWHERE);
    }
    if (!big) emit_arg(emitter, OPCODE_BUILD_MAP, count, span);
}

static void emit_named_run(Emitter *emitter, const NodeList *keywords, int from, int to, bool *have, Span span) {
    if (from == to) return;
    emit_keyword_dict(emitter, keywords, from, to, span);
    if (*have) emit_arg(emitter, OPCODE_DICT_MERGE, 1, span);
    *have = true;
}

static void emit_unpacked_keywords(Emitter *emitter, const NodeList *keywords, Span span) {
    bool have = false;
    int from = 0;
    for (int i = 0; i < keywords->count; i++) {
        if (keywords->at[i]->name.id) continue;
        emit_named_run(emitter, keywords, from, i, &have, span);
        if (!have) emit_arg(emitter, OPCODE_BUILD_MAP, 0, span);
        have = true;
        emit_expression(emitter, keywords->at[i]->left);
        emit_arg(emitter, OPCODE_DICT_MERGE, 1, span);
        from = i + 1;
    }
    emit_named_run(emitter, keywords, from, keywords->count, &have, span);
}

/* `pushed`: arguments that are on the stack already (a class's body and name). */
void emit_call_arguments(Emitter *emitter, int pushed, const NodeList *arguments, const NodeList *keywords, Span span) {
    check_keywords(emitter, keywords);
    bool many = arguments->count + keywords->count * 2 > STACK_GUIDE;
    if (!many && !has_unpacking(arguments, keywords)) {
        emit_values(emitter, arguments);
        emit_keyword_values(emitter, keywords, span);
        emit_arg(emitter, OPCODE_CALL, pushed + arguments->count + keywords->count, span);
        return;
    }
    bool lone_star = !pushed && arguments->count == 1 && arguments->at[0]->kind == NODE_STARRED;
    if (lone_star) emit_expression(emitter, arguments->at[0]->left);
    else emit_items(emitter, arguments, pushed, NODE_TUPLE, span);
    if (keywords->count) emit_unpacked_keywords(emitter, keywords, span);
    emit_arg(emitter, OPCODE_CALL_FUNCTION_EX, keywords->count != 0, span);
}

void emit_call_rest(Emitter *emitter, Node *node) {
    const NodeList *arguments = &node->call.arguments, *keywords = &node->call.keywords;
    if (!is_method_call(emitter, node)) {
        emit_call_arguments(emitter, 0, arguments, keywords, node->span);
        return;
    }
    check_keywords(emitter, keywords);
    emit_values(emitter, arguments);
    emit_keyword_values(emitter, keywords, attribute_span(node->left, node->left->span));
    emit_arg(emitter, OPCODE_CALL, arguments->count + keywords->count, attribute_span(node->left, node->span));
}
