"""``python -m harmonium``."""

import sys

from harmonium.cli import main

sys.exit(main())
