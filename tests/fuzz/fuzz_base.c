/* Fuzz target: whatever bytes a program holds, what base prints of them is safe to print, and a report never reads beyond the text.
 * Run: build with --enable-fuzz CC=clang, `make fuzz`, tests/fuzz/fuzz_base -max_total_time=60. */
#include "base/span.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void require(int truth) {
    if (!truth) abort();
}

static void check_visible(const Text *text) {
    for (size_t at = 0; at < text->length;) {
        uint32_t code;
        int bytes = utf8_decode(text->data + at, text->length - at, &code);
        require(bytes > 0 && (code >= 0x20 || code == '\n' || code == '\t') && (code < 0x7f || code >= 0xa0));
        at += (size_t)bytes;
    }
}

static void check_texts(const char *string) {
    Text quoted = {0}, name = {0}, visible = {0};
    text_quoted(&quoted, string);
    for (size_t at = 1; at + 1 < quoted.length; at++) {
        require((unsigned char)quoted.data[at] >= 0x20 && quoted.data[at] != '"');
        if (quoted.data[at] == '\\') require(++at + 1 < quoted.length);
    }
    text_identifier(&name, string);
    require(name.length > 0 && strspn(name.data, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == name.length);
    text_visible(&visible, string);
    check_visible(&visible);
    text_free(&quoted);
    text_free(&name);
    text_free(&visible);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
    if (size < 2) return 0;
    Arena *arena = arena_new("fuzz");
    SourceFile *file = source_new(arena, "fuzz.py", (const char *)data + 2, size - 2, 1);
    Text report = {0};
    span_report(&report, (Span){file, data[0], data[1]}, NULL, file->text);
    check_visible(&report);
    check_texts(file->text);
    text_free(&report);
    arena_free(arena);
    return 0;
}
