"""`python -m anyjoint`."""

from anyjoint.cli import main

main()
