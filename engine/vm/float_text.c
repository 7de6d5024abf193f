/* Float text: the shortest text that reads back as the same float, as Python's repr shows it, and the reading of float("…").
 *
 *     text_float(&text, 0.1);            // 0.1
 *     text_float(&text, 1e16);           // 1e+16
 *
 * Invariant: parse_float(repr(x)) is x, bit for bit (NaN aside). */
#include "vm/internal.h"
#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The shortest digits (no point, no sign, no trailing zeros) and the decimal exponent of the first: 0.00123 -> "123", -3. */
static void shortest_digits(double f, char *digits, int *exponent) {
    char text[64];
    int from = fabs(f) < DBL_MIN ? 1 : 15; /* subnormal numbers have few digits */
    for (int precision = from; precision <= 17; precision++) {
        snprintf(text, sizeof text, "%.*e", precision - 1, f);
        if (strtod(text, NULL) == f) break;
    }
    char *e = strchr(text, 'e');
    *exponent = atoi(e + 1);
    int n = 0;
    for (const char *at = text; at < e; at++)
        if (isdigit((unsigned char)*at)) digits[n++] = *at;
    while (n > 1 && digits[n - 1] == '0') n--;
    digits[n] = 0;
}

static void put_exponent(Text *text, const char *digits, int exponent) {
    text_char(text, digits[0]);
    if (digits[1]) text_printf(text, ".%s", digits + 1);
    text_printf(text, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
}

static void put_positional(Text *text, const char *digits, int exponent) {
    int n = (int)strlen(digits);
    if (exponent < 0) {
        text_put(text, "0.");
        for (int i = -1; i > exponent; i--) text_char(text, '0');
        text_put(text, digits);
        return;
    }
    for (int i = 0; i <= exponent; i++) text_char(text, i < n ? digits[i] : '0');
    text_put(text, n > exponent + 1 ? "." : ".0");
    if (n > exponent + 1) text_put(text, digits + exponent + 1);
}

void text_float(Text *text, double f) {
    if (isnan(f)) return text_put(text, "nan");
    if (signbit(f)) text_char(text, '-');
    f = fabs(f);
    if (isinf(f)) return text_put(text, "inf");
    if (f == 0) return text_put(text, "0.0");
    char digits[32];
    int exponent;
    shortest_digits(f, digits, &exponent);
    if (exponent < -4 || exponent >= 16) put_exponent(text, digits, exponent);
    else put_positional(text, digits, exponent);
}

void text_int(Text *text, int64_t i) {
    char digits[24], *at = digits + sizeof digits;
    uint64_t n = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;
    do *--at = (char)('0' + n % 10);
    while (n /= 10);
    if (i < 0) *--at = '-';
    text_put_n(text, at, (size_t)(digits + sizeof digits - at));
}

static bool word(const char *at, size_t n, const char *wanted) { return strlen(wanted) == n && strncasecmp(at, wanted, n) == 0; }

/* Digits with single underscores between them; false when there is anything else. */
static bool plain_number(const char *at, size_t n, char *out, size_t room) {
    size_t used = 0;
    bool digit = false, any = false;
    for (size_t i = 0; i < n; i++) {
        if (at[i] == '_') {
            if (!digit || i + 1 >= n || !isdigit((unsigned char)at[i + 1])) return false;
            digit = false;
            continue;
        }
        if (used + 1 >= room || !(isdigit((unsigned char)at[i]) || strchr("+-.eE", at[i]))) return false;
        digit = isdigit((unsigned char)at[i]);
        any = any || digit;
        out[used++] = at[i];
    }
    out[used] = 0;
    return any;
}

bool parse_float(const char *text, size_t length, double *out) {
    while (length && isspace((unsigned char)*text)) text++, length--;
    while (length && isspace((unsigned char)text[length - 1])) length--;
    const char *at = text;
    size_t n = length;
    bool negative = n && *at == '-';
    if (n && (*at == '-' || *at == '+')) at++, n--;
    if (word(at, n, "inf") || word(at, n, "infinity")) return *out = negative ? -INFINITY : INFINITY, true;
    if (word(at, n, "nan")) return *out = NAN, true;
    char *copy = malloc(length + 2), *end;
    if (!copy) vm_out_of_memory();
    bool ok = plain_number(text, length, copy, length + 2);
    if (ok) {
        *out = strtod(copy, &end);
        ok = *end == 0;
    }
    free(copy);
    return ok;
}
