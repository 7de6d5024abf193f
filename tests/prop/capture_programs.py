#!/usr/bin/env python3
"""Random programs of the language: what they print with torch.compile and without must be the same, to the letter.

usage: capture_programs.py VITRINE [--first SEED] [--count N] [--batch N] [--jobs N] [--sizes] [--show SEED] [--reduce SEED]

In: seeds (capture_grammar.py makes the same program of a seed everywhere). Out: a line for each program that differs, totals last, status 1 if one differs.
    capture_programs.py build/vitrine --count 1000           all on demand; a batch of programs runs in one process
    capture_programs.py build/vitrine --show 17 > p.py       program 17 as a file
    capture_programs.py build/vitrine --reduce 17            program 17 with every line left out that the difference does not need
--sizes takes the programs of shape_grammar.py in their place: functions of sizes, called with many sizes.
A batch that crashes or differs is run again program by program. Standard library only.
"""
import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

import capture_grammar
import shape_grammar

IDENTITY = 'import torch; torch.compile = lambda f=None, **options: f if f is not None else (lambda g: g)\n'
LIMIT = 120
SIZES = 1 << 20  # seeds from here on are those of shape_grammar.py


def program(seed):
    return shape_grammar.program(seed - SIZES) if seed >= SIZES else capture_grammar.program(seed)


def text_of(seeds):
    return '\n'.join([capture_grammar.PREAMBLE, *(line for seed in seeds for line in program(seed))]) + '\n'


def outcome(vitrine, text):
    """What the program printed, and how it ended."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, 'p.py')
        path.write_text(text)
        try:
            done = subprocess.run([vitrine, '--plain', str(path)], capture_output=True, text=True, errors='replace', stdin=subprocess.DEVNULL, timeout=LIMIT)
        except subprocess.TimeoutExpired:
            return ['no end in time'], 'no end in time', ''
        return done.stdout.splitlines(), done.returncode, done.stderr


def difference(vitrine, text):
    """None where both runs print the same, else what is told of it."""
    want, want_status, words = outcome(vitrine, IDENTITY + text)
    if want_status != 0:
        return f'eager: status {want_status} {last(words)}'
    got, status, words = outcome(vitrine, text)
    for a, b in zip(want, got):
        if a != b:
            return f'eager {clip(a, b)} compiled {clip(b, a)}'
    if status != 0:
        return f'compiled: status {status} {last(words)}'
    return None if len(want) == len(got) else f'{len(got)} lines, eager {len(want)}'


def last(words):
    return ' '.join(words.strip().splitlines()[-1:])[:160]


def clip(line, other):
    """The part of a line around its first difference from another."""
    at = next((i for i, (a, b) in enumerate(zip(line, other)) if a != b), min(len(line), len(other)))
    return repr(line[max(0, at - 40):at + 60])


def check_batch(vitrine, seeds):
    """[(seed, difference)] of those that differ."""
    if difference(vitrine, text_of(seeds)) is None:
        return []
    found = [(seed, difference(vitrine, text_of([seed]))) for seed in seeds]
    found = [(seed, what) for seed, what in found if what]
    return found or [(seeds[0], f'differs only together with the {len(seeds) - 1} programs behind it')]


def block_end(lines, start):
    """The line behind the block that line `start` heads."""
    depth = len(lines[start]) - len(lines[start].lstrip())
    end = start + 1
    while end < len(lines) and lines[end].strip() and len(lines[end]) - len(lines[end].lstrip()) > depth:
        end += 1
    return end


def reduced(vitrine, seed):
    """The program without the lines that its difference does not need."""
    lines = '\n'.join(program(seed)).split('\n')
    whole = lambda part: capture_grammar.PREAMBLE + '\n'.join(part) + '\n'
    kind = lambda what: what and not what.startswith('eager:')

    def shorter(part, start):
        for end in sorted({block_end(part, start), start + 1}, reverse=True):
            yield part[:start] + part[end:]
            if end > start + 1:  # the block without its head
                yield part[:start] + [line[4:] for line in part[start + 1:end]] + part[end:]

    changed = True
    while changed:
        changed = False
        for start in range(len(lines) - 1, -1, -1):
            if start >= len(lines):
                continue
            for attempt in shorter(lines, start):
                try:
                    compile('\n'.join(attempt), 'p', 'exec')
                except SyntaxError:
                    continue
                if kind(difference(vitrine, whole(attempt))):
                    lines, changed = attempt, True
                    break
    return whole(lines), difference(vitrine, whole(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('vitrine')
    parser.add_argument('--first', type=int, default=0)
    parser.add_argument('--count', type=int, default=1000)
    parser.add_argument('--batch', type=int, default=10)
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--sizes', action='store_true')
    parser.add_argument('--show', type=int)
    parser.add_argument('--reduce', type=int)
    options = parser.parse_args()
    vitrine, base = os.path.abspath(options.vitrine), SIZES if options.sizes else 0
    if options.show is not None:
        print(text_of([base + options.show]), end='')
        return 0
    if options.reduce is not None:
        text, what = reduced(vitrine, base + options.reduce)
        print(text[len(capture_grammar.PREAMBLE):], f'# {what}', sep='')
        return 0
    seeds = range(base + options.first, base + options.first + options.count)
    batches = [list(seeds[i:i + options.batch]) for i in range(0, len(seeds), options.batch)]
    differing = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for found in pool.map(lambda batch: check_batch(vitrine, batch), batches):
            for seed, what in found:
                differing += 1
                print(f'program {seed - base}: {what}', flush=True)
    print(f'{len(seeds) - differing} of {len(seeds)} programs print the same with torch.compile and without')
    return 1 if differing else 0


if __name__ == '__main__':
    sys.exit(main())
