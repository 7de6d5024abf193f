/* How a tensor prints: PyTorch's form to the character.
 *
 *     Text text = {0};
 *     tensor_print(vm, &text, t, false);      // tensor([[1., 2.],\n        [3., 4.]], grad_fn=<MulBackward0>)
 *
 * In: a tensor with data (fake ones print their shape), the session's print options. Out: text, no newline at the end.
 * First one format is found for all elements shown (integers, fixed point or scientific, and a common width), then the nested
 * brackets are laid out, then suffixes that fit the line. A large tensor (more elements than `threshold`) shows `edgeitems` at each end.
 * Invariant: width and form depend only on the elements that are shown. */
#include "run/runtime.h"
#include "vm/autograd.h"
#include "vm/scalar_value.h"
#include "vm/tensor_protocol.h"
#include "vm/torch_state.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ELEMENT_ROOM = 400 }; /* the longest is a float64 in fixed point */

typedef struct Printer {
    Text *text;
    PrintOptions options;
    Meta meta;                 /* of a contiguous copy on the host */
    const char *data;
    bool summarize, is_float, int_mode, scientific;
    int width;
} Printer;

static bool skipped(const Printer *p, int64_t size, int64_t i) {
    return p->summarize && size > 2 * p->options.edgeitems && i >= p->options.edgeitems && i < size - p->options.edgeitems;
}

/* Calls `see` for the offset of every element that will be shown. */
static void each_shown(Printer *p, int dim, int64_t offset, void (*see)(Printer *p, const void *at)) {
    if (dim == p->meta.rank) { see(p, p->data + offset * dtype_size(p->meta.dtype)); return; }
    for (int64_t i = 0; i < p->meta.sizes[dim]; i++) {
        if (skipped(p, p->meta.sizes[dim], i)) { i = p->meta.sizes[dim] - p->options.edgeitems - 1; continue; }
        each_shown(p, dim + 1, offset + i * p->meta.strides[dim], see);
    }
}

static int format_element(const Printer *p, const void *at, char *out) {
    if (p->meta.dtype == DTYPE_BOOL) return snprintf(out, ELEMENT_ROOM, "%s", element_as_int(DTYPE_BOOL, at) ? "True" : "False");
    if (!p->is_float) return snprintf(out, ELEMENT_ROOM, "%lld", (long long)element_as_int(p->meta.dtype, at));
    double d = element_as_double(p->meta.dtype, at);
    if (isnan(d)) return snprintf(out, ELEMENT_ROOM, "nan");
    if (isinf(d)) return snprintf(out, ELEMENT_ROOM, d > 0 ? "inf" : "-inf");
    if (p->scientific) return snprintf(out, ELEMENT_ROOM, "%.*e", p->options.precision, d);
    if (p->int_mode) return snprintf(out, ELEMENT_ROOM, "%.0f.", d);
    return snprintf(out, ELEMENT_ROOM, "%.*f", p->options.precision, d);
}

/* Zeros and non-finite values have no say in the format. */
typedef struct Extent { double low, high; bool any, whole; } Extent;
typedef struct ExtentPrinter { Printer printer; Extent extent; } ExtentPrinter;
static void see_extent(Printer *p, const void *at) {
    Extent *r = &((ExtentPrinter *)p)->extent;
    double d = element_as_double(p->meta.dtype, at), a = fabs(d);
    if (!isfinite(d) || d == 0) return;
    if (!r->any || a < r->low) r->low = a;
    if (!r->any || a > r->high) r->high = a;
    r->any = true;
    if (d != ceil(d)) r->whole = false;
}
static void see_width(Printer *p, const void *at) {
    char out[ELEMENT_ROOM];
    if (p->is_float) {
        double d = element_as_double(p->meta.dtype, at);
        if (!isfinite(d) || d == 0) return;
    }
    int length = format_element(p, at, out);
    if (length > p->width) p->width = length;
}

static void choose_format(ExtentPrinter *rp) {
    Printer *p = &rp->printer;
    p->width = 1;
    rp->extent = (Extent){.whole = true};
    p->int_mode = true;
    if (p->is_float) {
        each_shown(p, 0, 0, see_extent);
        const Extent *r = &rp->extent;
        p->int_mode = r->whole;
        if (!r->any) return;
        p->scientific = r->high / r->low > 1000.0 || r->high > 1.0e8 || (!r->whole && r->low < 1.0e-4);
    }
    each_shown(p, 0, 0, see_width);
    if (p->options.sci_mode >= 0 && p->is_float) p->scientific = p->options.sci_mode > 0;
}

static void put_padded(Printer *p, const void *at) {
    char out[ELEMENT_ROOM];
    int length = format_element(p, at, out);
    for (int i = length; i < p->width; i++) text_char(p->text, ' ');
    text_put_n(p->text, out, (size_t)length);
}

static void put_break(Printer *p, int newlines, int indent) {
    text_char(p->text, ',');
    for (int i = 0; i < newlines; i++) text_char(p->text, '\n');
    for (int i = 0; i < indent + 1; i++) text_char(p->text, ' ');
}

static void put_vector(Printer *p, int64_t offset, int indent) {
    int64_t size = p->meta.sizes[p->meta.rank - 1], stride = p->meta.strides[p->meta.rank - 1];
    int in_line = 0, room = (p->options.linewidth - indent) / (p->width + 2);
    if (room < 1) room = 1;
    text_char(p->text, '[');
    for (int64_t i = 0; i < size; i++) {
        if (in_line == room) { put_break(p, 1, indent); in_line = 0; }
        else if (i) text_put(p->text, ", ");
        in_line++;
        if (skipped(p, size, i)) { text_put(p->text, " ..."); i = size - p->options.edgeitems - 1; continue; }
        put_padded(p, p->data + (offset + i * stride) * dtype_size(p->meta.dtype));
    }
    text_char(p->text, ']');
}

static void put_nested(Printer *p, int dim, int64_t offset, int indent) {
    if (p->meta.rank == 0) { put_padded(p, p->data); return; }
    if (dim == p->meta.rank - 1) { put_vector(p, offset, indent); return; }
    text_char(p->text, '[');
    for (int64_t i = 0; i < p->meta.sizes[dim]; i++) {
        if (i) put_break(p, p->meta.rank - dim - 1, indent);
        if (skipped(p, p->meta.sizes[dim], i)) { text_put(p->text, "..."); i = p->meta.sizes[dim] - p->options.edgeitems - 1; continue; }
        put_nested(p, dim + 1, offset + i * p->meta.strides[dim], indent + 1);
    }
    text_char(p->text, ']');
}

/* A suffix goes on the line while it fits, else on a line of its own. */
typedef struct Suffixes { Text *text; int column, linewidth, indent; } Suffixes;
static void put_suffix(Suffixes *s, const char *format, const char *value) {
    Text one = {0};
    text_printf(&one, format, value);
    if (s->column + (int)one.length + 2 > s->linewidth) {
        text_put(s->text, ",\n");
        for (int i = 0; i < s->indent; i++) text_char(s->text, ' ');
        s->column = s->indent + (int)one.length;
    } else {
        text_put(s->text, ", ");
        s->column += (int)one.length + 2;
    }
    text_put(s->text, text_cstr(&one));
    text_free(&one);
}

static void put_size_suffix(Suffixes *s, const Meta *meta) {
    Text size = {0};
    text_char(&size, '(');
    for (int i = 0; i < meta->rank; i++) {
        if (i) text_put(&size, ", ");
        dim_print(&size, meta->sizes[i]);
    }
    text_put(&size, meta->rank == 1 ? ",)" : ")");
    put_suffix(s, "size=%s", text_cstr(&size));
    text_free(&size);
}

static void put_suffixes(VM *vm, Suffixes *s, Tensor *t, bool empty) {
    const Meta *meta = &t->meta;
    char device[32];
    snprintf(device, sizeof device, "'cuda:%d'", meta->device.index);
    if (meta->device.kind == DEVICE_CUDA) put_suffix(s, "device=%s", device);
    if (empty && meta->rank != 1) put_size_suffix(s, meta);
    bool usual = meta->dtype == vm->default_dtype || (!empty && (meta->dtype == DTYPE_I64 || meta->dtype == DTYPE_BOOL));
    if (!usual) put_suffix(s, "dtype=torch.%s", dtype_info[meta->dtype].name);
    GradNode *node = tensor_grad_node(vm, t);
    if (node) put_suffix(s, "grad_fn=<%s>", node->name);
    else if (t->requires_grad) put_suffix(s, "%s", "requires_grad=True");
}

/* The elements, contiguous on the host, converted nowhere; NULL: exception set. Freed by the caller. */
static char *elements_of(VM *vm, Tensor *t) {
    char *data = malloc((size_t)(meta_numel(&t->meta) * dtype_size(t->meta.dtype)));
    if (data && tensor_copy_to_host(vm, t, data)) return data;
    free(data);
    return NULL;
}

/* The first and last elements are all that a large tensor shows: take a small copy instead of gigabytes. */
static bool print_elements(VM *vm, Text *text, Tensor *t) {
    ExtentPrinter rp = {.printer = {.text = text, .options = vm->torch ? vm->torch->print : print_options_default, .meta = t->meta}};
    Printer *p = &rp.printer;
    p->is_float = dtype_is_float(t->meta.dtype);
    p->summarize = meta_numel(&t->meta) > p->options.threshold;
    char *owned = NULL;
    if (t->meta.device.kind == DEVICE_CPU && !tensor_is_fake(t) && !t->node)
        p->data = (const char *)tensor_data(t) + t->meta.offset * dtype_size(t->meta.dtype);
    else {
        if (!(owned = elements_of(vm, t))) return false;
        meta_set_contiguous(&p->meta, NULL);
        p->data = owned;
    }
    choose_format(&rp);
    put_nested(p, 0, 0, 7);
    free(owned);
    return true;
}

static void print_fake(Text *text, const Tensor *t) {
    text_put(text, "FakeTensor(..., ");
    Text size = {0};
    for (int i = 0; i < t->meta.rank; i++) {
        if (i) text_put(&size, ", ");
        dim_print(&size, t->meta.sizes[i]);
    }
    text_printf(text, "size=(%s%s)", text_cstr(&size), t->meta.rank == 1 ? "," : "");
    text_free(&size);
    if (t->meta.dtype != DTYPE_F32) text_printf(text, ", dtype=torch.%s", dtype_info[t->meta.dtype].name);
    text_char(text, ')');
}

void tensor_print(VM *vm, Text *text, Tensor *t, bool parameter) {
    if (parameter) text_put(text, "Parameter containing:\n");
    size_t start = text->length;
    if (t->node || tensor_is_fake(t) || !meta_is_static(&t->meta)) { print_fake(text, t); return; }
    text_put(text, "tensor(");
    bool empty = meta_numel(&t->meta) == 0;
    if (empty) text_put(text, "[]");
    else if (!print_elements(vm, text, t)) { vm_clear_exception(vm); text_put(text, "..."); }
    const char *newline = strrchr(text_cstr(text) + start, '\n');
    const char *last = newline ? newline : text_cstr(text) + start;
    int column = (int)(text_cstr(text) + text->length - last) + (newline ? 1 : 2);
    Suffixes suffixes = {text, column, (vm->torch ? vm->torch->print : print_options_default).linewidth, 7};
    put_suffixes(vm, &suffixes, t, empty);
    text_char(text, ')');
}

Value tensor_repr(VM *vm, Tensor *t) {
    bool unknown = !t->node && tensor_is_fake(t) && t->meta.device.kind == DEVICE_CUDA;
    if (t->node && vm->domain->item) return vm_stop(vm, "data_dependent_value", vm_user_span(vm), "the value of a tensor is needed as text"); /* capture cannot go on */
    if (unknown) return vm_raise(vm, "RuntimeError", "the values of this tensor are not known: there is no CUDA device here to run on");
    Text text = {0};
    tensor_print(vm, &text, t, t->is_parameter);
    Value result = str_new(vm, text_cstr(&text), text.length);
    text_free(&text);
    return result;
}
