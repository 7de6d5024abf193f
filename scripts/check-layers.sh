#!/bin/sh
# Checks the direction of dependencies: scripts/check-layers.sh; prints each #include that points upwards, exit status 1 if any.
# A folder of engine/ may include itself and folders of a lower rank; viz/ sees base and the trace, repl/ besides them
# engine.h and viz. (A call without an #include does not link: Makefile.am lists the libraries in this order.)
set -eu
cd "${abs_top_srcdir:-$(dirname "$0")/..}"
# shellcheck disable=SC2016 # the dollars are awk's
find engine viz repl -name '*.[ch]' 2>/dev/null | LC_ALL=C sort | xargs awk '
BEGIN {
    count = split("base trace torch lang ir op run vm", order, " ")
    for (i = 1; i <= count; i++) rank[order[i]] = i
    peers = split("dynamo aot inductor dist load", order, " ")       # none of these sees another
    for (i = 1; i <= peers; i++) rank[order[i]] = count + 1
    rank["(engine)"] = count + 2                                     # engine.c, pipeline.c
    allowed["viz"] = " base trace viz "
    allowed["repl"] = " base trace viz repl (engine) "
}
function folder_of(path,   part, n) {
    n = split(path, part, "/")
    if (part[1] != "engine") return part[1]
    return n > 2 ? part[2] : "(engine)"
}
function target_of(header,   part, n) {
    n = split(header, part, "/")
    if (n > 1) return part[1]
    if (header == "engine.h" || header == "pipeline.h") return "(engine)"
    return header == "config.h" ? "base" : ""                        # "" is the same folder
}
function permitted(from, to) {
    if (to == "" || to == from) return 1
    if (from in allowed) return index(allowed[from], " " to " ") > 0
    return to in rank && rank[to] < rank[from]
}
/^[ \t]*#[ \t]*include[ \t]*"/ {
    split($0, quoted, "\"")
    from = folder_of(FILENAME); to = target_of(quoted[2])
    if (!permitted(from, to)) { printf "%s:%d: %s may not include \"%s\"\n", FILENAME, FNR, from, quoted[2]; bad++ }
    seen++
}
END {
    printf "%d includes, %d in the wrong direction\n", seen, bad
    exit bad > 0
}'
