"""`python -m mousehole`."""

from mousehole.launcher import main

main()
