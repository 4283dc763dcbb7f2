"""`python -m stridekit.export`: write notebooks as pages."""

import sys

from stridekit.export.site import main

sys.exit(main())
