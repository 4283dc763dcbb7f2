"""Predict: a question to commit to before the answer shows."""

from stridekit.widgets.predict.widget import Predict

__all__ = ["Predict"]
