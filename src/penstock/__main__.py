"""``python -m penstock`` is ``penstock``."""

from penstock.command.main import main

if __name__ == "__main__":
    main()
