/* See cache.h. */
#include "dynamo/shapes.h"
#include <string.h>

static CodeCache *cache_find(CodeCache *const *caches, int count, const Code *code) {
    for (int i = 0; i < count; i++)
        if (caches[i]->code == code) return caches[i];
    return NULL;
}

static CodeCache *cache_new(Dynamo *dynamo, const Code *code) {
    CodeCache *cache = ARENA_NEW(dynamo->arena, CodeCache);
    cache->code = code;
    cache->frame_id = -1;
    return cache;
}

/* While a command runs, each code object's cache is a copy that starts with the same entries. */
static CodeCache *cache_copy(Dynamo *dynamo, const Code *code) {
    CodeCache *copy = cache_find(dynamo->copies.at, dynamo->copies.count, code);
    if (copy) return copy;
    copy = cache_new(dynamo, code);
    CodeCache *original = dynamo->copy_empty ? NULL : code->cache;
    if (original) {
        *copy = *original;
        memset(&copy->entries, 0, sizeof copy->entries);
        for (int i = 0; i < original->entries.count; i++) vec_push(&copy->entries, entry_ref(original->entries.at[i]));
    }
    if (original) copy->shapes = frame_states_copy(dynamo->arena, original);
    if (dynamo->watch) copy->skipped = false; /* who steps wants to see why */
    copy->original = original;
    vec_push(&dynamo->copies, copy);
    return copy;
}

CodeCache *cache_of(Dynamo *dynamo, const Code *code) {
    if (dynamo->copying) return cache_copy(dynamo, code);
    if (code->cache) return code->cache;
    CodeCache *cache = cache_new(dynamo, code);
    ((Code *)(uintptr_t)code)->cache = cache; /* the one field of a Code that changes after it was emitted */
    vec_push(&dynamo->caches, cache);
    return cache;
}

/* As PyTorch's backends compare: by what they are and how they were set up; mode "default" is none. */
static EntryBackend backend_asked(const Dynamo *dynamo) {
    const CompileOptions *options = &dynamo->options;
    bool usual = options->mode && !strcmp(options->mode, "default");
    return (EntryBackend){options->backend, usual ? NULL : options->mode, options->function, options->dynamic_set, options->dynamic_set && options->dynamic};
}

static bool text_same(const char *a, const char *b) { return a == b || (a && b && !strcmp(a, b)); }

bool entry_is_of_backend(const Entry *entry, const Dynamo *dynamo) {
    if (dynamo->copying) return true;
    EntryBackend asked = backend_asked(dynamo), made = entry->backend;
    if (made.function.tag != asked.function.tag || (asked.function.tag == V_OBJECT && made.function.o != asked.function.o)) return false;
    return text_same(made.name, asked.name) && text_same(made.mode, asked.mode) && made.dynamic_set == asked.dynamic_set && made.dynamic == asked.dynamic;
}

/* The entry that served last is tried first. */
Entry *cache_lookup(CodeCache *cache, VM *vm, const Frame *frame) {
    for (int i = cache->entries.count - 1; i >= 0; i--) {
        Entry *entry = cache->entries.at[i];
        if (!entry_is_of_backend(entry, entry->dynamo)) continue;
        bool asked = entry->dynamo->copying && !entry->is_copy; /* by a command: not the program's call */
        if (asked ? guards_hold_uncounted(&entry->guards, vm, frame) : guards_check(&entry->guards, vm, frame) == NULL) return entry;
    }
    return NULL;
}

Entry *entry_new(Dynamo *dynamo, CodeCache *cache) {
    Arena *arena = arena_new("compile entry");
    Entry *entry = ARENA_NEW(arena, Entry);
    entry->refs = 1;
    entry->arena = arena;
    entry->dynamo = dynamo;
    entry->owner = cache;
    entry->code = cache->code;
    entry->guards.arena = arena;
    entry->sources = source_table_new(arena);
    entry->policy = *dynamo->policy;
    functorch_policy(dynamo, &entry->policy);
    entry->backend = backend_asked(dynamo);
    if (entry->backend.function.tag == V_OBJECT) vec_push_in(arena, &entry->held, value_ref(entry->backend.function));
    entry->is_copy = dynamo->copying;
    Compile *c = &entry->compile;
    c->arena = arena;
    c->syms = sym_table_new(arena);
    c->reasons.arena = arena;
    c->policy = &entry->policy;
    c->ops = dynamo->ops;
    c->failure = &entry->failure;
    c->vm = dynamo->vm;
    c->runtime = dynamo->vm->runtime;
    entry->graph = graph_new(arena, "dynamo", c->syms, &c->next_node_id);
    return entry;
}

Entry *entry_ref(Entry *entry) {
    if (entry->whole) return entry_ref(entry->whole), entry;
    entry->refs++;
    return entry;
}

void entry_unref(Entry *entry) {
    if (entry->whole) entry = entry->whole;
    if (--entry->refs > 0) return;
    Dynamo *dynamo = entry->dynamo;
    if (dynamo->backend.release) dynamo->backend.release(dynamo->backend.state, entry);
    guards_release(&entry->guards, dynamo->vm);
    for (int i = 0; i < entry->held.count; i++) value_unref(dynamo->vm, entry->held.at[i]);
    arena_free(entry->arena);
}
