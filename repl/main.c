/* main: says the version; the REPL takes its place. In: arguments. Out: exit status 0, or 2 for a use it does not know. */
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        puts(PACKAGE_STRING);
        return 0;
    }
    fprintf(stderr, "usage: vitrine --version\n");
    return 2;
}
