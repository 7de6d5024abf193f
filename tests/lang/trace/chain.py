def load(d, key):
    try:
        return d["outer"][key]
    except KeyError:
        raise ValueError(f"no key {key!r}")


def main():
    try:
        load({"outer": {}}, "inner")
    except ValueError as error:
        raise RuntimeError("failed") from error


main()
