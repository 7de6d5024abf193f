"""abc: abstract base classes, checked when an instance is made."""


def abstractmethod(function):
    function.__isabstractmethod__ = True
    return function


class ABCMeta:
    pass


def _is_abstract(attribute):
    if isinstance(attribute, property):
        attribute = attribute.fget
    return getattr(attribute, "__isabstractmethod__", False)


class ABC:
    def __abstractmethods__(cls):
        names = {}
        for base in reversed(cls.__mro__):
            for name, attribute in base.__dict__.items():
                if _is_abstract(attribute):
                    names[name] = True
                else:
                    names.pop(name, None)
        return sorted(names)


abstractproperty = property
