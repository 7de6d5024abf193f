/* Bytecode: the stage's snapshot. In: an entry. Out: blocks with jumps, to be drawn; original and rewritten code side by side, and the latter as Python. */
#include "view.h"
#include "readable.h"
#include <string.h>

/* ---- blocks ---- */

static bool is_jump(const Instr *instr) { return opcode_arg_kind((Opcode)instr->opcode) == ARGK_JUMP; }
static bool ends_block(const Instr *instr) {
    return is_jump(instr) || instr->opcode == OPCODE_RETURN_VALUE || instr->opcode == OPCODE_RETURN_CONST || instr->opcode == OPCODE_RERAISE || instr->opcode == OPCODE_RAISE_VARARGS;
}
static bool falls_through(const Instr *instr) {
    return instr->opcode != OPCODE_JUMP_FORWARD && instr->opcode != OPCODE_JUMP_BACKWARD && (is_jump(instr) || !ends_block(instr));
}

static bool *block_starts(const Code *code, Arena *arena) {
    bool *starts = ARENA_ARRAY(arena, bool, code->instr_count + 1);
    starts[0] = true;
    for (int i = 0; i < code->instr_count; i++) {
        if (is_jump(&code->instrs[i])) starts[code->instrs[i].arg] = true;
        if (ends_block(&code->instrs[i])) starts[i + 1] = true;
    }
    for (int i = 0; i < code->exception_count; i++) starts[code->exceptions[i].target] = true;
    return starts;
}

static void describe_block(Snapshot *snapshot, const Code *code, int start, int end) {
    Arena *arena = snapshot->arena;
    Text text = {0};
    SnapshotItem *item = snapshot_item(snapshot, arena_printf(arena, "b%d", start), "block", arena_printf(arena, "line %d", span_line(code->instrs[start].span)));
    item->span = code->instrs[start].span;
    for (int i = start; i < end; i++) {
        text_clear(&text);
        instr_print(&text, code, i);
        snapshot_row(snapshot, snapshot_find(snapshot, arena_printf(arena, "b%d", start)), "%s", text_cstr(&text));
    }
    text_free(&text);
    const Instr *last = &code->instrs[end - 1];
    const char *from = arena_printf(arena, "b%d", start);
    if (is_jump(last)) snapshot_link(snapshot, from, arena_printf(arena, "b%d", last->arg), falls_through(last) ? "true" : "control");
    if (falls_through(last) && end < code->instr_count) snapshot_link(snapshot, from, arena_printf(arena, "b%d", end), is_jump(last) ? "false" : "control");
}

/* ---- two listings side by side ---- */

typedef struct Lines { const char **at; int count; int width; } Lines;

static int columns_of(const char *line) {
    int columns = 0;
    for (const char *at = line; *at;) {
        uint32_t code;
        int bytes = utf8_decode(at, strlen(at), &code);
        columns += bytes ? utf8_width(code) : 1;
        at += bytes ? bytes : 1;
    }
    return columns;
}

/* The listing's line of an instruction, with an opaque constant called by its name. */
static const char *named_line(const Entry *entry, const Code *code, int i, const char *line, Arena *arena) {
    const Instr *instr = i < code->instr_count ? &code->instrs[i] : NULL;
    const char *at = strstr(line, "(<object>)");
    if (!instr || !at || instr->opcode != OPCODE_LOAD_CONST || code->consts[instr->arg].kind != CONST_OBJECT) return line;
    return arena_printf(arena, "%.*s(%s)", (int)(at - line), line, const_object_text(entry, &code->consts[instr->arg], arena));
}

static Lines listing_of(const Entry *entry, const Code *code, Arena *arena) {
    Text text = {0};
    code_print(&text, code, false);
    Lines lines = {ARENA_ARRAY(arena, const char *, (int)text.length + 1), 0, 0};
    for (const char *at = text_cstr(&text); *at;) {
        size_t length = strcspn(at, "\n");
        lines.at[lines.count] = named_line(entry, code, lines.count, arena_strndup(arena, at, length), arena);
        lines.count++;
        int width = columns_of(lines.at[lines.count - 1]);
        if (width > lines.width) lines.width = width;
        at += length + (at[length] == '\n');
    }
    text_free(&text);
    return lines;
}

static void put_beside(Text *text, const Lines *left, const Lines *right, const char *left_title, const char *right_title) {
    int width = left->width > (int)strlen(left_title) ? left->width : (int)strlen(left_title);
    text_printf(text, "%-*s | %s\n", width, left_title, right_title);
    for (int i = 0; i < left->count || i < right->count; i++) {
        const char *line = i < left->count ? left->at[i] : "";
        text_printf(text, "%s%*s |%s%s\n", line, width - columns_of(line), "", i < right->count ? " " : "", i < right->count ? right->at[i] : "");
    }
}

bool view_bytecode(View *view) {
    const Code *code = view->entry->code;
    Snapshot *snapshot = view->snapshot;
    bool *starts = block_starts(code, snapshot->arena);
    for (int i = 0; i < code->instr_count;) {
        int end = i + 1;
        while (end < code->instr_count && !starts[end]) end++;
        describe_block(snapshot, code, i, end);
        i = end;
    }
    Text text = {0};
    const char *title = arena_printf(snapshot->arena, "original bytecode of %s", code->name);
    if (view->entry->rewritten) {
        Lines left = listing_of(view->entry, code, snapshot->arena), right = listing_of(view->entry, view->entry->rewritten, snapshot->arena);
        put_beside(&text, &left, &right, title, "rewritten bytecode");
        text_put(&text, "\nrewritten, as Python\n");
        code_as_python(&text, view->entry, view->entry->rewritten, snapshot->arena);
    } else {
        text_printf(&text, "%s\n", title);
        code_print(&text, code, false);
        text_put(&text, view->entry->failed ? "\nnot rewritten: the frame runs eagerly\n" : "\nnot rewritten: nothing was compiled\n");
    }
    snapshot->text = text_in(&text, snapshot->arena);
    text_free(&text);
    return true;
}
