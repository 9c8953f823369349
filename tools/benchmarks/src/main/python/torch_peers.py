# SPDX-License-Identifier: Apache-2.0
"""How Python programs bring arrays to a GPU: takes the orders of PeerProcess, one a line.

run load_file FILE    safetensors.torch.load_file
run numpy FILE        numpy.load, and a copy of the array

With arguments, as "load_file FILE", it does that once and reports it as StartContender expects it.
"""
import os
import resource
import sys
import time

import numpy
import torch
from safetensors.torch import load_file


def cpu_nanos():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return int((used.ru_utime + used.ru_stime) * 1e9)


def load(variant, file):
    if variant == "load_file":
        return list(load_file(file, device="cuda:0").values())
    return [torch.from_numpy(numpy.load(file)).to("cuda:0")]


if len(sys.argv) > 1:
    arrays = load(*sys.argv[1:])
    torch.cuda.synchronize()
    print("first byte:", len(arrays), "arrays", flush=True)
    sys.stdout.close()
    os._exit(0)  # the time to unload libraries does not count

torch.zeros(1, device="cuda:0")  # creates the context
for line in sys.stdin:
    _, variant, file = line.split()
    cpu, begin = cpu_nanos(), time.perf_counter_ns()
    arrays = load(variant, file)
    torch.cuda.synchronize()
    nanos, cpu = time.perf_counter_ns() - begin, cpu_nanos() - cpu
    moved = sum(array.numel() * array.element_size() for array in arrays)
    del arrays  # its memory stays with torch, which uses it for the next ones
    print("ok", moved, nanos, cpu, 0, flush=True)
