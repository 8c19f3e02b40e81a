"""`python -m mousehole`."""

from mousehole.commands.launcher import main

main()
