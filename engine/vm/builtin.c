/* Builtins: the functions that are there without an import (print, len, sum …); see builtin_iterator.c for zip, map, sorted …,
 * builtin_object.c for getattr, isinstance, classes.
 *
 * To add one: a function, a row in a table with the bounds on its arguments and its effects (BUILTIN_EFFECT: dynamo breaks on it). */
#include "vm/methods.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- print ---- */

/* Where `file=` goes: NULL for another object with a write method. */
static const Output *stream_of(VM *vm, Value file) {
    if (file.tag == V_NULL || file.tag == V_NONE) return &vm->out;
    if (!value_is(file, OBJ_INSTANCE)) return NULL;
    Value number = dict_get_name(vm, ((Instance *)file.o)->dict, vm_intern(vm, "_stream"));
    return number.tag != V_INT ? NULL : number.i == 2 ? &vm->notes : &vm->out;
}

static void put_separator(Text *text, Value given, const char *otherwise) {
    if (value_is(given, OBJ_STR)) text_put_n(text, str_text(given), str_of(given)->length);
    else text_put(text, otherwise);
}

static bool is_separator(VM *vm, Value *given, const char *name) {
    *given = vm_unwrap(*given);
    if (given->tag == V_NULL || given->tag == V_NONE || value_is(*given, OBJ_STR)) return true;
    return vm_raise(vm, "TypeError", "%s must be None or a string, not %s", name, type_name(vm, *given)), false;
}

/* What sys.stdout is now: V_NULL while nobody has imported sys. Borrowed. */
static Value standard_output(VM *vm) {
    Value sys = dict_get_name(vm, vm->modules, vm_intern(vm, "sys"));
    return value_is(sys, OBJ_MODULE) ? vm_force(vm, dict_get_name(vm, ((ModuleObject *)sys.o)->dict, vm_intern(vm, "stdout"))) : VALUE_NULL;
}

static Value builtin_print(METHOD) {
    static const char *const names[] = {"sep", "end", "file", "flush"};
    Value out[4];
    if (!vm_parse_args(vm, "print", args + nargs, 0, kwnames, names, 4, 0, out)) return VALUE_ERROR;
    if (!is_separator(vm, &out[0], "sep") || !is_separator(vm, &out[1], "end")) return VALUE_ERROR;
    if (out[2].tag == V_NULL || out[2].tag == V_NONE) out[2] = standard_output(vm);
    Text text = {0};
    bool ok = true;
    for (int i = 0; ok && i < nargs; i++) {
        if (i) put_separator(&text, out[0], " ");
        ok = text_put_str(vm, &text, args[i]);
    }
    put_separator(&text, out[1], "\n");
    const Output *stream = stream_of(vm, out[2]);
    if (ok && stream) {
        vm_write(vm, *stream, text_cstr(&text), text.length);
        if (out[3].tag == V_BOOL && out[3].b) vm_write(vm, *stream, "", 0); /* no bytes: what is held back goes out */
    } else if (ok) {
        Value s = str_new(vm, text_cstr(&text), text.length);
        Value result = vm_call_method(vm, out[2], "write", &s, 1);
        value_unref(vm, s);
        ok = !value_is_error(result);
        value_unref(vm, result);
    }
    text_free(&text);
    return ok ? VALUE_NONE : VALUE_ERROR;
}

/* ---- numbers ---- */

static Value builtin_len(METHOD) {
    UNUSED;
    if (value_is(args[0], OBJ_INSTANCE)) { /* may be symbolic in capture */
        Value n = vm_call_special(vm, args[0], vm->own->names.len_, NULL, 0);
        if (value_is(n, OBJ_SYM) || value_is_error(n) || (n.tag == V_INT && n.i >= 0)) return n;
        if (n.tag == V_INT) return vm_raise(vm, "ValueError", "__len__() should return >= 0");
        if (n.tag != V_NULL) {
            int64_t length;
            bool ok = vm_as_int(vm, n, &length);
            value_unref(vm, n);
            return ok ? value_int(length) : VALUE_ERROR;
        }
    }
    if (value_is(args[0], OBJ_TENSOR) && ((Tensor *)args[0].o)->meta.rank > 0) return sym_of_size(vm, ((Tensor *)args[0].o)->meta.sizes[0]);
    int64_t n = vm_length(vm, args[0]);
    return n < 0 ? VALUE_ERROR : value_int(n);
}

static Value builtin_abs(METHOD) { UNUSED; return vm_unary(vm, "abs", args[0]); }

static Value builtin_round(METHOD) {
    static const char *const names[] = {"number", "ndigits"};
    Value out[2];
    if (!vm_parse_args(vm, "round", args, nargs, kwnames, names, 2, 1, out)) return VALUE_ERROR;
    Value v = vm_unwrap(out[0]);
    if (value_is_number(v)) return number_round(vm, v, out[1]);
    if (value_is(v, OBJ_TENSOR)) {
        bool digits = out[1].tag != V_NULL && out[1].tag != V_NONE;
        Value method = vm_load_attr(vm, v, vm_intern(vm, "round")), names_tuple = VALUE_NULL, key;
        if (value_is_error(method)) return method;
        key = str_from(vm, "decimals");
        names_tuple = tuple_new(vm, &key, 1);
        Value result = vm_call(vm, method, &out[1], 0, digits ? tuple_of(names_tuple) : NULL);
        value_unref(vm, method);
        value_unref(vm, key);
        value_unref(vm, names_tuple);
        return result;
    }
    if (value_is(v, OBJ_SYM)) return value_ref(v);
    Value result = value_is(out[0], OBJ_INSTANCE) ? vm_call_special(vm, out[0], vm->own->names.round_, &out[1], out[1].tag != V_NULL) : VALUE_NULL;
    return result.tag == V_NULL ? vm_raise(vm, "TypeError", "type %s doesn't define __round__ method", type_name(vm, out[0])) : result;
}

/* The number whose product with *base leaves 1 (extended Euclid). false: there is none. */
static bool invert_modulo(int64_t *base, int64_t modulus) {
    __int128 m = modulus < 0 ? -(__int128)modulus : modulus, r0 = m, r1 = ((__int128)*base % m + m) % m, s0 = 0, s1 = 1;
    while (r1) {
        __int128 q = r0 / r1, r = r0 - q * r1, s = s0 - q * s1;
        r0 = r1, r1 = r, s0 = s1, s1 = s;
    }
    *base = (int64_t)((s0 % m + m) % m);
    return r0 == 1;
}

static Value builtin_pow(METHOD) {
    static const char *const names[] = {"base", "exp", "mod"};
    Value out[3];
    if (!vm_parse_args(vm, "pow", args, nargs, kwnames, names, 3, 2, out)) return VALUE_ERROR;
    if (out[2].tag == V_NULL || out[2].tag == V_NONE) return vm_binary(vm, BINARY_POWER, out[0], out[1]);
    Value special = value_is(out[0], OBJ_INSTANCE) ? vm_call_special(vm, out[0], vm_intern(vm, "__pow__"), &out[1], 2) : VALUE_NULL;
    if (special.tag != V_NULL && special.tag != V_NOTIMPLEMENTED) return special;
    int64_t base, exponent, modulus;
    if (!value_is_integer(vm_unwrap(out[0])) || !value_is_integer(vm_unwrap(out[1])) || !value_is_integer(vm_unwrap(out[2])))
        return vm_raise(vm, "TypeError", "pow() 3rd argument not allowed unless all arguments are integers");
    if (!vm_as_int(vm, out[0], &base) || !vm_as_int(vm, out[1], &exponent) || !vm_as_int(vm, out[2], &modulus)) return VALUE_ERROR;
    if (modulus == 0) return vm_raise(vm, "ValueError", "pow() 3rd argument cannot be 0");
    if (exponent < 0 && !invert_modulo(&base, modulus)) return vm_raise(vm, "ValueError", "base is not invertible for the given modulus");
    if (exponent == INT64_MIN) return vm_raise(vm, "OverflowError", "integer overflow in pow()");
    if (exponent < 0) exponent = -exponent;
    __int128 m = modulus < 0 ? -(__int128)modulus : modulus, result = 1 % m, b = ((__int128)base % m + m) % m;
    for (; exponent; exponent >>= 1, b = b * b % m)
        if (exponent & 1) result = result * b % m;
    if (modulus < 0 && result) result -= m;
    return value_int((int64_t)result);
}

/* a's method, then b's reflected one; V_NULL: neither class has it, or both gave NotImplemented. */
static Value special_divmod(VM *vm, Value a, Value b) {
    Value result = VALUE_NULL;
    if (value_is(a, OBJ_INSTANCE)) result = vm_call_special(vm, a, vm->own->names.divmod_, &b, 1);
    if ((result.tag == V_NULL || result.tag == V_NOTIMPLEMENTED) && value_is(b, OBJ_INSTANCE)) result = vm_call_special(vm, b, vm_intern(vm, "__rdivmod__"), &a, 1);
    return result.tag == V_NOTIMPLEMENTED ? VALUE_NULL : result;
}

static bool is_arithmetic(Value v) { return value_is_number(vm_unwrap(v)) || value_is(v, OBJ_TENSOR) || value_is(v, OBJ_SYM); }

static Value builtin_divmod(METHOD) {
    UNUSED;
    Value special = special_divmod(vm, args[0], args[1]);
    if (special.tag != V_NULL) return special;
    if (!is_arithmetic(args[0]) || !is_arithmetic(args[1]))
        return vm_raise(vm, "TypeError", "unsupported operand type(s) for divmod(): '%s' and '%s'", type_name(vm, args[0]), type_name(vm, args[1]));
    Value both[2] = {vm_binary(vm, BINARY_FLOOR_DIVIDE, args[0], args[1]), VALUE_NULL};
    if (value_is_error(both[0])) return VALUE_ERROR;
    both[1] = vm_binary(vm, BINARY_REMAINDER, args[0], args[1]);
    Value pair = value_is_error(both[1]) ? VALUE_ERROR : tuple_new(vm, both, 2);
    value_unref(vm, both[0]);
    value_unref(vm, both[1]);
    return pair;
}

static Value in_base(VM *vm, Value v, const char *spec) {
    int64_t i;
    return vm_as_int(vm, v, &i) ? vm_format(vm, value_int(i), spec, 2) : VALUE_ERROR;
}

static Value builtin_hex(METHOD) { UNUSED; return in_base(vm, args[0], "#x"); }
static Value builtin_oct(METHOD) { UNUSED; return in_base(vm, args[0], "#o"); }
static Value builtin_bin(METHOD) { UNUSED; return in_base(vm, args[0], "#b"); }

static Value builtin_chr(METHOD) {
    UNUSED;
    int64_t i;
    if (!vm_as_int(vm, args[0], &i)) return VALUE_ERROR;
    if (i < 0 || i > 0x10ffff || (i >= 0xd800 && i < 0xe000)) return vm_raise(vm, "ValueError", "chr() arg not in range(0x110000)");
    return str_character(vm, (uint32_t)i);
}

static Value builtin_ord(METHOD) {
    UNUSED;
    Value v = vm_unwrap(args[0]);
    if (!value_is(v, OBJ_STR)) return vm_raise(vm, "TypeError", "ord() expected string of length 1, but %s found", type_name(vm, v));
    if (str_count(str_of(v)) != 1) return vm_raise(vm, "TypeError", "ord() expected a character, but string of length %lld found", (long long)str_count(str_of(v)));
    uint32_t code;
    utf8_decode(str_text(v), str_of(v)->length, &code);
    return value_int(code);
}

/* ---- text ---- */

static Value builtin_repr(METHOD) { UNUSED; return vm_repr(vm, args[0]); }

static Value builtin_ascii(METHOD) { UNUSED; return vm_ascii(vm, args[0]); }

static Value builtin_format(METHOD) {
    UNUSED;
    if (nargs > 1 && !value_is(args[1], OBJ_STR)) return vm_raise(vm, "TypeError", "format() argument 2 must be str, not %s", type_name(vm, args[1]));
    return vm_format(vm, args[0], nargs > 1 ? str_text(args[1]) : "", nargs > 1 ? str_of(args[1])->length : 0);
}

/* ---- folding an iterable ---- */

typedef struct Choice { Value key, best, best_key; bool greatest; } Choice;

/* A bool is not one: of True and 1 the first is given, so which one it is matters. */
static bool symbolic_pair(Value a, Value b) { return (value_is(a, OBJ_SYM) && (b.tag == V_INT || value_is(b, OBJ_SYM))) || (value_is(b, OBJ_SYM) && a.tag == V_INT); }

static bool better(VM *vm, void *state, Value item) {
    Choice *c = state;
    item = vm_force(vm, item);
    if (value_is_error(item)) return false;
    if (c->key.tag == V_NONE && c->best.tag != V_NULL && symbolic_pair(c->best, item)) {
        Value chosen = sym_choose(vm, c->best, item, c->greatest); /* no guard on which one it is */
        value_set(vm, &c->best, chosen);
        value_set(vm, &c->best_key, value_ref(chosen));
        return true;
    }
    Value k = c->key.tag == V_NONE ? value_ref(item) : vm_call1(vm, c->key, item);
    if (value_is_error(k)) return false;
    int replace = 1;
    if (c->best.tag != V_NULL) {
        Value result = c->greatest ? vm_compare(vm, COMPARE_GT, k, c->best_key) : vm_compare(vm, COMPARE_LT, k, c->best_key);
        replace = value_is_error(result) ? -1 : vm_truth(vm, result);
        value_unref(vm, result);
    }
    if (replace > 0) {
        value_set(vm, &c->best, value_ref(item));
        value_set(vm, &c->best_key, k);
    } else value_unref(vm, k);
    return replace >= 0;
}

static Value min_or_max(VM *vm, Value *args, int nargs, Tuple *kwnames, bool greatest) {
    static const char *const names[] = {"key", "default"};
    Value out[2];
    const char *name = greatest ? "max" : "min";
    if (!vm_parse_args(vm, name, args + nargs, 0, kwnames, names, 2, 0, out)) return VALUE_ERROR;
    Choice choice = {out[0].tag == V_NULL ? VALUE_NONE : out[0], VALUE_NULL, VALUE_NULL, greatest};
    if (nargs > 1 && out[1].tag != V_NULL) return vm_raise(vm, "TypeError", "Cannot specify a default for %s() with multiple positional arguments", name);
    bool ok = true;
    if (nargs == 1) ok = vm_each(vm, args[0], better, &choice);
    for (int i = 0; ok && nargs > 1 && i < nargs; i++) ok = better(vm, &choice, args[i]);
    value_unref(vm, choice.best_key);
    if (!ok) return value_unref(vm, choice.best), VALUE_ERROR;
    if (choice.best.tag != V_NULL) return choice.best;
    return out[1].tag != V_NULL ? value_ref(out[1]) : vm_raise(vm, "ValueError", "%s() iterable argument is empty", name);
}

static Value builtin_min(METHOD) { return min_or_max(vm, args, nargs, kwnames, false); }
static Value builtin_max(METHOD) { return min_or_max(vm, args, nargs, kwnames, true); }

/* CPython 3.12 adds floats with compensated summation. */
typedef struct Sum { Value total; double sum, lost; bool floats; } Sum;

static void add_float(Sum *s, double x) {
    double t = s->sum + x;
    s->lost += fabs(s->sum) >= fabs(x) ? (s->sum - t) + x : (x - t) + s->sum;
    s->sum = t;
}

static Value sum_so_far(const Sum *s) {
    return s->floats ? value_float(s->lost != 0 && isfinite(s->lost) ? s->sum + s->lost : s->sum) : s->total;
}

static bool add_item(VM *vm, void *state, Value item) {
    Sum *s = state;
    Value v = vm_force(vm, item);
    if (value_is_error(v)) return false;
    if (s->floats && v.tag == V_FLOAT) return add_float(s, v.f), true;
    if (s->floats && value_is_integer(v)) return s->sum += (double)integer_of(v), true; /* as it is, in CPython too */
    Value total = sum_so_far(s);
    if (!s->floats && total.tag != V_OBJECT && v.tag == V_FLOAT) {
        *s = (Sum){VALUE_NULL, number_of(total), 0, true};
        return add_float(s, v.f), true;
    }
    Value next = vm_binary(vm, BINARY_ADD, total, v);
    if (value_is_error(next)) return false;
    value_unref(vm, s->total);
    *s = (Sum){next, 0, 0, false};
    return true;
}

static Value builtin_sum(METHOD) {
    static const char *const names[] = {"iterable", "start"};
    Value out[2];
    if (!vm_parse_args(vm, "sum", args, nargs, kwnames, names, 2, 1, out)) return VALUE_ERROR;
    if (value_is(out[1], OBJ_STR)) return vm_raise(vm, "TypeError", "sum() can't sum strings [use ''.join(seq) instead]");
    Sum sum = {.total = out[1].tag == V_NULL ? value_int(0) : value_ref(out[1])};
    if (sum.total.tag == V_FLOAT) sum = (Sum){VALUE_NULL, sum.total.f, 0, true};
    if (vm_each(vm, out[0], add_item, &sum)) return sum_so_far(&sum);
    value_unref(vm, sum.total);
    return VALUE_ERROR;
}

typedef struct Truths { bool stop_at, found; bool failed; } Truths;

static bool look_at(VM *vm, void *state, Value item) {
    Truths *t = state;
    int truth = vm_truth(vm, item);
    t->failed = truth < 0;
    t->found = truth == (int)t->stop_at;
    return !t->failed && !t->found;
}

static Value any_or_all(VM *vm, Value iterable, bool stop_at) {
    Truths t = {.stop_at = stop_at};
    bool whole = vm_each(vm, iterable, look_at, &t);
    if (!whole && !t.found) return VALUE_ERROR;
    return value_bool(t.found == stop_at);
}

static Value builtin_any(METHOD) { UNUSED; return any_or_all(vm, args[0], true); }
static Value builtin_all(METHOD) { UNUSED; return any_or_all(vm, args[0], false); }

/* ---- what a program must not do ---- */

#define REFUSED(name, why) \
    static Value builtin_##name(METHOD) { UNUSED; return vm_raise(vm, "NotImplementedError", #name "() is not supported: " why); }
REFUSED(open, "a program cannot read or write files")
REFUSED(input, "a program cannot read from the terminal")
REFUSED(exec, "text cannot be run as code")
REFUSED(eval, "text cannot be run as code")
REFUSED(compile, "text cannot be run as code; for torch.compile write torch.compile(f)")
REFUSED(breakpoint, "use :step")
REFUSED(__import__, "use the import statement")
REFUSED(complex, "complex numbers do not exist here")
REFUSED(bytes, "byte strings do not exist here")
REFUSED(bytearray, "byte strings do not exist here")
REFUSED(memoryview, "byte strings do not exist here")

enum { NOT = BUILTIN_EFFECT | BUILTIN_BREAK, P = BUILTIN_POSITIONAL };

const BuiltinDef builtin_functions[] = {
    {"print", builtin_print, 0, -1, BUILTIN_EFFECT}, {"len", builtin_len, 1, 1, P}, {"abs", builtin_abs, 1, 1, P}, {"round", builtin_round, 1, 2, 0},
    {"pow", builtin_pow, 2, 3, 0}, {"divmod", builtin_divmod, 2, 2, P}, {"hex", builtin_hex, 1, 1, P}, {"oct", builtin_oct, 1, 1, P},
    {"bin", builtin_bin, 1, 1, P}, {"chr", builtin_chr, 1, 1, P}, {"ord", builtin_ord, 1, 1, P}, {"repr", builtin_repr, 1, 1, P},
    {"ascii", builtin_ascii, 1, 1, P}, {"format", builtin_format, 1, 2, P}, {"min", builtin_min, 1, -1, 0}, {"max", builtin_max, 1, -1, 0},
    {"sum", builtin_sum, 1, 2, 0}, {"any", builtin_any, 1, 1, P}, {"all", builtin_all, 1, 1, P}, {"open", builtin_open, 0, -1, NOT},
    {"input", builtin_input, 0, -1, NOT}, {"exec", builtin_exec, 0, -1, NOT}, {"eval", builtin_eval, 0, -1, NOT}, {"compile", builtin_compile, 0, -1, NOT},
    {"breakpoint", builtin_breakpoint, 0, -1, NOT}, {"__import__", builtin___import__, 0, -1, NOT}, {"complex", builtin_complex, 0, -1, NOT},
    {"bytes", builtin_bytes, 0, -1, NOT}, {"bytearray", builtin_bytearray, 0, -1, NOT}, {"memoryview", builtin_memoryview, 0, -1, NOT},
    {NULL, NULL, 0, 0, 0},
};

void vm_builtins_init(VM *vm) {
    vm_define_table(vm, vm->builtins, "", builtin_functions);
    vm_define_table(vm, vm->builtins, "", builtin_iterators);
    vm_define_table(vm, vm->builtins, "", builtin_objects);
}
