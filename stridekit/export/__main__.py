"""`python -m stridekit.export`: write notebooks as pages."""

import sys

from stridekit.export.pages import main

sys.exit(main())
