"""A study with a failpoint: ``play_study.py kill|interrupt|calm STUDY OUT N``.

kill: dies at event N of the store, runs being played in this process. interrupt: `voful run`, with
Ctrl-C at event N of runner and store. Prints how many events there were.
"""

from __future__ import annotations

import sys

from faults.failpoints import at_call, die, interrupt

PLACES = ("voful/experiments/store", "voful/experiments/runner", "voful/atomic")


def main(how: str, study: str, out: str, n: int) -> None:
    """See above."""
    from inline import inline

    from voful.experiments.runner import runner
    from voful.experiments.store import store
    from voful.experiments.study.study import read_study

    store.PACK_AT = 5  # so that packing happens too
    setattr(runner, "PACK_AT", 5)  # noqa: B010
    happens = interrupt if how == "interrupt" else die
    if how == "interrupt":
        sys.argv = ["voful", "run", study, "--out", out, "--workers", "1"]
        from voful.cli import main as command

        with at_call(n, PLACES, happens) as seen:
            try:
                command()
            finally:
                print(f"events: {seen[0]}", flush=True)
        return
    declared = read_study(study)
    with inline(), at_call(0 if how == "calm" else n, PLACES, happens) as seen:
        runner.run_study(declared, out)
    print(f"events: {seen[0]}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
