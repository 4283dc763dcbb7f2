"""`python -m stridekit.export`: write notebooks as pages."""

from stridekit.export.site import main

main()
