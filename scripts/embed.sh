#!/bin/sh
# Prints a C file that holds the given files as strings: usage: embed.sh ROOT FILE...
# In: paths below ROOT, of text files (no NUL byte). Out: `embedded_files` and `embedded_file_count` of engine/torch/library.h,
# sorted as given; a name is the path without a leading "engine/", e.g. "torch/nn.py", "op/vmath.h".
# `?` is escaped since three characters of C11 would be a trigraph; a last line without newline gets one.
set -eu
root=$1
shift
return=$(printf '\r')
printf '/* Made by scripts/embed.sh: edit the files named here, not this one. */\n#include "torch/library.h"\n\n'
number=0
for file in "$@"; do
    printf 'static const char file_%d[] = /* %s */\n' "$number" "$file"
    LC_ALL=C sed -e 's/[\\"?]/\\&/g' -e "s/$return/\\\\r/g" -e 's/^/    "/' -e 's/$/\\n"/' "$root/$file"
    printf '\n    "";\n'
    number=$((number + 1))
done
printf '\nconst EmbeddedFile embedded_files[] = {\n'
number=0
for file in "$@"; do
    printf '    {"%s", file_%d, sizeof file_%d - 1},\n' "${file#engine/}" "$number" "$number"
    number=$((number + 1))
done
printf '    {0, 0, 0},\n};\nconst int embedded_file_count = %d;\n' "$number"
