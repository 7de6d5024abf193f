/* Str: text as UTF-8, immutable, with its length in bytes; ASCII strings know that they are, so that indexing them costs nothing.
 *
 * In: bytes or code points. Out: str objects; counts and offsets in characters.
 *
 *     Value s = str_from(vm, "naïve");
 *     str_count(str_of(s));              // 5, although length is 6
 *
 * Invariant: text[length] is NUL; FLAG_ASCII is set exactly when no byte is above 127; `interned` is the interner's address of the text, or NULL. */
#include "vm/internal.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Str *str_alloc(VM *vm, size_t length) {
    if (length > UINT32_MAX - 64) vm_out_of_memory();
    Str *s = (Str *)object_new(vm, OBJ_STR, sizeof(Str) + length + 1);
    s->length = (uint32_t)length;
    if (length > 1024) vm_account(vm, (int64_t)length);
    return s;
}

Value str_finish(VM *vm, Str *s) {
    (void)vm;
    const unsigned char *at = (const unsigned char *)s->text;
    unsigned char all = 0;
    for (uint32_t i = 0; i < s->length; i++) all |= at[i];
    if (all < 0x80) s->head.flags |= FLAG_ASCII;
    return value_object(s);
}

static Value str_one(VM *vm, unsigned char c) {
    Str **slot = &vm->own->characters[c];
    if (!*slot) {
        Str *s = str_alloc(vm, 1);
        s->text[0] = (char)c;
        *slot = str_of(str_finish(vm, s));
    }
    return value_ref(value_object(*slot));
}

Value str_new(VM *vm, const char *text, size_t length) {
    if (length == 1 && (unsigned char)*text < 0x80) return str_one(vm, (unsigned char)*text);
    Str *s = str_alloc(vm, length);
    if (length) memcpy(s->text, text, length);
    return str_finish(vm, s);
}

Value str_from(VM *vm, const char *text) { return str_new(vm, text, strlen(text)); }

Value str_printf(VM *vm, const char *format, ...) {
    Text text = {0};
    va_list arguments;
    va_start(arguments, format);
    text_vprintf(&text, format, arguments);
    va_end(arguments);
    return str_join_text(vm, &text);
}

Value str_join_text(VM *vm, Text *text) {
    Value s = str_new(vm, text_cstr(text), text->length);
    text_free(text);
    return s;
}

static Str *find_or_make(VM *vm, const char *interned_name) {
    Str *s = map_get(vm->own->strings, interned_name);
    if (!s) {
        size_t length = strlen(interned_name);
        s = str_alloc(vm, length);
        memcpy(s->text, interned_name, length);
        str_finish(vm, s);
        s->interned = interned_name;
        str_hash(s);
        map_put(vm->own->strings, interned_name, s);
    }
    return s;
}

Str *str_of_name(VM *vm, const char *interned) {
    Str **slot = &vm->own->name_slots[((uintptr_t)interned >> 4 ^ (uintptr_t)interned >> 15) & (NAME_SLOTS - 1)];
    if (!*slot || (*slot)->interned != interned) *slot = find_or_make(vm, interned);
    return *slot;
}

Value str_interned(VM *vm, const char *interned_name) { return value_ref(value_object(str_of_name(vm, interned_name))); }

const char *str_intern(VM *vm, Str *s) {
    if (!s->interned) s->interned = intern_n(vm->lang->names, s->text, s->length);
    return s->interned;
}

uint32_t str_hash(Str *s) {
    if (s->hash) return s->hash;
    uint64_t h = 0xcbf29ce484222325u;
    for (uint32_t i = 0; i < s->length; i++) h = (h ^ (unsigned char)s->text[i]) * 0x100000001b3u;
    h ^= h >> 32;
    s->hash = (uint32_t)h ? (uint32_t)h : 1;
    return s->hash;
}

bool str_equal(const Str *a, const Str *b) {
    return a == b || (a->length == b->length && memcmp(a->text, b->text, a->length) == 0);
}

/* UTF-8 orders as its code points do. */
int str_order(const Str *a, const Str *b) {
    uint32_t shorter = a->length < b->length ? a->length : b->length;
    int order = memcmp(a->text, b->text, shorter);
    if (order) return order;
    return a->length < b->length ? -1 : a->length > b->length;
}

static bool starts_character(char c) { return ((unsigned char)c & 0xc0) != 0x80; }

int64_t str_count(const Str *s) {
    if (s->head.flags & FLAG_ASCII) return s->length;
    int64_t count = 0;
    for (uint32_t i = 0; i < s->length; i++) count += starts_character(s->text[i]);
    return count;
}

int64_t str_offset(const Str *s, int64_t character) {
    if (s->head.flags & FLAG_ASCII) return character < s->length ? character : s->length;
    uint32_t at = 0;
    while (at < s->length && character > 0) {
        do at++;
        while (at < s->length && !starts_character(s->text[at]));
        character--;
    }
    return at;
}

int utf8_encode(uint32_t code, char *out) {
    if (code < 0x80) return out[0] = (char)code, 1;
    if (code < 0x800) return out[0] = (char)(0xc0 | code >> 6), out[1] = (char)(0x80 | (code & 0x3f)), 2;
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | ((code >> 6) & 0x3f));
        out[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | code >> 18);
    out[1] = (char)(0x80 | ((code >> 12) & 0x3f));
    out[2] = (char)(0x80 | ((code >> 6) & 0x3f));
    out[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}

Value str_character(VM *vm, uint32_t code) {
    char bytes[4];
    int n = utf8_encode(code, bytes);
    return str_new(vm, bytes, (size_t)n);
}

/* Which characters repr() shows as they are: not controls, separators and the unassigned ends. */
static bool printable(uint32_t code) {
    if (code < 0x20 || (code >= 0x7f && code < 0xa1) || code == 0xad) return false;
    if (code >= 0x2000 && code <= 0x200f) return false;
    if ((code >= 0x2028 && code <= 0x202f) || (code >= 0x205f && code <= 0x206f) || code == 0x3000 || code == 0xfeff) return false;
    return !(code >= 0xd800 && code < 0xf900) && code < 0xe0000 && (code & 0xfffe) != 0xfffe;
}

static void put_escaped(Text *text, uint32_t code) {
    if (code < 0x100) text_printf(text, "\\x%02x", code);
    else if (code < 0x10000) text_printf(text, "\\u%04x", code);
    else text_printf(text, "\\U%08x", code);
}

static void put_quoted(Text *text, const Str *s, bool ascii) {
    char quote = memchr(s->text, '\'', s->length) && !memchr(s->text, '"', s->length) ? '"' : '\'';
    text_char(text, quote);
    for (uint32_t i = 0; i < s->length;) {
        uint32_t code;
        int n = utf8_decode(s->text + i, s->length - i, &code);
        if (n == 0) code = (unsigned char)s->text[i], n = 1;
        if (code == (uint32_t)quote || code == '\\') text_char(text, '\\'), text_char(text, (char)code);
        else if (code == '\n') text_put(text, "\\n");
        else if (code == '\r') text_put(text, "\\r");
        else if (code == '\t') text_put(text, "\\t");
        else if ((ascii && code > 0x7e) || !printable(code)) put_escaped(text, code);
        else text_put_n(text, s->text + i, (size_t)n);
        i += (uint32_t)n;
    }
    text_char(text, quote);
}

void str_escape(Text *text, const Str *s) {
    for (uint32_t i = 0; i < s->length;) {
        uint32_t code;
        int n = utf8_decode(s->text + i, s->length - i, &code);
        if (n <= 1) text_char(text, s->text[i]);
        else put_escaped(text, code);
        i += n ? (uint32_t)n : 1;
    }
}

void str_repr(Text *text, const Str *s) { put_quoted(text, s, false); }
void str_ascii(Text *text, const Str *s) { put_quoted(text, s, true); }
