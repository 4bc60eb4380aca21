"""`python -m smqopt.cli`."""

from smqopt.cli.entry import main

if __name__ == "__main__":
    main()
