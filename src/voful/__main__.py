"""The command ``voful``, also as ``python -m voful``."""

import os
import sys

from voful import __version__
from voful.experiments.runner.threads import ONE_THREAD


def main() -> None:
    """Set the number of threads while NumPy is not loaded yet, and go on to the command line."""
    if sys.argv[1:] == ["--version"]:  # not worth importing anything
        print(__version__)
        return
    os.environ.update(ONE_THREAD)
    from voful.cli import main

    main()


if __name__ == "__main__":
    main()
