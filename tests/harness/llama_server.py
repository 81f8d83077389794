"""A llama.cpp server on loopback for tests: run as a program with the path of a model; ends when its standard input does.

Prints its address. One thread, and always the likeliest word, so that a run can be repeated.
"""

from __future__ import annotations

import sys

CONTEXT = 2048


def main(model: str) -> None:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = model
    params.n_ctx = CONTEXT
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.sampling.temp = 0.0
    params.warmup = False
    params.port = 0
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1])
