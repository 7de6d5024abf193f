/* Options: reads the command line by one table, from which --help is printed too.
 *
 *     vitrine --summary s.json -c ':explain f(x)' model.py
 *
 * In: argv. Out: Options. Options may stand before or behind FILE; all behind -- are names. To add one: a row and a case. */
#include "repl/options.h"
#include <string.h>

typedef enum OptionId {
    OPTION_TEXT, OPTION_STAY, OPTION_DEVICE, OPTION_ARCH, OPTION_SUMMARY, OPTION_JSON, OPTION_PLAIN, OPTION_COLOR,
    OPTION_KEEP_GOING, OPTION_ECHO, OPTION_NO_CACHE, OPTION_SAFE, OPTION_WARM, OPTION_VERSION, OPTION_HELP
} OptionId;

typedef struct OptionRow { OptionId id; const char *name, *letter, *value; } OptionRow;

static const OptionRow ROWS[] = {
    {OPTION_TEXT, NULL, "-c", "TEXT"},           {OPTION_STAY, NULL, "-i", NULL},
    {OPTION_DEVICE, "--device", NULL, "DEVICE"}, {OPTION_ARCH, "--arch", NULL, "ARCH"},
    {OPTION_SUMMARY, "--summary", NULL, "FILE"}, {OPTION_JSON, "--json", NULL, NULL},
    {OPTION_PLAIN, "--plain", NULL, NULL},       {OPTION_COLOR, "--color", NULL, "WHEN"},
    {OPTION_KEEP_GOING, "--keep-going", NULL, NULL}, {OPTION_ECHO, "--echo", NULL, NULL},
    {OPTION_NO_CACHE, "--no-cache", NULL, NULL}, {OPTION_SAFE, "--safe", NULL, NULL},
    {OPTION_WARM, "--warm", NULL, NULL},
    {OPTION_VERSION, "--version", NULL, NULL},   {OPTION_HELP, "--help", "-h", NULL},
};

const char *options_help(void) {
    return "usage: vitrine [options] [FILE.py | -] [args...]\n"
           "Runs a PyTorch program through a torch.compile-style compiler and shows every stage. Without FILE and -c it reads\n"
           "standard input, or starts a prompt when that is a terminal.\n"
           "\n"
           "  -c TEXT           run TEXT (Python, and commands that start with a colon), after FILE; may be repeated\n"
           "  -i                stay at the prompt afterwards\n"
           "  --device DEVICE   cpu, cuda or cuda:N: where tensors are made that name no device\n"
           "  --arch ARCH       what CUDA code is made for when no card is there, e.g. sm_90a\n"
           "  --summary FILE    at exit, write what was compiled as JSON\n"
           "  --json            commands print one JSON document each\n"
           "  --plain           no times, addresses or colours: the same bytes on every run\n"
           "  --color WHEN      auto, always or never\n"
           "  --keep-going      a failed command does not end a script\n"
           "  --echo            print input lines as they are read, and values of expressions: for transcripts\n"
           "  --no-cache        do not use the cache of kernels on disk\n"
           "  --safe            refuse commands that touch files\n"
           "  --warm            make the CUDA kernels of common single ops ahead, into the cache, and end\n"
           "  --version         versions, and what was found on this machine\n"
           "  -h, --help        this text; :help at the prompt lists the commands\n"
           "\n"
           "Exit status: 0; 1 an error in the program; 2 wrong use; 3 a command failed; 130 interrupted.\n"
           "Environment: VITRINE_CACHE_DIR, NO_COLOR, PAGER; ~/.config/vitrine/init is run when a prompt starts.\n";
}

/* "--name=value", "--name value" or "-c value": the row, and where the value stands. */
static const OptionRow *find_row(const char *word, const char **value) {
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        size_t length = ROWS[i].name ? strlen(ROWS[i].name) : 0;
        *value = NULL;
        if ((ROWS[i].letter && strcmp(word, ROWS[i].letter) == 0) || (length && strcmp(word, ROWS[i].name) == 0)) return &ROWS[i];
        if (length && strncmp(word, ROWS[i].name, length) == 0 && word[length] == '=') {
            *value = word + length + 1;
            return &ROWS[i];
        }
    }
    return NULL;
}

static bool set_color(Options *options, const char *value) {
    static const char *const choices[] = {"auto", "always", "never"};
    for (int i = 0; i < 3; i++)
        if (strcmp(value, choices[i]) == 0) {
            options->color = (ColorChoice)i;
            return true;
        }
    return false;
}

static bool is_device(const char *value) {
    if (strcmp(value, "cpu") == 0 || strcmp(value, "cuda") == 0) return true;
    size_t digits = strncmp(value, "cuda:", 5) == 0 ? strspn(value + 5, "0123456789") : 0;
    return digits > 0 && digits < 4 && !value[5 + digits];
}

/* False when the value will not do. */
static bool apply(Options *options, OptionId id, const char *value, Arena *arena) {
    switch (id) {
    case OPTION_TEXT: vec_push_in(arena, &options->texts, value); return true;
    case OPTION_STAY: options->stay = true; return true;
    case OPTION_DEVICE: options->device = value; return is_device(value);
    case OPTION_ARCH: options->arch = value; return strncmp(value, "sm_", 3) == 0;
    case OPTION_SUMMARY: options->summary = value; return *value != 0;
    case OPTION_JSON: options->json = true; return true;
    case OPTION_PLAIN: options->plain = true; return true;
    case OPTION_COLOR: return set_color(options, value);
    case OPTION_KEEP_GOING: options->keep_going = true; return true;
    case OPTION_ECHO: options->echo = true; return true;
    case OPTION_NO_CACHE: options->no_cache = true; return true;
    case OPTION_SAFE: options->safe = true; return true;
    case OPTION_WARM: options->warm = true; return true;
    case OPTION_VERSION: options->version = true; return true;
    case OPTION_HELP: options->help = true; return true;
    }
    return false;
}

static void add_name(Options *options, const char *word, Arena *arena) {
    if (!options->file) options->file = word;
    else vec_push_in(arena, &options->arguments, word);
}

bool options_read(Options *options, int argc, char **argv, Arena *arena, const char **error) {
    bool names_only = false;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *value;
        if (names_only || word[0] != '-' || !word[1]) {
            add_name(options, word, arena);
            continue;
        }
        if (strcmp(word, "--") == 0) {
            names_only = true;
            continue;
        }
        const OptionRow *row = find_row(word, &value);
        const char *name = row ? row->name ? row->name : row->letter : NULL;
        *error = NULL;
        if (!row) *error = arena_printf(arena, "unknown option %s", word);
        else if (value && !row->value) *error = arena_printf(arena, "%s takes no value", name);
        else if (row->value && !value && i + 1 == argc) *error = arena_printf(arena, "%s needs a value: %s %s", name, name, row->value);
        else if (row->value && !value) value = argv[++i];
        if (!*error && !apply(options, row->id, value, arena)) *error = arena_printf(arena, "%s: not a value for %s", value, name);
        if (*error) return false;
    }
    return true;
}
