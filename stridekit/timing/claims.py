"""claim(…): a prediction, tested and shown beside the measurement.

The outputs of a tested notebook must not change from run to run, and measured times always do. So a claim
puts into words only the prediction, and the verdicts of ratios so far from 1 that every run agrees on
them; the measured numbers are in the picture.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from stridekit._arguments import a_kind, items_of, shown
from stridekit._table import columns
from stridekit.timing.clocks import TimingError
from stridekit.timing.comparing import compare
from stridekit.timing.comparison import Comparison, Ratio

JUDGED = 3  # comparisons, before one may contradict a sure verdict
SECONDS = 0.25


@dataclass(frozen=True, repr=False)
class Claim:
    """The result of `claim`: ratios to the baseline, predicted and measured, and the verdicts told.

    `baseline` names what all is compared with; `predicted` and `measured` map each name to its ratio.
    `sure` maps the names whose verdict is told to that verdict; `expected` to the one that was claimed.
    `comparisons` have the samples, in seconds.

    >>> Claim("rows", {"columns": 16.0}, {"columns": Ratio(9.1, 8.8, 9.4)}, {"columns": "slower"}, ())
    predicted, as multiples of “rows”
      columns  16      measured: slower
    """

    baseline: str
    predicted: Mapping[str, float]
    measured: Mapping[str, Ratio]
    expected: Mapping[str, str]
    comparisons: tuple[Comparison, ...]

    @property
    def sure(self) -> dict[str, str]:
        """For each name with a claimed verdict, the verdict that was measured."""
        return {name: self.measured[name].verdict for name in self.expected}

    @property
    def noise(self) -> tuple[str, ...]:
        """One sentence for each sign of noise in the samples; empty on a quiet machine."""
        return tuple(sentence for one in self.comparisons for sentence in one.noise)

    @property
    def holds(self) -> bool:
        """True unless a claimed verdict is contradicted; a noisy machine contradicts none."""
        return not _contradicted(self.measured, self.expected) or bool(self.noise)

    def plot(self, ax: Any = None) -> Any:
        """Draw what was predicted and what was measured. Returns the Axes."""
        from stridekit.plots import draw_claim

        return draw_claim(self.baseline, self.predicted, self.measured, ax, verdicts=self.sure)

    def __repr__(self) -> str:
        verdicts = {name: f"measured: {verdict}" for name, verdict in self.sure.items()}
        rows = [
            (name, f"{ratio:<6.3g}  {verdicts.get(name, '')}")
            for name, ratio in self.predicted.items()
        ]
        return "\n".join([f"predicted, as multiples of “{self.baseline}”", *columns(rows)])

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        from stridekit.plots import measured_output

        return measured_output(self.plot(), repr(self))


def claim(
    functions: Mapping[str, Any],
    predicted: Mapping[str, Any] | float,
    *,
    slower: Iterable[str] = (),
    faster: Iterable[str] = (),
    baseline: str = "",
    **options: Any,
) -> Claim:
    """Measure functions, and show their ratios beside the predicted ones.

    `functions` maps names to functions, the first of which is the baseline; or names to pairs of
    functions, each compared by itself, and `baseline` names the first of each pair. `predicted` has a
    number for each name (bytes, lines, or what `traffic` returned) that is divided by the first; for
    pairs, the ratio of each. One number stands for all names.

    `slower` and `faster` name what is claimed for sure: ratios of 2.5 and more. Their verdicts are
    told in words. A comparison that contradicts one is made JUDGED times before it may say so. `options`
    are those of `compare`; as a lesson has many claims, each is shorter, and without a progress bar.

    Raises TimingError for names that do not fit together, and what `compare` refuses.

    >>> import torch
    >>> x = torch.ones(500, 500)
    >>> claim(
    ...     {"once": lambda: x.sum(1), "8 times": lambda: [x.sum(1) for _ in range(8)]},
    ...     predicted={"once": 1, "8 times": 8},
    ...     slower=["8 times"],
    ... )
    predicted, as multiples of “once”
      8 times  8       measured: slower
    """
    if not isinstance(functions, Mapping):
        raise TimingError(f"functions is {a_kind(functions)}: give a dict of names and functions")
    _require_numbers(predicted)
    slower, faster = _names("slower", slower), _names("faster", faster)
    if not isinstance(baseline, str):
        raise TimingError(f"baseline is {shown(baseline)}: give the name of what is compared with")
    options = {"max_seconds": SECONDS, "progress": False, **options}
    pairs = len(functions) > 0 and all(isinstance(value, tuple) for value in functions.values())
    names = list(functions) if pairs else list(functions)[1:]
    first = baseline if pairs else next(iter(functions), "")
    ratios = _ratios(predicted, names if pairs else list(functions), pairs)
    expected = {**dict.fromkeys(slower, "slower"), **dict.fromkeys(faster, "faster")}
    if strangers := set(expected) - set(names):
        raise TimingError(
            f"{', '.join(sorted(strangers))}: not among {', '.join(names)}, which are compared"
        )
    groups = [functions]
    if pairs:
        groups = [{"baseline": pair[0], name: pair[1]} for name, pair in functions.items()]
    measured, comparisons = _measured(groups, options)
    for _ in range(1, JUDGED):
        wrong = _contradicted(measured, expected)
        if not wrong:
            break
        again = _measured(groups, options)
        if len(_contradicted(again[0], expected)) <= len(wrong):
            measured, comparisons = again
    return Claim(first, ratios, measured, expected, comparisons)


def _require_numbers(predicted: Any) -> None:
    many = isinstance(predicted, Mapping)
    for name, value in predicted.items() if many else [("every name", predicted)]:
        number = getattr(value, "moved", value) if many else value
        if not isinstance(number, int | float) or not 0 <= number < 1e18:
            raise TimingError(f"predicted for {name} is {shown(value)}: give a number, 0 or more")


def _names(option: str, names: Any) -> tuple[str, ...]:
    found = items_of(names)
    if found is None or not all(isinstance(name, str) for name in found):
        raise TimingError(f"{option} is {shown(names)}: give a list of names")
    return found


def _ratios(
    predicted: Mapping[str, Any] | float, names: list[str], pairs: bool
) -> dict[str, float]:
    """The predicted ratio of each name, without the baseline's own."""
    if not isinstance(predicted, Mapping):
        return dict.fromkeys(names if pairs else names[1:], predicted)
    if list(predicted) != names:
        raise TimingError(
            f"predicted {', '.join(predicted)}, to measure {', '.join(names)}: give both the same "
            "names, in the same order"
        )
    values: dict[str, Any]
    values = {name: getattr(value, "moved", value) for name, value in predicted.items()}
    if pairs:
        return values
    if not names:
        return {}
    first, *rest = names
    if not values[first] > 0:
        raise TimingError(
            f"{first} is predicted to take {values[first]:g}: ratios need more than 0"
        )
    return {name: values[name] / values[first] for name in rest}


def _measured(
    groups: list[Mapping[str, Any]], options: dict[str, Any]
) -> tuple[dict[str, Ratio], tuple[Comparison, ...]]:
    """The ratios of all groups, each compared by itself."""
    comparisons = tuple(compare(group, **options) for group in groups)
    return {name: ratio for one in comparisons for name, ratio in one.ratios.items()}, comparisons


def _contradicted(measured: Mapping[str, Ratio], expected: Mapping[str, str]) -> list[str]:
    """The names whose verdict is not the one that was claimed."""
    return [name for name, verdict in expected.items() if measured[name].verdict != verdict]
