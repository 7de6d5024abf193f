/* Library: the files that vitrine carries in its binary: what PyTorch writes in Python, written in the language, and the C text
 * that generated kernels include. engine/torch/library.c is made from them at build time (scripts/embed.sh).
 *
 *     const EmbeddedFile *file = embedded_file("torch/nn.py");        // NULL when there is none
 *     source_new(arena, file->name, file->text, file->length, 1);
 *
 * To add one: its path in `embedded_files` of Makefile.am. */
#ifndef VITRINE_TORCH_LIBRARY_H
#define VITRINE_TORCH_LIBRARY_H
#include <stddef.h>
#include <string.h>

typedef struct EmbeddedFile {
    const char *name; /* path below engine/: "torch/nn.py", "op/vmath.h" */
    const char *text; /* NUL-terminated */
    unsigned long length;
} EmbeddedFile;

extern const EmbeddedFile embedded_files[]; /* embedded_file_count of them, in the order of Makefile.am */
extern const int embedded_file_count;

static inline const EmbeddedFile *embedded_file(const char *name) {
    for (int i = 0; i < embedded_file_count; i++)
        if (strcmp(embedded_files[i].name, name) == 0) return &embedded_files[i];
    return NULL;
}
#endif
