/* Methods of str. Each takes the string as args[0].
 *
 * To add one: a function here, a row in the table at the end. Case is mapped for ASCII, Latin, Greek and Cyrillic letters. */
#include "vm/methods.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define SELF str_of(args[0])

static bool want_str(VM *vm, Value v, const char *what) {
    if (value_is(v, OBJ_STR)) return true;
    vm_raise(vm, "TypeError", "%s%smust be str, not %s", what, *what ? " " : "", type_name(vm, v));
    return false;
}

/* ---- letters ---- */

static uint32_t to_upper(uint32_t c) {
    if (c < 0x80) return (uint32_t)toupper((int)c);
    if ((c >= 0xe0 && c <= 0xfe && c != 0xf7) || (c >= 0x3b1 && c <= 0x3c9 && c != 0x3c2) || (c >= 0x430 && c <= 0x44f)) return c - 0x20;
    if (c >= 0x450 && c <= 0x45f) return c - 0x50;
    if (c >= 0x100 && c <= 0x137 && c != 0x131) return c & ~1u;
    return c == 0xff ? 0x178 : c;
}

static uint32_t to_lower(uint32_t c) {
    if (c < 0x80) return (uint32_t)tolower((int)c);
    if ((c >= 0xc0 && c <= 0xde && c != 0xd7) || (c >= 0x391 && c <= 0x3a9) || (c >= 0x410 && c <= 0x42f)) return c + 0x20;
    if (c >= 0x400 && c <= 0x40f) return c + 0x50;
    if (c >= 0x100 && c <= 0x137 && c != 0x130) return c | 1u;
    return c == 0x178 ? 0xff : c;
}

static bool is_letter(uint32_t c) {
    if (c < 0x80) return isalpha((int)c);
    return c == 0xaa || c == 0xb5 || c == 0xba || (c >= 0xc0 && c != 0xd7 && c != 0xf7 && !(c >= 0x2000 && c < 0x2c00) && !(c >= 0x3000 && c <= 0x3004) && !(c >= 0x3008 && c <= 0x3020) && c < 0xe000) || c >= 0xf900;
}

static bool is_space(uint32_t c) {
    return (c >= 9 && c <= 13) || (c >= 28 && c <= 32) || c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

static uint32_t next_code(const Str *s, size_t *at) {
    uint32_t code;
    int n = utf8_decode(s->text + *at, s->length - *at, &code);
    *at += n ? (size_t)n : 1;
    return code;
}

static void put_code(Text *text, uint32_t code) {
    char bytes[4];
    int n = utf8_encode(code, bytes);
    text_put_n(text, bytes, (size_t)n);
}

enum CaseRule { UPPER, LOWER, SWAP, CAPITALIZE, TITLE };

static Value change_case(VM *vm, const Str *s, enum CaseRule rule) {
    Text text = {0};
    bool inside = false; /* a word has begun */
    for (size_t at = 0; at < s->length;) {
        uint32_t c = next_code(s, &at), up = to_upper(c), down = to_lower(c);
        bool upper = rule == UPPER || (rule == SWAP && down != c ? false : rule == SWAP) || ((rule == CAPITALIZE || rule == TITLE) && !inside);
        if (c == 0xdf && upper && rule != SWAP) text_put(&text, rule == UPPER ? "SS" : inside ? "ß" : "Ss");
        else put_code(&text, upper ? up : down);
        inside = rule == CAPITALIZE || is_letter(c);
    }
    return str_join_text(vm, &text);
}

static Value str_upper(METHOD) { UNUSED; return change_case(vm, SELF, UPPER); }
static Value str_lower(METHOD) { UNUSED; return change_case(vm, SELF, LOWER); }
static Value str_swapcase(METHOD) { UNUSED; return change_case(vm, SELF, SWAP); }
static Value str_capitalize(METHOD) { UNUSED; return change_case(vm, SELF, CAPITALIZE); }
static Value str_title(METHOD) { UNUSED; return change_case(vm, SELF, TITLE); }

/* ---- tests ---- */

static Value every(const Str *s, bool (*test)(uint32_t)) {
    for (size_t at = 0; at < s->length;)
        if (!test(next_code(s, &at))) return value_bool(false);
    return value_bool(s->length > 0);
}

static bool is_digit(uint32_t c) { return c < 0x80 && isdigit((int)c); }
static bool is_alnum(uint32_t c) { return is_letter(c) || is_digit(c); }
static bool is_ascii(uint32_t c) { return c < 0x80; }
static bool is_printable(uint32_t c) { return c >= 0x20 && c != 0x7f && !(c >= 0x80 && c < 0xa1); }
static Value str_isdigit(METHOD) { UNUSED; return every(SELF, is_digit); }
static Value str_isalpha(METHOD) { UNUSED; return every(SELF, is_letter); }
static Value str_isalnum(METHOD) { UNUSED; return every(SELF, is_alnum); }
static Value str_isspace(METHOD) { UNUSED; return every(SELF, is_space); }
static Value str_isascii(METHOD) { UNUSED; return value_bool(SELF->length == 0 || every(SELF, is_ascii).b); }
static Value str_isprintable(METHOD) { UNUSED; return value_bool(SELF->length == 0 || every(SELF, is_printable).b); }

static Value cased(const Str *s, bool upper) {
    bool any = false;
    for (size_t at = 0; at < s->length;) {
        uint32_t c = next_code(s, &at);
        if (upper ? to_upper(c) != c : to_lower(c) != c) return value_bool(false);
        any = any || to_upper(c) != to_lower(c);
    }
    return value_bool(any);
}

static Value str_isupper(METHOD) { UNUSED; return cased(SELF, true); }
static Value str_islower(METHOD) { UNUSED; return cased(SELF, false); }

static Value str_istitle(METHOD) {
    UNUSED;
    bool inside = false, any = false;
    for (size_t at = 0; at < SELF->length;) {
        uint32_t c = next_code(SELF, &at);
        bool up = to_lower(c) != c, down = to_upper(c) != c;
        if ((up && inside) || (down && !inside)) return value_bool(false);
        inside = up || down;
        any = any || inside;
    }
    return value_bool(any);
}

static Value str_isidentifier(METHOD) {
    UNUSED;
    for (size_t at = 0; at < SELF->length;) {
        bool first = at == 0;
        uint32_t c = next_code(SELF, &at);
        if (c != '_' && !is_letter(c) && (first || !is_digit(c))) return value_bool(false);
    }
    return value_bool(SELF->length > 0);
}

/* ---- stripping ---- */

static bool in_characters(const Str *set, uint32_t c) {
    for (size_t at = 0; at < set->length;)
        if (next_code(set, &at) == c) return true;
    return false;
}

static Value strip(VM *vm, Value *args, int nargs, bool left, bool right) {
    Str *s = SELF, *set = NULL;
    if (nargs > 1 && args[1].tag != V_NONE) {
        if (!want_str(vm, args[1], "strip arg")) return VALUE_ERROR;
        set = str_of(args[1]);
    }
    size_t start = 0, end = s->length;
    while (left && start < end) {
        size_t at = start;
        uint32_t c = next_code(s, &at);
        if (!(set ? in_characters(set, c) : is_space(c))) break;
        start = at;
    }
    while (right && end > start) {
        size_t at = end - 1;
        while (at > start && ((unsigned char)s->text[at] & 0xc0) == 0x80) at--;
        size_t next = at;
        uint32_t c = next_code(s, &next);
        if (!(set ? in_characters(set, c) : is_space(c))) break;
        end = at;
    }
    return start == 0 && end == s->length ? value_ref(args[0]) : str_new(vm, s->text + start, end - start);
}

static Value str_strip(METHOD) { UNUSED; return strip(vm, args, nargs, true, true); }
static Value str_lstrip(METHOD) { UNUSED; return strip(vm, args, nargs, true, false); }
static Value str_rstrip(METHOD) { UNUSED; return strip(vm, args, nargs, false, true); }

static Value str_removeprefix(METHOD) {
    UNUSED;
    if (!want_str(vm, args[1], "removeprefix() argument")) return VALUE_ERROR;
    Str *p = str_of(args[1]);
    bool has = SELF->length >= p->length && memcmp(SELF->text, p->text, p->length) == 0;
    return has ? str_new(vm, SELF->text + p->length, SELF->length - p->length) : value_ref(args[0]);
}

static Value str_removesuffix(METHOD) {
    UNUSED;
    if (!want_str(vm, args[1], "removesuffix() argument")) return VALUE_ERROR;
    Str *p = str_of(args[1]);
    bool has = p->length && SELF->length >= p->length && memcmp(SELF->text + SELF->length - p->length, p->text, p->length) == 0;
    return has ? str_new(vm, SELF->text, SELF->length - p->length) : value_ref(args[0]);
}

/* ---- searching ---- */

/* The part [start:end] in bytes. */
static bool part(VM *vm, Value *args, int nargs, size_t *from, size_t *to) {
    Value slice = slice_new(vm, nargs > 2 ? args[2] : VALUE_NONE, nargs > 3 ? args[3] : VALUE_NONE, VALUE_NONE);
    int64_t start, stop, step, count;
    bool ok = slice_indices(vm, (Slice *)slice.o, str_count(SELF), &start, &stop, &step, &count);
    value_unref(vm, slice);
    if (!ok) return false;
    *from = (size_t)str_offset(SELF, start);
    *to = stop < start ? *from : (size_t)str_offset(SELF, stop);
    if (stop < start) *to = *from = SELF->length + 1; /* nothing is found in an inside-out range */
    return true;
}

static const char *find_last(const char *text, size_t n, const char *needle, size_t k) {
    if (k > n) return NULL;
    for (size_t i = n - k + 1; i-- > 0;)
        if (memcmp(text + i, needle, k) == 0) return text + i;
    return NULL;
}

static int64_t search(VM *vm, Value *args, int nargs, bool last) { /* -1: not found, -2: error */
    size_t from, to;
    if (!want_str(vm, args[1], "") || !part(vm, args, nargs, &from, &to)) return -2;
    if (from > SELF->length) return -1;
    Str *needle = str_of(args[1]);
    const char *found = last ? find_last(SELF->text + from, to - from, needle->text, needle->length) : memmem(SELF->text + from, to - from, needle->text, needle->length);
    if (!found) return -1;
    if (SELF->head.flags & FLAG_ASCII) return found - SELF->text;
    int64_t count = 0;
    for (const char *at = SELF->text; at < found; at++) count += ((unsigned char)*at & 0xc0) != 0x80;
    return count;
}

static Value found_at(int64_t i) { return i == -2 ? VALUE_ERROR : value_int(i); }
static Value str_find(METHOD) { UNUSED; return found_at(search(vm, args, nargs, false)); }
static Value str_rfind(METHOD) { UNUSED; return found_at(search(vm, args, nargs, true)); }

static Value index_or_error(VM *vm, int64_t i) { return i == -1 ? vm_raise(vm, "ValueError", "substring not found") : found_at(i); }
static Value str_index(METHOD) { UNUSED; return index_or_error(vm, search(vm, args, nargs, false)); }
static Value str_rindex(METHOD) { UNUSED; return index_or_error(vm, search(vm, args, nargs, true)); }

static Value str_count_method(METHOD) {
    UNUSED;
    size_t from, to;
    if (!want_str(vm, args[1], "") || !part(vm, args, nargs, &from, &to)) return VALUE_ERROR;
    if (from > SELF->length) return value_int(0);
    Str *needle = str_of(args[1]);
    if (needle->length == 0) {
        int64_t count = 1;
        for (size_t i = from; i < to; i++) count += ((unsigned char)SELF->text[i] & 0xc0) != 0x80;
        return value_int(count);
    }
    int64_t count = 0;
    for (const char *at; (at = memmem(SELF->text + from, to - from, needle->text, needle->length)); count++) from = (size_t)(at - SELF->text) + needle->length;
    return value_int(count);
}

static bool affix(const Str *s, size_t from, size_t to, const Str *p, bool end) {
    if (from > s->length || to - from < p->length) return false;
    return memcmp(s->text + (end ? to - p->length : from), p->text, p->length) == 0;
}

static Value has_affix(VM *vm, Value *args, int nargs, bool end) {
    size_t from, to;
    const char *name = end ? "endswith" : "startswith";
    if (!part(vm, args, nargs, &from, &to)) return VALUE_ERROR;
    if (value_is(args[1], OBJ_STR)) return value_bool(affix(SELF, from, to, str_of(args[1]), end));
    if (!value_is(args[1], OBJ_TUPLE)) return vm_raise(vm, "TypeError", "%s first arg must be str or a tuple of str, not %s", name, type_name(vm, args[1]));
    for (int i = 0; i < tuple_of(args[1])->count; i++) {
        Value each = vm_force(vm, tuple_of(args[1])->items[i]);
        if (!value_is(each, OBJ_STR)) return vm_raise(vm, "TypeError", "tuple for %s must only contain str, not %s", name, type_name(vm, each));
        if (affix(SELF, from, to, str_of(each), end)) return value_bool(true);
    }
    return value_bool(false);
}

static Value str_startswith(METHOD) { UNUSED; return has_affix(vm, args, nargs, false); }
static Value str_endswith(METHOD) { UNUSED; return has_affix(vm, args, nargs, true); }

/* ---- splitting and joining ---- */

static void add_piece(VM *vm, Value list, const char *at, size_t n) {
    Value piece = str_new(vm, at, n);
    list_append(vm, list_of(list), piece);
    value_unref(vm, piece);
}

static Value split_spaces(VM *vm, const Str *s, int64_t limit) {
    Value list = list_new(vm, NULL, 0);
    size_t at = 0;
    for (;;) {
        size_t next = at;
        while (at < s->length && is_space(next_code(s, &next))) at = next;
        if (at >= s->length) return list;
        if (limit-- == 0) break;
        size_t end = at;
        next = at;
        while (end < s->length && !is_space(next_code(s, &next))) end = next;
        add_piece(vm, list, s->text + at, end - at);
        at = end;
    }
    add_piece(vm, list, s->text + at, s->length - at); /* the rest as it is */
    return list;
}

static Value split_text(VM *vm, const Str *s, const Str *by, int64_t limit) {
    Value list = list_new(vm, NULL, 0);
    const char *at = s->text, *end = at + s->length, *found;
    while (limit-- != 0 && (found = memmem(at, (size_t)(end - at), by->text, by->length))) {
        add_piece(vm, list, at, (size_t)(found - at));
        at = found + by->length;
    }
    add_piece(vm, list, at, (size_t)(end - at));
    return list;
}

static void reverse_list(List *list) {
    for (int i = 0, k = list->count - 1; i < k; i++, k--) {
        Value v = list->items[i];
        list->items[i] = list->items[k];
        list->items[k] = v;
    }
}

static Value rsplit_spaces(VM *vm, const Str *s, int64_t limit) {
    Value list = list_new(vm, NULL, 0);
    for (size_t end = s->length, start;; end = start) {
        while (end > 0 && is_space((unsigned char)s->text[end - 1])) end--;
        if (end == 0) break;
        bool rest = limit-- == 0;
        for (start = end; !rest && start > 0 && !is_space((unsigned char)s->text[start - 1]);) start--;
        if (rest) start = 0;
        add_piece(vm, list, s->text + start, end - start);
        if (rest) break;
    }
    reverse_list(list_of(list));
    return list;
}

static Value rsplit_text(VM *vm, const Str *s, const Str *by, int64_t limit) {
    Value list = list_new(vm, NULL, 0);
    size_t end = s->length;
    const char *found;
    while (limit-- != 0 && (found = find_last(s->text, end, by->text, by->length))) {
        size_t start = (size_t)(found - s->text) + by->length;
        add_piece(vm, list, s->text + start, end - start);
        end = (size_t)(found - s->text);
    }
    add_piece(vm, list, s->text, end);
    reverse_list(list_of(list));
    return list;
}

static bool split_arguments(VM *vm, const char *name, Value *args, int nargs, Tuple *kwnames, Str **by, int64_t *limit) {
    static const char *const names[] = {"sep", "maxsplit"};
    Value out[2];
    *by = NULL;
    *limit = -1;
    if (!vm_parse_args(vm, name, args + 1, nargs - 1, kwnames, names, 2, 0, out)) return false;
    if (out[1].tag != V_NULL && !vm_as_int(vm, out[1], limit)) return false;
    if (*limit < 0) *limit = INT64_MAX;
    if (out[0].tag == V_NULL || out[0].tag == V_NONE) return true;
    if (!want_str(vm, out[0], "must be str or None; separator")) return false;
    *by = str_of(out[0]);
    return (*by)->length > 0 || (vm_raise(vm, "ValueError", "empty separator"), false);
}

static Value str_split(METHOD) {
    Str *by;
    int64_t limit;
    if (!split_arguments(vm, "split", args, nargs, kwnames, &by, &limit)) return VALUE_ERROR;
    return by ? split_text(vm, SELF, by, limit) : split_spaces(vm, SELF, limit);
}

static Value str_rsplit(METHOD) {
    Str *by;
    int64_t limit;
    if (!split_arguments(vm, "rsplit", args, nargs, kwnames, &by, &limit)) return VALUE_ERROR;
    return by ? rsplit_text(vm, SELF, by, limit) : limit == INT64_MAX ? split_spaces(vm, SELF, limit) : rsplit_spaces(vm, SELF, limit);
}

static Value str_splitlines(METHOD) {
    static const char *const names[] = {"keepends"};
    Value keep;
    if (!vm_parse_args(vm, "splitlines", args + 1, nargs - 1, kwnames, names, 1, 0, &keep)) return VALUE_ERROR;
    bool ends = keep.tag != V_NULL && vm_truth(vm, keep) > 0;
    Value list = list_new(vm, NULL, 0);
    const char *at = SELF->text, *end = at + SELF->length;
    while (at < end) {
        const char *stop = at;
        while (stop < end && *stop != '\n' && *stop != '\r') stop++;
        const char *next = stop < end ? stop + (*stop == '\r' && stop + 1 < end && stop[1] == '\n' ? 2 : 1) : stop;
        add_piece(vm, list, at, (size_t)((ends ? next : stop) - at));
        at = next;
    }
    return list;
}

/* Room for all of it, asked for before any is written: a text that cannot be had is an exception. */
static bool reserve_joined(VM *vm, const List *list, int64_t between) {
    int64_t total = 0;
    for (int i = 0; i < list->count; i++) {
        Value item = vm_unwrap(list->items[i]);
        total += between + (value_is(item, OBJ_STR) ? (int64_t)str_of(item)->length : 0);
    }
    if (vm_reserve(vm, total, 1)) return true;
    if (vm->exception.tag == V_NULL) vm_raise(vm, "MemoryError", "%s", "");
    return false;
}

static Value str_join(METHOD) {
    UNUSED;
    Value list = vm_list_of(vm, args[1]);
    if (value_is_error(list) && vm_pending(vm, "TypeError") && class_lookup(vm, class_of(vm, args[1]), vm->own->names.iter_).tag == V_NULL) {
        vm_clear_exception(vm);
        return vm_raise(vm, "TypeError", "can only join an iterable");
    }
    if (value_is_error(list)) return list;
    Text text = {0};
    bool ok = reserve_joined(vm, list_of(list), (int64_t)SELF->length);
    for (int i = 0; ok && i < list_of(list)->count; i++) {
        Value item = vm_unwrap(vm_force(vm, list_of(list)->items[i]));
        ok = value_is(item, OBJ_STR);
        if (!ok) {
            if (!value_is_error(item)) vm_raise(vm, "TypeError", "sequence item %d: expected str instance, %s found", i, type_name(vm, item));
            break;
        }
        if (i) text_put_n(&text, SELF->text, SELF->length);
        text_put_n(&text, str_text(item), str_of(item)->length);
    }
    value_unref(vm, list);
    if (ok) return str_join_text(vm, &text);
    text_free(&text);
    return VALUE_ERROR;
}

static Value partition(VM *vm, Value *args, bool last) {
    if (!want_str(vm, args[1], "")) return VALUE_ERROR;
    Str *by = str_of(args[1]);
    if (by->length == 0) return vm_raise(vm, "ValueError", "empty separator");
    const char *found = last ? find_last(SELF->text, SELF->length, by->text, by->length) : memmem(SELF->text, SELF->length, by->text, by->length);
    size_t head = found ? (size_t)(found - SELF->text) : last ? 0 : SELF->length, tail = found ? head + by->length : last ? 0 : SELF->length;
    Value parts = tuple_take(vm, 3);
    tuple_of(parts)->items[0] = str_new(vm, SELF->text, head);
    tuple_of(parts)->items[1] = found ? value_ref(args[1]) : str_new(vm, "", 0);
    tuple_of(parts)->items[2] = str_new(vm, SELF->text + tail, SELF->length - tail);
    return parts;
}

static Value str_partition(METHOD) { UNUSED; return partition(vm, args, false); }
static Value str_rpartition(METHOD) { UNUSED; return partition(vm, args, true); }

static Value str_replace(METHOD) {
    UNUSED;
    int64_t limit = -1;
    if (!want_str(vm, args[1], "replace() argument 1") || !want_str(vm, args[2], "replace() argument 2")) return VALUE_ERROR;
    if (nargs > 3 && !vm_as_int(vm, args[3], &limit)) return VALUE_ERROR;
    Str *from = str_of(args[1]), *to = str_of(args[2]);
    Text text = {0};
    const char *at = SELF->text, *end = at + SELF->length;
    if (from->length == 0) { /* between all characters */
        while (limit-- != 0) {
            text_put_n(&text, to->text, to->length);
            if (at >= end) break;
            do text_char(&text, *at++);
            while (at < end && ((unsigned char)*at & 0xc0) == 0x80);
        }
    }
    for (const char *found; from->length && limit != 0 && (found = memmem(at, (size_t)(end - at), from->text, from->length)); limit--) {
        text_put_n(&text, at, (size_t)(found - at));
        text_put_n(&text, to->text, to->length);
        at = found + from->length;
    }
    text_put_n(&text, at, (size_t)(end - at));
    return str_join_text(vm, &text);
}

/* ---- padding ---- */

static Value pad(VM *vm, Value *args, int nargs, char align) {
    int64_t width;
    if (!vm_as_int(vm, args[1], &width)) return VALUE_ERROR;
    const char *fill = " ";
    if (nargs > 2) {
        if (!value_is(args[2], OBJ_STR) || str_count(str_of(args[2])) != 1) return vm_raise(vm, "TypeError", "The fill character must be exactly one character long");
        fill = str_text(args[2]);
    }
    int64_t missing = width - str_count(SELF);
    if (missing <= 0) return value_ref(args[0]);
    if (!vm_reserve(vm, missing, 4)) return VALUE_ERROR;
    int64_t before = align == '>' ? missing : align == '^' ? missing / 2 + (missing & width & 1) : 0;
    Text text = {0};
    for (int64_t i = 0; i < before; i++) text_put(&text, fill);
    text_put_n(&text, SELF->text, SELF->length);
    for (int64_t i = before; i < missing; i++) text_put(&text, fill);
    return str_join_text(vm, &text);
}

static Value str_ljust(METHOD) { UNUSED; return pad(vm, args, nargs, '<'); }
static Value str_rjust(METHOD) { UNUSED; return pad(vm, args, nargs, '>'); }
static Value str_center(METHOD) { UNUSED; return pad(vm, args, nargs, '^'); }

static Value str_zfill(METHOD) {
    UNUSED;
    int64_t width;
    if (!vm_as_int(vm, args[1], &width)) return VALUE_ERROR;
    int64_t missing = width - str_count(SELF);
    if (missing <= 0) return value_ref(args[0]);
    if (!vm_reserve(vm, missing, 1)) return VALUE_ERROR;
    size_t sign = SELF->length && (SELF->text[0] == '-' || SELF->text[0] == '+');
    Text text = {0};
    text_put_n(&text, SELF->text, sign);
    for (int64_t i = 0; i < missing; i++) text_char(&text, '0');
    text_put_n(&text, SELF->text + sign, SELF->length - sign);
    return str_join_text(vm, &text);
}

static Value str_expandtabs(METHOD) {
    UNUSED;
    int64_t size = 8, column = 0;
    if (nargs > 1 && !vm_as_int(vm, args[1], &size)) return VALUE_ERROR;
    Text text = {0};
    for (size_t i = 0; i < SELF->length; i++) {
        char c = SELF->text[i];
        if (c == '\t') {
            int64_t blanks = size > 0 ? size - column % size : 0;
            if (!vm_reserve(vm, blanks + (int64_t)text.length, 1)) return text_free(&text), VALUE_ERROR;
            for (; blanks > 0; blanks--, column++) text_char(&text, ' ');
            continue;
        }
        text_char(&text, c);
        column = c == '\n' || c == '\r' ? 0 : column + (((unsigned char)c & 0xc0) != 0x80);
    }
    return str_join_text(vm, &text);
}

const BuiltinDef str_methods[] = {
    {"upper", str_upper, 1, 1, PLAIN}, {"lower", str_lower, 1, 1, PLAIN}, {"casefold", str_lower, 1, 1, PLAIN}, {"swapcase", str_swapcase, 1, 1, PLAIN},
    {"capitalize", str_capitalize, 1, 1, PLAIN}, {"title", str_title, 1, 1, PLAIN}, {"isdigit", str_isdigit, 1, 1, PLAIN},
    {"isdecimal", str_isdigit, 1, 1, PLAIN}, {"isnumeric", str_isdigit, 1, 1, PLAIN}, {"isalpha", str_isalpha, 1, 1, PLAIN},
    {"isalnum", str_isalnum, 1, 1, PLAIN}, {"isspace", str_isspace, 1, 1, PLAIN}, {"isascii", str_isascii, 1, 1, PLAIN},
    {"isprintable", str_isprintable, 1, 1, PLAIN}, {"isupper", str_isupper, 1, 1, PLAIN}, {"islower", str_islower, 1, 1, PLAIN},
    {"istitle", str_istitle, 1, 1, PLAIN}, {"isidentifier", str_isidentifier, 1, 1, PLAIN}, {"strip", str_strip, 1, 2, PLAIN},
    {"lstrip", str_lstrip, 1, 2, PLAIN}, {"rstrip", str_rstrip, 1, 2, PLAIN}, {"removeprefix", str_removeprefix, 2, 2, PLAIN},
    {"removesuffix", str_removesuffix, 2, 2, PLAIN}, {"find", str_find, 2, 4, PLAIN}, {"rfind", str_rfind, 2, 4, PLAIN},
    {"index", str_index, 2, 4, PLAIN}, {"rindex", str_rindex, 2, 4, PLAIN}, {"count", str_count_method, 2, 4, PLAIN},
    {"startswith", str_startswith, 2, 4, PLAIN}, {"endswith", str_endswith, 2, 4, PLAIN}, {"split", str_split, 1, 3, BUILTIN_METHOD},
    {"rsplit", str_rsplit, 1, 3, BUILTIN_METHOD}, {"splitlines", str_splitlines, 1, 2, BUILTIN_METHOD}, {"join", str_join, 2, 2, PLAIN},
    {"partition", str_partition, 2, 2, PLAIN}, {"rpartition", str_rpartition, 2, 2, PLAIN}, {"replace", str_replace, 3, 4, PLAIN},
    {"ljust", str_ljust, 2, 3, PLAIN}, {"rjust", str_rjust, 2, 3, PLAIN}, {"center", str_center, 2, 3, PLAIN},
    {"zfill", str_zfill, 2, 2, PLAIN}, {"expandtabs", str_expandtabs, 1, 2, PLAIN}, {"format", str_format_method, 1, -1, BUILTIN_METHOD},
    {"format_map", str_format_map, 2, 2, PLAIN}, {"translate", str_translate, 2, 2, PLAIN}, {"maketrans", str_maketrans, 1, 3, BUILTIN_POSITIONAL},
    {NULL, NULL, 0, 0, 0},
};
