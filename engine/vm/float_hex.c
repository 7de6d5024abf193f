/* Float hex: float.hex() and float.fromhex(): numbers whose text is exact.
 *
 *     (1.5).hex()                  # "0x1.8000000000000p+0"
 *     float.fromhex("0x1.8p0")     # 1.5
 *
 * Invariant: float.fromhex(x.hex()) == x for every x that is not a NaN. */
#include "vm/methods.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void put_hex(Text *text, double f) {
    if (isnan(f)) {
        text_put(text, "nan");
        return;
    }
    if (signbit(f)) text_char(text, '-');
    f = fabs(f);
    if (isinf(f)) {
        text_put(text, "inf");
        return;
    }
    if (f == 0) {
        text_put(text, "0x0.0p+0");
        return;
    }
    int exponent;
    double m = frexp(f, &exponent);
    int shift = 1 - (exponent > -1021 ? 0 : -1021 - exponent); /* subnormal numbers keep the lowest exponent */
    m = ldexp(m, shift);
    exponent -= shift;
    text_printf(text, "0x%d.", (int)m);
    for (int i = 0; i < 13; i++) {
        m = (m - (int)m) * 16;
        text_printf(text, "%x", (unsigned)m);
    }
    text_printf(text, "p%+d", exponent);
}

Value float_hex(METHOD) {
    UNUSED;
    Text text = {0};
    put_hex(&text, args[0].f);
    return str_join_text(vm, &text);
}

/* An optional sign, then inf, nan, or hexadecimal digits with or without 0x: strtod wants the prefix. */
Value float_fromhex(METHOD) {
    UNUSED;
    if (!value_is(args[1], OBJ_STR)) return vm_raise(vm, "TypeError", "fromhex() argument must be str, not %s", type_name(vm, args[1]));
    const char *at = str_text(args[1]), *last = at + str_of(args[1])->length;
    while (at < last && isspace((unsigned char)*at)) at++;
    while (last > at && isspace((unsigned char)last[-1])) last--;
    bool negative = at < last && *at == '-';
    if (at < last && (*at == '-' || *at == '+')) at++;
    bool prefixed = last - at > 1 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X'), word = last > at && strchr("iInN", *at);
    Text text = {0};
    text_printf(&text, "%s%.*s", prefixed || word ? "" : "0x", (int)(last - at), at);
    char *end;
    errno = 0;
    double f = strtod(text_cstr(&text), &end);
    bool ok = last > at && *end == 0 && !isspace((unsigned char)*at), huge = ok && isinf(f) && !word;
    text_free(&text);
    if (!ok) return vm_raise(vm, "ValueError", "invalid hexadecimal floating-point string");
    if (huge) return vm_raise(vm, "OverflowError", "hexadecimal value too large to represent as a float");
    return vm_call1(vm, args[0], value_float(negative ? -f : f));
}
