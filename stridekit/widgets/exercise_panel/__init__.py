"""ExercisePanel: what an exercise says, with buttons for a check, for hints and for the solution."""

from stridekit.widgets.exercise_panel.widget import ExercisePanel

__all__ = ["ExercisePanel"]
