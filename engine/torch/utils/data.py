"""torch.utils.data: datasets, samplers and the loader that makes batches of them, in this process.

    for x, y in DataLoader(TensorDataset(xs, ys), batch_size=32, shuffle=True): …

Random numbers are drawn as PyTorch draws them: one seed for the loader, one for the sampler, from the default generator.
"""
import math
import torch


# ---- datasets ----

class Dataset:
    def __getitem__(self, index):
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other):
        return ConcatDataset([self, other])


class IterableDataset(Dataset):
    def __iter__(self):
        raise NotImplementedError("Subclasses of IterableDataset should implement __iter__.")


class TensorDataset(Dataset):
    """Sample i is the tuple of the i-th rows."""

    def __init__(self, *tensors):
        if any([tensors[0].shape[0] != tensor.shape[0] for tensor in tensors]):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index):
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self):
        return self.tensors[0].shape[0]


class Subset(Dataset):
    def __init__(self, dataset, indices):
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index):
        return self.dataset[self.indices[index]]

    def __len__(self):
        return len(self.indices)


class ConcatDataset(Dataset):
    def __init__(self, datasets):
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")

    def __len__(self):
        return sum([len(dataset) for dataset in self.datasets])

    def __getitem__(self, index):
        if index < 0:
            index += len(self)
        for dataset in self.datasets:
            if index < len(dataset):
                return dataset[index]
            index -= len(dataset)
        raise IndexError("index out of range")


def random_split(dataset, lengths, generator=None):
    lengths, total = list(lengths), len(dataset)
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        # Shares of the whole; what rounding leaves goes to the first ones.
        shares = [int(math.floor(total * share)) for share in lengths]
        for at in range(total - sum(shares)):
            shares[at % len(shares)] += 1
        lengths = shares
    if sum(lengths) != total:
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order, start, parts = torch.randperm(total, generator=generator).tolist(), 0, []
    for length in lengths:
        parts.append(Subset(dataset, order[start:start + length]))
        start += length
    return parts


# ---- samplers ----

def _draw_seed(generator=None):
    return int(torch.empty((), dtype=torch.int64).random_(generator=generator).item())


class Sampler:
    def __init__(self, data_source=None):
        self.data_source = data_source

    def __len__(self):
        return len(self.data_source)


class SequentialSampler(Sampler):
    def __iter__(self):
        return iter(range(len(self.data_source)))


class RandomSampler(Sampler):
    def __init__(self, data_source, replacement=False, num_samples=None, generator=None):
        super().__init__(data_source)
        self.replacement = replacement
        self.num_samples = len(data_source) if num_samples is None else num_samples
        self.generator = generator

    def __len__(self):
        return self.num_samples

    def __iter__(self):
        count, generator = len(self.data_source), self.generator
        if generator is None:
            generator = torch.Generator()
            generator.manual_seed(_draw_seed())
        left = self.num_samples
        while left > 0:
            taken = min(left, 32 if self.replacement else count)
            if self.replacement:
                indices = torch.randint(high=count, size=(taken,), dtype=torch.int64, generator=generator)
            else:
                indices = torch.randperm(count, generator=generator)[:taken]
            for index in indices.tolist():
                yield index
            left -= taken


class SubsetRandomSampler(Sampler):
    def __init__(self, indices, generator=None):
        self.indices = indices
        self.generator = generator

    def __len__(self):
        return len(self.indices)

    def __iter__(self):
        for at in torch.randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[at]


class WeightedRandomSampler(Sampler):
    def __init__(self, weights, num_samples, replacement=True, generator=None):
        self.weights = torch.as_tensor(weights, dtype=torch.float64)
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __len__(self):
        return self.num_samples

    def __iter__(self):
        return iter(torch.multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator).tolist())


class BatchSampler(Sampler):
    def __init__(self, sampler, batch_size, drop_last):
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __len__(self):
        count = len(self.sampler)
        return count // self.batch_size if self.drop_last else (count + self.batch_size - 1) // self.batch_size

    def __iter__(self):
        batch = []
        for index in self.sampler:
            batch.append(index)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch


# ---- the loader ----

def default_collate(batch):
    """Samples as one: tensors are stacked, numbers become tensors, tuples and dicts are collated item by item."""
    first = batch[0]
    if isinstance(first, torch.Tensor):
        return torch.stack(batch, 0)
    if isinstance(first, float):
        return torch.tensor(batch, dtype=torch.float64)
    if isinstance(first, int):
        return torch.tensor(batch)
    if isinstance(first, str):
        return batch
    if isinstance(first, dict):
        return {key: default_collate([sample[key] for sample in batch]) for key in first}
    if isinstance(first, (tuple, list)):
        return [default_collate(list(items)) for items in zip(*batch)]
    raise TypeError(f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {type(first)}")


class DataLoader:
    def __init__(self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0, collate_fn=None, pin_memory=False,
                 drop_last=False, timeout=0, worker_init_fn=None, multiprocessing_context=None, generator=None, *, prefetch_factor=None,
                 persistent_workers=False, pin_memory_device="", in_order=True):
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        self.dataset = dataset
        self.batch_size = batch_size
        self.num_workers = num_workers
        self.drop_last = drop_last
        self.generator = generator
        self.collate_fn = default_collate if collate_fn is None else collate_fn
        self._streams = isinstance(dataset, IterableDataset)
        if sampler is None and not self._streams:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        self.sampler = sampler
        if batch_sampler is None and batch_size is not None and not self._streams:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_sampler = batch_sampler

    def __len__(self):
        if self._streams:
            count = len(self.dataset)
            return count if self.batch_size is None else count // self.batch_size if self.drop_last else -(-count // self.batch_size)
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)

    def __iter__(self):
        # The seed of worker processes: drawn also when there are none.
        _draw_seed(self.generator)
        return self._batches_of_stream() if self._streams else self._batches()

    def _batches(self):
        if self.batch_sampler is None:
            for index in self.sampler:
                yield self.dataset[index]
        else:
            for indices in self.batch_sampler:
                yield self.collate_fn([self.dataset[index] for index in indices])

    def _batches_of_stream(self):
        batch = []
        for sample in self.dataset:
            if self.batch_size is None:
                yield sample
                continue
            batch.append(sample)
            if len(batch) == self.batch_size:
                yield self.collate_fn(batch)
                batch = []
        if batch and not self.drop_last:
            yield self.collate_fn(batch)
