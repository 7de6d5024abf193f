/* Lex: text to tokens, one at a time.
 *
 * In: a source file. Out: tokens with spans; blocks as INDENT and DEDENT, ends of logical lines as NEWLINE, f-strings as
 * FSTRING_START, pieces of text (FSTRING_MIDDLE) and the ordinary tokens of their fields, FSTRING_END.
 *
 *     Lexer lexer = lexer_open(session, file);
 *     for (Token token = lexer_next(&lexer); token.kind != TOKEN_END; token = lexer_next(&lexer)) use(token);
 *
 * Invariant: spans of successive tokens never overlap, and every INDENT has its DEDENT before END.
 * To add an operator or keyword: one row below; the longest operator wins. */
#ifndef VITRINE_LANG_LEX_H
#define VITRINE_LANG_LEX_H
#include "base/vec.h"
#include "lang/code.h"

#define TOKEN_OPERATORS(X)                                                                                            \
    X(LPAR, "(") X(RPAR, ")") X(LSQB, "[") X(RSQB, "]") X(LBRACE, "{") X(RBRACE, "}") X(COMMA, ",") X(COLON, ":")     \
    X(SEMI, ";") X(DOT, ".") X(ELLIPSIS, "...") X(EQUAL, "=") X(ARROW, "->") X(WALRUS, ":=") X(AT, "@") X(EXCLAIM, "!") \
    X(PLUS, "+") X(MINUS, "-") X(STAR, "*") X(SLASH, "/") X(DOUBLE_SLASH, "//") X(PERCENT, "%") X(DOUBLE_STAR, "**")  \
    X(SHIFT_LEFT, "<<") X(SHIFT_RIGHT, ">>") X(AMPER, "&") X(PIPE, "|") X(CARET, "^") X(TILDE, "~")                   \
    X(LESS, "<") X(LESS_EQUAL, "<=") X(GREATER, ">") X(GREATER_EQUAL, ">=") X(EQUAL_EQUAL, "==") X(NOT_EQUAL, "!=")   \
    X(PLUS_EQUAL, "+=") X(MINUS_EQUAL, "-=") X(STAR_EQUAL, "*=") X(SLASH_EQUAL, "/=") X(DOUBLE_SLASH_EQUAL, "//=")    \
    X(PERCENT_EQUAL, "%=") X(DOUBLE_STAR_EQUAL, "**=") X(SHIFT_LEFT_EQUAL, "<<=") X(SHIFT_RIGHT_EQUAL, ">>=")         \
    X(AMPER_EQUAL, "&=") X(PIPE_EQUAL, "|=") X(CARET_EQUAL, "^=") X(AT_EQUAL, "@=")

#define TOKEN_KEYWORDS(X)                                                                                             \
    X(FALSE, "False") X(NONE, "None") X(TRUE, "True") X(AND, "and") X(AS, "as") X(ASSERT, "assert") X(ASYNC, "async") \
    X(AWAIT, "await") X(BREAK, "break") X(CLASS, "class") X(CONTINUE, "continue") X(DEF, "def") X(DEL, "del")         \
    X(ELIF, "elif") X(ELSE, "else") X(EXCEPT, "except") X(FINALLY, "finally") X(FOR, "for") X(FROM, "from")           \
    X(GLOBAL, "global") X(IF, "if") X(IMPORT, "import") X(IN, "in") X(IS, "is") X(LAMBDA, "lambda")                   \
    X(NONLOCAL, "nonlocal") X(NOT, "not") X(OR, "or") X(PASS, "pass") X(RAISE, "raise") X(RETURN, "return")           \
    X(TRY, "try") X(WHILE, "while") X(WITH, "with") X(YIELD, "yield")

typedef enum TokenKind {
    TOKEN_END, TOKEN_NEWLINE, TOKEN_INDENT, TOKEN_DEDENT, TOKEN_NAME, TOKEN_NUMBER, TOKEN_STRING,
    TOKEN_FSTRING_START, TOKEN_FSTRING_MIDDLE, TOKEN_FSTRING_END,
#define X(name, text) TOKEN_##name,
    TOKEN_OPERATORS(X) TOKEN_KEYWORDS(X)
#undef X
} TokenKind;

typedef struct Token {
    TokenKind kind;
    Span span;
    const char *name; /* NAME: interned */
    bool spec;        /* FSTRING_MIDDLE: text of a format specification, where braces are not doubled */
    bool raw;         /* FSTRING_START, FSTRING_MIDDLE: backslashes are themselves */
} Token;

/* Why the text ended too early, for lang_state. */
typedef enum LexUnfinished { LEX_WHOLE, LEX_IN_STRING, LEX_IN_BRACKET, LEX_AFTER_BACKSLASH } LexUnfinished;

/* A replacement field being read, or the literal text of an f-string. */
typedef struct FstringMode {
    Span opening;        /* prefix and quotes */
    char quote;
    bool triple, raw;
    bool in_field;       /* reading tokens of a replacement field rather than text */
    int brackets;        /* number of open brackets where this f-string began */
    int specs;           /* format specifications that are open, one for each level of nested fields */
    int field_brackets[4]; /* for each open field: number of open brackets inside its brace */
    int fields;          /* open fields, nested through specifications */
} FstringMode;

typedef struct OpenBracket { char kind; Span span; } OpenBracket;
enum { LEX_BRACKET_LIMIT = 200, LEX_INDENT_LIMIT = 100, LEX_FSTRING_LIMIT = 20 };

typedef struct Lexer {
    LangSession *session;
    const SourceFile *file;
    const char *text; /* file->text */
    uint32_t at, length;
    bool line_start;  /* before the first token of a line: indentation counts */
    bool any;         /* the logical line has a token */
    int indents[LEX_INDENT_LIMIT], tabbed_indents[LEX_INDENT_LIMIT], indent_count; /* tabs counted as 8 and as 1 */
    int pending;      /* INDENTs (> 0) or DEDENTs (< 0) to give out */
    OpenBracket brackets[LEX_BRACKET_LIMIT];
    int bracket_count;
    FstringMode fstrings[LEX_FSTRING_LIMIT];
    int fstring_count;
    LexUnfinished unfinished;
    void (*on_comment)(void *state, Span comment); /* each comment at the start of a line outside brackets; may be NULL */
    void *comment_state;
} Lexer;

Lexer lexer_open(LangSession *session, const SourceFile *file);
/* The next token. Fails with Python's message where the text is none. With brackets open at the end of the text it gives
 * END, and `unfinished` is LEX_IN_BRACKET: the parser may have a better complaint. */
Token lexer_next(Lexer *lexer);
const char *token_text(TokenKind kind); /* "':'" without the quotes; "newline", "name" … for the others */

/* Parts of the lexer, shared between its files. */
Span lexer_span(const Lexer *lexer, uint32_t start, uint32_t end);
bool name_start(const char *text, size_t length, int *bytes); /* can an identifier start here? */
bool name_part(const char *text, size_t length, int *bytes);
Token lex_number(Lexer *lexer);                               /* lex_number.c */
bool lex_string_prefix(const Lexer *lexer, uint32_t *quote);  /* lex_string.c: does a string literal start here? */
Token lex_string(Lexer *lexer);
Token lex_fstring_text(Lexer *lexer);                         /* inside an f-string: text, field start or end */
bool fstring_field_ends(const Lexer *lexer);                  /* at the level of the innermost field's brace */
#endif
