"""Evaluation from logs: widths, speed, memory, and the Open Bandit data.

python benchmarks/evaluation.py widths [--peers DIR]   widths over the Gaussian one's, n = 10^4
python benchmarks/evaluation.py coverage [--runs 500]  ever missed, in the worlds of the tests
python benchmarks/evaluation.py speed                  CPU time for 10^6 rows
python benchmarks/evaluation.py memory                 peak memory for a Parquet file of 10^7 rows
python benchmarks/evaluation.py obd [--wheel FILE] [--figure FILE]  random -> bts; pip gets obp

--peers DIR: where ``pip install --no-deps --target DIR vw-estimators==0.2.2`` has put it.
"""

from __future__ import annotations

import argparse
import importlib
import io
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure

import voful
from voful.typing import FloatArray

FIRST_SEED = 41_000


def gaussian(w: FloatArray, y: FloatArray) -> tuple[float, float]:
    """IPS with 1.96 standard errors: true at one time, if at all."""
    z = w * y
    half = 1.96 * float(z.std()) / np.sqrt(len(z))
    return float(z.mean() - half), float(z.mean() + half)


def bernstein(w: FloatArray, y: FloatArray, w_max: float) -> tuple[float, float]:
    """Maurer and Pontil's empirical Bernstein bound for w y in [0, w_max], at one time."""
    z, n, price = w * y / w_max, len(y), np.log(4 / 0.05)
    half = np.sqrt(2 * float(z.var(ddof=1)) * price / n) + 7 * price / (3 * (n - 1))
    return w_max * float(z.mean() - half), w_max * float(z.mean() + half)


def of_peer(module: Any, w: FloatArray, y: FloatArray, w_max: float) -> tuple[float, float]:
    """An interval of vw-estimators: its own `add_example` and `get`."""
    known = {"wmax": max(w_max, 1.000001)} if "cressie" in module.__name__ else {}
    interval = module.Interval(**known)
    for weight, reward in zip(w, y, strict=True):
        interval.add_example(1.0, float(reward), float(weight))
    low, high = interval.get(0.05)
    return float(low), float(high)


def widths(peers: Path | None) -> None:
    """A target that plays one arm of w_max; the logger is uniform over w_max arms."""
    modules = []
    if peers is not None:
        sys.path.insert(0, str(peers))
        modules = [
            importlib.import_module(f"estimators.bandits.{m}") for m in ("cs", "cressieread")
        ]
    n, seeds = 10_000, 5
    names = [module.__name__.rpartition(".")[2] for module in modules]
    print("| w_max | mean | snips | horizon | dr | ips | Bernstein |", *(f"{x} |" for x in names))
    print("|---|---|---|---|---|---|---|" + "---|" * len(names))
    for w_max in (1, 2, 5, 10, 20, 40, 80):
        for mean in (0.05, 0.5):
            ratios: list[list[float]] = []
            for seed in range(seeds):
                rng = np.random.default_rng([FIRST_SEED, w_max, int(100 * mean), seed])
                a = rng.integers(0, w_max, n)
                y = (rng.random(n) < mean).astype(float)
                h = np.full((n, w_max), 1.0 / w_max)
                pi = np.zeros((n, w_max))
                pi[:, 0] = 1.0
                log = voful.Log(a, y, h, arms=np.eye(w_max))
                w = w_max * (a == 0.0)
                ours = [
                    voful.evaluate(log, pi, checkpoints=[n], **how)
                    for how in ({}, {"horizon": n}, {"estimator": "dr"}, {"estimator": "ips"})
                ]
                ends = [(one.lower, one.upper) for one in ours]
                ends.append(bernstein(w, y, w_max))
                ends += [of_peer(module, w, y, w_max) for module in modules]
                low, high = gaussian(w, y)
                ratios.append([(b - a) / (high - low) for a, b in ends])
            cells = np.mean(ratios, axis=0)
            print(f"| {w_max} | {mean} |", " | ".join(f"{ratio:.2f}" for ratio in cells), "|")


def coverage(runs: int) -> None:
    """The worlds of tests/statistical/test_evaluation.py, on other seeds."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    suite: Any = importlib.import_module("statistical.test_evaluation")
    print("| world |", " | ".join(suite.HOW), "|")
    print("|---|" + "---|" * len(suite.HOW))
    for world in ("fixed", "drift", "learning", "low noise", "missing", "rare"):
        logs = suite.simulate(world, runs, FIRST_SEED)
        rates = [
            np.mean([suite.missed(logs, run, kind) for run in range(runs)]) for kind in suite.HOW
        ]
        print(f"| {world} |", " | ".join(f"{rate:.3f}" for rate in rates), "|", flush=True)


def speed() -> None:
    """CPU time besides reading, of 10^6 rows (dr: 2 10^5 rows, 10 arms, 10 features)."""
    rng, n = np.random.default_rng(FIRST_SEED), 10**6
    h = rng.uniform(0.05, 1.0, n)
    chosen = rng.uniform(0.0, 1.0, n) * h
    log = voful.Log(rng.integers(0, 10, n), rng.random(n), h)
    for estimator in ("ips", "snips"):
        voful.evaluate(log[:1000], chosen[:1000], estimator=estimator, min_propensity=0.05)
        start = process_time()
        voful.evaluate(log, chosen, estimator=estimator, min_propensity=0.05)
        print(f"{estimator}: {process_time() - start:.2f} s for 10^6 rows")
    n = 200_000
    laws = rng.dirichlet(np.ones(10), (2, n))
    laws = 0.9 * laws + 0.01
    arms = rng.standard_normal((n, 10, 10))
    played = (laws[0].cumsum(axis=1) > rng.random(n)[:, None]).argmax(axis=1)
    full = voful.Log(played, rng.random(n), laws[0], arms=arms)
    voful.evaluate(full[:1000], laws[1][:1000], estimator="dr")
    start = process_time()
    voful.evaluate(full, laws[1], estimator="dr")
    print(f"dr: {(process_time() - start) / n * 1e6:.2f} µs a row, 10 arms of 10 features")


def memory() -> None:
    """A file of 10^7 rows, read by a process of its own."""
    with tempfile.TemporaryDirectory() as room:
        path, rng = Path(room) / "log.parquet", np.random.default_rng(0)
        n = 10**7
        columns = {
            "action": rng.integers(0, 10, n),
            "reward": rng.integers(0, 2, n),
            "propensity": rng.uniform(0.05, 1.0, n),
        }
        frame = pl.DataFrame(columns).with_columns(target=pl.col("propensity") * 0.5)
        frame.write_parquet(path, row_group_size=1 << 17)
        code = (
            "import time, voful\n"
            "from pathlib import Path\n"
            f"found = voful.evaluate({str(path)!r}, 'target', min_propensity=0.05)\n"
            "lines = Path('/proc/self/status').read_text().splitlines()\n"
            "peak = next(line.split()[1] for line in lines if line.startswith('VmHWM'))\n"
            "print(found.n, 'rows,', int(peak) // 1024, 'MB,', time.process_time(), 's of CPU')"
        )
        subprocess.run([sys.executable, "-c", code], check=True)


# --- Open Bandit data ---------------------------------------------------------------------------


def fetch_wheel(folder: str) -> Path:
    """obp's wheel, which holds a sample of the data."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "obp==0.4.1"]
    subprocess.run([*command, "--dest", folder], check=True)
    return next(Path(folder).glob("obp-*.whl"))


def beta_prior(text: str, campaign: str) -> FloatArray:
    """(items, 2): alpha and beta of Thompson sampling, as the wheel has them."""
    found: dict[str, list[float]] = {}
    inside, name = False, ""
    for line in text.splitlines():
        if line and not line.startswith(" "):
            inside = line.startswith(f"{campaign}:")
        elif inside and line.strip().endswith(":"):
            name = line.strip(" :")
            found[name] = []
        elif inside and line.strip():
            found[name].append(float(line.strip(" -")))
    return np.array([found["alpha"], found["beta"]]).T


def shares_of_positions(prior: FloatArray, draws: int = 100_000) -> FloatArray:
    """(items, 3): how probable Thompson sampling puts each item at each of three positions."""
    rng, n = np.random.default_rng(FIRST_SEED), len(prior)
    counts = np.zeros((n, 3))
    for _ in range(draws // 1000):
        samples = rng.beta(prior[:, 0], prior[:, 1], (1000, n))
        top = np.argsort(-samples, axis=1)[:, :3]
        for place in range(3):
            counts[:, place] += np.bincount(top[:, place], minlength=n)
    return counts / draws


def open_bandit(wheel: Path, figure: Path | None) -> None:
    """Random -> bts by its static prior, positions pooled."""
    canvas = Figure(figsize=(9.0, 2.8), layout="constrained")
    panels = iter(canvas.subplots(1, 3, sharey=True))
    print("| campaign | bts clicks | snips | worth rows | Gaussian |\n|---|---|---|---|---|")
    with zipfile.ZipFile(wheel) as archive:
        prior = archive.read("obp/policy/conf/prior_bts.yaml").decode()
        for campaign in ("all", "men", "women"):
            logs = {
                name: pl.read_csv(
                    io.BytesIO(archive.read(f"obp/dataset/obd/{name}/{campaign}/{campaign}.csv"))
                ).sort("timestamp")
                for name in ("random", "bts")
            }
            random = logs["random"]
            places = random["position"].to_numpy() - 1
            items = random["item_id"].to_numpy()
            shares = shares_of_positions(beta_prior(prior, campaign))
            uniform = np.full((len(items), len(shares)), 1.0 / len(shares))
            log = voful.Log(items, random["click"].to_numpy(), uniform)
            found = voful.evaluate(log, shares.T[places])
            low, high = gaussian(shares[items, places] / log.propensities, log.rewards)
            truth = float(np.mean(logs["bts"]["click"].to_numpy()))
            ours = f"[{found.lower:.4f}, {found.upper:.4f}]"
            row = campaign, f"{truth:.4f}", ours, f"{found.effective_n:.0f}"
            print("|", " | ".join(row), f"| [{low:.4f}, {high:.4f}] |")
            ax = found.plot(next(panels))
            ax.axhline(truth, color="0.3", lw=1.0, ls="--")
            ax.set(title=campaign, xlim=(100, found.n), ylim=(0.0, 0.1), ylabel="")
    canvas.axes[0].set_ylabel("clicks a decision")
    if figure is not None:
        canvas.savefig(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["widths", "coverage", "speed", "memory", "obd"])
    parser.add_argument("--peers", type=Path)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--wheel", type=Path)
    parser.add_argument("--figure", type=Path)
    given = parser.parse_args()
    if given.what == "widths":
        widths(given.peers)
    elif given.what == "coverage":
        coverage(given.runs)
    elif given.what == "obd":
        with tempfile.TemporaryDirectory() as folder:
            open_bandit(given.wheel or fetch_wheel(folder), given.figure)
    else:
        {"speed": speed, "memory": memory}[given.what]()


if __name__ == "__main__":
    main()
