"""`python -m mousehole`."""

from mousehole.cli import main

main()
