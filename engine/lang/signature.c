/* Signature: the parameter list of an op row, as in a def.
 *
 * In: "input, dim=None, *, dtype=None" or "input, *size". Out: names, constant defaults, how many may be positional.
 *
 *     lang_parse_signature(session, "*tensors, indexing='ij'")  ->  names [indexing], positional 0, varargs_name "tensors"
 *
 * Invariant: `names` holds what stands before the star, then what stands behind it; the starred name is not among them. */
#include "lang/parser.h"
#include "lang/work.h"
#include <string.h>

static void add_parameter(LangWork *work, Signature *signature, const Parameter *parameter) {
    int i = signature->count++;
    Const value;
    signature->names[i] = parameter->name;
    signature->has_default[i] = parameter->initial != NULL;
    if (!parameter->initial) return;
    if (!node_constant(work->session.arena, parameter->initial, &value))
        fail(work->session.failure, parameter->initial->span, "SyntaxError: the default of '%s' must be a constant here", parameter->name);
    signature->defaults[i] = const_copy(work->keep, &value);
}

static Signature *signature_of(LangWork *work, const Parameters *parameters) {
    int count = parameters->positional.count + parameters->keyword_only.count;
    Signature *signature = ARENA_NEW(work->keep, Signature);
    signature->names = ARENA_ARRAY(work->keep, const char *, count);
    signature->defaults = ARENA_ARRAY(work->keep, Const, count);
    signature->has_default = ARENA_ARRAY(work->keep, bool, count);
    signature->positional = parameters->positional.count;
    for (int i = 0; i < parameters->positional.count; i++) add_parameter(work, signature, &parameters->positional.at[i]);
    for (int i = 0; i < parameters->keyword_only.count; i++) add_parameter(work, signature, &parameters->keyword_only.at[i]);
    signature->varargs = parameters->varargs.name != NULL;
    signature->varargs_name = parameters->varargs.name;
    signature->varkeywords = parameters->varkeywords.name != NULL;
    return signature;
}

static void parse_signature(LangWork *work) {
    Parser parser = parser_open(&work->session, work->file);
    parser_read(&parser);
    parser_expect(&parser, TOKEN_LPAR);
    Parameters *parameters = parse_parameters(&parser, TOKEN_RPAR, false);
    parser_expect(&parser, TOKEN_RPAR);
    parser_expect(&parser, TOKEN_NEWLINE);
    parser_expect(&parser, TOKEN_END);
    work->signature = signature_of(work, parameters);
}

Signature *lang_parse_signature(LangSession *session, const char *text) {
    const char *bracketed = arena_printf(session->arena, "(%s)", text); /* as the parser wants it; messages point into it */
    LangWork work = {.file = source_new(session->arena, "<signature>", bracketed, strlen(bracketed), 1)};
    lang_work(session, &work, parse_signature);
    return work.signature;
}
