"""ReshapeStepper: the rule that decides if a reshape is free, walked step by step."""
