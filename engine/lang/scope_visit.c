/* Scope visit: walks the AST and notes which names each scope binds, uses and declares.
 *
 * In: nodes. Out: Scopes with flags on their symbols; places come later (scope_resolve.c).
 *
 *     "[y := x for x in z]" in f  ->  z used in f; x bound in the comprehension; y bound in f, nonlocal in the comprehension
 *
 * Invariant: the left spine of an expression and chains of elif are walked by loops, all else by bounded recursion.
 * Annotations of parameters and of locals mean nothing and are not visited. */
#include "lang/scope.h"
#include <string.h>

static void visit_expressions(ScopeBuilder *builder, const NodeList *list) {
    for (int i = 0; i < list->count; i++)
        if (list->at[i]) scope_visit_expression(builder, list->at[i]);
}

static void visit_optional(ScopeBuilder *builder, Node *node) {
    if (node) scope_visit_expression(builder, node);
}

static void visit_statements(ScopeBuilder *builder, const NodeList *list) {
    for (int i = 0; i < list->count; i++) scope_visit_statement(builder, list->at[i]);
}

static void visit_name(ScopeBuilder *builder, const Node *node) {
    scope_add(builder, node->name.id, node->context == CONTEXT_LOAD ? SYMBOL_USE : SYMBOL_LOCAL, node->span);
    bool super = node->context == CONTEXT_LOAD && scope_is_function(builder->current) && strcmp(node->name.id, "super") == 0;
    if (super) scope_add(builder, intern(builder->session->names, "__class__"), SYMBOL_USE, node->span);
}

static void visit_defaults(ScopeBuilder *builder, const Parameters *parameters) {
    for (int i = 0; i < parameters->positional.count; i++) visit_optional(builder, parameters->positional.at[i].initial);
    for (int i = 0; i < parameters->keyword_only.count; i++) visit_optional(builder, parameters->keyword_only.at[i].initial);
}

static void add_parameter(ScopeBuilder *builder, const Parameter *parameter) {
    if (parameter->name) scope_add(builder, parameter->name, SYMBOL_PARAMETER, parameter->span);
}

static void add_parameters(ScopeBuilder *builder, const Parameters *parameters) {
    for (int i = 0; i < parameters->positional.count; i++) add_parameter(builder, &parameters->positional.at[i]);
    for (int i = 0; i < parameters->keyword_only.count; i++) add_parameter(builder, &parameters->keyword_only.at[i]);
    add_parameter(builder, &parameters->varargs);
    add_parameter(builder, &parameters->varkeywords);
}

static void visit_lambda(ScopeBuilder *builder, Node *node) {
    visit_defaults(builder, node->lambda.parameters);
    scope_enter(builder, SCOPE_FUNCTION, node);
    add_parameters(builder, node->lambda.parameters);
    scope_visit_expression(builder, node->lambda.body);
    scope_leave(builder);
}

/* A name bound by := inside a comprehension belongs to the scope round all comprehensions. */
static void bind_outside(ScopeBuilder *builder, const Node *target) {
    Scope *comprehension = builder->current, *scope = comprehension;
    const char *name = mangle_name(builder->session, scope->class_name, target->name.id);
    Failure *failure = builder->session->failure;
    for (; scope->comprehension; scope = scope->parent) {
        const Symbol *symbol = scope_symbol(scope, name);
        if (symbol && (symbol->flags & SYMBOL_ITERATION))
            fail(failure, target->span, "SyntaxError: assignment expression cannot rebind comprehension iteration variable '%s'", name);
    }
    if (scope->kind == SCOPE_CLASS)
        fail(failure, target->span, "SyntaxError: assignment expression within a comprehension cannot be used in a class body");
    const Symbol *outer = scope_symbol(scope, name);
    bool global = scope->kind == SCOPE_MODULE || (outer && (outer->flags & SYMBOL_GLOBAL));
    scope_add(builder, name, global ? SYMBOL_GLOBAL : SYMBOL_NONLOCAL, target->span);
    builder->current = scope;
    scope_add(builder, name, scope->kind == SCOPE_MODULE ? SYMBOL_GLOBAL : SYMBOL_LOCAL, target->span);
    builder->current = comprehension;
}

static void visit_walrus(ScopeBuilder *builder, Node *node) {
    if (builder->current->in_iterable)
        fail(builder->session->failure, node->span, "SyntaxError: assignment expression cannot be used in a comprehension iterable expression");
    if (builder->current->comprehension) bind_outside(builder, node->walrus.target);
    scope_visit_expression(builder, node->walrus.value);
    scope_visit_expression(builder, node->walrus.target);
}

static void visit_iterable(ScopeBuilder *builder, Node *iterable) {
    bool outer = builder->current->in_iterable;
    Scope *scope = builder->current;
    scope->in_iterable = true;
    scope_visit_expression(builder, iterable);
    scope->in_iterable = outer;
}

static void visit_comprehension_target(ScopeBuilder *builder, const Generator *generator) {
    builder->current->in_target = true;
    scope_visit_expression(builder, generator->target);
    builder->current->in_target = false;
}

/* The first iterable is evaluated outside; the rest inside, in the order in which CPython visits it. */
static void visit_comprehension(ScopeBuilder *builder, Node *node) {
    const Generator *first = &node->comprehension.generators.at[0];
    visit_iterable(builder, first->iterable);
    Scope *scope = scope_enter(builder, SCOPE_FUNCTION, node);
    scope->comprehension = true;
    scope->generator_expression = scope->generator = node->kind == NODE_GENERATOR;
    scope_add(builder, intern(builder->session->names, ".0"), SYMBOL_PARAMETER, node->span);
    visit_comprehension_target(builder, first);
    visit_expressions(builder, &first->conditions);
    for (int i = 1; i < node->comprehension.generators.count; i++) {
        const Generator *generator = &node->comprehension.generators.at[i];
        visit_comprehension_target(builder, generator);
        visit_iterable(builder, generator->iterable);
        visit_expressions(builder, &generator->conditions);
    }
    visit_optional(builder, node->comprehension.value);
    scope_visit_expression(builder, node->comprehension.element);
    scope_leave(builder);
}

static void visit_yield(ScopeBuilder *builder, Node *node) {
    static const char *const names[] = {"list comprehension", "set comprehension", "dict comprehension", "generator expression"};
    visit_optional(builder, node->left);
    Scope *scope = builder->current;
    if (scope->comprehension)
        fail(builder->session->failure, node->span, "SyntaxError: 'yield' inside %s", names[scope->node->kind - NODE_LIST_COMP]);
    scope->generator = true;
}

static void visit_slice(ScopeBuilder *builder, Node *node) {
    visit_optional(builder, node->slice.lower);
    visit_optional(builder, node->slice.upper);
    visit_optional(builder, node->slice.step);
}

static void visit_conditional(ScopeBuilder *builder, Node *node) {
    scope_visit_expression(builder, node->conditional.test);
    scope_visit_expression(builder, node->conditional.yes);
    scope_visit_expression(builder, node->conditional.no);
}

/* A node without what stands to its left. */
static void visit_rest(ScopeBuilder *builder, Node *node) {
    switch (node->kind) {
    case NODE_NAME: visit_name(builder, node); break;
    case NODE_BINARY: scope_visit_expression(builder, node->operation.right); break;
    case NODE_SUBSCRIPT: scope_visit_expression(builder, node->subscript.index); break;
    case NODE_CALL:
        visit_expressions(builder, &node->call.arguments);
        visit_expressions(builder, &node->call.keywords);
        break;
    case NODE_UNARY: case NODE_STARRED: case NODE_KEYWORD: scope_visit_expression(builder, node->left); break;
    case NODE_BOOL: visit_expressions(builder, &node->boolean.values); break;
    case NODE_COMPARE: visit_expressions(builder, &node->compare.operands); break;
    case NODE_CONDITIONAL: visit_conditional(builder, node); break;
    case NODE_WALRUS: visit_walrus(builder, node); break;
    case NODE_LAMBDA: visit_lambda(builder, node); break;
    case NODE_TUPLE: case NODE_LIST: case NODE_SET: case NODE_DICT:
        visit_expressions(builder, &node->collection.items);
        visit_expressions(builder, &node->collection.values);
        break;
    case NODE_LIST_COMP: case NODE_SET_COMP: case NODE_DICT_COMP: case NODE_GENERATOR: visit_comprehension(builder, node); break;
    case NODE_FSTRING: visit_expressions(builder, &node->fstring); break;
    case NODE_FORMATTED:
        scope_visit_expression(builder, node->left);
        visit_optional(builder, node->formatted.spec);
        break;
    case NODE_YIELD: case NODE_YIELD_FROM: visit_yield(builder, node); break;
    case NODE_SLICE: visit_slice(builder, node); break;
    default: break;
    }
}

void scope_visit_expression(ScopeBuilder *builder, Node *node) {
    for (Node *at = ast_spine_base(node), *up; at; at = up) {
        up = at->up;
        visit_rest(builder, at);
    }
}

static void visit_def(ScopeBuilder *builder, Node *node) {
    scope_add(builder, node->definition.name, SYMBOL_LOCAL, node->span);
    visit_defaults(builder, node->definition.parameters);
    visit_expressions(builder, &node->definition.decorators);
    scope_enter(builder, SCOPE_FUNCTION, node);
    add_parameters(builder, node->definition.parameters);
    visit_statements(builder, &node->definition.body);
    scope_leave(builder);
}

static void visit_class(ScopeBuilder *builder, Node *node) {
    scope_add(builder, node->definition.name, SYMBOL_LOCAL, node->span);
    visit_expressions(builder, &node->definition.bases);
    visit_expressions(builder, &node->definition.keywords);
    visit_expressions(builder, &node->definition.decorators);
    scope_enter(builder, SCOPE_CLASS, node)->class_name = node->definition.name;
    visit_statements(builder, &node->definition.body);
    scope_leave(builder);
}

static void visit_import(ScopeBuilder *builder, const Node *node) {
    for (int i = 0; i < node->import.aliases.count; i++) {
        const Alias *alias = &node->import.aliases.at[i];
        if (strcmp(alias->name, "*") == 0) {
            if (builder->current->kind != SCOPE_MODULE)
                fail(builder->session->failure, alias->span, "SyntaxError: import * only allowed at module level");
            continue;
        }
        const char *name = alias->as ? alias->as : intern_n(builder->session->names, alias->name, strcspn(alias->name, "."));
        scope_add(builder, name, SYMBOL_IMPORT, alias->span);
    }
}

static void declare(ScopeBuilder *builder, Node *node, const char *id, bool global) {
    Scope *scope = builder->current;
    const char *name = mangle_name(builder->session, scope->class_name, id), *kind = global ? "global" : "nonlocal";
    const Symbol *symbol = scope_symbol(scope, name);
    int flags = symbol ? symbol->flags : 0;
    Failure *failure = builder->session->failure;
    if (flags & SYMBOL_PARAMETER) fail(failure, node->span, "SyntaxError: name '%s' is parameter and %s", id, kind);
    if (flags & SYMBOL_ANNOTATED) fail(failure, node->span, "SyntaxError: annotated name '%s' can't be %s", id, kind);
    if (flags & (SYMBOL_LOCAL | SYMBOL_IMPORT)) fail(failure, node->span, "SyntaxError: name '%s' is assigned to before %s declaration", id, kind);
    if (flags & SYMBOL_USE) fail(failure, node->span, "SyntaxError: name '%s' is used prior to %s declaration", id, kind);
    scope_add(builder, id, global ? SYMBOL_GLOBAL : SYMBOL_NONLOCAL, node->span);
    if (!map_has(scope->directives, name)) map_put(scope->directives, name, node);
}

static void visit_annotated(ScopeBuilder *builder, Node *node) {
    Node *target = node->walrus.target;
    bool simple = target->kind == NODE_NAME && !target->parenthesized;
    if (target->kind == NODE_NAME) {
        const Symbol *symbol = scope_symbol(builder->current, mangle_name(builder->session, builder->current->class_name, target->name.id));
        int declared = symbol ? symbol->flags & (SYMBOL_GLOBAL | SYMBOL_NONLOCAL) : 0;
        if (declared && builder->current->kind != SCOPE_MODULE)
            fail(builder->session->failure, node->span,
                 "SyntaxError: annotated name '%s' can't be %s", target->name.id, declared & SYMBOL_GLOBAL ? "global" : "nonlocal");
        if (simple || node->walrus.value) scope_add(builder, target->name.id, SYMBOL_LOCAL | (simple ? SYMBOL_ANNOTATED : 0), target->span);
    } else {
        scope_visit_expression(builder, target);
    }
    if (simple && builder->current->kind == SCOPE_CLASS) scope_visit_expression(builder, node->left);
    visit_optional(builder, node->walrus.value);
}

static void visit_if(ScopeBuilder *builder, Node *node) {
    for (;;) {
        scope_visit_expression(builder, node->left);
        visit_statements(builder, &node->block.body);
        if (node->block.orelse.count != 1 || node->block.orelse.at[0]->kind != NODE_IF) break;
        node = node->block.orelse.at[0];
    }
    visit_statements(builder, &node->block.orelse);
}

static void visit_loop(ScopeBuilder *builder, Node *node) {
    visit_optional(builder, node->block.target);
    scope_visit_expression(builder, node->left);
    visit_statements(builder, &node->block.body);
    visit_statements(builder, &node->block.orelse);
}

static void visit_try(ScopeBuilder *builder, Node *node) {
    visit_statements(builder, &node->try_block.body);
    for (int i = 0; i < node->try_block.handlers.count; i++) {
        const Handler *handler = &node->try_block.handlers.at[i];
        visit_optional(builder, handler->type);
        if (handler->name) scope_add(builder, handler->name, SYMBOL_LOCAL, handler->span);
        visit_statements(builder, &handler->body);
    }
    visit_statements(builder, &node->try_block.orelse);
    visit_statements(builder, &node->try_block.finally);
}

static void visit_with(ScopeBuilder *builder, Node *node) {
    for (int i = 0; i < node->with.items.count; i++) {
        scope_visit_expression(builder, node->with.items.at[i].manager);
        visit_optional(builder, node->with.items.at[i].target);
    }
    visit_statements(builder, &node->with.body);
}

static void visit_declaration(ScopeBuilder *builder, Node *node) {
    for (int i = 0; i < node->names.ids.count; i++) declare(builder, node, node->names.ids.at[i], node->kind == NODE_GLOBAL);
}

void scope_visit_statement(ScopeBuilder *builder, Node *node) {
    switch (node->kind) {
    case NODE_DEF: visit_def(builder, node); break;
    case NODE_CLASS: visit_class(builder, node); break;
    case NODE_ASSIGN: case NODE_DELETE:
        visit_optional(builder, node->assign.value);
        visit_expressions(builder, &node->assign.targets);
        break;
    case NODE_AUG_ASSIGN:
        scope_visit_expression(builder, node->left);
        scope_visit_expression(builder, node->operation.right);
        break;
    case NODE_ANN_ASSIGN: visit_annotated(builder, node); break;
    case NODE_EXPRESSION: case NODE_RETURN: visit_optional(builder, node->left); break;
    case NODE_RAISE: case NODE_ASSERT:
        visit_optional(builder, node->left);
        visit_optional(builder, node->raise.cause);
        break;
    case NODE_IMPORT: case NODE_IMPORT_FROM: visit_import(builder, node); break;
    case NODE_GLOBAL: case NODE_NONLOCAL: visit_declaration(builder, node); break;
    case NODE_IF: visit_if(builder, node); break;
    case NODE_WHILE: case NODE_FOR: visit_loop(builder, node); break;
    case NODE_TRY: visit_try(builder, node); break;
    case NODE_WITH: visit_with(builder, node); break;
    default: break;
    }
}
