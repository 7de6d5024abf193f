/* Compile: the front end's entry points: text to Program, expression to Code.
 *
 * In: a SourceFile. Out: one Code for each top-level statement, and the command lines between them.
 *
 *     Program *program = lang_compile(session, file, false);
 *
 * Invariant: the whole text is parsed, then all scopes are resolved, then code is emitted: errors come in Python's order. */
#include "lang/emit.h"
#include "lang/parser.h"

static void compile_statements(LangSession *session, Emitter *emitter, const NodeList *list, Program *program) {
    Scope **scopes = ARENA_ARRAY(session->arena, Scope *, list->count);
    for (int i = 0; i < list->count; i++) scopes[i] = scope_build(session, emitter->top, list->at[i]);
    for (int i = 0; i < list->count; i++) program->statements[i] = emit_module_statement(emitter, list->at[i], scopes[i]);
}

Program *lang_compile(LangSession *session, const SourceFile *file, bool interactive) {
    Parser parser = parser_open(session, file);
    Statements statements = parse_file(&parser);
    Program *program = ARENA_NEW(session->arena, Program);
    program->statement_count = statements.list.count;
    program->statements = ARENA_ARRAY(session->arena, Code *, statements.list.count);
    program->commands = statements.commands.at;
    program->command_count = statements.commands.count;
    Emitter emitter = {.session = session, .file = file, .top = scope_module(session), .interactive = interactive};
    compile_statements(session, &emitter, &statements.list, program);
    return program;
}

static Node *only_expression(LangSession *session, const SourceFile *file, const Statements *statements) {
    const NodeList *list = &statements->list;
    if (list->count == 1 && list->at[0]->kind == NODE_EXPRESSION) return list->at[0]->left;
    Span span = list->count > 1 ? list->at[1]->span : list->count ? list->at[0]->span : (Span){file, 0, 0};
    fail(session->failure, span, "SyntaxError: an expression is expected here");
}

Code *lang_compile_expression(LangSession *session, const SourceFile *file, const char *name, const char **params, int param_count) {
    Parser parser = parser_open(session, file);
    Statements statements = parse_file(&parser);
    Node *expression = only_expression(session, file, &statements);
    Emitter emitter = {.session = session, .file = file, .top = scope_module(session)};
    const char **names = ARENA_ARRAY(session->arena, const char *, param_count);
    for (int i = 0; i < param_count; i++) names[i] = intern(session->names, params[i]);
    Scope *scope = scope_build_expression(session, names, param_count, expression);
    return emit_expression_code(&emitter, expression, scope, name, names, param_count);
}
