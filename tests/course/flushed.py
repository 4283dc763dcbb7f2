"""A stream for tests of long scripts, whose lines are to be seen before the script ends."""

import io


class Flushed(io.StringIO):
    """What was flushed is shown: a pipe shows nothing else until the script ends."""

    shown = ""

    def flush(self):
        super().flush()
        self.shown = self.getvalue()
