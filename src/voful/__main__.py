"""The command ``voful``, also as ``python -m voful``."""

import os

from voful.experiments.runner.threads import ONE_THREAD


def main() -> None:
    """Set the number of threads while NumPy is not loaded yet, and go on to the command line."""
    os.environ.update(ONE_THREAD)
    from voful.cli import main

    main()


if __name__ == "__main__":
    main()
