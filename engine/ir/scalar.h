/* Scalar: typed scalar primitives, and the expressions over them that give op rows their meaning.
 *
 * prim.def has one row a primitive; one printer a target (C, CUDA) turns a primitive of a compute type into text. The eager CPU
 * loops (made at build time), fused C kernels and fused CUDA kernels all come from these printers, so they agree.
 *
 *     ScalarExpr *e = scalar_parse(arena, "where(a > 0, a, slope * a)", names, 2, &error);   // names = {"a", "slope"}
 *
 * The text is an expression of the language: + - * / // % **, comparisons, and/or/not, & | ^ ~ << >>, conditional through where(c, x, y),
 * calls of primitives, numbers, `inf`, `nan`, `pi`. Names are the row's tensor inputs and scalar attributes.
 * Compute types: DTYPE_F32, DTYPE_F64, DTYPE_I64, DTYPE_BOOL. Comparisons give BOOL whatever the operands' type. Mixed operands of a
 * primitive are promoted (bool < i64 < f32 < f64); integer literals take the other operand's type.
 * Defined everywhere (decisions.md 14): integers wrap (two's complement, no undefined behaviour), n // 0 and n % 0 on integers are 0 in generated
 * code (the eager op raises first), max/min propagate NaN, float -> int casts out of range saturate to INT64_MIN as x86 does. */
#ifndef VITRINE_IR_SCALAR_H
#define VITRINE_IR_SCALAR_H
#include "base/arena.h"
#include "base/text.h"
#include "ir/meta.h"

typedef enum Prim {
#define PRIM(name, ...) PRIM_##name,
#include "ir/prim.def"
#undef PRIM
    PRIM_COUNT
} Prim;

typedef struct PrimInfo {
    const char *name;      /* as written in rows: "exp", "add" is "+" */
    int arity;
    int result;            /* PRIM_SAME: type of the operands; PRIM_BOOLEAN; PRIM_FLOATING: at least f32 */
    double flops;
    const char *c_f32, *c_f64, *c_i64, *c_bool; /* C text with $0 $1 $2 for operands; NULL: not defined for the type */
    const char *cuda_f32, *cuda_f64, *cuda_i64, *cuda_bool; /* NULL: as in C */
} PrimInfo;
enum { PRIM_SAME, PRIM_BOOLEAN, PRIM_FLOATING };
extern const PrimInfo prim_info[PRIM_COUNT];
int prim_find(const char *name); /* -1 when there is none */

typedef enum ScalarKind { SCALAR_INPUT, SCALAR_CONST, SCALAR_PRIM, SCALAR_CAST } ScalarKind;
typedef struct ScalarExpr ScalarExpr;
struct ScalarExpr {
    ScalarKind kind;
    Prim prim;
    int input;                 /* INPUT: index into the names given to scalar_parse */
    bool is_integer;           /* CONST written as an integer */
    double value; int64_t integer;
    const ScalarExpr *args[3];
};
const ScalarExpr *scalar_parse(Arena *arena, const char *text, const char *const *names, int name_count, const char **error);
/* Type of the value of `e` when its inputs have these compute types. */
DType scalar_type(const ScalarExpr *e, const DType *input_types);
/* PRIM: the common compute type to which its operands are cast (where: its second and third; the first goes to bool). A literal takes it. */
DType scalar_operand_type(const ScalarExpr *e, const DType *input_types);
/* Is every primitive of `e` defined for these types (sin of an integer is not: rows of it promote to float first)? */
bool scalar_defined(const ScalarExpr *e, const DType *input_types);

typedef enum ScalarTarget { TARGET_C, TARGET_CUDA } ScalarTarget;
/* Type of a local variable that holds a value of a compute type: "float", "double", "long", "_Bool" or "bool". */
const char *scalar_type_name(ScalarTarget target, DType compute);
/* An expression of the compute type of `stored` for the element `operand` in memory (16-bit floats widen, bool becomes 0 or 1), and back:
 * an expression of the storage type from a value of that compute type (16-bit floats round to nearest even, integers wrap). */
void scalar_load_print(Text *text, ScalarTarget target, DType stored, const char *operand);
void scalar_store_print(Text *text, ScalarTarget target, DType stored, const char *operand);
/* Text of one primitive at a compute type, operands being C expressions already of that type. */
void prim_print(Text *text, ScalarTarget target, Prim prim, DType compute, const char *const *operands);
/* The same in C where both operands are values of a narrow integer dtype in variables of type long: quotients and remainders have functions of that
 * width. false: `prim` is none, or the dtype is no narrow integer. */
bool prim_print_narrow(Text *text, Prim prim, DType narrow, const char *const *operands);
/* Text that converts `operand` from one compute type to another (NaN and range as defined above). */
void scalar_cast_print(Text *text, ScalarTarget target, DType from, DType to, const char *operand);
/* A literal of a compute type: "0x1.8p+1f", "INFINITY"-free and NaN-safe. */
void scalar_const_print(Text *text, ScalarTarget target, DType compute, double value, int64_t integer);
/* The support text that printed primitives call (own exp, tanh, erf, … polynomials; wrapping integer ops; NaN-keeping min/max): put once at the
 * head of a generated file. C: vectorizes without -ffast-math, needs no #include. CUDA: needs no header. Before it, C wants the names of the functions that the
 * file's sources call, of which it compiles some only then. */
void scalar_support_uses(Text *text, ScalarTarget target, const char *source);
void scalar_support_put(Text *text, ScalarTarget target);
#endif
