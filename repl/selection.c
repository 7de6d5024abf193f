/* Selection: reads the grammar, finds the items, builds the snapshot of the part.
 *
 * In: words of a command, a snapshot. Out: a snapshot with the selected items, the links between them and their groups.
 * Invariant: it looks only at snapshots, so that it works for every stage alike. */
#include "repl/facts.h"
#include "base/intern.h"
#include "base/map.h"
#include <stdio.h>
#include <string.h>

/* ---- reading ---- */

/* k0, g3, buf2, loop7~1, b12..b30: letters and a number, or more of the grammar behind them. */
static bool is_name(const char *word) {
    size_t letters = strspn(word, "abcdefghijklmnopqrstuvwxyz"), digits = strspn(word + letters, "0123456789");
    const char *rest = word + letters + digits;
    return letters > 0 && digits > 0 && (!*rest || *rest == '~' || strncmp(rest, "..", 2) == 0);
}

static bool is_side(const char *word) { return strcmp(word, "forward") == 0 || strcmp(word, "backward") == 0; }

bool selection_is_word(const char *word) {
    return word[0] == '[' || word[0] == '%' || strncmp(word, "line:", 5) == 0 || strncmp(word, "mod:", 4) == 0 || strcmp(word, "changed") == 0 ||
           is_name(word) || is_side(word);
}

/* "[0/1]" or "[0/1]:backward" */
static bool read_entry(CommandCall *call, int word, Selection *selection) {
    const char *text = call_word(call, word), *close = strchr(text, ']');
    if (!close || close == text + 1) return command_error(call, call_span(call, word), "a compile is named like [0/1]");
    selection->entry = arena_strndup(call->arena, text + 1, (size_t)(close - text - 1));
    if (!close[1]) return true;
    if (close[1] != ':' || !is_side(close + 2)) return command_error(call, call_span(call, word), "behind ] can only stand :forward or :backward");
    selection->side = close + 2;
    return true;
}

static bool read_number(const char *text, int *number) {
    char rest;
    return sscanf(text, "%d%c", number, &rest) == 1 && *number >= 0;
}

/* "%relu", "%relu~2", "%relu~2/%stop", "%a..%b" */
static bool read_node(CommandCall *call, int word, Selection *selection) {
    char *text = arena_strdup(call->arena, call_word(call, word)), *dots = strstr(text, ".."), *tilde = strchr(text, '~');
    selection->name = text;
    selection->kind = dots ? SELECT_PATHS : SELECT_AROUND;
    if (dots) {
        *dots = 0;
        selection->other = dots + 2;
        return *selection->other || command_error(call, call_span(call, word), "paths are named like %%a..%%b");
    }
    if (!tilde) return true;
    char *slash = strchr(tilde, '/');
    *tilde = 0;
    if (slash) {
        *slash = 0;
        selection->other = slash + 1;
    }
    return read_number(tilde + 1, &selection->number) || command_error(call, call_span(call, word), "a radius is a number: %%relu~2");
}

static bool read_part(CommandCall *call, int word, Selection *selection) {
    const char *text = call_word(call, word);
    if (selection->kind != SELECT_ALL) return command_error(call, call_span(call, word), "one part is selected already");
    selection->word = word;
    if (text[0] == '%' || (is_name(text) && (strchr(text, '~') || strstr(text, "..")))) return read_node(call, word, selection);
    if (strcmp(text, "changed") == 0) selection->kind = SELECT_CHANGED;
    else if (is_name(text)) selection->kind = SELECT_GROUP, selection->name = text;
    else if (strncmp(text, "mod:", 4) == 0) selection->kind = SELECT_MODULE, selection->name = text + 4;
    else if (strncmp(text, "line:", 5) == 0) {
        selection->kind = SELECT_LINE;
        if (!read_number(text + 5, &selection->number)) return command_error(call, call_span(call, word), "a line is named like line:12");
    } else return command_error(call, call_span(call, word), "not a selection: %s (see :help selection)", text);
    return true;
}

bool selection_read(CommandCall *call, int first, int end, Selection *selection) {
    *selection = (Selection){.word = -1};
    for (int i = first; i < end; i++) {
        const char *word = call_word(call, i);
        if (word[0] == '[') {
            if (!read_entry(call, i, selection)) return false;
        } else if (is_side(word)) selection->side = word;
        else if (!read_part(call, i, selection)) return false;
    }
    return true;
}

Entry *selection_entry(CommandCall *call, const Selection *selection) {
    Entry *entry = session_find_entry(call->session, selection->entry);
    if (entry) return entry;
    if (session_entry_count(call->session) == 0) command_error(call, call->span, "nothing is compiled yet: try :compile f(x)");
    else if (selection->entry) command_error(call, call->span, "no compile [%s]: :cache lists them", selection->entry);
    else command_error(call, call->span, "no compile is current: name one, as [0/0]");
    return NULL;
}

/* ---- applying ---- */

typedef struct Part {
    CommandCall *call;
    const Snapshot *from;
    Interner *names;
    Map *place;
    bool *chosen;
    int count;
} Part;

static int place_of(Part *p, const char *id) {
    int place = (int)(intptr_t)map_get(p->place, intern(p->names, id)) - 1;
    if (place >= 0 || id[0] == '%') return place;
    return (int)(intptr_t)map_get(p->place, intern(p->names, arena_printf(p->call->arena, "%%%s", id))) - 1;
}

static bool choose(Part *p, int item) {
    if (p->chosen[item]) return false;
    p->chosen[item] = true;
    p->count++;
    return true;
}

static bool no_item(Part *p, const Selection *selection, const char *name) {
    const char *names[513];
    int count = 0;
    for (; count < p->from->items.count && count < 512; count++) names[count] = p->from->items.at[count].id;
    names[count] = NULL;
    const char *near = nearest_name(name, names);
    return command_error(p->call, call_span(p->call, selection->word), "%s has no %s%s%s%s", p->from->stage, name, near ? ": is it " : "",
                         near ? near : "", near ? "?" : "");
}

static bool choose_around(Part *p, const Selection *selection) {
    int center = place_of(p, selection->name), stop = selection->other ? place_of(p, selection->other) : -1;
    if (center < 0) return no_item(p, selection, selection->name);
    if (selection->other && stop < 0) return no_item(p, selection, selection->other);
    bool *edge = ARENA_ARRAY(p->call->arena, bool, p->from->items.count + 1);
    choose(p, center);
    for (int step = 0; step < selection->number; step++) {
        memcpy(edge, p->chosen, (size_t)p->from->items.count * sizeof *edge);
        for (int i = 0; i < p->from->links.count; i++) {
            int from = place_of(p, p->from->links.at[i].from), to = place_of(p, p->from->links.at[i].to);
            if (from < 0 || to < 0) continue;
            if (edge[from] && from != stop) choose(p, to);
            if (edge[to] && to != stop) choose(p, from);
        }
    }
    return true;
}

/* Marks in `reached` all that can be reached from `start`, along the links or against them. */
static void reach(Part *p, int start, bool against, bool *reached) {
    reached[start] = true;
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < p->from->links.count; i++) {
            int from = place_of(p, p->from->links.at[i].from), to = place_of(p, p->from->links.at[i].to);
            if (from < 0 || to < 0 || !reached[against ? to : from] || reached[against ? from : to]) continue;
            reached[against ? from : to] = more = true;
        }
    }
}

static bool choose_paths(Part *p, const Selection *selection) {
    int from = place_of(p, selection->name), to = place_of(p, selection->other), count = p->from->items.count;
    if (from < 0) return no_item(p, selection, selection->name);
    if (to < 0) return no_item(p, selection, selection->other);
    bool *after = ARENA_ARRAY(p->call->arena, bool, count + 1), *before = ARENA_ARRAY(p->call->arena, bool, count + 1);
    reach(p, from, false, after);
    reach(p, to, true, before);
    for (int i = 0; i < count; i++)
        if (after[i] && before[i]) choose(p, i);
    if (p->count > 0) return true;
    return command_error(p->call, call_span(p->call, selection->word), "no path leads from %s to %s", selection->name, selection->other);
}

static const SnapshotGroup *find_group(const Snapshot *snapshot, const char *id) {
    for (int i = 0; id && i < snapshot->groups.count; i++)
        if (strcmp(snapshot->groups.at[i].id, id) == 0) return &snapshot->groups.at[i];
    return NULL;
}

/* Is `path` the module `name` or one inside it? */
static bool is_inside(const char *path, const char *name) {
    size_t length = strlen(name);
    return strncmp(path, name, length) == 0 && (!path[length] || path[length] == '.');
}

static bool item_matches(const Part *p, const SnapshotItem *item, const Selection *selection) {
    if (selection->kind == SELECT_CHANGED) return item->mark && (!strcmp(item->mark, "changed") || !strcmp(item->mark, "added") || !strcmp(item->mark, "removed"));
    if (selection->kind == SELECT_LINE) return item->span.file && span_line(item->span) == selection->number;
    if (selection->kind == SELECT_GROUP && strcmp(item->id, selection->name) == 0) return true;
    if (selection->kind == SELECT_MODULE && item->group && is_inside(item->group, selection->name)) return true; /* modules need no group record */
    for (const SnapshotGroup *group = find_group(p->from, item->group); group; group = find_group(p->from, group->parent)) {
        if (selection->kind == SELECT_GROUP && strcmp(group->id, selection->name) == 0) return true;
        if (selection->kind == SELECT_MODULE && (is_inside(group->title, selection->name) || is_inside(group->id, selection->name))) return true;
    }
    return false;
}

/* The items that stand for a node of the kernel of this name: in the stages before there are kernels. */
static void choose_kernel(Part *p, const Selection *selection) {
    Entry *entry = session_find_entry(p->call->session, selection->entry);
    KernelList kernels = entry ? facts_kernels(p->call->arena, entry) : (KernelList){0};
    for (int k = 0; k < kernels.count; k++) {
        if (strcmp(kernels.at[k].id, selection->name) != 0 || !kernels.at[k].nodes) continue;
        char *nodes = arena_strdup(p->call->arena, kernels.at[k].nodes), *rest;
        for (char *node = strtok_r(nodes, " ", &rest); node; node = strtok_r(NULL, " ", &rest))
            for (int i = 0; i < p->from->items.count; i++)
                if (!strcmp(p->from->items.at[i].id, node) || !strcmp(p->from->items.at[i].title, node)) choose(p, i);
    }
}

static bool choose_matching(Part *p, const Selection *selection) {
    for (int i = 0; i < p->from->items.count; i++)
        if (item_matches(p, &p->from->items.at[i], selection)) choose(p, i);
    if (p->count == 0 && selection->kind == SELECT_GROUP) choose_kernel(p, selection);
    if (p->count > 0) return true;
    return command_error(p->call, call_span(p->call, selection->word), "nothing of %s is selected by this", p->from->stage);
}

static Snapshot *build(Part *p) {
    Snapshot *to = snapshot_new(p->from->arena, p->from->stage, arena_printf(p->from->arena, "%s (%d of %d)", p->from->title, p->count, p->from->items.count));
    for (int i = 0; i < p->from->items.count; i++) {
        if (!p->chosen[i]) continue;
        SnapshotItem *item = snapshot_item(to, p->from->items.at[i].id, p->from->items.at[i].kind, p->from->items.at[i].title);
        const char *id = item->id;
        *item = p->from->items.at[i];
        item->id = id;
    }
    for (int i = 0; i < p->from->groups.count; i++) {
        const SnapshotGroup *group = &p->from->groups.at[i];
        snapshot_group(to, group->id, group->kind, group->title, group->parent);
    }
    for (int i = 0; i < p->from->links.count; i++) {
        const SnapshotLink *link = &p->from->links.at[i];
        int from = place_of(p, link->from), end = place_of(p, link->to);
        if (from >= 0 && end >= 0 && p->chosen[from] && p->chosen[end]) snapshot_link(to, link->from, link->to, link->kind)->label = link->label;
    }
    return to;
}

const Snapshot *selection_apply(CommandCall *call, const Snapshot *snapshot, const Selection *selection) {
    if (selection->kind == SELECT_ALL) return snapshot;
    Part p = {.call = call, .from = snapshot, .names = interner_new(call->arena), .place = map_new(call->arena)};
    p.chosen = ARENA_ARRAY(call->arena, bool, snapshot->items.count + 1);
    for (int i = 0; i < snapshot->items.count; i++) map_put(p.place, intern(p.names, snapshot->items.at[i].id), (void *)(intptr_t)(i + 1));
    bool done = selection->kind == SELECT_AROUND ? choose_around(&p, selection)
              : selection->kind == SELECT_PATHS  ? choose_paths(&p, selection)
                                                 : choose_matching(&p, selection);
    return done ? build(&p) : NULL;
}
