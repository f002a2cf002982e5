"""`python -m voful` is the command line."""

from voful.cli import main

main()
