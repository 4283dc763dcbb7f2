"""`python -m stridekit.export`: write notebooks as pages."""

from stridekit._extras import extra

with extra("export"):
    from stridekit.export.site import main

main()
