/* What the files of the VM core share with each other and with nobody else. */
#ifndef VITRINE_VM_INTERNAL_H
#define VITRINE_VM_INTERNAL_H
#include "vm/native.h"
#include "vm/tensor_protocol.h"
#include "vm/vm.h"

/* Object.flags */
enum {
    FLAG_ASCII = 1 /* Str: one byte a character */, FLAG_BUSY = 2 /* being printed: a container that holds itself */,
    FLAG_NAMESPACE = 4 /* Dict of a class: changing it empties the method cache */, FLAG_BUILTIN = 8 /* Class of the VM itself: cannot be changed */,
    FLAG_FROZEN = 16 /* Class: no attributes may be set */,
    FLAG_SHOWN = 32 /* Instance: _support.shown_once is making its text */, FLAG_FINALIZED = 64 /* its finalizer has run, or is about to */
};

/* Names that the core looks up itself, interned once. */
#define VM_NAMES(X)                                                                                                       \
    X(init) X(new) X(call) X(repr) X(str) X(format) X(len) X(bool) X(iter) X(next) X(contains) X(getitem) X(setitem)      \
    X(delitem) X(getattr) X(getattribute) X(setattr) X(delattr) X(get) X(set) X(delete) X(hash) X(eq) X(ne) X(lt) X(le)   \
    X(gt) X(ge) X(enter) X(exit) X(index) X(int) X(float) X(neg) X(pos) X(invert) X(abs) X(round) X(reversed) X(class)    \
    X(dict) X(name) X(qualname) X(module) X(doc) X(bases) X(mro) X(classcell) X(set_name) X(init_subclass)                \
    X(class_getitem) X(func) X(self) X(code) X(defaults) X(kwdefaults) X(globals) X(closure) X(wrapped) X(annotations)    \
    X(cause) X(context) X(traceback) X(suppress_context) X(all) X(missing) X(trunc) X(floor) X(ceil) X(divmod) X(file)    \
    X(annotate) X(slots) X(main) X(builtins) X(length_hint) X(subclasses) X(abstractmethods) X(notes) X(del)

typedef struct VMNames {
#define X(name) const char *name##_;
    VM_NAMES(X)
#undef X
    const char *args, *kwargs, *torch, *get_method;
} VMNames;

typedef struct MethodSlot { const Class *cls; const char *name; uint32_t epoch; Value value; } MethodSlot; /* value borrowed */
enum { METHOD_SLOTS = 4096, HINT_SLOTS = 8192, NAME_SLOTS = 2048, FRAME_STEP = 8, FRAME_SIZES = 8, SPARE_FRAMES = 64 };

typedef struct CodeConstants { const Code *code; Value *values; int count; } CodeConstants;

struct VMPrivate {
    VMNames names;
    Map *strings;                  /* interned name -> Str, held */
    Str *characters[128];          /* one-character strings */
    MethodSlot methods[METHOD_SLOTS];
    uint32_t epoch;                /* of all class namespaces */
    int32_t hints[HINT_SLOTS];     /* where in its dict a name was last found */
    Str *name_slots[NAME_SLOTS];   /* strings by the address of their interned name */
    Frame *spare_frames[FRAME_SIZES]; int spare_counts[FRAME_SIZES]; /* by slots / FRAME_STEP; linked by `back` */
    const NativeType *natives[OBJ_TYPE_COUNT];
    int free_depth; Object *deferred; /* objects whose freeing waits: deep structures free without deep recursion */
    int64_t bytes;                 /* held by containers and long strings */
    bool closing;
    VEC(Object *) finalizers; bool finalizing; /* objects that wait for theirs: finalize.c */
    int c_depth;                   /* recursion of repr, compare, hash and of C callbacks */
    int64_t steps;
    Tuple *empty_tuple;
    Value build_class, object_init; /* builtins that the core recognizes */
    VEC(CodeConstants) constants, old_constants; /* by Code.id */
    Class *class_iterator;
    Map *iterator_classes;         /* Iterator.kind -> Class */
    Value dtypes[DTYPE_COUNT];     /* one object each */
    Value argv;                    /* list for sys.argv, or NULL */
    Class *class_size, *class_counter, *class_ordered, *class_defaultdict; /* torch.Size; collections */
};

/* ---- value.c ---- */
_Noreturn void vm_out_of_memory(void);
static inline bool value_is_number(Value v) { return v.tag == V_INT || v.tag == V_FLOAT || v.tag == V_BOOL; }
static inline bool value_is_integer(Value v) { return v.tag == V_INT || v.tag == V_BOOL; }
static inline int64_t integer_of(Value v) { return v.tag == V_BOOL ? (int64_t)v.b : v.i; }
static inline double number_of(Value v) { return v.tag == V_FLOAT ? v.f : (double)integer_of(v); }
bool value_identical(Value a, Value b);                                  /* `is` */
static inline bool vm_mutate(VM *vm, void *object) { return !vm->domain->will_mutate || vm->domain->will_mutate(vm, (Object *)object); }
bool vm_reserve(VM *vm, int64_t count, int64_t item_bytes);              /* may so much be allocated? MemoryError otherwise */
void vm_account(VM *vm, int64_t bytes);                                  /* containers that grew (or shrank) */
static inline void value_set(VM *vm, Value *slot, Value owned) { Value old = *slot; *slot = owned; value_unref(vm, old); }
bool vm_enter(VM *vm, const char *doing);                                /* C recursion; RecursionError */
static inline void vm_leave(VM *vm) { vm->own->c_depth--; }
static inline const char *vm_intern(VM *vm, const char *name) { return intern(vm->lang->names, name); }
void object_release(VM *vm, Object *o);                                 /* drops what it holds, not the object */
void vm_free_everything(VM *vm);                                         /* collect.c */
void object_visit(VM *vm, Object *o, ObjectVisit visit, void *state);    /* collect.c */

/* ---- str.c ---- */
Str *str_alloc(VM *vm, size_t length);                                   /* text to be filled in; then str_finish */
Value str_finish(VM *vm, Str *s);
int64_t str_count(const Str *s);                                         /* characters */
int64_t str_offset(const Str *s, int64_t character);                     /* byte offset of a character (or the end) */
Value str_character(VM *vm, uint32_t code);
Str *str_of_name(VM *vm, const char *interned);                          /* borrowed, hashed, held for ever */
Value str_join_text(VM *vm, Text *text);                                 /* a str of the text's bytes; frees the text */
static inline Str *str_of(Value v) { return (Str *)v.o; }
bool str_equal(const Str *a, const Str *b);
int str_order(const Str *a, const Str *b);                               /* by code points */
uint32_t str_hash(Str *s);
void str_repr(Text *text, const Str *s);                                 /* quoted as Python's repr */
void str_escape(Text *text, const Str *s);                               /* characters beyond ASCII as escapes, nothing else changed */
void str_ascii(Text *text, const Str *s);                                /* ascii(): \u escapes */
int utf8_encode(uint32_t code, char *out);

/* ---- containers ---- */
static inline List *list_of(Value v) { return (List *)v.o; }
static inline Tuple *tuple_of(Value v) { return (Tuple *)v.o; }
static inline Dict *dict_of(Value v) { return (Dict *)v.o; }
static inline Set *set_of(Value v) { return (Set *)v.o; }
Value tuple_take(VM *vm, int count);                                     /* items V_NULL, to be filled with owned values */
Value tuple_take_like(VM *vm, int count, const Tuple *like);               /* a torch.Size when `like` is one */
bool list_reserve(VM *vm, List *list, int capacity);
bool list_extend(VM *vm, List *list, Value iterable);                    /* no will_mutate */
void list_clear(VM *vm, List *list);
bool sequence_view(Value v, Value **items, int *count);                  /* of a list or tuple, by pointer; false: neither */
int dict_find(VM *vm, Dict *dict, Value key, uint64_t hash);             /* entry, -1 absent, -2 error */
bool dict_key(VM *vm, Value *key);                                  /* forces it; a symbolic int becomes the plain one. false: exception set or stopped */
bool dict_set_hashed(VM *vm, Dict *dict, Value key, uint64_t hash, Value value);
void dict_remove_at(VM *vm, Dict *dict, int entry);
void dict_clear(VM *vm, Dict *dict);
bool dict_merge(VM *vm, Dict *dict, Value mapping);                      /* dict.update's first argument; no will_mutate */
Value dict_copy(VM *vm, Dict *dict);
Value dict_items_tuple(VM *vm, Dict *dict, int entry);
bool set_add(VM *vm, Set *set, Value item);
bool set_update(VM *vm, Set *set, Value iterable);
bool set_has(VM *vm, Set *set, Value item, bool *found);                 /* false: unhashable */
int *set_order(VM *vm, Set *set);                                        /* malloc'ed entry numbers in CPython's order of iteration; count = live */
int64_t range_length(const Range *r);                                    /* at most INT64_MAX, which stands for more too */
Value range_item(const Range *r, int64_t i);
/* Slices: bounds clamped to a sequence of `length`. false: error set (zero step, not integers). */
bool slice_indices(VM *vm, Slice *slice, int64_t length, int64_t *start, int64_t *stop, int64_t *step, int64_t *count);
/* An index into a sequence: wraps negatives; IndexError "<what> index out of range". */
bool index_in(VM *vm, Value key, int64_t length, const char *what, int64_t *index);
Value dict_view_new(VM *vm, Dict *dict, const char *kind);               /* "dict_keys" "dict_values" "dict_items": an Iterator used as a view */
bool value_is_view(Value v);

/* ---- iterate.c ---- */
Value iterator_new(VM *vm, const char *kind, Value (*next)(VM *, Iterator *), Value subject, Value extra); /* references taken */
/* Calls `each` with every item (borrowed) until it returns false. false: an error is set (also by each). */
bool vm_each(VM *vm, Value iterable, bool (*each)(VM *vm, void *state, Value item), void *state);
/* Exactly `count` items of an iterable as owned values; ValueError with unpacking's words otherwise. */
bool vm_unpack(VM *vm, Value iterable, Value *out, int count);
Value class_hook(VM *vm, Value cls, const char *name, Value *args, int nargs); /* V_NULL: the class has none */
int vm_contains(VM *vm, Value container, Value item);

/* ---- class.c ---- */
Value class_new(VM *vm, const char *name, Value bases, Value namespace_dict); /* a class of the language; MRO by C3 */
Class *class_builtin(VM *vm, const char *name, Class *base, int builtin_type);
Value class_lookup(VM *vm, const Class *cls, const char *name);          /* borrowed; V_NULL */
bool class_has_slot(VM *vm, const Class *cls, const char *name);
void class_refresh(VM *vm, Class *cls);                                  /* its facts about hooks and slots, after its dict changed */
Class *class_native_base(const Class *cls);                              /* the builtin class whose payload instances carry, or NULL */
Value instance_payload(Value v);                                         /* borrowed payload of a subclass of a builtin; V_NULL */
Value vm_unwrap(Value v);                                                /* payload if there is one, else v; borrowed */
Value class_call(VM *vm, Class *cls, Value *args, int nargs, Tuple *kwnames);
Value instance_with_payload(VM *vm, Class *cls, Value payload);          /* takes the payload */
/* tuple subclasses with named fields: torch.return_types.*, collections.namedtuple */
Class *namedtuple_class(VM *vm, const char *name, const char *module, const char *const *fields, int count);
Value namedtuple_new(VM *vm, Class *cls, const Value *items, int count);
void vm_classes_init(VM *vm);

/* ---- attr.c ---- */
/* The method form: *self V_NULL when the attribute needs none. Owned results; false: error set. */
bool vm_load_method(VM *vm, Value object, const char *name, Value *callable, Value *self);
Value vm_bind(VM *vm, Value attribute, Value self, Class *cls);          /* descriptor protocol; attribute borrowed */
bool vm_store_attr_generic(VM *vm, Value instance, const char *name, Value value); /* object.__setattr__; value V_NULL deletes */
Value builtin_bind(VM *vm, Builtin *builtin, Value self);
bool vm_delete_attr(VM *vm, Value object, const char *name);
Value vm_lookup_special(VM *vm, Value object, const char *name);         /* from the class of an instance, bound; owned; V_NULL */
/* Calls a special method when the class has it: V_NULL when it has none. */
Value vm_call_special(VM *vm, Value object, const char *name, Value *args, int nargs);
Value super_load_attr(VM *vm, Class *after, Value self, const char *name);
Value vm_dir(VM *vm, Value object);

/* ---- operators ---- */
Value number_binary(VM *vm, int op, Value a, Value b);                   /* both numbers; number.c */
Value int_power(VM *vm, int64_t base, int64_t exponent);
Value vm_unary(VM *vm, const char *what, Value v);                       /* "neg" "pos" "invert" "abs" */
Value vm_not_implemented_error(VM *vm, int op, Value a, Value b);
Value vm_key_error(VM *vm, Value key);
Value set_binary(VM *vm, int op, Set *a, Set *b);
bool vm_delete_subscript(VM *vm, Value object, Value key);
uint64_t hash_float(double f);
uint64_t hash_int(int64_t i);
bool vm_sort(VM *vm, List *list, Value key, bool reverse);
Value number_round(VM *vm, Value v, Value digits);
double float_round_to(double x, int digits);

/* ---- text of values ---- */
void text_int(Text *text, int64_t i);
void text_float(Text *text, double f);                                   /* repr(float) */
void text_float_repr(Text *text, double f, char form, int precision, bool alternate);
Value vm_ascii(VM *vm, Value v);                                         /* ascii(v) */
bool text_put_repr(VM *vm, Text *text, Value v);
bool text_put_str(VM *vm, Text *text, Value v);
Value vm_format(VM *vm, Value v, const char *spec, size_t spec_length);
Value str_percent(VM *vm, Str *format, Value args);
Value str_format_method(VM *vm, Value *args, int nargs, Tuple *kwnames);
Value str_format_map(VM *vm, Value *args, int nargs, Tuple *kwnames);
Value str_translate(VM *vm, Value *args, int nargs, Tuple *kwnames);      /* str_map.c */
Value str_maketrans(VM *vm, Value *args, int nargs, Tuple *kwnames);
bool parse_float(const char *text, size_t length, double *out);          /* float("…") */

/* ---- call.c ---- */
Value call_function(VM *vm, Function *function, Value *args, int nargs, Tuple *kwnames);
Value call_builtin(VM *vm, Builtin *builtin, Value *args, int nargs, Tuple *kwnames);
Value vm_call1(VM *vm, Value callee, Value a);
Value vm_call2(VM *vm, Value callee, Value a, Value b);
Value frame_evaluate(VM *vm, Frame *frame);                              /* through vm->evaluator */
bool vm_no_keywords(VM *vm, const char *function, Tuple *kwnames);
Value vm_keyword(Tuple *kwnames, const Value *args, int nargs, const char *interned_name); /* borrowed; V_NULL */
bool vm_callable(VM *vm, Value v);

/* ---- generator.c ---- */
typedef struct Generator { Object head; Frame *frame; /* NULL when finished */ Value function; bool running, started, yielded; Value handled; } Generator;
Value generator_new(VM *vm, Frame *frame);                               /* moves the frame's values into a generator's own frame */
Value generator_resume(VM *vm, Generator *g, Value sent, Value *returned); /* yielded value; V_NULL: returned (value owned in *returned, when asked) */
void generator_release(VM *vm, Generator *g);
bool generator_is_open(const Generator *g);                              /* suspended inside try or with: it has something to do when it goes */
Value generator_close(VM *vm, Generator *g);                             /* g.close() */

/* ---- finalize.c ---- */
bool finalize_later(VM *vm, Object *o);                                  /* at its last reference: true when it has a finalizer, and waits for it */
void vm_run_finalizers(VM *vm);                                          /* of those that wait */

/* ---- exception.c ---- */
typedef struct TraceEntry { const Code *code; int instr; } TraceEntry;
typedef struct ExceptionData { Value args, cause, context; bool suppress_context; VEC(TraceEntry) trace; } ExceptionData;
void vm_exceptions_init(VM *vm);
static inline bool value_is_exception(Value v) { return value_is(v, OBJ_INSTANCE) && ((Instance *)v.o)->cls->is_exception; }
static inline ExceptionData *exception_data(Value v) { return (ExceptionData *)((Instance *)v.o)->native; }
void exception_set(VM *vm, Value exception);                             /* takes it; chains the one being handled */
Value exception_take(VM *vm);                                            /* owned; the VM's slot is empty afterwards */
bool exception_is(VM *vm, Value exception, const char *class_name);      /* or a subclass */
Value exception_of(VM *vm, Value class_or_instance);                     /* what `raise x` raises; owned */
void exception_add_trace(VM *vm, Frame *frame, int instr);
Value exception_load_attr(VM *vm, Value exception, const char *name);    /* V_NULL */
bool exception_store_attr(VM *vm, Value exception, const char *name, Value value, bool *handled);
Value exception_str(VM *vm, Value exception);
void exception_text(VM *vm, Text *text, Value exception, bool chain);     /* as Python prints it; traceback.c */
Class *exception_class(VM *vm, const char *name);
void exception_data_free(VM *vm, ExceptionData *data);
bool vm_pending(VM *vm, const char *class_name);                         /* is such an exception pending? */

/* ---- modules ---- */
struct EmbeddedFile;
/* Parses a file of the shipped library and runs it in a namespace, in the present domain; SyntaxError or what it raises. import.c */
bool vm_run_shipped(VM *vm, const struct EmbeddedFile *file, Dict *dict);
void vm_builtins_init(VM *vm);                                           /* builtin.c */
void vm_types_init(VM *vm);                                              /* constructors and methods of the builtin types */
Value vm_module_in_c(VM *vm, const char *dotted_name);                   /* V_NULL: no such module */
void vm_write(VM *vm, Output output, const char *text, size_t length);
Value builtin_build_class(VM *vm, Value *args, int nargs, Tuple *kwnames);
bool vm_poll(VM *vm);                                                    /* interrupt, step and memory limits; false: exception set */

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))
#endif
