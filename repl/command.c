/* Command: from a line to a call: the name looked up, the words split, the command run, its output printed.
 *
 *     :graph joint [0/1] "a file.svg"   ->   name "graph", words  joint  [0/1]  a file.svg
 *
 * In: the line and where it stands. Out: output on stdout, errors with carets on stderr, the failure noted in the Repl. */
#include "repl/cmd.h"
#include "repl/json.h"
#include <stdio.h>
#include <errno.h>
#include <string.h>

/* ---- names ---- */

/* Frozen: a script that uses one of these must run in every later version. New commands get prefixes that are still free. */
static const struct { const char *prefix, *name; } FROZEN[] = {
    {"b", "breaks"}, {"by", "bytecode"}, {"c", "compile"}, {"ca", "cache"}, {"d", "draw"}, {"di", "diff"}, {"dev", "device"}, {"e", "explain"},
    {"f", "fusion"}, {"g", "graph"}, {"gu", "guards"}, {"h", "help"}, {"k", "kernel"}, {"ks", "kernels"}, {"l", "load"}, {"m", "memory"},
    {"o", "op"}, {"n", "next"}, {"i", "into"}, {"u", "until"}, {"st", "step"}, {"ba", "back"}, {"con", "continue"}, {"do", "done"}, {"tr", "try"}, {"sw", "sweep"}, {"q", "quit"}, {"r", "recompiles"}, {"s", "stages"}, {"sa", "saved"}, {"sc", "schedule"}, {"t", "time"}, {"w", "why"},
};

bool command_prefix_is_frozen(const char *prefix, const char **name) {
    for (size_t i = 0; i < sizeof FROZEN / sizeof *FROZEN; i++) {
        if (strcmp(FROZEN[i].prefix, prefix) != 0) continue;
        *name = FROZEN[i].name;
        return true;
    }
    return false;
}

/* Levenshtein's distance with exchanges of neighbours, for names of at most 31 letters. */
static int distance(const char *a, const char *b) {
    int n = (int)strlen(a), m = (int)strlen(b), rows[33][33];
    if (n > 31 || m > 31) return 99;
    for (int i = 0; i <= n; i++)
        for (int j = 0; j <= m; j++) {
            if (!i || !j) {
                rows[i][j] = i + j;
                continue;
            }
            int least = rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (rows[i - 1][j] + 1 < least) least = rows[i - 1][j] + 1;
            if (rows[i][j - 1] + 1 < least) least = rows[i][j - 1] + 1;
            bool exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (exchanged && rows[i - 2][j - 2] + 1 < least) least = rows[i - 2][j - 2] + 1;
            rows[i][j] = least;
        }
    return rows[n][m];
}

const char *nearest_name(const char *name, const char *const *names) {
    const char *best = NULL;
    int least = (int)strlen(name) < 4 ? 2 : 3; /* smaller than this */
    for (int i = 0; names[i]; i++) {
        int now = distance(name, names[i]);
        if (now >= least) continue;
        least = now;
        best = names[i];
    }
    return best;
}

static const char *suggest(const char *name) {
    const char *names[128];
    int count = 0;
    for (; command_table[count] && count < 127; count++) names[count] = command_table[count]->name;
    names[count] = NULL;
    return nearest_name(name, names);
}

const Command *command_find(const char *name, size_t length, const char **suggestion) {
    char word[32] = {0};
    const char *full;
    const Command *found = NULL;
    int matches = 0;
    *suggestion = NULL;
    if (length == 0 || length >= sizeof word) return NULL;
    memcpy(word, name, length);
    if (command_prefix_is_frozen(word, &full)) memcpy(word, full, strlen(full) + 1);
    for (int i = 0; command_table[i]; i++) {
        if (strcmp(command_table[i]->name, word) == 0) return command_table[i];
        if (strncmp(command_table[i]->name, word, strlen(word)) != 0) continue;
        found = command_table[i];
        matches++;
    }
    if (matches == 1) return found;
    *suggestion = suggest(word);
    return NULL;
}

/* ---- words ---- */

/* Copies one word, without the quotes around (parts of) it. Brackets keep their blanks: `f(a, b)` is one word. */
static size_t read_word(Text *word, const char *at) {
    size_t i = 0;
    char quote = 0;
    int depth = 0;
    for (; at[i] && (quote || depth > 0 || (at[i] != ' ' && at[i] != '\t')); i++) {
        bool opens = !quote && depth == 0 && (at[i] == '"' || at[i] == '\''), closes = quote && at[i] == quote;
        if (opens) quote = at[i];
        else if (closes) quote = 0;
        else text_char(word, at[i]);
        if (!quote && (at[i] == '(' || at[i] == '[')) depth++;
        if (!quote && depth > 0 && (at[i] == ')' || at[i] == ']')) depth--;
    }
    return i;
}

static void split_words(CommandCall *call) {
    const char *start = call->rest.text;
    Text word = {0};
    for (const char *at = start; *(at += strspn(at, " \t"));) {
        text_clear(&word);
        size_t length = read_word(&word, at);
        uint32_t offset = call->rest.start + (uint32_t)(at - start);
        vec_push_in(call->arena, &call->words, ((Word){text_in(&word, call->arena), offset, offset + (uint32_t)length}));
        at += length;
    }
    text_free(&word);
}

Span call_span(const CommandCall *call, int word) {
    if (word < 0 || word >= call->words.count) return call->span;
    return (Span){call->file, call->words.at[word].start, call->words.at[word].end};
}

const char *call_word(const CommandCall *call, int word) { return word < call->words.count ? call->words.at[word].text : NULL; }

/* ---- errors ---- */

bool command_error(CommandCall *call, Span span, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *message = arena_vprintf(call->arena, format, arguments);
    va_end(arguments);
    Text text = {0};
    progress_quiet(call->repl->progress);
    span_report(&text, span, "error", message);
    show_note(text_cstr(&text));
    text_free(&text);
    return false;
}

static bool usage_error(CommandCall *call) {
    const Command *command = call->command;
    return command_error(call, call->span, "use it as :%s%s%s (see :help %s)", command->name, *command->usage ? " " : "", command->usage,
                         command->name);
}

/* ---- calling ---- */

cJSON *call_document(CommandCall *call) {
    if (!call->document) call->document = cJSON_CreateObject();
    return call->document;
}

void call_flush(CommandCall *call) {
    if (call->document) {
        text_clear(&call->out);
        json_print(&call->out, call->document);
        call->document = NULL;
    }
    progress_quiet(call->repl->progress);
    if (call->out.length && !show_out(call->show, call->out.data, call->out.length)) repl_output_failed(call->repl, errno);
    text_clear(&call->out);
}

/* `--json` in front of (or, for commands that take words, among) the arguments asks for JSON once. */
static void take_flags(CommandCall *call) {
    call->json = call->show->json;
    if (strncmp(call->rest.text, "--json", 6) == 0 && (!call->rest.text[6] || call->rest.text[6] == ' ')) {
        size_t skip = 6 + strspn(call->rest.text + 6, " \t");
        call->rest.text += skip;
        call->rest.start += (uint32_t)skip;
        call->json = true;
    }
    if (call->command->flags & COMMAND_TAKES_CODE) return;
    split_words(call);
    int kept = 0;
    for (int i = 0; i < call->words.count; i++) {
        if (strcmp(call->words.at[i].text, "--json") == 0) call->json = true;
        else call->words.at[kept++] = call->words.at[i];
    }
    call->words.count = kept;
}

static bool arguments_fit(const CommandCall *call) {
    const Command *command = call->command;
    if (command->flags & COMMAND_TAKES_CODE) return command->least == 0 || *call->rest.text;
    return call->words.count >= command->least && (command->most < 0 || call->words.count <= command->most);
}

static bool call_command(CommandCall *call) {
    take_flags(call);
    if (!arguments_fit(call)) return usage_error(call);
    if (call->show->safe && (call->command->flags & COMMAND_NEEDS_FILES))
        return command_error(call, call->span, "--safe: commands do not read or write files");
    bool done = call->command->run(call);
    if (done || call->out.length) call_flush(call);
    return done;
}

/* Where in its file the line stands: spans of `#:` comments begin at the comment. */
static uint32_t line_offset(const char *line, Span span) {
    if (!span.file) return 0;
    for (uint32_t at = span.start; at <= span.end && at <= span.file->length; at++)
        if (strncmp(span.file->text + at, line, strlen(line)) == 0) return at;
    return span.start;
}

static bool look_up(CommandCall *call, const char *line) {
    const char *suggestion, *name = line + 1;
    size_t length = strcspn(name, " \t"), rest = length + strspn(name + length, " \t");
    call->command = command_find(name, length, &suggestion);
    uint32_t start = call->span.start + 1;
    Span at = {call->file, start - 1, start + (uint32_t)length};
    if (!call->command && suggestion) return command_error(call, at, "no command :%.*s: is it :%s?", (int)length, name, suggestion);
    if (!call->command) return command_error(call, at, "no command :%.*s: :help lists them", (int)length, name);
    call->rest = (Word){arena_strdup(call->arena, name + rest), start + (uint32_t)rest, call->span.end};
    for (size_t end = strlen(call->rest.text); end > 0 && strchr(" \t\r\n", call->rest.text[end - 1]);)
        ((char *)call->rest.text)[--end] = 0;
    return true;
}

void command_run(Repl *repl, const char *line, Span span) {
    CommandCall call = {.repl = repl, .session = repl->session, .show = &repl->show, .arena = session_command_arena(repl->session)};
    uint32_t start = line_offset(line, span);
    call.file = span.file;
    call.span = (Span){span.file, start, start + (uint32_t)strcspn(line, "\r\n")};
    show_terminal_size(&repl->show);
    bool done = look_up(&call, line);
    if (done && (call.command->flags & COMMAND_STEPS)) repl->last_step = arena_strdup(repl->arena, line);
    done = done && call_command(&call);
    if (!done && repl->interrupt && *repl->interrupt) repl->interrupted = true;
    else if (!done) repl->command_failed = true;
    cJSON_Delete(call.document);
    text_free(&call.out);
}
