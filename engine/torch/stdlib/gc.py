"""gc: the sweep of cycles runs at the prompt; a program can ask but not steer."""


def collect(generation=2):
    return 0


def enable():
    pass


def disable():
    pass


def isenabled():
    return True
