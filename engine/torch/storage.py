"""torch.UntypedStorage: the memory behind a tensor, as far as programs ask about it."""


class UntypedStorage:
    def __init__(self, address, count, device):
        self._address = address
        self._count = count
        self.device = device

    def data_ptr(self):
        return self._address

    def nbytes(self):
        return self._count

    def size(self):
        return self._count

    def __len__(self):
        return self._count

    def __eq__(self, other):
        return isinstance(other, UntypedStorage) and self._address == other._address and self._count == other._count

    def __hash__(self):
        return hash(self._address)
