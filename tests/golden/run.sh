#!/bin/sh
# Runs one transcript: VITRINE=PROGRAM run.sh NAME.repl; with UPDATE=1 rewrites it with what came out (and still fails if it differed).
#
# A transcript is what `vitrine --plain --echo` prints, output and errors together, when it reads the transcript's own input:
# each line that starts with "> " (or is ">" alone: an empty line) is a line of standard input, which --echo prints again as
# "> LINE" when it is read; all other lines are output, exact to the byte. So a transcript reads like a session:
#
#     > x = 3
#     > x + 1
#     4
#
# An input line that opens a block is followed by the block's lines, each with its "> ", before its output. A status other than 0
# appears as a last line "[exit N]". No line of output may start with "> ". A first line "# options: ..." gives vitrine more
# options; further lines starting with "# " right at the beginning are remarks. The working directory is this folder
# (`:load demo.py` works); HOME is empty, and files may be written below $TMPDIR, which is empty too.
# With a first line "# file: ../../examples/X.py" that program is run in its own folder instead, without --echo: all lines are output.
set -eu
transcript=$1
case $transcript in /*) ;; *) transcript=$PWD/$transcript ;; esac
: "${VITRINE:?is the program to test}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
mkdir "$work/home" "$work/tmp"

# The remarks at the head, kept as they are; then the session.
awk '!begun && /^#/ { print; next } { begun = 1 }' "$transcript" >"$work/head"
awk '!begun && /^#/ { next } { begun = 1; print }' "$transcript" >"$work/expected"
sed -n -e 's/^> //p' -e 's/^>$//p' "$work/expected" >"$work/input"
options=$(sed -n 's/^# options: //p' "$work/head")

file=$(sed -n 's/^# file: //p' "$work/head")

cd "$(dirname "$transcript")"
if [ -n "$file" ]; then
    : >"$work/input"
    cd "$(dirname "$file")"
    file=$(basename "$file")
else
    options="--echo $options"
fi
status=0
# shellcheck disable=SC2086 # options are words; no file is no word
env -u XDG_CONFIG_HOME -u XDG_CACHE_HOME HOME="$work/home" TMPDIR="$work/tmp" LC_ALL=C.UTF-8 TZ=UTC NO_COLOR=1 \
    "$VITRINE" --plain $options $file <"$work/input" >"$work/got" 2>&1 || status=$?
if [ "$status" != 0 ]; then echo "[exit $status]" >>"$work/got"; fi
sed -i 's/^> $/>/' "$work/got" # an empty input line needs no blank at its end

if cmp -s "$work/expected" "$work/got"; then exit 0; fi
diff -u --label expected --label got "$work/expected" "$work/got" || true
if [ "${UPDATE:-}" = 1 ]; then
    cat "$work/head" "$work/got" >"$transcript"
    echo "rewritten: $transcript"
fi
exit 1
