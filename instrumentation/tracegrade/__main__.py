"""`python -m tracegrade`: the command, where its own folder is not on the path."""

from tracegrade.cli import main

if __name__ == "__main__":
    main()
