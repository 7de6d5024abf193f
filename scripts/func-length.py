#!/usr/bin/env python3
"""Reports the lengths of files and functions: scripts/func-length.py [-v] [FOLDER...]

Prints the figures that docs/architecture.md holds the code to (files under 600 lines; functions: median at most 12 lines,
90 % at most 35, none over 80 but the VM's switch) and, with -v, every file and function over them. Exit status 1 only for
a file over 800 lines (ops.def aside): that one is a test.
A function is found by its layout: a line at the margin that ends in `{` after a `)`, up to the next `}` at the margin.
"""
import glob
import os
import re
import sys

FILE_LIMIT, FILE_AIM, FUNCTION_AIM = 800, 600, 80
HEAD = re.compile(r'^[A-Za-z_][^;=]*\)\s*\{')


def functions_in(lines):
    """-> [(first line number, name, lines)]"""
    found, start = [], None
    for number, line in enumerate(lines, 1):
        if start is None and HEAD.match(line):
            name = re.search(r'(\w+)\s*\(', line).group(1)
            if line.rstrip().endswith('}'):
                found.append((number, name, 1))
            else:
                start = (number, name)
        elif start is not None and line.startswith('}'):
            found.append((start[0], start[1], number - start[0] + 1))
            start = None
    return found


def sources(folders):
    for folder in folders:
        for pattern in ('*.c', '*.h', '*.def', '*.py', '*.sh'):
            yield from sorted(glob.glob(os.path.join(folder, '**', pattern), recursive=True))


def main():
    verbose = '-v' in sys.argv
    root = os.environ.get('abs_top_srcdir') or os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    os.chdir(root)
    folders = [a for a in sys.argv[1:] if a != '-v'] or ['engine', 'repl', 'viz', 'scripts', 'tests']
    lengths, too_long, files = [], [], 0
    for path in sources(folders):
        with open(path, encoding='utf-8', errors='replace') as file:
            lines = file.readlines()
        files += 1
        if len(lines) > FILE_LIMIT and os.path.basename(path) != 'ops.def':
            too_long.append(path)
        if len(lines) > FILE_AIM and (verbose or path in too_long):
            print(f'{path}: {len(lines)} lines')
        for number, name, length in functions_in(lines) if path.endswith('.c') else []:
            lengths.append(length)
            if verbose and length > FUNCTION_AIM:
                print(f'{path}:{number}: {name} has {length} lines')
    lengths.sort()
    if lengths:
        print(f'{files} files; {len(lengths)} functions: median {lengths[len(lengths) // 2]} lines, '
              f'90 % at most {lengths[len(lengths) * 9 // 10]}, longest {lengths[-1]}, '
              f'over {FUNCTION_AIM}: {sum(n > FUNCTION_AIM for n in lengths)}')
    for path in too_long:
        print(f'{path}: over {FILE_LIMIT} lines: split it')
    sys.exit(1 if too_long else 0)


if __name__ == '__main__':
    main()
