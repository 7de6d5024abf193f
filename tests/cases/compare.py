#!/usr/bin/env python3
"""Runs programs under vitrine and compares with what PyTorch 2.11 did.

usage: compare.py VITRINE FOLDER [--known FILE] [--only PATTERN] [--jobs N] [--device cpu|cuda] [--verbose] [--write-known]

For each NNN_name.py of FOLDER runs `VITRINE --summary FILE NNN_name.py`, then looks at three things of NNN_name.expected.json:
  output   stdout. Text must be the same, except for the width of runs of blanks; integers, inf and nan exactly; other numbers
           within rtol 1e-4 (the case's `rtol`) or atol 1e-5 (`atol`), or one unit of the last digit printed, whichever is more.
           With `format` the numbers must also be written alike (digits behind the point, exponent). `stdout_also` are other right answers.
  counts   of the summary: graphs (or one of `graphs_also`), the lines of the breaks, how many compile ids recompiled (or
           `recompiles_also`); something is launched where Inductor launches, a backward compiled where PyTorch compiles one.
  reasons  the kinds of the breaks; each kind of failed guard that PyTorch names is among ours.
`counts_apply: false` leaves the last two out. `heavy` cases run alone, with a longer limit.

--known lists cases (a name a line, # remarks) that may still differ. A case that differs and is not listed fails the run, and so
does a listed one that agrees: the list only shrinks. --write-known rewrites it. Standard library only.
"""
import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ASPECTS = ('output', 'counts', 'reasons')
# A number that stands by itself: not part of a name, a version or a longer number.
NUMBER = re.compile(r'(?<![\w.])[-+]?(?:(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?|inf|nan)(?!\w)', re.ASCII)


class Case:
    def __init__(self, path):
        self.path = path
        self.name = path.stem
        self.expected = json.loads(path.with_suffix('.expected.json').read_text())
        self.heavy = self.expected.get('heavy', False)


# ---- output ----------------------------------------------------------------------------------------------------

def is_real(token):
    """Written with a point or an exponent: compared with tolerance."""
    return not token.lstrip('+-') in ('inf', 'nan') and any(c in token for c in '.eE')


def last_digit(token):
    """The value of one unit of the last digit written: 0.25 -> 0.01, 1e5 -> 1e5."""
    mantissa, _, exponent = token.lower().partition('e')
    decimals = len(mantissa.partition('.')[2])
    return float(f'1e{int(exponent or 0) - decimals}')


def notation(token):
    mantissa, mark, _ = token.lower().partition('e')
    return len(mantissa.partition('.')[2]), mark


def numbers_agree(got, want, expected):
    if got == want:
        return True
    strict = expected.get('format', False)
    if not (is_real(got) and is_real(want)):
        # "2." and "2" are one value, where the case does not ask for the way it is written.
        return not strict and is_real(got) != is_real(want) and float(got) == float(want)
    if strict and notation(got) != notation(want):
        return False
    tolerance = expected.get('atol', 1e-5) + expected.get('rtol', 1e-4) * abs(float(want))
    rounding = 1.01 * max(last_digit(got), last_digit(want))
    if not all(map(math.isfinite, (float(got), float(want), rounding))):  # beyond a double, e.g. 1e999
        return False
    return abs(float(got) - float(want)) <= max(tolerance, rounding)


def skeleton(line):
    """The line without its numbers, blanks made equal: padding depends on how wide the numbers are."""
    return re.sub(r'\s+', ' ', re.sub(r'(?<=[\[(,])\s+', '', NUMBER.sub('#', line)))


def lines_agree(got, want, expected):
    if got == want:
        return True
    got_numbers, want_numbers = NUMBER.findall(got), NUMBER.findall(want)
    return (skeleton(got) == skeleton(want) and len(got_numbers) == len(want_numbers)
            and all(numbers_agree(g, w, expected) for g, w in zip(got_numbers, want_numbers)))


def first_difference(got, want, expected):
    """None where the texts agree, else where they first do not."""
    got_lines, want_lines = got.splitlines(), want.splitlines()
    for number in range(max(len(got_lines), len(want_lines))):
        g = got_lines[number] if number < len(got_lines) else None
        w = want_lines[number] if number < len(want_lines) else None
        if g is None or w is None or not lines_agree(g, w, expected):
            show = lambda line: 'the end' if line is None else repr(line[:100])
            return f'line {number + 1}: got {show(g)}, want {show(w)}'
    return None


def check_output(process, expected):
    stdout = re.sub(r",\s*device='cuda:\d+'", '', process.stdout)
    answers = [expected['stdout'], *expected.get('stdout_also', [])]
    differences = [first_difference(stdout, answer, expected) for answer in answers]
    difference = None if None in differences else differences[0]
    if process.returncode == 0:
        return difference
    last_words = (process.stderr.strip().splitlines() or [''])[-1][:140]
    ended = f'died of signal {-process.returncode}' if process.returncode < 0 else f'exit {process.returncode}: {last_words}'
    return f'{ended}; {difference}' if difference else ended


# ---- counts and reasons ------------------------------------------------------------------------------------------

def compile_records(compiles):
    return [record for record in compiles.values() if isinstance(record, dict)]


def check_counts(summary, expected):
    problems = []
    graphs = [expected['graphs'], *expected.get('graphs_also', [])]
    if summary.get('graphs') not in graphs:
        problems.append(f"graphs {summary.get('graphs')}, want {graphs[0]}")
    got_lines = sorted(b.get('line', 0) for b in summary.get('breaks', []))
    want_lines = sorted(b['line'] for b in expected['breaks'])
    if got_lines != want_lines:
        problems.append(f'breaks at lines {got_lines}, want {want_lines}')
    got_ids = {r.get('compile') for r in summary.get('recompiles', [])}
    want_ids = {r['compile'] for r in expected['recompiles']}
    if len(got_ids) not in [len(want_ids), *expected.get('recompiles_also', [])]:
        problems.append(f'recompiles {sorted(map(str, got_ids))}, want {sorted(want_ids)}')
    ours = compile_records(summary.get('compiles', {}))
    if any(r.get('launches') for r in compile_records(expected.get('inductor_cuda', {}))) and not any(r.get('launches') for r in ours):
        problems.append('nothing was launched by a compiled graph')
    if any(r.get('backward') for r in expected.get('compiles', {}).values()) and not any(r.get('backward') for r in ours):
        problems.append('no backward was compiled')
    return '; '.join(problems) or None


def check_reasons(summary, expected):
    problems = []
    got_kinds = sorted(b.get('kind', '') for b in summary.get('breaks', []))
    want_kinds = sorted(b['kind'] for b in expected['breaks'])
    if got_kinds != want_kinds:
        problems.append(f'kinds of breaks {got_kinds}, want {want_kinds}')
    missing = {r['kind'] for r in expected['recompiles']} - {r.get('kind') for r in summary.get('recompiles', [])}
    if missing:
        problems.append(f'no failed guard of kind {sorted(missing)}')
    return '; '.join(problems) or None


# ---- running -----------------------------------------------------------------------------------------------------

def program_for(case, device, folder):
    """The case's file, or a copy whose DEVICE line names another device."""
    if device == 'cpu':
        return case.path
    copy = pathlib.Path(folder, case.path.name)
    copy.write_text(re.sub(r'^DEVICE\s*=.*$', f'DEVICE = "{device}"', case.path.read_text(), flags=re.M))
    return copy


def read_summary(path):
    try:
        return json.loads(path.read_text()), None
    except (OSError, ValueError) as error:
        return None, f'no summary ({type(error).__name__})'


def run_case(case, vitrine, device):
    """-> the case's problems by aspect (None: agrees), and the seconds it took"""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        summary_path = pathlib.Path(folder, 'summary.json')
        command = [vitrine, '--summary', str(summary_path), str(program_for(case, device, folder))]
        try:
            process = subprocess.run(command, capture_output=True, text=True, errors='replace', stdin=subprocess.DEVNULL,
                                     timeout=300 if case.heavy else 60)
        except subprocess.TimeoutExpired:
            return dict.fromkeys(ASPECTS, 'no end in time'), time.monotonic() - began
        seconds = time.monotonic() - began
        problems = dict.fromkeys(ASPECTS)
        problems['output'] = check_output(process, case.expected)
        if case.expected.get('counts_apply', True):
            summary, trouble = read_summary(summary_path)
            problems['counts'] = trouble or check_counts(summary, case.expected)
            problems['reasons'] = trouble or check_reasons(summary, case.expected)
    return problems, seconds


def run_all(cases, vitrine, device, jobs):
    """Yields (case, problems, seconds): the light ones side by side, then the heavy ones alone."""
    light = [c for c in cases if not c.heavy]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        yield from ((c, *result) for c, result in zip(light, pool.map(lambda c: run_case(c, vitrine, device), light)))
    yield from ((c, *run_case(c, vitrine, device)) for c in cases if c.heavy)


def read_known(path):
    if not path:
        return set()
    lines = (line.partition('#')[0].strip() for line in pathlib.Path(path).read_text().splitlines())
    return {line for line in lines if line}


def write_known(path, differing):
    head = [line for line in pathlib.Path(path).read_text().splitlines() if line.startswith('#')]
    pathlib.Path(path).write_text('\n'.join(head + sorted(differing)) + '\n')


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('vitrine')
    parser.add_argument('folder')
    parser.add_argument('--known', default='')
    parser.add_argument('--only', default='')
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--device', default='cpu')
    parser.add_argument('--verbose', action='store_true')
    parser.add_argument('--write-known', action='store_true')
    return parser.parse_args()


def main():
    options = parse_arguments()
    paths = sorted(pathlib.Path(options.folder).glob('[0-9]*.py'))
    # A program that was not recorded yet has nothing to be compared with.
    cases = [Case(path) for path in paths if options.only in path.name and path.with_suffix('.expected.json').exists()]
    known, differing, wrong = read_known(options.known), set(), []
    agreeing = dict.fromkeys(ASPECTS, 0)
    for case, problems, seconds in run_all(cases, os.path.abspath(options.vitrine), options.device, options.jobs):
        found = [f'{aspect}: {problem}' for aspect, problem in problems.items() if problem]
        for aspect in ASPECTS:
            agreeing[aspect] += problems[aspect] is None
        if found:
            differing.add(case.name)
        unexpected = bool(found) != (case.name in known)
        if unexpected:
            wrong.append(case.name)
        if unexpected or options.verbose:
            label = 'FAIL' if found and unexpected else 'differs (known)' if found else 'agrees'
            hint = 'remove it from the list' if unexpected and not found else ' | '.join(found)
            print(f'{label} {case.name} {seconds:.1f}s {hint}'.rstrip(), flush=True)
    if options.write_known and not options.only:
        write_known(options.known, differing)
    count = len(cases)
    print(f'{count - len(differing)} of {count} agree in all; '
          + '; '.join(f'{aspect} {agreeing[aspect]}/{count}' for aspect in ASPECTS))
    sys.exit(0 if cases and not wrong else 1)


if __name__ == '__main__':
    main()
