"""ReshapeStepper: when a reshape is free, walked step by step until it is a view or stops."""

from stridekit.widgets.reshape_stepper.widget import ReshapeStepper

__all__ = ["ReshapeStepper"]
