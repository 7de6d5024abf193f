/* Compile: the front end's entry points: text to Program, expression to Code.
 *
 * In: a SourceFile. Out: one Code for each top-level statement, and the command lines between them.
 *
 *     Program *program = lang_compile(session, file, false);
 *
 * Tokens, tree, scopes and blocks live in a scratch arena that goes when the text is compiled; only Codes stay.
 * Invariant: the whole text is parsed, then all scopes are resolved, then code is emitted: errors come in Python's order. */
#include "lang/emit.h"
#include "lang/parser.h"
#include "lang/work.h"

void lang_work(LangSession *session, LangWork *work, void (*body)(LangWork *work)) {
    Failure failure = {0};
    work->body = body;
    work->keep = session->arena;
    work->session = (LangSession){arena_new("front end"), session->names, &failure, session->next_code_id};
    bool done = fail_catch(&failure, lang_work_run, work);
    session->next_code_id = work->session.next_code_id;
    arena_free(work->session.arena);
    if (!done) fail(session->failure, failure.span, "%s", failure.message);
}

void lang_work_run(void *state) {
    LangWork *work = state;
    work->body(work);
}

static Emitter emitter_of(LangWork *work) {
    Scope *top = scope_module(&work->session);
    return (Emitter){.session = &work->session, .keep = work->keep, .file = work->file, .top = top, .interactive = work->interactive};
}

static void emit_program(Emitter *emitter, const NodeList *list, Program *program) {
    Scope **scopes = ARENA_ARRAY(emitter->session->arena, Scope *, list->count);
    for (int i = 0; i < list->count; i++) scopes[i] = scope_build(emitter->session, emitter->top, list->at[i]);
    for (int i = 0; i < list->count; i++) program->statements[i] = emit_module_statement(emitter, list->at[i], scopes[i]);
}

/* Texts are UTF-8: later stages copy strings and names out of them as they are. */
static void check_encoding(LangWork *work) {
    const SourceFile *file = work->file;
    uint32_t code;
    for (size_t at = 0; at < file->length;) {
        int bytes = utf8_decode(file->text + at, file->length - at, &code);
        if (bytes == 0)
            fail(work->session.failure, (Span){file, (uint32_t)at, (uint32_t)at + 1}, "SyntaxError: the text is not UTF-8: byte 0x%02x cannot stand here", (unsigned char)file->text[at]);
        at += (size_t)bytes;
    }
}

static void compile_program(LangWork *work) {
    check_encoding(work);
    Parser parser = parser_open(&work->session, work->file);
    Statements statements = parse_file(&parser);
    Program *program = ARENA_NEW(work->keep, Program);
    program->statement_count = statements.list.count;
    program->statements = ARENA_ARRAY(work->keep, Code *, statements.list.count);
    program->command_count = statements.commands.count;
    program->commands = ARENA_ARRAY(work->keep, CommandLine, statements.commands.count);
    for (int i = 0; i < program->command_count; i++) {
        program->commands[i] = statements.commands.at[i];
        program->commands[i].text = arena_strdup(work->keep, statements.commands.at[i].text);
    }
    Emitter emitter = emitter_of(work);
    emit_program(&emitter, &statements.list, program);
    work->program = program;
}

Program *lang_compile(LangSession *session, const SourceFile *file, bool interactive) {
    LangWork work = {.file = file, .interactive = interactive};
    lang_work(session, &work, compile_program);
    return work.program;
}

static Node *only_expression(LangWork *work, const Statements *statements) {
    const NodeList *list = &statements->list;
    if (list->count == 1 && list->at[0]->kind == NODE_EXPRESSION) return list->at[0]->left;
    Span span = list->count > 1 ? list->at[1]->span : list->count ? list->at[0]->span : (Span){work->file, 0, 0};
    fail(work->session.failure, span, "SyntaxError: an expression is expected here");
}

static void compile_expression(LangWork *work) {
    Parser parser = parser_open(&work->session, work->file);
    Statements statements = parse_file(&parser);
    Node *expression = only_expression(work, &statements);
    Emitter emitter = emitter_of(work);
    const char **names = ARENA_ARRAY(work->session.arena, const char *, work->param_count);
    for (int i = 0; i < work->param_count; i++) names[i] = intern(work->session.names, work->params[i]);
    Scope *scope = scope_build_expression(&work->session, names, work->param_count, expression);
    work->code = emit_expression_code(&emitter, expression, scope, work->name, names, work->param_count);
}

Code *lang_compile_expression(LangSession *session, const SourceFile *file, const char *name, const char **params, int param_count) {
    LangWork work = {.file = file, .name = name, .params = params, .param_count = param_count};
    lang_work(session, &work, compile_expression);
    return work.code;
}
