"""`python -m smqopt`."""

from smqopt.cli import main

if __name__ == "__main__":
    main()
