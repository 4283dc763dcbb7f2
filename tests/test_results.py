"""Every result can be pickled and copied, and reads the same afterwards."""

import copy
import pickle

import pytest
import torch

from stridekit import (
    Layout,
    LayoutError,
    Undecided,
    audit,
    compare,
    diagnose,
    explain,
    explain_view,
    measure,
    memset,
    relation,
    traffic,
)
from stridekit.cost.bandwidth import bandwidth
from stridekit.cost.refetch import CacheSets
from stridekit.cost.warp import warp_sectors
from stridekit.lessons.attention import matmul_copies
from stridekit.lessons.claims import claim
from stridekit.lessons.gpu import published
from stridekit.lessons.selfcheck import self_check
from stridekit.timing import TimingError, TooShort, hierarchy

X = torch.arange(24.0).view(4, 6).t()
AB = {"a": int, "b": int}
QUICK = {"rounds": 3, "progress": False}
RESULTS = {
    "Layout": lambda: Layout.of(X),
    "MemorySet": lambda: memset(X),
    "Explanation": lambda: explain(X),
    "view": lambda: explain_view(X, 24),
    "diagnosis": lambda: diagnose("shape '[5, -1]' is invalid for input of size 24"),
    "Relation": lambda: relation(X, X[1:]),
    "Traffic": lambda: traffic(reads=Layout.of(X)),
    "CacheSets": lambda: CacheSets(64, 8),
    "WarpSectors": lambda: warp_sectors(X),
    "Bandwidth": lambda: bandwidth(3 * 4096, repetitions=2),
    "Measurement": lambda: measure(int, min_run_time=1e-4),
    "Comparison": lambda: compare(AB, **QUICK),
    "Ratio": lambda: compare(AB, **QUICK).ratios["b"],
    "Hierarchy": hierarchy,
    "Clones": lambda: matmul_copies(X, X.t()),
    "Claim": lambda: claim(AB, 1, rounds=3),
    "GpuResults": published,
    "SelfCheck": self_check,
    "Audit": lambda: audit(lambda x: x.reshape(24) + 1, X),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_pickles_and_copies(name):
    result = RESULTS[name]()
    for again in (pickle.loads(pickle.dumps(result)), copy.copy(result), copy.deepcopy(result)):
        assert type(again) is type(result) and repr(again) == repr(result)
        assert again == result or name in ("Bandwidth", "Measurement", "Comparison", "Claim")


@pytest.mark.parametrize(
    "error", [LayoutError("no"), Undecided("no"), TimingError("no"), TooShort("no")]
)
def test_an_error_pickles(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and str(again) == "no"
