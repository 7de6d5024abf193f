/* Fold percent: "text %s" % (a, b) becomes the f-string that says the same, as CPython 3.12 does it.
 *
 * In: BINARY % whose left is a string constant and whose right is a tuple without stars. Out: an FSTRING, or NULL.
 *
 *     "%5s of %r" % (a, b)  ->  f"{a!s:>5} of {b!r}"
 *
 * Invariant: only %s, %r, %a with width, precision and '-', and %%; as many of them as the tuple has items. */
#include "lang/ast.h"
#include <string.h>

typedef struct Format { const char *at, *end; bool left; int width, precision; char conversion; } Format;

static bool read_digits(Format *format, int *number) {
    *number = 0;
    int digits = 0;
    for (; format->at < format->end && *format->at >= '0' && *format->at <= '9'; format->at++) {
        if (++digits > 2) return false;
        *number = *number * 10 + (*format->at - '0');
    }
    return true;
}

/* Behind the '%'. False where this is none of the simple forms. */
static bool read_format(Format *format) {
    format->left = false;
    format->width = format->precision = -1;
    for (; format->at < format->end && strchr("-+ #0", *format->at) && *format->at; format->at++) {
        if (*format->at != '-') return false;
        format->left = true;
    }
    if (format->at < format->end && *format->at >= '0' && *format->at <= '9' && !read_digits(format, &format->width)) return false;
    if (format->at < format->end && *format->at == '.') {
        format->at++;
        if (!read_digits(format, &format->precision)) return false;
    }
    if (format->at >= format->end) return false;
    format->conversion = *format->at++;
    return format->conversion == 's' || format->conversion == 'r' || format->conversion == 'a';
}

static Node *new_string(LangSession *session, Span span, const char *text, size_t length) {
    Node *node = ARENA_NEW(session->arena, Node);
    node->kind = NODE_CONST;
    node->span = span;
    node->constant = (Const){.kind = CONST_STR, .s = {arena_strndup(session->arena, text, length), (uint32_t)length}};
    return node;
}

static Node *format_spec(LangSession *session, const Format *format, Span span) {
    Text text = {0};
    if (!format->left && format->width > 0) text_char(&text, '>');
    if (format->width >= 0) text_printf(&text, "%d", format->width);
    if (format->precision >= 0) text_printf(&text, ".%d", format->precision);
    Node *spec = text.length ? new_string(session, span, text_cstr(&text), text.length) : NULL;
    text_free(&text);
    return spec;
}

static Node *formatted_value(LangSession *session, const Format *format, Node *value) {
    Node *node = ARENA_NEW(session->arena, Node);
    node->kind = NODE_FORMATTED;
    node->span = value->span;
    node->left = value;
    node->formatted.conversion = format->conversion;
    node->formatted.spec = format_spec(session, format, value->span);
    return node;
}

/* Text up to the next '%' that is a format; "%%" counts as one '%'. */
static void take_text(LangSession *session, Format *format, Span span, NodeList *items) {
    Text text = {0};
    while (format->at < format->end) {
        bool doubled = *format->at == '%' && format->at + 1 < format->end && format->at[1] == '%';
        if (*format->at == '%' && !doubled) break;
        text_char(&text, *format->at);
        format->at += doubled ? 2 : 1;
    }
    if (text.length) vec_push_in(session->arena, items, new_string(session, span, text_cstr(&text), text.length));
    text_free(&text);
}

Node *fold_percent(LangSession *session, Node *node) {
    const Const *pattern = &node->left->constant;
    const NodeList *values = &node->operation.right->collection.items;
    Format format = {.at = pattern->s.text, .end = pattern->s.text + pattern->s.length};
    NodeList items = {0};
    int used = 0;
    for (;;) {
        take_text(session, &format, (Span){0}, &items); /* no place of its own, as in CPython */
        if (format.at >= format.end) break;
        format.at++;
        if (used == values->count || !read_format(&format)) return NULL;
        vec_push_in(session->arena, &items, formatted_value(session, &format, values->at[used++]));
    }
    if (used < values->count) return NULL;
    Node *result = ARENA_NEW(session->arena, Node);
    result->kind = NODE_FSTRING;
    result->span = node->span;
    result->original = node;
    result->fstring = items;
    return result;
}
