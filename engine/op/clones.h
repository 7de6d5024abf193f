/* CLONES in front of a function: it is compiled for several levels of x86-64, and the one that fits the processor is taken when the program
 * starts. All give the same results: nothing is contracted (-ffp-contract=off), and sums keep the order in which they are written. */
#ifndef VITRINE_OP_CLONES_H
#define VITRINE_OP_CLONES_H
#if !defined __x86_64__ || !defined __gnu_linux__ || !defined __GNUC__ || defined __clang__ || defined __SANITIZE_ADDRESS__ || defined __SANITIZE_UNDEFINED__
#define CLONES
#elif __GNUC__ >= 12
#define CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define CLONES __attribute__((target_clones("default", "avx2", "avx512f")))
#endif
#endif
