"""CopyTracer: a run as a list of modules and lines, with its copies and what made them necessary."""
