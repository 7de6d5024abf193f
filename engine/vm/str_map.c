/* Str map: str.maketrans and str.translate: characters replaced by a table.
 *
 *     "abc".translate(str.maketrans("ab", "xy", "c"))      # "xy"
 *
 * In: a table whose keys are code points; its values are code points, strings or None. Out: a str. A table is anything with items: a key that
 * it has not (LookupError) leaves the character as it is.
 * Invariant: a table made by maketrans is a plain dict, as Python's. */
#include "vm/methods.h"

static uint32_t next_code(const Str *s, size_t *at) {
    uint32_t code;
    int n = utf8_decode(s->text + *at, s->length - *at, &code);
    if (n == 0) code = (unsigned char)s->text[*at];
    *at += n ? (size_t)n : 1;
    return code;
}

static bool pair_up(VM *vm, Dict *table, Value from, Value to) {
    if (!value_is(from, OBJ_STR) || !value_is(to, OBJ_STR))
        return vm_raise(vm, "TypeError", "the first maketrans argument must be a string if there is a second argument"), false;
    if (str_count(str_of(from)) != str_count(str_of(to)))
        return vm_raise(vm, "ValueError", "the first two maketrans arguments must have equal length"), false;
    for (size_t i = 0, k = 0; i < str_of(from)->length;) {
        uint32_t key = next_code(str_of(from), &i), value = next_code(str_of(to), &k);
        if (!dict_set(vm, table, value_int(key), value_int(value))) return false;
    }
    return true;
}

static bool drop_all(VM *vm, Dict *table, Value dropped) {
    if (!value_is(dropped, OBJ_STR)) return vm_raise(vm, "TypeError", "maketrans() argument 3 must be str, not %s", type_name(vm, dropped)), false;
    for (size_t i = 0; i < str_of(dropped)->length;)
        if (!dict_set(vm, table, value_int(next_code(str_of(dropped), &i)), VALUE_NONE)) return false;
    return true;
}

/* Keys of one character become code points. */
static bool convert_table(VM *vm, Dict *table, Value given) {
    Value key, value;
    if (!value_is(given, OBJ_DICT)) return vm_raise(vm, "TypeError", "if you give only one argument to maketrans it must be a dict"), false;
    for (int at = 0; dict_next(dict_of(given), &at, &key, &value);) {
        size_t start = 0;
        if (value_is(key, OBJ_STR)) {
            if (str_count(str_of(key)) != 1) return vm_raise(vm, "ValueError", "string keys in translate table must be of length 1"), false;
            key = value_int(next_code(str_of(key), &start));
        } else if (!value_is_integer(key)) return vm_raise(vm, "TypeError", "keys in translate table must be strings or integers"), false;
        if (!dict_set(vm, table, key, value)) return false;
    }
    return true;
}

Value str_maketrans(METHOD) {
    UNUSED;
    Value made = dict_new(vm);
    Dict *table = dict_of(made);
    bool ok = nargs == 1 ? convert_table(vm, table, vm_unwrap(args[0])) : pair_up(vm, table, vm_unwrap(args[0]), vm_unwrap(args[1]));
    if (ok && nargs > 2) ok = drop_all(vm, table, vm_unwrap(args[2]));
    if (ok) return made;
    value_unref(vm, made);
    return VALUE_ERROR;
}

static bool put_mapped(VM *vm, Text *out, Value mapped) {
    char bytes[8];
    if (mapped.tag == V_NONE) return true;
    if (value_is(mapped, OBJ_STR)) return text_put_n(out, str_text(mapped), str_of(mapped)->length), true;
    if (!value_is_integer(mapped)) return vm_raise(vm, "TypeError", "character mapping must return integer, None or str"), false;
    int64_t code = integer_of(mapped);
    if (code < 0 || code > 0x10ffff) return vm_raise(vm, "ValueError", "character mapping must be in range(0x110000)"), false;
    text_put_n(out, bytes, (size_t)utf8_encode((uint32_t)code, bytes));
    return true;
}

Value str_translate(METHOD) {
    UNUSED;
    const Str *s = str_of(args[0]);
    Text out = {0};
    bool ok = true;
    for (size_t at = 0; ok && at < s->length;) {
        size_t start = at;
        Value mapped = vm_subscript(vm, args[1], value_int(next_code(s, &at)));
        if (value_is_error(mapped) && vm_pending(vm, "LookupError")) {
            vm_clear_exception(vm);
            text_put_n(&out, s->text + start, at - start);
            continue;
        }
        ok = !value_is_error(mapped) && put_mapped(vm, &out, vm_unwrap(mapped));
        value_unref(vm, mapped);
    }
    if (ok) return str_join_text(vm, &out);
    text_free(&out);
    return VALUE_ERROR;
}
