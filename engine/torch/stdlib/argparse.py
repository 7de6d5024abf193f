"""argparse: positional arguments and options with defaults, types, choices, nargs; enough for the head of a training script."""
import sys

SUPPRESS = "==SUPPRESS=="
REMAINDER = "..."


class ArgumentError(Exception):
    pass


class ArgumentTypeError(Exception):
    pass


class Namespace:
    def __init__(self, **names):
        self.__dict__.update(names)

    def __repr__(self):
        return "Namespace(" + ", ".join(f"{k}={v!r}" for k, v in self.__dict__.items()) + ")"

    def __eq__(self, other):
        return self.__dict__ == other.__dict__ if isinstance(other, Namespace) else NotImplemented

    def __contains__(self, name):
        return name in self.__dict__


class HelpFormatter:
    pass


class ArgumentDefaultsHelpFormatter(HelpFormatter):
    pass


class RawDescriptionHelpFormatter(HelpFormatter):
    pass


class BooleanOptionalAction:
    pass


class _Argument:
    def __init__(self, names, action="store", nargs=None, const=None, default=None, type=None, choices=None, required=False, help=None, metavar=None, dest=None, version=None):
        self.names = names
        self.optional = names[0].startswith("-")
        self.action = action
        self.nargs = nargs
        self.type = type
        self.choices = choices
        self.required = required
        self.help = help
        self.const = const
        if action == "store_true":
            default, self.const = False if default is None else default, True
        elif action == "store_false":
            default, self.const = True if default is None else default, False
        self.default = default
        long = [n for n in names if n.startswith("--")]
        self.dest = dest or (long[0] if long else names[0]).lstrip("-").replace("-", "_") if self.optional else dest or names[0]
        self.label = "/".join(names)

    def takes_value(self):
        return self.action in ("store", "append", "extend")

    def convert(self, text):
        value = text
        if self.type is not None:
            try:
                value = self.type(text)
            except (TypeError, ValueError):
                raise ArgumentError(f"argument {self.label}: invalid {getattr(self.type, '__name__', 'value')} value: {text!r}")
        if self.choices is not None and value not in self.choices:
            raise ArgumentError(f"argument {self.label}: invalid choice: {value!r} (choose from {', '.join(repr(c) for c in self.choices)})")
        return value


class _Group:
    def __init__(self, parser):
        self._parser = parser

    def add_argument(self, *names, **options):
        return self._parser.add_argument(*names, **options)


class ArgumentParser:
    def __init__(self, prog=None, usage=None, description=None, epilog=None, formatter_class=None, add_help=True, allow_abbrev=True, **options):
        self.prog = prog or (sys.argv[0].rsplit("/", 1)[-1] if sys.argv and sys.argv[0] else "program")
        self.description = description
        self._arguments = []
        self._defaults = {}

    def add_argument(self, *names, **options):
        action = options.get("action")
        if action is BooleanOptionalAction:
            options["action"] = "store_true"
            long = names[0].lstrip("-")
            argument = _Argument(names, **options)
            self._arguments.append(argument)
            negative = dict(options, action="store_false", default=argument.default, dest=argument.dest)
            self._arguments.append(_Argument(("--no-" + long,), **negative))
            return argument
        argument = _Argument(names, **options)
        self._arguments.append(argument)
        return argument

    def add_argument_group(self, *args, **options):
        return _Group(self)

    def add_mutually_exclusive_group(self, **options):
        return _Group(self)

    def set_defaults(self, **defaults):
        self._defaults.update(defaults)

    def get_default(self, dest):
        return self._defaults.get(dest, next((a.default for a in self._arguments if a.dest == dest), None))

    def format_usage(self):
        parts = [a.dest if not a.optional else f"[{a.names[0]}{' ' + a.dest.upper() if a.takes_value() else ''}]" for a in self._arguments]
        return f"usage: {self.prog} {' '.join(['[-h]'] + parts)}\n"

    def format_help(self):
        lines = [self.format_usage()]
        if self.description:
            lines.append(f"\n{self.description}\n")
        for a in self._arguments:
            lines.append(f"  {', '.join(a.names):<22}{a.help or ''}\n")
        return "".join(lines)

    def print_help(self, file=None):
        print(self.format_help(), end="", file=file)

    def error(self, message):
        print(self.format_usage(), end="", file=sys.stderr)
        print(f"{self.prog}: error: {message}", file=sys.stderr)
        sys.exit(2)

    def _find(self, name):
        for a in self._arguments:
            if a.optional and name in a.names:
                return a
        begins = [a for a in self._arguments if a.optional and name.startswith("--") and any(n.startswith(name) for n in a.names)]
        if len(begins) > 1:
            raise ArgumentError(f"ambiguous option: {name} could match {', '.join(n for a in begins for n in a.names)}")
        return begins[0] if begins else None

    def _is_option(self, word):
        if not word.startswith("-") or word == "-":
            return False
        try:
            float(word)
            return False
        except ValueError:
            return True

    def _values(self, argument, words, inline):
        if inline is not None:
            return [inline]
        taken = []
        limit = argument.nargs if isinstance(argument.nargs, int) else {None: 1, "?": 1}.get(argument.nargs, len(words))
        while words and len(taken) < limit and not self._is_option(words[0]):
            taken.append(words.pop(0))
        least = argument.nargs if isinstance(argument.nargs, int) else {None: 1, "+": 1}.get(argument.nargs, 0)
        if len(taken) < least:
            raise ArgumentError(f"argument {argument.label}: expected {'one argument' if least == 1 and argument.nargs is None else f'{least} arguments' if isinstance(argument.nargs, int) else 'at least one argument'}")
        return taken

    def _store(self, space, argument, taken):
        values = [argument.convert(t) for t in taken]
        if argument.action == "append":
            space.__dict__[argument.dest] = (space.__dict__.get(argument.dest) or []) + [values if argument.nargs else values[0]]
        elif argument.nargs is None:
            space.__dict__[argument.dest] = values[0]
        elif argument.nargs == "?":
            space.__dict__[argument.dest] = values[0] if values else argument.const if argument.optional else argument.default
        else:
            space.__dict__[argument.dest] = values if values or argument.optional else argument.default or []

    def _option(self, space, word, words, extra):
        name, equals, inline = word.partition("=")
        argument = self._find(name)
        if argument is None and len(word) > 2 and word[1] != "-" and self._find(word[:2]):
            argument, inline, equals = self._find(word[:2]), word[2:], "="
        if argument is None:
            if name in ("-h", "--help"):
                self.print_help()
                sys.exit(0)
            extra.append(word)
            return None
        if argument.takes_value():
            self._store(space, argument, self._values(argument, words, inline if equals else None))
        elif argument.action == "count":
            space.__dict__[argument.dest] = (space.__dict__.get(argument.dest) or 0) + 1
        else:
            space.__dict__[argument.dest] = argument.const
        return argument

    def _parse(self, words, space):
        extra, seen = [], []
        waiting = [a for a in self._arguments if not a.optional]
        while words:
            if self._is_option(words[0]):
                seen.append(self._option(space, words.pop(0), words, extra))
            elif waiting:
                argument = waiting.pop(0)
                self._store(space, argument, self._values(argument, words, None))
            else:
                extra.append(words.pop(0))
        missing = [a.dest for a in waiting if a.nargs not in ("?", "*")]
        missing += [a.label for a in self._arguments if a.optional and a.required and a not in seen]
        if missing:
            raise ArgumentError("the following arguments are required: " + ", ".join(missing))
        return extra

    def parse_known_args(self, args=None, namespace=None):
        space = namespace or Namespace()
        for a in self._arguments:
            default = self._defaults.get(a.dest, a.default)
            if default != SUPPRESS and a.dest not in space.__dict__:
                space.__dict__[a.dest] = a.convert(default) if isinstance(default, str) and a.type is not None else default
        for name, value in self._defaults.items():
            space.__dict__.setdefault(name, value)
        try:
            extra = self._parse(list(sys.argv[1:] if args is None else args), space)
        except ArgumentError as error:
            self.error(str(error))
        return space, extra

    def parse_args(self, args=None, namespace=None):
        space, extra = self.parse_known_args(args, namespace)
        if extra:
            self.error("unrecognized arguments: " + " ".join(extra))
        return space
