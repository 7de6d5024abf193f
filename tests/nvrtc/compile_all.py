#!/usr/bin/env python3
"""Every CUDA kernel that the suite makes compiles under NVRTC, for each architecture; no card is needed.

usage: compile_all.py VITRINE [--arch ARCH]... [--only PATTERN] [--verbose]

In: workloads.py, each PyTorch case with DEVICE = "cuda", random programs (../prop), the examples. Without a driver vitrine compiles their graphs and
skips the launches; a case that then asks for a value is given a number of the same kind, so that it goes on.
Out: a line for each program in which a kernel does not compile or nothing was compiled; totals. Status 77 with a line where there is no NVRTC.
Where there is a card the programs simply run.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TESTS = HERE.parent
MUST = ('040', '049', '052', '053', '055', '067', '077', '079', '080', '086', '094', '095')  # these compile whole: no excuse
RANDOM = 20


def version(vitrine):
    return subprocess.run([vitrine, '--version'], capture_output=True, text=True).stdout


def case_text(path):
    text = re.sub(r'^DEVICE *=.*$', 'DEVICE = "cuda"', path.read_text(), flags=re.M)
    return text.replace('.item()', '.numel()').replace('.tolist()', '.shape')


def programs(folder, only):
    """-> (name, file, must it run to its end and compile something)"""
    found = [('workloads', HERE / 'workloads.py', True)]
    for path in sorted((TESTS / 'cases').glob('[0-9]*.py')):
        if 'heavy' in json.loads(path.with_suffix('.expected.json').read_text()):
            continue
        copy = pathlib.Path(folder, path.name)
        copy.write_text(case_text(path))
        found.append((path.stem, copy, path.name[:3] in MUST))
    for first in range(0, RANDOM, 10):
        copy = pathlib.Path(folder, f'random_{first}.py')
        made = [subprocess.run([sys.executable, '-B', str(TESTS / 'prop' / 'random_programs.py'), '-', '--device', 'cuda', '--compile-only', '--show', str(seed)],
                               capture_output=True, text=True, check=True).stdout for seed in range(first, first + 10)]
        copy.write_text('\n'.join(made))
        found.append((copy.stem, copy, True))
    return [program for program in found if only in program[0]]


def check(vitrine, program, arch, folder):
    """-> the fault or None, and how many kernels there were"""
    name, path, must = program
    summary = pathlib.Path(folder, f'{name}.{arch}.json')
    process = subprocess.run([vitrine, '--no-cache', '--arch', arch, '--summary', str(summary), str(path)], capture_output=True, text=True,
                             errors='replace', stdin=subprocess.DEVNULL, timeout=300)
    if process.returncode < 0:
        return f'died of signal {-process.returncode}', 0
    for line in process.stderr.splitlines():
        if 'does not compile' in line or 'NVRTC' in line or 'cannot be compiled' in line or 'could not be compiled' in line:
            return line[:400], 0
    compiles = json.loads(summary.read_text())['compiles']
    kernels = sum(len(c.get('launches') or []) for c in compiles.values())
    last = (process.stderr.strip().splitlines() or ['nothing was said'])[-1][:300]
    if must and (kernels == 0 or (process.returncode and name != '094_matmul_bias_relu')):
        return f'{kernels} launches, status {process.returncode}: {last}', kernels
    return None, kernels


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('vitrine')
    parser.add_argument('--arch', action='append')
    parser.add_argument('--only', default='')
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--verbose', action='store_true')
    options = parser.parse_args()
    vitrine = os.path.abspath(options.vitrine)
    if not re.search(r'NVRTC\W+\d', version(vitrine)):
        print('skipped: there is no NVRTC here (libnvrtc.so of the CUDA toolkit), so CUDA kernels cannot be compiled')
        return 77
    bad = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        all_programs = programs(folder, options.only)
        for arch in options.arch or ['sm_80', 'sm_90a']:
            total = 0
            for program, (fault, kernels) in zip(all_programs, pool.map(lambda p: check(vitrine, p, arch, folder), all_programs)):
                total += kernels
                bad += fault is not None
                if fault or options.verbose:
                    print(f'{"FAIL" if fault else "good"} {arch} {program[0]} {kernels} {fault or ""}'.rstrip(), flush=True)
            print(f'{arch}: {total} launches of kernels in {len(all_programs)} programs')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
