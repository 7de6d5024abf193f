"""All programs of the table, in groups; a group is a file of results.

In: nothing. Out: GROUPS (name -> maker of Programs), `run_batch(command, programs)`, `read_table(path)`, `write_table(path, programs, results)`.

    run_batch(['python3'], [Program("a", "show('x', 1)")])   ->   {"a": ["x 1"]}

Invariant: results are what a program printed, line by line; a program that ended its process has "crashed" as its last line.
"""
import os
import subprocess
import tempfile

from common import batch_text
from kinks import kink_programs
from op_rows import op_programs
from promotion import promotion_programs
from random_programs import random_program

RANDOM_COUNT = 420

GROUPS = {
    'random': lambda: [random_program(seed) for seed in range(RANDOM_COUNT)],
    'kinks': kink_programs,
    'promotion': promotion_programs,
    'ops': op_programs,
}


def parse_results(text):
    results, lines = {}, None
    for line in text.split('\n'):
        if line.startswith('@ '):
            lines = results.setdefault(line[2:], [])
        elif line and lines is not None:
            lines.append(line)
    return results


def run_once(command, programs, timeout):
    with tempfile.NamedTemporaryFile('w', suffix='.py', delete=False) as script:
        script.write(batch_text(programs))
    try:
        ran = subprocess.run(command + [script.name], capture_output=True, text=True, errors='replace', timeout=timeout)
        return ran.returncode, ran.stdout, ran.stderr
    except subprocess.TimeoutExpired as expired:
        return 124, (expired.stdout or b'').decode(errors='replace'), 'ran out of time'
    finally:
        os.unlink(script.name)


def run_batch(command, programs, timeout=120):
    """What each program printed. Where the batch ends early, the one that ended it is marked, and the rest is run without it."""
    results, left = {}, list(programs)
    while left:
        status, output, errors = run_once(command, left, timeout)
        found = parse_results(output)
        results.update(found)
        if status == 0 and len(found) == len(left):
            break
        ended = left[len(found) - 1] if found else left[0]
        results.setdefault(ended.name, []).append(f'crashed {status} {errors.strip()[-200:]}')
        left = left[max(len(found), 1):]
    return results


def write_table(path, programs, results):
    with open(path, 'w') as table:
        for program in programs:
            table.write(f'@ {program.name} {program.hash()}\n')
            for line in results.get(program.name, ['missing']):
                table.write(line + '\n')


def read_table(path):
    """name -> (hash, lines)"""
    table, lines = {}, None
    with open(path) as file:
        for line in file.read().split('\n'):
            if line.startswith('@ '):
                name, digest = line[2:].rsplit(' ', 1)
                lines = []
                table[name] = (digest, lines)
            elif line and lines is not None:
                lines.append(line)
    return table
