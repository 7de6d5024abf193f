#!/bin/sh
# The bundled program starts on this machine, whatever is installed on it.
set -eu
"${VITRINE:?is the program to test}" --version
