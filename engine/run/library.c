/* Library: finds shared libraries and programs that a machine may or may not have.
 *
 * In: names, best first, and folders with wildcards. Out: a handle for dlsym, or a path.
 *
 *     void *nvrtc = library_open((const char *[]){"libnvrtc.so.13", "libnvrtc.so", NULL}, cuda_folders, where, sizeof where);
 *
 * The loader's own search (LD_LIBRARY_PATH, ldconfig) comes first. Folders may start with a variable: "$CUDA_HOME/lib64" is left out
 * when it is not set. Invariant: handles are never closed: CUDA's libraries do not survive it. */
#include "run/private.h"
#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const cuda_folders[] = {
    "$CUDA_HOME/lib64", "$CUDA_PATH/lib64",
#ifdef CUDA_DIRECTORY
    CUDA_DIRECTORY "/lib64", CUDA_DIRECTORY "/lib",
#endif
    "/usr/local/cuda/lib64", "/usr/local/cuda/lib", "/usr/local/cuda-*/lib64", "/usr/local/cuda-*/lib", "/opt/cuda/lib64",
    "$VIRTUAL_ENV/lib/python3*/site-packages/nvidia/*/lib", "/usr/local/lib/python3*/dist-packages/nvidia/*/lib", NULL,
};

/* Replaces a leading $NAME by its value; false when it has none. */
static bool expand(const char *folder, char *path, size_t room) {
    if (folder[0] != '$') return snprintf(path, room, "%s", folder) < (int)room;
    char name[64];
    size_t length = strcspn(folder + 1, "/");
    snprintf(name, sizeof name, "%.*s", (int)length, folder + 1);
    const char *value = getenv(name);
    return value && *value && snprintf(path, room, "%s%s", value, folder + 1 + length) < (int)room;
}

/* Calls accept with each existing path FOLDER/NAME, newest version (last in order) first, until it says true. */
static bool each_match(const char *folder, const char *name, bool (*accept)(const char *path, void *state), void *state) {
    char expanded[PATH_MAX], pattern[PATH_MAX];
    glob_t found;
    bool accepted = false;
    if (!expand(folder, expanded, sizeof expanded)) return false;
    if (snprintf(pattern, sizeof pattern, "%s/%s", expanded, name) >= (int)sizeof pattern) return false;
    if (glob(pattern, 0, NULL, &found) != 0) return false;
    for (size_t i = found.gl_pathc; i-- > 0 && !accepted;) accepted = accept(found.gl_pathv[i], state);
    globfree(&found);
    return accepted;
}

typedef struct Found { void *handle; char *path; size_t room; } Found;

static bool try_library(const char *path, void *state) {
    Found *found = state;
    found->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (found->handle && found->path) snprintf(found->path, found->room, "%s", path);
    return found->handle != NULL;
}

void *library_open(const char *const *names, const char *const *folders, char *path, size_t room) {
    Found found = {NULL, path, room};
    for (int i = 0; names[i]; i++)
        if (try_library(names[i], &found)) return found.handle;
    for (int i = 0; names[i]; i++)
        for (int f = 0; folders && folders[f]; f++)
            if (each_match(folders[f], names[i], try_library, &found)) return found.handle;
    return NULL;
}

static bool try_program(const char *path, void *state) {
    Found *found = state;
    return access(path, X_OK) == 0 && snprintf(found->path, found->room, "%s", path) < (int)found->room;
}

static bool search_path(const char *name, Found *found) {
    const char *path = getenv("PATH");
    char candidate[PATH_MAX];
    if (strchr(name, '/')) return try_program(name, found);
    for (const char *at = path ? path : "/usr/bin:/bin"; *at;) {
        size_t length = strcspn(at, ":");
        int n = snprintf(candidate, sizeof candidate, "%.*s/%s", length ? (int)length : 1, length ? at : ".", name);
        if (n < (int)sizeof candidate && try_program(candidate, found)) return true;
        at += length + (at[length] == ':');
    }
    return false;
}

bool program_find(const char *name, const char *const *folders, char *path, size_t room) {
    Found found = {NULL, path, room};
    char beside[PATH_MAX];
    if (search_path(name, &found)) return true;
    for (int i = 0; folders && folders[i]; i++) {
        snprintf(beside, sizeof beside, "../bin/%s", name);
        if (each_match(folders[i], beside, try_program, &found)) return true;
    }
    return false;
}
