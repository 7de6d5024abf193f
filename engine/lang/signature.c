/* Signature: the parameter list of an op row, as in a def.
 *
 * In: "input, dim=None, *, dtype=None" or "input, *size". Out: names, constant defaults, how many may be positional.
 *
 *     lang_parse_signature(session, "*tensors, indexing='ij'")  ->  names [indexing], positional 0, varargs_name "tensors"
 *
 * Invariant: `names` holds what stands before the star, then what stands behind it; the starred name is not among them. */
#include "lang/parser.h"
#include <string.h>

static void add_parameter(LangSession *session, Signature *signature, const Parameter *parameter) {
    int i = signature->count++;
    signature->names[i] = parameter->name;
    signature->has_default[i] = parameter->initial != NULL;
    if (parameter->initial && !node_constant(session->arena, parameter->initial, &signature->defaults[i]))
        fail(session->failure, parameter->initial->span, "SyntaxError: the default of '%s' must be a constant here", parameter->name);
}

static Signature *signature_of(LangSession *session, const Parameters *parameters) {
    int count = parameters->positional.count + parameters->keyword_only.count;
    Signature *signature = ARENA_NEW(session->arena, Signature);
    signature->names = ARENA_ARRAY(session->arena, const char *, count);
    signature->defaults = ARENA_ARRAY(session->arena, Const, count);
    signature->has_default = ARENA_ARRAY(session->arena, bool, count);
    signature->positional = parameters->positional.count;
    for (int i = 0; i < parameters->positional.count; i++) add_parameter(session, signature, &parameters->positional.at[i]);
    for (int i = 0; i < parameters->keyword_only.count; i++) add_parameter(session, signature, &parameters->keyword_only.at[i]);
    signature->varargs = parameters->varargs.name != NULL;
    signature->varargs_name = parameters->varargs.name;
    signature->varkeywords = parameters->varkeywords.name != NULL;
    return signature;
}

Signature *lang_parse_signature(LangSession *session, const char *text) {
    const char *bracketed = arena_printf(session->arena, "(%s)", text);
    SourceFile *file = source_new(session->arena, "<signature>", bracketed, strlen(bracketed), 1);
    Parser parser = parser_open(session, file);
    parser_read(&parser);
    parser_expect(&parser, TOKEN_LPAR);
    Parameters *parameters = parse_parameters(&parser, TOKEN_RPAR, false);
    parser_expect(&parser, TOKEN_RPAR);
    parser_expect(&parser, TOKEN_NEWLINE);
    parser_expect(&parser, TOKEN_END);
    return signature_of(session, parameters);
}
