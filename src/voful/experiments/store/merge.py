"""Two directories of one study become one."""

from __future__ import annotations

from pathlib import Path

from voful.experiments.store.store import Store


def merge_results(target: str | Path, source: str | Path) -> int:
    """Add the runs stored in `source` to `target`; the number of runs that were new.

    ValueError where the two declare one run in two ways: then nothing is changed.
    """
    ours, theirs = Store(target), Store(source)
    manifest = theirs.manifest()
    with ours.locked():
        if ours.has_manifest():
            try:
                manifest = ours.manifest().merged(manifest)
            except ValueError as error:
                raise ValueError(f"{target} and {source} do not merge: {error}") from None
        added = ours.take_over(theirs)
        ours.write_manifest(manifest)
        ours.pack()
    return added
