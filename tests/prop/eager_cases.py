#!/usr/bin/env python3
"""Every PyTorch case run twice, as it is and with torch.compile replaced by a function that returns its argument: what is printed must agree.

usage: eager_cases.py VITRINE [--only PATTERN] [--jobs N] [--verbose]

The comparison is that of ../cases/compare.py, to ten times its tolerance less: numbers within rtol 1e-5 (2e-2 in cases of 16-bit numbers, whose
`rtol` says so), or one unit of the last digit that is printed. The name of a grad_fn is left out. OTHERWISE lists
cases that print something about compiling itself.
"""
import argparse
import concurrent.futures
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CASES = HERE.parent / 'cases'
OTHERWISE = {
    '105': 'it prints that fullgraph=True was refused',
    '044': 'second derivatives pass through eager functions only, as in PyTorch',
    '061': 'it shows what a chain in 16 bits gives eagerly, where it overflows, and compiled, where it does not',
}
# One line, so that lines keep their numbers but for one.
IDENTITY = 'import torch; torch.compile = lambda f=None, **options: f if f is not None else (lambda g: g)\n'

spec = importlib.util.spec_from_file_location('compare', CASES / 'compare.py')
compare = importlib.util.module_from_spec(spec)
spec.loader.exec_module(compare)


def run(vitrine, path):
    process = subprocess.run([vitrine, str(path)], capture_output=True, text=True, errors='replace', stdin=subprocess.DEVNULL, timeout=300)
    return re.sub(r',\s*grad_fn=<\w+>', '', process.stdout), process.returncode, process.stderr.strip().splitlines()[-1:]


def check(vitrine, case, folder):
    eager = pathlib.Path(folder, case.path.name)
    eager.write_text(IDENTITY + case.path.read_text())
    want, want_status, want_error = run(vitrine, eager)
    got, got_status, got_error = run(vitrine, case.path)
    if want_status != got_status:
        return f'status {got_status} {got_error}, eager {want_status} {want_error}'
    rules = {**case.expected, 'rtol': max(1e-5, case.expected.get('rtol', 0) if case.expected.get('rtol', 0) > 1e-3 else 0), 'atol': min(1e-6, case.expected.get('atol', 1e-6))}
    return compare.first_difference(got, want, rules)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('vitrine')
    parser.add_argument('--only', default='')
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--verbose', action='store_true')
    options = parser.parse_args()
    vitrine = os.path.abspath(options.vitrine)
    cases = [compare.Case(path) for path in sorted(CASES.glob('[0-9]*.py')) if options.only in path.name]
    cases = [case for case in cases if case.name[:3] not in OTHERWISE and not case.heavy]
    agreeing = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for case, difference in zip(cases, pool.map(lambda c: check(vitrine, c, folder), cases)):
            agreeing += difference is None
            if difference or options.verbose:
                print(f'{"differs" if difference else "agrees"} {case.name} {difference or ""}'.rstrip(), flush=True)
    print(f'{agreeing} of {len(cases)} cases print the same eagerly and compiled')
    return 0 if cases and agreeing == len(cases) else 1


if __name__ == '__main__':
    sys.exit(main())
