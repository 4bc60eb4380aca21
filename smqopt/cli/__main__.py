"""`python -m smqopt.cli`."""

from smqopt.cli._entry import main

if __name__ == "__main__":
    main()
