"""Predict: a question that you answer before the right answer is shown."""
