/* Escape: foreign text made safe where it is put: quoted, as an identifier, or visible on a terminal. (Declared in text.h.)
 *
 * In: any bytes up to a NUL. Out: text that cannot end its quotes, its line's meaning, or drive a terminal.
 * Invariant: what comes out is valid UTF-8, whatever goes in. */
#include "base/text.h"
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int sequence_length(unsigned char lead) {
    if (lead < 0x80) return 1;
    if (lead >= 0xc2 && lead < 0xe0) return 2;
    if (lead >= 0xe0 && lead < 0xf0) return 3;
    return lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
}

int utf8_decode(const char *at, size_t length, uint32_t *code) {
    static const uint32_t smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
    *code = 0xfffd;
    int n = length ? sequence_length((unsigned char)*at) : 0;
    if (n == 0 || (size_t)n > length) return 0;
    uint32_t value = n == 1 ? (unsigned char)*at : (unsigned char)*at & (0x7fu >> n);
    for (int i = 1; i < n; i++) {
        unsigned char next = (unsigned char)at[i];
        if ((next & 0xc0) != 0x80) return 0;
        value = value << 6 | (next & 0x3fu);
    }
    if (value < smallest[n] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) return 0;
    *code = value;
    return n;
}

typedef struct Range { uint32_t first, last; } Range;

static bool in_ranges(uint32_t code, const Range *ranges, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (code >= ranges[i].first && code <= ranges[i].last) return true;
    return false;
}

/* The blocks that matter for source text; wcwidth would need a locale to be set. */
int utf8_width(uint32_t code) {
    static const Range combining[] = {{0x300, 0x36f}, {0x1ab0, 0x1aff}, {0x200b, 0x200f}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}};
    static const Range wide[] = {{0x1100, 0x115f}, {0x2e80, 0x303e}, {0x3041, 0xa4cf}, {0xac00, 0xd7a3}, {0xf900, 0xfaff},
                                 {0xfe30, 0xfe6f}, {0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1f64f},
                                 {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
    if (code < 0x300) return 1;
    if (in_ranges(code, combining, sizeof combining / sizeof *combining)) return 0;
    return in_ranges(code, wide, sizeof wide / sizeof *wide) ? 2 : 1;
}

/* Steps over one character of a NUL-terminated string: a malformed byte counts as one (then *bytes is 0). */
static const char *next_character(const char *at, uint32_t *code, int *bytes) {
    *bytes = utf8_decode(at, strnlen(at, 4), code);
    return at + (*bytes ? *bytes : 1);
}

static const char *short_escape(uint32_t code) {
    switch (code) {
    case '"': return "\\\"";
    case '\\': return "\\\\";
    case '\b': return "\\b";
    case '\t': return "\\t";
    case '\n': return "\\n";
    case '\f': return "\\f";
    case '\r': return "\\r";
    default: return NULL;
    }
}

void text_quoted(Text *text, const char *string) {
    text_char(text, '"');
    for (const char *at = string, *next; *at; at = next) {
        uint32_t code;
        int bytes;
        next = next_character(at, &code, &bytes);
        const char *escape = short_escape(code);
        if (escape) text_put(text, escape);
        else if (!bytes) text_put(text, "\xef\xbf\xbd");
        else if (code < 0x20) text_printf(text, "\xe2\x90%c", (char)(0x80 + (int)code));
        else text_put_n(text, at, (size_t)bytes);
    }
    text_char(text, '"');
}

/* Sorted. C11, C++20 and CUDA; those of DOT are told apart below, since they ignore case. */
static const char *const KEYWORDS[] = {
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char",
    "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return", "co_yield", "compl", "concept", "const",
    "const_cast", "consteval", "constexpr", "constinit", "continue", "decltype", "default", "delete", "do", "double",
    "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if",
    "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or",
    "or_eq", "private", "protected", "public", "register", "reinterpret_cast", "requires", "restrict", "return",
    "short", "signed", "sizeof", "static", "static_assert", "static_cast", "struct", "switch", "template", "this",
    "thread_local", "throw", "true", "try", "typedef", "typeid", "typename", "typeof", "union", "unsigned", "using",
    "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq"};
static const char *const DOT_KEYWORDS[] = {"digraph", "edge", "graph", "node", "strict", "subgraph"};

static int compare_keyword(const void *name, const void *keyword) {
    return strcmp(name, *(const char *const *)keyword);
}

static bool is_keyword(const char *name) {
    for (size_t i = 0; i < sizeof DOT_KEYWORDS / sizeof *DOT_KEYWORDS; i++)
        if (strcasecmp(name, DOT_KEYWORDS[i]) == 0) return true;
    return bsearch(name, KEYWORDS, sizeof KEYWORDS / sizeof *KEYWORDS, sizeof *KEYWORDS, compare_keyword) != NULL;
}

static bool is_word(char c) { /* not isalnum: a locale must not matter */
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

void text_identifier(Text *text, const char *name) {
    size_t start = text->length;
    if (!*name || (*name >= '0' && *name <= '9')) text_char(text, '_');
    for (const char *at = name; *at; at++) text_char(text, is_word(*at) ? *at : '_');
    if (is_keyword(text->data + start)) text_char(text, '_');
}

/* Characters that change how a terminal shows what follows: controls, bidirectional overrides, line separators, BOM. */
static bool drives_terminal(uint32_t code) {
    if (code == '\n' || code == '\t') return false;
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x200e && code <= 0x200f) ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

void text_visible(Text *text, const char *string) {
    for (const char *at = string, *next; *at; at = next) {
        uint32_t code;
        int bytes;
        next = next_character(at, &code, &bytes);
        if (!bytes) text_printf(text, "\\x%02x", (unsigned)(unsigned char)*at);
        else if (!drives_terminal(code)) text_put_n(text, at, (size_t)bytes);
        else if (code < 0x80) text_printf(text, "\\x%02x", (unsigned)code);
        else text_printf(text, "\\u%04x", (unsigned)code);
    }
}
