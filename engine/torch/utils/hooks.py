"""Handles of registered hooks: what register_hook gives back, to take the hook off again."""


class RemovableHandle:
    """hooks is the list in which the hook stands."""

    def __init__(self, hooks, hook):
        self.hooks = hooks
        self.hook = hook

    def remove(self):
        for at in range(len(self.hooks)):
            if self.hooks[at] is self.hook:
                del self.hooks[at]
                return

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        self.remove()
