/* Literal: the values that number and string tokens stand for.
 *
 *     "0x_ff" -> CONST_INT 255      "1e3" -> CONST_FLOAT 1000.0      "'a\\n'" -> CONST_STR "a", newline
 *
 * Invariant: the token was made by the lexer, so its form is right; only values can be wrong here. */
#ifndef VITRINE_LANG_LITERAL_H
#define VITRINE_LANG_LITERAL_H
#include "lang/lex.h"

/* `negative`: the literal stands behind a minus that belongs to it, and the value returned includes that minus. */
Const literal_number(LangSession *session, Token token, bool negative);
/* Appends the text of a STRING token (prefix and quotes taken off). */
void literal_string(LangSession *session, Token token, Text *text);
/* Appends the text of an FSTRING_MIDDLE token. */
void literal_fstring_text(LangSession *session, Token token, Text *text);
/* Puts a code point as UTF-8. */
void text_utf8(Text *text, uint32_t code);
#endif
