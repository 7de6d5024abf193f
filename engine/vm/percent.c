/* Percent: "..." % values, and str.format with its fields.
 *
 *     str_percent(vm, format, tuple)            // "%d of %s" % (3, "x")
 *     "{0:>{w}} {name!r}".format(x, w=5, name="n")
 *
 * Invariant: both end in vm_format, so that a number looks the same however it is formatted. */
#include "vm/internal.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- % ---- */

typedef struct Percent { VM *vm; Text text; Value args; int used; bool mapping; } Percent;

static bool next_argument(Percent *p, Value *out) {
    if (value_is(p->args, OBJ_TUPLE)) {
        if (p->used >= tuple_of(p->args)->count) return vm_raise(p->vm, "TypeError", "not enough arguments for format string"), false;
        *out = vm_force(p->vm, tuple_of(p->args)->items[p->used++]);
    } else {
        if (p->used++ > 0) return vm_raise(p->vm, "TypeError", "not enough arguments for format string"), false;
        *out = p->args;
    }
    return !value_is_error(*out);
}

static bool number_argument(Percent *p, const char **at, int *out) {
    *out = -1;
    if (**at == '*') {
        Value v;
        int64_t n;
        (*at)++;
        if (!next_argument(p, &v)) return false;
        if (!value_is_integer(v)) return vm_raise(p->vm, "TypeError", "* wants int"), false;
        n = integer_of(v);
        if (n > INT32_MAX || n < -INT32_MAX) return vm_raise(p->vm, "MemoryError", "%s", ""), false;
        *out = (int)n;
        return true;
    }
    if (!isdigit((unsigned char)**at)) return true;
    int64_t n = 0;
    for (; isdigit((unsigned char)**at); (*at)++) n = n > INT32_MAX ? n : n * 10 + (**at - '0');
    if (n > INT32_MAX) return vm_raise(p->vm, "ValueError", "width too big"), false;
    *out = (int)n;
    return true;
}

static bool mapping_key(Percent *p, const char **at, Value *out) {
    const char *start = ++*at;
    int depth = 1;
    while (**at && depth) {
        depth += **at == '(' ? 1 : **at == ')' ? -1 : 0;
        (*at)++;
    }
    if (depth) return vm_raise(p->vm, "ValueError", "incomplete format key"), false;
    if (!value_is(vm_unwrap(p->args), OBJ_DICT)) return vm_raise(p->vm, "TypeError", "format requires a mapping"), false;
    Value key = str_new(p->vm, start, (size_t)(*at - start - 1));
    *out = vm_subscript(p->vm, p->args, key);
    value_unref(p->vm, key);
    p->mapping = true;
    return !value_is_error(*out);
}

typedef struct Flags { bool left, zero, plus, space, alternate; int width, precision; } Flags;

Value vm_ascii(VM *vm, Value v) {
    Value text = vm_repr(vm, v);
    if (value_is_error(text)) return text;
    Text out = {0};
    str_escape(&out, str_of(text));
    value_unref(vm, text);
    return str_join_text(vm, &out);
}

static Value convert_text(VM *vm, char type, Value v) {
    if (type == 's') return vm_str(vm, v);
    return type == 'a' ? vm_ascii(vm, v) : vm_repr(vm, v);
}

/* %.5d: at least so many digits. Takes the text. */
static Value fill_digits(VM *vm, Value text, int digits) {
    const char *at = str_text(text);
    int sign = *at == '-' || *at == '+' || *at == ' ', prefix = sign + (at[sign] == '0' && (at[sign + 1] == 'x' || at[sign + 1] == 'X' || at[sign + 1] == 'o') ? 2 : 0);
    int missing = digits - ((int)str_of(text)->length - prefix);
    if (missing <= 0) return text;
    Text out = {0};
    text_put_n(&out, at, (size_t)prefix);
    while (missing-- > 0) text_char(&out, '0');
    text_put_n(&out, at + prefix, str_of(text)->length - (size_t)prefix);
    value_unref(vm, text);
    return str_join_text(vm, &out);
}

/* Is this a mapping in the sense of %: something with items? Then it need not be used up. */
static bool is_mapping(VM *vm, Value v) {
    return !value_is(v, OBJ_STR) && class_lookup(vm, class_of(vm, v), vm->own->names.getitem_).tag != V_NULL;
}

static bool put_value(Percent *p, const Flags *flags, char type, Value v) {
    VM *vm = p->vm;
    Value shown = VALUE_NULL;
    bool number = strchr("diuoxXeEfFgG", type) != NULL, whole = strchr("diuoxX", type) != NULL;
    if (!number && type != 'c') shown = convert_text(vm, type, v);
    else if (type == 'c' && value_is(v, OBJ_STR) && str_count(str_of(v)) == 1) shown = value_ref(v);
    else {
        Value plain = vm_unwrap(v);
        if (value_is(plain, OBJ_TENSOR)) plain = vm->domain->item ? vm->domain->item(vm, (Tensor *)plain.o) : tensor_item(vm, (Tensor *)plain.o);
        if (value_is_error(plain)) return false;
        if (value_is(plain, OBJ_SYM)) {
            Value sym = plain;
            plain.tag = V_INT;
            if (!sym_as_int(vm, sym, &plain.i)) return false;
        }
        if (!value_is_number(plain) || (plain.tag == V_FLOAT && strchr("oxXc", type))) {
            if (strchr("oxX", type)) vm_raise(vm, "TypeError", "%%%c format: an integer is required, not %s", type, type_name(vm, v));
            else if (type == 'c') vm_raise(vm, "TypeError", "%%c requires int or char");
            else if (whole) vm_raise(vm, "TypeError", "%%%c format: a real number is required, not %s", type, type_name(vm, v));
            else vm_raise(vm, "TypeError", "must be real number, not %s", type_name(vm, v));
            return false;
        }
        if (whole && plain.tag == V_FLOAT) {
            Value as_int = vm_call1(vm, value_object(vm->class_int), plain);
            if (value_is_error(as_int)) return false;
            plain = as_int;
        }
        char spec[64];
        const char *sign = flags->plus ? "+" : flags->space ? " " : "";
        char precision[16] = "";
        if (!whole && flags->precision >= 0) snprintf(precision, sizeof precision, ".%d", flags->precision);
        snprintf(spec, sizeof spec, "%s%s%s%c", sign, flags->alternate ? "#" : "", precision, type == 'i' || type == 'u' ? 'd' : type);
        if (flags->width > 0 && flags->zero && !flags->left) snprintf(spec, sizeof spec, "%s%s0%d%s%c", sign, flags->alternate ? "#" : "", flags->width, precision, type == 'i' || type == 'u' ? 'd' : type);
        if (plain.tag == V_BOOL) plain = value_int(plain.b);
        shown = vm_format(vm, plain, spec, strlen(spec));
        if (whole && flags->precision > 0 && !value_is_error(shown)) shown = fill_digits(vm, shown, flags->precision);
    }
    if (value_is_error(shown)) return false;
    size_t length = !number && flags->precision >= 0 ? (size_t)str_offset(str_of(shown), flags->precision) : str_of(shown)->length;
    Value cut = str_new(vm, str_text(shown), length);
    int64_t missing = flags->width - str_count(str_of(cut));
    if (missing > 0 && !vm_reserve(vm, missing, 1)) return value_unref(vm, cut), value_unref(vm, shown), false;
    for (int64_t i = 0; i < missing && !flags->left; i++) text_char(&p->text, ' ');
    text_put_n(&p->text, str_text(cut), length);
    for (int64_t i = 0; i < missing && flags->left; i++) text_char(&p->text, ' ');
    value_unref(vm, cut);
    value_unref(vm, shown);
    return true;
}

static bool one_conversion(Percent *p, const char **at, const char *start) {
    Flags flags = {.width = -1, .precision = -1};
    Value v = VALUE_NULL, held = VALUE_NULL;
    if (**at == '(') {
        if (!mapping_key(p, at, &v)) return false;
        held = v;
    }
    for (; **at && strchr("-0+ #", **at); (*at)++) {
        flags.left |= **at == '-', flags.zero |= **at == '0', flags.plus |= **at == '+', flags.space |= **at == ' ', flags.alternate |= **at == '#';
    }
    bool ok = number_argument(p, at, &flags.width);
    if (flags.width < -1) flags.left = true, flags.width = -flags.width;
    if (ok && **at == '.') {
        (*at)++;
        ok = number_argument(p, at, &flags.precision);
        if (flags.precision < 0) flags.precision = 0;
    }
    while (**at && strchr("hlL", **at)) (*at)++;
    char type = **at;
    if (ok && !type) ok = (vm_raise(p->vm, "ValueError", "incomplete format"), false);
    if (ok && !strchr("diuoxXeEfFgGcrsa", type))
        ok = (vm_raise(p->vm, "ValueError", "unsupported format character '%c' (0x%x) at index %d", type, type, (int)(*at - start)), false);
    if (ok) (*at)++;
    if (ok && v.tag == V_NULL) ok = next_argument(p, &v);
    ok = ok && put_value(p, &flags, type, v);
    value_unref(p->vm, held);
    return ok;
}

Value str_percent(VM *vm, Str *format, Value args) {
    Percent p = {.vm = vm, .args = args};
    const char *at = format->text, *end = at + format->length;
    while (at < end) {
        const char *percent = memchr(at, '%', (size_t)(end - at));
        text_put_n(&p.text, at, (size_t)((percent ? percent : end) - at));
        if (!percent) break;
        at = percent + 1;
        if (*at == '%') {
            text_char(&p.text, '%');
            at++;
        } else if (!one_conversion(&p, &at, format->text)) {
            text_free(&p.text);
            return VALUE_ERROR;
        }
    }
    bool left_over = value_is(args, OBJ_TUPLE) ? p.used < tuple_of(args)->count : p.used == 0 && !is_mapping(vm, args);
    if (left_over && !p.mapping) {
        text_free(&p.text);
        return vm_raise(vm, "TypeError", "not all arguments converted during string formatting");
    }
    return str_join_text(vm, &p.text);
}

/* ---- str.format ---- */

typedef struct Fields { VM *vm; Value *args; int nargs; Tuple *kwnames; int automatic; Value mapping; /* format_map's, or V_NULL */ } Fields;

static bool expand(Fields *f, const char *at, const char *end, Text *out, int depth);

static Value first_of_field(Fields *f, const char *name, size_t length) {
    VM *vm = f->vm;
    bool digits = length > 0;
    for (size_t i = 0; i < length; i++) digits = digits && isdigit((unsigned char)name[i]);
    if (digits || length == 0) {
        int64_t index = length ? strtoll(name, NULL, 10) : f->automatic;
        if (length == 0) {
            if (f->automatic < 0) return vm_raise(vm, "ValueError", "cannot switch from manual field specification to automatic field numbering");
            f->automatic++;
        } else if (f->automatic > 0) return vm_raise(vm, "ValueError", "cannot switch from automatic field numbering to manual field specification");
        else f->automatic = -1;
        if (f->mapping.tag != V_NULL) return vm_raise(vm, "ValueError", "Format string contains positional fields");
        if (index >= f->nargs) return vm_raise(vm, "IndexError", "Replacement index %lld out of range for positional args tuple", (long long)index);
        return value_ref(f->args[index]);
    }
    if (f->mapping.tag != V_NULL) {
        Value named = str_new(vm, name, length), item = vm_subscript(vm, f->mapping, named);
        value_unref(vm, named);
        return item;
    }
    char key[128];
    snprintf(key, sizeof key, "%.*s", (int)length, name);
    Value found = vm_keyword(f->kwnames, f->args, f->nargs, key);
    if (found.tag != V_NULL) return value_ref(found);
    Value missing = str_new(vm, name, length);
    vm_key_error(vm, missing);
    value_unref(vm, missing);
    return VALUE_ERROR;
}

/* name, then .attribute and [item] parts */
static Value field_value(Fields *f, const char *at, const char *end) {
    VM *vm = f->vm;
    size_t n = 0;
    while (at + n < end && at[n] != '.' && at[n] != '[') n++;
    Value v = first_of_field(f, at, n);
    at += n;
    while (at < end && !value_is_error(v)) {
        Value next;
        if (*at == '.') {
            n = 1;
            while (at + n < end && at[n] != '.' && at[n] != '[') n++;
            next = vm_load_attr(vm, v, intern_n(vm->lang->names, at + 1, n - 1));
        } else {
            n = 1;
            while (at + n < end && at[n] != ']') n++;
            char *stop;
            int64_t index = strtoll(at + 1, &stop, 10);
            Value key = stop == at + n && n > 1 ? value_int(index) : str_new(vm, at + 1, n - 1);
            next = vm_subscript(vm, v, key);
            value_unref(vm, key);
            n++;
        }
        value_unref(vm, v);
        v = next;
        at += n;
    }
    return v;
}

static Value convert_field(VM *vm, char conversion, Value v) {
    if (!conversion) return value_ref(v);
    if (conversion == 's') return vm_str(vm, v);
    if (conversion == 'r') return vm_repr(vm, v);
    if (conversion == 'a') return vm_ascii(vm, v);
    return vm_raise(vm, "ValueError", "Unknown conversion specifier %c", conversion);
}

static bool put_field(Fields *f, const char *at, const char *end, Text *out, int depth) {
    const char *name_end = at, *spec = end;
    char conversion = 0;
    int brackets = 0;
    while (name_end < end && (brackets || (*name_end != ':' && *name_end != '!'))) brackets += *name_end == '[' ? 1 : *name_end == ']' ? -1 : 0, name_end++;
    const char *rest = name_end;
    if (rest < end && *rest == '!') {
        conversion = rest + 1 < end ? rest[1] : ' ';
        rest += 2;
    }
    if (rest < end && *rest == ':') spec = rest + 1;
    Value v = field_value(f, at, name_end);
    Value shown = value_is_error(v) ? v : convert_field(f->vm, conversion, v);
    Text inner = {0};
    bool ok = !value_is_error(shown) && expand(f, spec, end, &inner, depth + 1);
    Value text = ok ? vm_format(f->vm, shown, text_cstr(&inner), inner.length) : VALUE_ERROR;
    if (!value_is_error(text)) text_put_n(out, str_text(text), str_of(text)->length);
    ok = !value_is_error(text);
    value_unref(f->vm, text);
    value_unref(f->vm, shown);
    value_unref(f->vm, v);
    text_free(&inner);
    return ok;
}

static bool expand(Fields *f, const char *at, const char *end, Text *out, int depth) {
    if (depth > 2) return vm_raise(f->vm, "ValueError", "Max string recursion exceeded"), false;
    while (at < end) {
        if ((*at == '{' || *at == '}') && at + 1 < end && at[1] == *at && depth == 0) {
            text_char(out, *at);
            at += 2;
            continue;
        }
        if (*at == '}') return vm_raise(f->vm, "ValueError", "Single '}' encountered in format string"), false;
        if (*at != '{') {
            text_char(out, *at++);
            continue;
        }
        const char *close = at + 1;
        int open = 1;
        while (close < end && open) open += *close == '{' ? 1 : *close == '}' ? -1 : 0, close++;
        if (open) return vm_raise(f->vm, "ValueError", close == at + 1 ? "Single '{' encountered in format string" : "expected '}' before end of string"), false;
        if (!put_field(f, at + 1, close - 1, out, depth)) return false;
        at = close;
    }
    return true;
}

static Value format_fields(Fields *fields, const Str *format) {
    Text out = {0};
    if (expand(fields, format->text, format->text + format->length, &out, 0)) return str_join_text(fields->vm, &out);
    text_free(&out);
    return VALUE_ERROR;
}

Value str_format_method(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    return format_fields(&(Fields){vm, args + 1, nargs - 1, kwnames, 0, VALUE_NULL}, str_of(args[0]));
}

Value str_format_map(VM *vm, Value *args, int nargs, Tuple *kwnames) {
    (void)nargs, (void)kwnames;
    return format_fields(&(Fields){vm, NULL, 0, NULL, 0, args[1]}, str_of(args[0]));
}
