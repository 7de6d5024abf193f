/* Main: the command line, the session, what is run in which order, the exit.
 *
 *     vitrine model.py            vitrine -c ':help'            vitrine < script            vitrine
 *
 * In: arguments (options.c says which), standard input. Out: the program's and the commands' output on stdout, notes on stderr,
 * --summary on every exit, the status that repl_status says. */
#include "repl/repl.h"
#include "repl/summary.h"
#include "viz/viz.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATIENCE = 3 };         /* Ctrl-Cs until the process ends though nothing took notice */
static volatile int interrupt; /* how many there were; read by everything that runs long, and set back at the prompt */

static void on_interrupt(int number) {
    interrupt = interrupt + 1;
    if (interrupt < PATIENCE) return;
    signal(number, SIG_DFL);
    raise(number);
}

static void on_broken_pipe(int number) { (void)number; } /* a handler, not SIG_IGN: programs that are started get the default again */

static void catch_signals(void) {
    struct sigaction action = {.sa_handler = on_interrupt};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    action.sa_handler = on_broken_pipe;
    sigaction(SIGPIPE, &action, NULL);
}

static void write_out(void *state, const char *text, size_t length) {
    Repl *repl = state;
    progress_quiet(repl->progress);
    if (length == 0 ? fflush(stdout) == 0 : fwrite(text, 1, length, stdout) == length || repl->output_gone) return;
    repl_output_failed(repl, errno);
    interrupt = 1;
}

static void write_note(void *state, const char *text, size_t length) {
    Repl *repl = state;
    progress_quiet(repl->progress);
    if (repl->output_gone) return; /* that it was stopped is no news then */
    if (fflush(stdout) != 0) repl_output_failed(repl, errno);
    fwrite(text, 1, length, stderr);
}

static bool wants_color(const Options *options) {
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    if (options->color != COLOR_AUTO) return options->color == COLOR_ALWAYS;
    return !options->plain && isatty(STDOUT_FILENO) && !(no_color && *no_color) && !(term && strcmp(term, "dumb") == 0);
}

static bool locale_is_utf8(void) {
    const char *names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value && *value) return strstr(value, "UTF-8") || strstr(value, "utf8") || strstr(value, "utf-8") || strstr(value, "UTF8");
    }
    return false;
}

static void open_session(Repl *repl) {
    const Options *options = repl->options;
    SessionOptions session = {.device = options->device, .arch = options->arch, .cache_dir = getenv("VITRINE_CACHE_DIR"), .no_cache = options->no_cache,
                              .plain = options->plain, .safe = options->safe, .interrupt = &interrupt};
    session.out = (Sink){repl, write_out};
    session.notes = (Sink){repl, write_note};
    repl->session = session_open(&session);
    const char **words = ARENA_ARRAY(repl->arena, const char *, options->arguments.count + 1);
    words[0] = options->file ? options->file : options->texts.count ? "-c" : "";
    for (int i = 0; i < options->arguments.count; i++) words[i + 1] = options->arguments.at[i];
    session_set_arguments(repl->session, words, options->arguments.count + 1);
}

static void print_versions(Repl *repl) {
    Text text = {0};
    text_printf(&text, "vitrine %s\n", PACKAGE_VERSION);
    session_versions(repl->session, &text);
    viz_version(&text);
    text_char(&text, '\n');
    show_out(&repl->show, text.data, text.length);
    text_free(&text);
}

static void warm_cache(Repl *repl) {
    Text text = {0};
    if (session_warm(repl->session, &text)) show_out(&repl->show, text.data, text.length);
    else {
        show_note(arena_printf(repl->arena, "vitrine: --warm: %s", text_cstr(&text)));
        repl->command_failed = true;
    }
    text_free(&text);
}

/* FILE, then each -c, then the prompt or standard input when nothing was named. */
static void run_everything(Repl *repl) {
    const Options *options = repl->options;
    bool terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO), named = options->file || options->texts.count > 0;
    bool from_input = options->file && strcmp(options->file, "-") == 0, more = true;
    if (options->file && !from_input) more = repl_file(repl, options->file);
    for (int i = 0; more && i < options->texts.count; i++) more = repl_text(repl, options->texts.at[i], "<command>");
    bool stay = options->stay && !repl->quit && !repl->output_gone;
    if (!from_input && named && !stay) return;
    if (stay) repl->program_failed = repl->command_failed = repl->interrupted = repl->file_missing = repl->exited = false;
    else if (!more) return;
    repl->show.interactive = terminal && !from_input;
    if (repl->show.interactive) repl_prompt(repl);
    else repl_input(repl, STDIN_FILENO);
}

static int finish(Repl *repl) {
    if (fflush(stdout) != 0) repl_output_failed(repl, errno);
    if (repl->output_error) fprintf(stderr, "vitrine: cannot write the output: %s\n", strerror(repl->output_error));
    int status = repl_status(repl);
    const char *path = repl->options->summary;
    if (path && !summary_write(path, repl->session, repl->arena)) {
        show_note(arena_printf(repl->arena, "vitrine: cannot write %s\n", path));
        if (status == 0) status = 3;
    }
    session_close(repl->session);
    arena_free(repl->arena);
    return status;
}

static int refuse(Arena *arena, const char *error) {
    fprintf(stderr, "vitrine: %s (try --help)\n", error);
    arena_free(arena);
    return 2;
}

/* Once more with OpenBLAS's better kernels, where it would use old ones (five times slower on processors newer than it). */
static void start_with_better_kernels(char **argv) {
    const char *kernels = engine_blas_kernels();
    if (kernels && setenv("OPENBLAS_CORETYPE", kernels, 0) == 0) execv("/proc/self/exe", argv); /* goes on here if it cannot */
}

int main(int argc, char **argv) {
    start_with_better_kernels(argv);
    Arena *arena = arena_new("run");
    Options options = {0};
    const char *error;
    if (!options_read(&options, argc, argv, arena, &error)) return refuse(arena, error);
    if (options.help) {
        fputs(options_help(), stdout);
        arena_free(arena);
        return 0;
    }
    if (options.summary && !summary_prepare(options.summary, &error, arena)) return refuse(arena, error);
    Repl repl = {.options = &options, .arena = arena, .interrupt = &interrupt};
    repl.show = (Show){.json = options.json, .plain = options.plain, .color = wants_color(&options), .safe = options.safe, .interrupt = &interrupt,
                       .unicode = !options.plain && locale_is_utf8()};
    catch_signals();
    open_session(&repl);
    if (options.version) print_versions(&repl);
    else if (options.warm) warm_cache(&repl);
    else run_everything(&repl);
    return finish(&repl);
}
