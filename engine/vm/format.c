/* Format: format specifications ([[fill]align][sign][#][0][width][,][.precision][type]), f-strings' and str.format's.
 *
 *     vm_format(vm, value_float(3.14159), ".2f", 3)        // "3.14"
 *
 * In: a value and a specification. Out: a str; ValueError with Python's words for a bad specification.
 * Invariant: widths count characters, not bytes. */
#include "vm/internal.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Spec { char fill[5]; char align, sign, grouping, type; bool alternate, zero, no_negative_zero; int width, precision; } Spec; /* 0 or -1: not given */

static bool is_align(char c) { return c && strchr("<>=^", c); }

static bool read_number(const char **at, const char *end, int *out) {
    int64_t n = 0;
    while (*at < end && isdigit((unsigned char)**at)) {
        n = n * 10 + (*(*at)++ - '0');
        if (n > 1000000000) return false;
    }
    *out = (int)n;
    return true;
}

static bool bad_spec(VM *vm, const char *spec, size_t length, Value v) {
    vm_raise(vm, "ValueError", "Invalid format specifier '%.*s' for object of type '%s'", (int)length, spec, type_name(vm, v));
    return false;
}

static bool parse_spec(VM *vm, const char *text, size_t length, Value v, Spec *spec) {
    const char *at = text, *end = text + length;
    *spec = (Spec){.fill = " ", .width = -1, .precision = -1};
    uint32_t code;
    int n = utf8_decode(at, length, &code);
    if (n && at + n < end && is_align(at[n])) {
        memcpy(spec->fill, at, (size_t)n);
        spec->fill[n] = 0;
        spec->align = at[n];
        at += n + 1;
    } else if (at < end && is_align(*at)) spec->align = *at++;
    if (at < end && strchr("+- ", *at)) spec->sign = *at++;
    if (at < end && *at == 'z') spec->no_negative_zero = true, at++;
    if (at < end && *at == '#') spec->alternate = true, at++;
    if (at < end && *at == '0') {
        spec->zero = true;
        if (!spec->align) strcpy(spec->fill, "0"), spec->align = '=';
        at++;
    }
    if (at < end && isdigit((unsigned char)*at) && !read_number(&at, end, &spec->width)) return vm_raise(vm, "ValueError", "Too many decimal digits in format string"), false;
    if (at < end && (*at == ',' || *at == '_')) spec->grouping = *at++;
    if (at < end && *at == '.') {
        at++;
        if (at == end || !isdigit((unsigned char)*at)) return vm_raise(vm, "ValueError", "Format specifier missing precision"), false;
        if (!read_number(&at, end, &spec->precision)) return vm_raise(vm, "ValueError", "Too many decimal digits in format string"), false;
        if (spec->precision > 100000) return vm_raise(vm, "ValueError", "precision too big"), false;
    }
    if (at < end) spec->type = *at++;
    return at == end || bad_spec(vm, text, length, v);
}

static int64_t count_characters(const char *s, size_t n) {
    int64_t count = 0;
    for (size_t i = 0; i < n; i++) count += ((unsigned char)s[i] & 0xc0) != 0x80;
    return count;
}

static void put_fill(Text *text, const Spec *spec, int64_t count) {
    while (count-- > 0) text_put(text, spec->fill);
}

/* prefix: sign and base, which '=' keeps in front of the fill */
static Value pad(VM *vm, const Spec *spec, const char *prefix, const char *body, size_t length, char align) {
    int64_t missing = spec->width - count_characters(body, length) - (int64_t)strlen(prefix);
    if (missing > 0 && !vm_reserve(vm, missing, 4)) return VALUE_ERROR;
    if (missing < 0) missing = 0;
    if (spec->align) align = spec->align;
    Text text = {0};
    int64_t before = align == '>' ? missing : align == '^' ? missing / 2 : 0;
    put_fill(&text, spec, before);
    text_put(&text, prefix);
    if (align == '=') put_fill(&text, spec, missing);
    text_put_n(&text, body, length);
    if (align == '<' || align == '^') put_fill(&text, spec, missing - before);
    return str_join_text(vm, &text);
}

/* Separators between groups of digits at the front of `body`, up to the first character that is no digit. With zero padding the
 * separators go through the zeros too. */
static void group_digits(Text *out, const Spec *spec, const char *prefix, const char *body, int size) {
    size_t digits = 0, rest;
    while (isxdigit((unsigned char)body[digits]) && !(size == 3 && !isdigit((unsigned char)body[digits]))) digits++;
    rest = strlen(body + digits);
    int64_t wanted = (int64_t)digits;
    if (spec->fill[0] == '0' && spec->align == '=') {
        int64_t room = spec->width - (int64_t)strlen(prefix) - (int64_t)rest;
        while (wanted + (wanted - 1) / size < room) wanted++;
    }
    for (int64_t i = 0; i < wanted; i++) {
        int64_t from_end = wanted - i;
        if (i && from_end % size == 0) text_char(out, spec->grouping);
        int64_t digit = i - (wanted - (int64_t)digits);
        text_char(out, digit < 0 ? '0' : body[digit]);
    }
    text_put_n(out, body + digits, rest);
}

static Value finish_number(VM *vm, const Spec *spec, bool negative, const char *base, Text *body, int group) {
    char prefix[8];
    snprintf(prefix, sizeof prefix, "%s%s", negative ? "-" : spec->sign == '+' ? "+" : spec->sign == ' ' ? " " : "", base);
    Text grouped = {0};
    if (spec->grouping) group_digits(&grouped, spec, prefix, text_cstr(body), group);
    else text_put(&grouped, text_cstr(body));
    Value result = pad(vm, spec, prefix, text_cstr(&grouped), grouped.length, '>');
    text_free(&grouped);
    text_free(body);
    return result;
}

static void put_binary(Text *text, uint64_t n) {
    int bit = 63;
    while (bit > 0 && !(n >> bit & 1)) bit--;
    for (; bit >= 0; bit--) text_char(text, n >> bit & 1 ? '1' : '0');
}

static Value unknown_code(VM *vm, char code, Value v) {
    return vm_raise(vm, "ValueError", "Unknown format code '%c' for object of type '%s'", code, type_name(vm, v));
}

static Value format_int(VM *vm, Value v, const Spec *spec) {
    int64_t i = integer_of(v);
    uint64_t magnitude = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;
    const char *base = "";
    Text body = {0};
    if (spec->precision >= 0) return vm_raise(vm, "ValueError", "Precision not allowed in integer format specifier");
    if (spec->no_negative_zero) return vm_raise(vm, "ValueError", "Negative zero coercion (z) not allowed in integer format specifier");
    switch (spec->type) {
    case 0: case 'd': case 'n': text_printf(&body, "%llu", (unsigned long long)magnitude); break;
    case 'b': base = "0b"; put_binary(&body, magnitude); break;
    case 'o': base = "0o"; text_printf(&body, "%llo", (unsigned long long)magnitude); break;
    case 'x': base = "0x"; text_printf(&body, "%llx", (unsigned long long)magnitude); break;
    case 'X': base = "0X"; text_printf(&body, "%llX", (unsigned long long)magnitude); break;
    case 'c': {
        if (i < 0 || i > 0x10ffff) return vm_raise(vm, "OverflowError", "%%c arg not in range(0x110000)");
        char bytes[4];
        int n = utf8_encode((uint32_t)i, bytes);
        return pad(vm, spec, "", bytes, (size_t)n, '<');
    }
    default: return unknown_code(vm, spec->type, v);
    }
    return finish_number(vm, spec, i < 0, spec->alternate ? base : "", &body, spec->type && strchr("boxX", spec->type) ? 4 : 3);
}

static void drop_trailing_zeros(char *text) {
    char *e = strpbrk(text, "eE"), *point = strchr(text, '.');
    if (!point) return;
    char *end = e ? e : text + strlen(text), *keep = end;
    while (keep > point + 1 && keep[-1] == '0') keep--;
    if (keep == point + 1) keep = point;
    memmove(keep, end, strlen(end) + 1);
}

/* type 'g' rules with a given precision; without a type at least one digit stays behind the point. */
static void put_general(Text *text, double f, int precision, bool alternate, bool upper, bool keep_point) {
    char buffer[600];
    if (precision == 0) precision = 1;
    if (precision > 500) precision = 500;
    snprintf(buffer, sizeof buffer, "%.*e", precision - 1, f);
    int exponent = atoi(strchr(buffer, 'e') + 1);
    bool scientific = exponent < -4 || exponent >= precision - (keep_point ? 1 : 0);
    if (!scientific) snprintf(buffer, sizeof buffer, "%.*f", precision - 1 - exponent, f);
    if (!alternate) drop_trailing_zeros(buffer);
    else if (!scientific && !strchr(buffer, '.')) strcat(buffer, ".");
    if (keep_point && !scientific && !strchr(buffer, '.')) strcat(buffer, ".0");
    for (char *at = buffer; *at; at++) text_char(text, upper ? (char)toupper((unsigned char)*at) : *at);
}

static void put_printf(Text *text, const Spec *spec, char type, int precision, double f) {
    char pattern[16];
    snprintf(pattern, sizeof pattern, "%%%s.*%c", spec->alternate ? "#" : "", type);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    int length = snprintf(NULL, 0, pattern, precision, f);
    char *buffer = malloc((size_t)length + 1);
    if (!buffer) vm_out_of_memory();
    snprintf(buffer, (size_t)length + 1, pattern, precision, f);
#pragma GCC diagnostic pop
    text_put_n(text, buffer, (size_t)length);
    free(buffer);
}

static Value format_float(VM *vm, Value v, const Spec *spec) {
    double f = fabs(number_of(v));
    bool negative = signbit(number_of(v)) && !isnan(number_of(v));
    Text body = {0};
    if (spec->no_negative_zero && f == 0) negative = false;
    char type = spec->type;
    int precision = spec->precision < 0 ? 6 : spec->precision;
    if (type && !strchr("eEfFgGn%", type)) return unknown_code(vm, type, v);
    if (!isfinite(f)) text_put(&body, isnan(f) ? (type && strchr("EFG", type) ? "NAN" : "nan") : type && strchr("EFG", type) ? "INF" : "inf");
    else if (type == 'e' || type == 'E' || type == 'f' || type == 'F') put_printf(&body, spec, type, precision, f);
    else if (type == '%') put_printf(&body, spec, 'f', precision, f * 100);
    else if (type == 'g' || type == 'G' || type == 'n') put_general(&body, f, precision, spec->alternate, type == 'G', false);
    else if (spec->precision < 0) text_float(&body, f);
    else put_general(&body, f, precision, spec->alternate, false, true);
    if (type == '%') text_char(&body, '%');
    return finish_number(vm, spec, negative, "", &body, 3);
}

static Value format_str(VM *vm, Str *s, const Spec *spec, Value v) {
    if (spec->type && spec->type != 's') return unknown_code(vm, spec->type, v);
    if (spec->grouping) return vm_raise(vm, "ValueError", "Cannot specify '%c' with 's'.", spec->grouping);
    if (spec->no_negative_zero) return vm_raise(vm, "ValueError", "Negative zero coercion (z) not allowed in string format specifier");
    if (spec->alternate) return vm_raise(vm, "ValueError", "Alternate form (#) not allowed in string format specifier");
    if (spec->sign) return vm_raise(vm, "ValueError", spec->sign == ' ' ? "Space not allowed in string format specifier" : "Sign not allowed in string format specifier");
    if (spec->align == '=' && !spec->zero) return vm_raise(vm, "ValueError", "'=' alignment not allowed in string format specifier");
    size_t length = spec->precision >= 0 ? (size_t)str_offset(s, spec->precision) : s->length;
    Spec left = *spec;
    if (left.align == '=') left.align = '<';
    return pad(vm, &left, "", s->text, length, '<');
}

static Value format_instance(VM *vm, Value v, const char *spec, size_t length) {
    Value argument = str_new(vm, spec, length);
    Value result = vm_call_special(vm, v, vm->own->names.format_, &argument, 1);
    value_unref(vm, argument);
    return result;
}

Value vm_format(VM *vm, Value v, const char *text, size_t length) {
    v = vm_force(vm, v);
    if (value_is_error(v)) return v;
    if (value_is(v, OBJ_TENSOR)) return tensor_format(vm, (Tensor *)v.o, text);
    if (value_is(v, OBJ_INSTANCE)) {
        Value result = format_instance(vm, v, text, length);
        if (result.tag != V_NULL) return result;
    }
    if (length == 0) return vm_str(vm, v);
    Value plain = vm_unwrap(v);
    if (value_is(plain, OBJ_SYM)) {
        plain.tag = V_INT;
        if (!sym_as_int(vm, v, &plain.i)) return VALUE_ERROR;
    }
    if (!value_is_number(plain) && !value_is(plain, OBJ_STR)) return vm_raise(vm, "TypeError", "unsupported format string passed to %s.__format__", type_name(vm, v));
    Spec spec;
    if (!parse_spec(vm, text, length, v, &spec)) return VALUE_ERROR;
    if (value_is(plain, OBJ_STR)) return format_str(vm, str_of(plain), &spec, v);
    bool as_float = plain.tag == V_FLOAT || (spec.type && strchr("eEfFgG%", spec.type));
    return as_float ? format_float(vm, plain, &spec) : format_int(vm, plain, &spec);
}
