#!/usr/bin/env python3.12
"""The bytecode of every function of .py files by CPython 3.12, in the form of dump_bytecode: a developer's tool, not a test.

    bytecode_oracle.py [--places] FILE.py…                print it (bytecode_golden.txt is made so)
    bytecode_oracle.py --compare DUMP_BYTECODE FILE.py…   run the program too, and list the functions that differ

Annotations of parameters are taken out first, since vitrine does not evaluate them.
"""
import ast, dis, subprocess, sys, types, warnings

def without_annotations(source, path):
    tree = ast.parse(source, path)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)): node.returns = None
        if isinstance(node, ast.arg): node.annotation = None
    return tree

def numbered(code):
    """-> instructions without EXTENDED_ARG, offset -> index"""
    found, index, start = [], {}, None
    for i in dis.get_instructions(code):
        if start is None: start = i.offset
        if i.opname == 'EXTENDED_ARG': continue
        index[start] = index[i.offset] = len(found)
        found.append(i); start = None
    index[len(code.co_code)] = len(found)
    return found, index

def constant(c):
    if isinstance(c, types.CodeType): return f'<code object {c.co_name}>'
    return repr(c)

def line(i, index):
    if i.opcode in dis.hasjrel or i.opcode in dis.hasjabs: return f'{i.opname} (to {index[i.argval]})'
    if i.opcode in dis.hasconst and i.opname != 'KW_NAMES': return f'{i.opname} ({constant(i.argval)})'
    if i.argrepr: return f'{i.opname} ({i.argrepr})'
    return i.opname if i.arg is None or i.opcode < dis.HAVE_ARGUMENT else f'{i.opname} {i.arg}'

def place(i):
    p = i.positions
    return '-  ' if p.lineno is None else f'{p.lineno}:{(p.col_offset or 0) + 1}-{p.end_lineno}:{(p.end_col_offset or 0) + 1}  '

def listing(code, places, out):
    found, index = numbered(code)
    out.append(f'== {code.co_qualname}')
    out += [(place(i) if places else '') + line(i, index) for i in found]
    for e in dis._parse_exception_table(code): out.append(f'exception {index[e.start]} {index[e.end]} {index[e.target]} {e.depth} {int(e.lasti)}')
    out.append(f'stack {code.co_stacksize}')
    for c in code.co_consts:
        if isinstance(c, types.CodeType): listing(c, places, out)

def listings(path, places=False):
    out = []
    try: module = compile(without_annotations(open(path, 'rb').read(), path), path, 'exec', dont_inherit=True)
    except (SyntaxError, ValueError) as error: return [f'-- {error}']
    for c in module.co_consts:
        if isinstance(c, types.CodeType): listing(c, places, out)
    return out

def split(lines):
    functions = []
    for l in lines:
        if l.startswith('== '): functions.append([l])
        elif functions: functions[-1].append(l)
    return functions

def compare(program, paths):
    total = differ = 0
    for path in paths:
        dump = subprocess.run([program, path], capture_output=True, text=True, errors='replace').stdout.splitlines()
        ours, theirs = split(dump), split(listings(path))
        if any(l.startswith('-- ') for l in dump): print(path, *[l for l in dump if l.startswith('-- ')]); continue
        total += len(theirs)
        for want in theirs:
            if want in ours: continue
            differ += 1
            got = next((o for o in ours if o[0] == want[0]), ['missing'])
            at = next((k for k in range(min(len(got), len(want))) if got[k] != want[k]), min(len(got), len(want)))
            print(f'{path}: {want[0]}: at {at - 1}: got {(got + ["end"])[at]!r} want {(want + ["end"])[at]!r}')
    print(f'{total} functions, {differ} differ')

if __name__ == '__main__':
    warnings.simplefilter('ignore')
    arguments = sys.argv[1:]
    if arguments[:1] == ['--compare']: compare(arguments[1], arguments[2:])
    else:
        places = arguments[:1] == ['--places']
        for path in arguments[places:]: print(*listings(path, places), sep='\n')
