/* Value: a value of the language, and the objects behind it.
 *
 * Ownership, stated once: a function that *returns* a Value gives its caller a reference; a function that *takes* a Value borrows it;
 * a container that keeps one takes its own reference (value_ref). None, booleans, ints and floats are immediate.
 *
 *     Value s = str_new(vm, "abc", 3);      // owned by us
 *     list_append(list, s);                 // the list takes its own reference
 *     value_unref(s);
 *
 * V_ERROR says that an exception is pending in vm->exception, or that capture gave up (vm->stopped). V_NULL is an absent slot.
 *
 * Symbolic execution shares all of this: an input not yet looked at is an OBJ_TRACKED {source, inner}. *Any code that looks at the tag or
 * type of a Value that came from a stack, an argument, a container, a cell or an attribute calls vm_force() first*; passing it on needs no force.
 * Builtins get forced arguments; what is inside containers they force themselves when they look at it. */
#ifndef VITRINE_VM_VALUE_H
#define VITRINE_VM_VALUE_H
#include "base/vec.h"
#include "ir/meta.h"
#include "lang/code.h"

typedef struct VM VM;
typedef struct Object Object;
typedef enum Tag { V_NULL, V_ERROR, V_NONE, V_ELLIPSIS, V_NOTIMPLEMENTED, V_BOOL, V_INT, V_FLOAT, V_OBJECT } Tag;

typedef struct Value { Tag tag; union { bool b; int64_t i; double f; Object *o; }; } Value;

typedef enum ObjectType {
    OBJ_STR, OBJ_TUPLE, OBJ_LIST, OBJ_DICT, OBJ_SET, OBJ_FROZENSET, OBJ_RANGE, OBJ_SLICE, OBJ_CODE, OBJ_FUNCTION, OBJ_METHOD, OBJ_BUILTIN,
    OBJ_OP /* torch.relu: an op row as a callable */, OBJ_CLASS, OBJ_INSTANCE, OBJ_MODULE, OBJ_CELL, OBJ_ITERATOR, OBJ_GENERATOR, OBJ_PROPERTY,
    OBJ_STATICMETHOD, OBJ_CLASSMETHOD, OBJ_SUPER, OBJ_TENSOR, OBJ_DTYPE, OBJ_DEVICE, OBJ_RNG, OBJ_SYM /* a symbolic int: a Dim in tracing domains */,
    OBJ_TRACKED, OBJ_COMPILED /* torch.compile's wrapper */, OBJ_GRAPH /* a compiled graph, called by dynamo's rewritten code */, OBJ_CAPTURED /* a captured graph that a backend of the program runs */, OBJ_OPAQUE,
    OBJ_GRAD_NODE /* a node of the autograd tape: t.grad_fn (vm/autograd.h) */,
    OBJ_TYPE_COUNT
} ObjectType;

struct Object { uint32_t refs; uint8_t type; uint8_t flags; uint16_t mark; Object *next, *previous; /* all objects of the VM, for the cycle sweep */ };

void object_free(VM *vm, Object *o); /* called when refs reach 0 */

#define VALUE_NULL ((Value){.tag = V_NULL})
#define VALUE_ERROR ((Value){.tag = V_ERROR})
#define VALUE_NONE ((Value){.tag = V_NONE})
static inline Value value_bool(bool b) { return (Value){.tag = V_BOOL, .b = b}; }
static inline Value value_int(int64_t i) { return (Value){.tag = V_INT, .i = i}; }
static inline Value value_float(double f) { return (Value){.tag = V_FLOAT, .f = f}; }
static inline Value value_object(void *o) { return (Value){.tag = V_OBJECT, .o = (Object *)o}; } /* moves the caller's reference into the Value */
static inline bool value_is(Value v, ObjectType type) { return v.tag == V_OBJECT && v.o->type == (uint8_t)type; }
static inline bool value_is_error(Value v) { return v.tag == V_ERROR; }
static inline Value value_ref(Value v) { if (v.tag == V_OBJECT) v.o->refs++; return v; }
void value_unref_vm(VM *vm, Value v);
#define value_unref(vm, v) value_unref_vm((vm), (v))

typedef struct Str { Object head; uint32_t length; uint32_t hash; const char *interned; char text[]; } Str;
typedef struct Tuple { Object head; int count; bool is_size; /* torch.Size */ Value items[]; } Tuple;
typedef struct List { Object head; int count, capacity; Value *items; } List;
typedef struct DictEntry { Value key, value; uint64_t hash; } DictEntry; /* key V_NULL: deleted */
typedef struct Dict { Object head; DictEntry *entries; int used, capacity, live; int32_t *index; int index_size; uint64_t version; /* of its content: the VM's count of changes when it last changed, 0: never; no two dicts share one */ struct Value *fallback; /* defaultdict's factory */ bool is_counter, is_ordered; } Dict;
typedef struct Set { Object head; Dict *dict; /* keys only */ int slots; /* size of CPython's table when it was copied, 0: 8 */ } Set;
typedef struct Range { Object head; int64_t start, stop, step; } Range;
typedef struct Slice { Object head; Value start, stop, step; } Slice;
typedef struct Cell { Object head; Value value; } Cell;
typedef struct CodeObject { Object head; Code *code; } CodeObject;
typedef struct ModuleObject { Object head; const char *name; Dict *dict; bool shipped; } ModuleObject;

struct Op; struct Source;
typedef struct Function {
    Object head;
    Code *code;
    Dict *globals;
    Value defaults, kwdefaults, closure;  /* Tuple, Dict, Tuple of Cells, or NONE */
    Value dict;                           /* attributes set on it, or NONE */
    const char *name, *qualname;          /* interned */
    Value module_name;
    const struct Op *leaf;                /* functional.py's: recorded by dynamo as one node, see Domain.leaf */
    bool disabled, disabled_alone;        /* torch.compiler.disable; alone: what it calls may be compiled */
    const char *disable_reason;           /* interned, or NULL */
} Function;

typedef struct Method { Object head; Value self, function; } Method;

/* A builtin in C. args: nargs positional then one value for each name of kwnames (interned strings in a Tuple, or NULL). Arguments are
 * borrowed and already forced. Returns an owned value or VALUE_ERROR. */
typedef Value (*BuiltinFn)(VM *vm, Value *args, int nargs, Tuple *kwnames);
enum { BUILTIN_EFFECT = 1 /* prints, reads a clock, draws a random number: dynamo breaks on it */, BUILTIN_MUTATES = 2 /* changes its self */ ,
       BUILTIN_BREAK = 4 /* capture cannot take it at all */, BUILTIN_POSITIONAL = 8 /* keywords are refused before it is called */,
       BUILTIN_METHOD = 16 /* found in a class: its first argument is self, of the builtin type (an instance of a subclass is unwrapped) */,
       BUILTIN_CLASSMETHOD = 32 /* its first argument is the class it was found through: dict.fromkeys */,
       BUILTIN_RAW = 64 /* wants an instance of a subclass as it is, and arguments not forced */,
       BUILTIN_NEW = 128 /* a type's __new__: the class is its first argument, and not counted in messages */ };
/* min, max: bounds on nargs as fn sees it, self included (max -1: any number; keywords come on top). */
typedef struct Builtin { Object head; const char *name; const char *qualname; BuiltinFn fn; int min, max; /* max -1: any */ unsigned effects; Value self; /* bound, or NULL */ struct Class *owner; /* methods: what self must be an instance of, or NULL (borrowed) */ } Builtin;
typedef struct OpObject { Object head; const struct Op *op; const char *spelled; /* "torch.relu", "torch.nn.functional.relu" */ } OpObject;

typedef struct Class {
    Object head;
    const char *name, *qualname;
    Dict *dict;
    Value bases;                          /* Tuple of classes */
    struct Class **mro; int mro_count;    /* itself first */
    int builtin_type;                     /* ObjectType of its instances, or -1 for OBJ_INSTANCE; ints etc.: a Tag | 0x100 */
    bool has_getattr, has_setattr, has_getattribute; /* somewhere in the mro, the program's own: __getattr__, __setattr__, __getattribute__ */
    bool has_del;                         /* __del__ somewhere in the mro: vm/finalize.c */
    bool no_dict;                         /* every class of the mro says __slots__: no other attributes */
    bool is_exception;
    Value module_name;
    int64_t changes;                      /* how often one of its methods, properties, … (no plain data) was set or deleted since it was made */
} Class;
typedef struct Instance { Object head; Class *cls; Dict *dict; void *native; /* exceptions: traceback data */ } Instance;
typedef struct Property { Object head; Value getter, setter, deleter; } Property;
typedef struct Wrapper { Object head; Value inner; } Wrapper;         /* STATICMETHOD, CLASSMETHOD */
typedef struct Super { Object head; Class *cls; Value self; } Super;
typedef struct DTypeObject { Object head; DType dtype; } DTypeObject;
typedef struct DeviceObject { Object head; Device device; } DeviceObject;
typedef struct SymObject { Object head; Dim dim; } SymObject;
typedef struct Tracked { Object head; Value inner; struct Source *source; } Tracked;

/* An iterator over anything: `next` gives an owned value, V_NULL at the end, V_ERROR on an exception. */
typedef struct Iterator Iterator;
struct Iterator { Object head; const char *kind; Value (*next)(VM *vm, Iterator *self); Value subject, extra; int64_t position, limit; bool carried; /* made by rewritten code, to go on where one of its frame stood */ };

/* Construction (owned results) and use. All names given as C strings here are copied or interned. */
Object *object_new(VM *vm, ObjectType type, size_t bytes);            /* zeroed, refs 1, linked */
Value str_new(VM *vm, const char *text, size_t length);
Value str_from(VM *vm, const char *text);
Value str_printf(VM *vm, const char *format, ...) __attribute__((format(printf, 2, 3)));
Value str_interned(VM *vm, const char *interned_name);                /* cached by name: attribute and keyword names */
const char *str_intern(VM *vm, Str *s);
Value tuple_new(VM *vm, const Value *items, int count);               /* takes new references */
Value list_new(VM *vm, const Value *items, int count);
void list_append(VM *vm, List *list, Value item);
Value dict_new(VM *vm);
bool dict_set(VM *vm, Dict *dict, Value key, Value value);             /* false: unhashable, exception set */
Value dict_get(VM *vm, Dict *dict, Value key);                         /* owned; V_NULL when absent; V_ERROR when unhashable */
Value dict_look_up(VM *vm, Dict *dict, Value key);                     /* the same, asked by the program: capture takes note of it */
bool dict_delete(VM *vm, Dict *dict, Value key, bool *found);
void dict_set_name(VM *vm, Dict *dict, const char *interned, Value value); /* namespaces: keys are interned strings */
Value dict_get_name(VM *vm, Dict *dict, const char *interned);         /* *borrowed*; V_NULL when absent: the fast path of attributes and globals */
bool dict_next(const Dict *dict, int *position, Value *key, Value *value); /* borrowed; start with position 0 */
Value set_new(VM *vm, const Value *items, int count, bool frozen);
Value range_new(VM *vm, int64_t start, int64_t stop, int64_t step);
Value slice_new(VM *vm, Value start, Value stop, Value step);
Value cell_new(VM *vm, Value content);
Value function_new(VM *vm, Code *code, Dict *globals);
Value method_new(VM *vm, Value self, Value function);
Value builtin_new(VM *vm, const char *name, BuiltinFn fn, int min, int max, unsigned effects);
Value op_object_new(VM *vm, const struct Op *op, const char *spelled);
Value module_new(VM *vm, const char *name);
Value instance_new(VM *vm, Class *cls);
Value dtype_new(VM *vm, DType dtype);                                  /* one object a dtype */
Value device_new(VM *vm, Device device);
Value sym_new(VM *vm, Dim dim);                                        /* an int when it is one */
Value tracked_new(VM *vm, Value inner, struct Source *source);
Class *class_of(VM *vm, Value v);                                      /* borrowed */
const char *type_name(VM *vm, Value v);                                /* "int", "Tensor", "Linear" */
bool class_is_subclass(const Class *cls, const Class *base);
static inline const char *str_text(Value v) { return ((Str *)v.o)->text; }
#endif
