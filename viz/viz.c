/* Viz: chooses how a snapshot is drawn and writes files.
 *
 * In: a snapshot and a path. Out: a file whose form its ending says, whole or not at all (written beside, then renamed). */
#include "viz/viz.h"
#include "viz/dot.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { REPEAT_LIMIT = 100, DOT_LIMIT = 2000, FIRST_LIMIT = 400, SECOND_LIMIT = 120, DEFAULT_MS = 20000 };

static const struct { const char *ending, *format; } ENDINGS[] = {
    {".svg", "svg"}, {".png", "png"}, {".pdf", "pdf"}, {".dot", "dot"}, {".gv", "dot"}};

static const char *format_of(const char *path) {
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof ENDINGS / sizeof *ENDINGS; i++) {
        size_t n = strlen(ENDINGS[i].ending);
        if (length > n && strcmp(path + length - n, ENDINGS[i].ending) == 0) return ENDINGS[i].format;
    }
    return NULL;
}

bool viz_knows_ending(const char *path) { return format_of(path) != NULL; }

static bool has_mark(const Snapshot *snapshot, const char *mark) {
    for (int i = 0; i < snapshot->items.count; i++)
        if (snapshot->items.at[i].mark && strcmp(snapshot->items.at[i].mark, mark) == 0) return true;
    return false;
}

const Snapshot *viz_without_lone_side(Arena *arena, const Snapshot *snapshot) {
    bool forward = has_mark(snapshot, "forward"), backward = has_mark(snapshot, "backward");
    if (forward == backward) return snapshot;
    Snapshot *copy = arena_copy(arena, snapshot, sizeof *snapshot);
    copy->items.at = arena_copy(arena, snapshot->items.at, (size_t)snapshot->items.count * sizeof *snapshot->items.at);
    for (int i = 0; i < copy->items.count; i++) {
        const char *mark = copy->items.at[i].mark;
        if (mark && (strcmp(mark, "forward") == 0 || strcmp(mark, "backward") == 0)) copy->items.at[i].mark = NULL;
    }
    return copy;
}

static const Snapshot *prepared(Arena *arena, const Snapshot *snapshot, const VizOptions *options, int limit) {
    const Snapshot *tree = viz_guard_tree(arena, viz_without_lone_side(arena, snapshot));
    if (options->unfolded || viz_is_timeline(tree) || viz_is_plot(tree)) return tree;
    const Snapshot *folded = viz_fold_repeats(arena, tree, REPEAT_LIMIT);
    return folded->items.count > limit ? viz_fold(arena, tree, limit) : folded;
}

void viz_dot(Text *text, const Snapshot *snapshot, const VizOptions *options) {
    Arena *arena = arena_new("fold");
    dot_text(text, prepared(arena, snapshot, options, DOT_LIMIT));
    arena_free(arena);
}

void viz_version(Text *text) { dot_version(text); }

/* Renders; what takes too long is tried once more, folded further. */
static bool render(Text *bytes, const Snapshot *snapshot, const char *format, const VizOptions *options, const char **error) {
    Arena *arena = arena_new("fold");
    int limit_ms = options->limit_ms > 0 ? options->limit_ms : DEFAULT_MS;
    const Snapshot *first = prepared(arena, snapshot, options, FIRST_LIMIT);
    bool done = dot_render(bytes, first, format, limit_ms, options->interrupt, error);
    if (!done && first->items.count > SECOND_LIMIT && !options->unfolded && !(options->interrupt && *options->interrupt)) {
        text_clear(bytes);
        done = dot_render(bytes, prepared(arena, snapshot, options, SECOND_LIMIT), format, limit_ms, options->interrupt, error);
    }
    arena_free(arena);
    return done;
}

static bool write_file(const char *path, const Text *bytes) {
    FILE *file = fopen(path, "wb");
    if (!file) return false;
    bool written = fwrite(bytes->data, 1, bytes->length, file) == bytes->length;
    return (fclose(file) == 0) && written;
}

/* Beside the target first, so that nobody ever sees half a file; what is no ordinary file (/dev/stdout) is written directly. */
static bool replace_file(Arena *arena, const char *path, const Text *bytes) {
    struct stat info;
    if (lstat(path, &info) == 0 && !S_ISREG(info.st_mode)) return write_file(path, bytes);
    char *beside = arena_printf(arena, "%s.%ld.part", path, (long)getpid());
    if (write_file(beside, bytes) && rename(beside, path) == 0) return true;
    int reason = errno;
    unlink(beside);
    errno = reason;
    return false;
}

bool viz_write(const Snapshot *snapshot, const char *path, const VizOptions *options, const char **error) {
    const char *format = format_of(path);
    if (!format) {
        *error = arena_printf(snapshot->arena, "%s: a drawing's name ends in .svg, .png, .pdf or .dot", path);
        return false;
    }
    Text bytes = {0};
    bool done = true;
    if (strcmp(format, "dot") == 0) viz_dot(&bytes, snapshot, options);
    else done = render(&bytes, snapshot, format, options, error);
    if (done && !replace_file(snapshot->arena, path, &bytes)) {
        done = false;
        *error = arena_printf(snapshot->arena, "cannot write %s: %s", path, strerror(errno));
    }
    text_free(&bytes);
    return done;
}
