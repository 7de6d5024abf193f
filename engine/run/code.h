/* Code: units of kernels on their way through a compiler. Private to code.c (what is loaded) and unit.c (text and compiling). */
#ifndef VITRINE_RUN_CODE_H
#define VITRINE_RUN_CODE_H
#include "run/private.h"

typedef struct Job {             /* a kernel that must be compiled */
    const Kernel *kernel;
    CacheKey key;
    char *symbol;                /* name in the binary: made of the kernel's entry and of its text */
    int place;                   /* index among the kernels asked for */
} Job;
typedef VEC(Job) Jobs;

typedef struct Unit {            /* what one call of a compiler makes */
    KernelLanguage language;
    Jobs jobs;
    int64_t weight;
    bool good;
    CompilerOutput output;
} Unit;
typedef VEC(Unit) Units;

/* Hash of the kernel's text without its name and comments, in its environment; and the symbol to compile it under (malloc'ed). */
void kernel_key(const CacheKey *environment, const Kernel *kernel, CacheKey *key, char **symbol);
void environment_key(Runtime *runtime, KernelLanguage language, CacheKey *key); /* compiler, options, support text, processor or card */
void unit_key(const CacheKey *environment, const Unit *unit, CacheKey *key);
void units_make(const Jobs *jobs, KernelLanguage language, bool alone, Units *units); /* alone: one kernel each */
void units_compile(Runtime *runtime, Units *units);                                   /* in parallel */
void units_free(Units *units);
const char *unit_ending(KernelLanguage language);
/* Says what the compiler said about a kernel, with the user's line. */
bool unit_error(const Unit *unit, OpError *error);
/* The source with every identifier `entry`, or beginning with it and '_', renamed. strip: comments and the amount of white space are left out. */
void source_rename(Text *text, const char *source, const char *entry, const char *to, bool strip);
#endif
