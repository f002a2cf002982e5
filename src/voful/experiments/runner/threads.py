"""One thread a run.

As many runs as cores already keep them busy, and sums do not depend on how many threads shared
them. NumPy's libraries read the environment when they are loaded.
"""

ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
