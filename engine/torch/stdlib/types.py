"""types: names of types, SimpleNamespace, MethodType."""
import math


def _generator():
    yield


FunctionType = LambdaType = type(_generator)
GeneratorType = type(_generator())
BuiltinFunctionType = BuiltinMethodType = type(len)
CodeType = type(_generator.__code__)
NoneType = type(None)
EllipsisType = type(Ellipsis)
NotImplementedType = type(NotImplemented)
ModuleType = type(math)


class _Holder:
    def method(self):
        pass


MethodType = type(_Holder().method)


class SimpleNamespace:
    def __init__(self, /, **names):
        self.__dict__.update(names)

    def __repr__(self):
        return "namespace(" + ", ".join(f"{k}={v!r}" for k, v in self.__dict__.items()) + ")"

    def __eq__(self, other):
        return self.__dict__ == other.__dict__ if isinstance(other, SimpleNamespace) else NotImplemented


class MappingProxyType(dict):
    pass
