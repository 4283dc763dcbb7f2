"""Programs that run alone run under audit: operators that take functions, transforms, products."""

import itertools
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
import torch.utils.checkpoint
from torch._higher_order_ops.associative_scan import associative_scan
from torch._higher_order_ops.map import map as map_over
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from torch.utils._pytree import tree_leaves

import stridekit

pytestmark = pytest.mark.filterwarnings("default")  # dynamo takes a warning for a failure


def turned(x):
    return x.t().contiguous().sin()


def turned_cosine(x):
    return x.t().contiguous().cos()


def choice(x):
    return torch.cond(x.sum() > 0, turned, turned_cosine, (x,))


def nested_choice(x):
    return torch.cond(
        x.sum() > 0, lambda x: (choice(x), x * 2), lambda x: (turned(x) + 1, x * 3), (x,)
    )


def repeated(x):
    start = (torch.tensor(0), x)
    return while_loop(lambda k, y: k < 3, lambda k, y: (k + 1, turned(turned(y)) + k), start)


def sums(x):
    return scan(lambda carry, row: (carry + row, (carry * row).clone()), torch.zeros(4), x)


def rows(x):
    return map_over(lambda row: row.view(2, 2).t().contiguous(), x)


def attention(x):
    q = x.expand(1, 2, 3, 4)
    return flex_attention(q, q, q, score_mod=lambda score, b, h, i, j: score + (i - j))


def masked_attention(x):
    q = x.expand(1, 2, 3, 4)
    mask = create_block_mask(lambda b, h, i, j: i >= j, None, None, 3, 3, device="cpu")
    return flex_attention(q, q, q, block_mask=mask)


@torch.library.custom_op("stridekit_tests::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x.t().contiguous() * 2


@twice.register_fake
def fake_twice(x):
    return torch.empty_like(x.t(), memory_format=torch.contiguous_format)


twice.register_autograd(lambda ctx, grad: grad.t() * 2)


class Choice(torch.nn.Module):
    def forward(self, x):
        return choice(x)


def exported(x):
    return torch.export.export(Choice(), (x,)).module()


def checkpointed(x):
    return torch.utils.checkpoint.checkpoint(turned, x, use_reentrant=False)


def with_gradient(function):
    """Return a function that returns the outputs and the gradient of their sum."""

    def run(x):
        x = x.clone().requires_grad_()
        outputs = tree_leaves(function(x))
        return [*outputs, *torch.autograd.grad(sum(y.sum() for y in outputs), x)]

    return run


PROGRAMS = {
    # the program, and the bytes that it copies to change a layout
    "cond": (choice, 48),
    "cond, with its gradient": (with_gradient(choice), None),
    "a cond in a cond": (nested_choice, 48),
    "a cond in a cond, with its gradient": (with_gradient(nested_choice), None),
    "a vmap over cond": (lambda x: torch.vmap(lambda row: choice(row.view(2, 2)))(x), None),
    "while_loop": (repeated, 288),
    "scan": (sums, 0),
    "scan, with its gradient": (with_gradient(sums), None),
    "map": (rows, None),
    "map, with its gradient": (with_gradient(rows), None),
    "associative_scan": (
        lambda x: associative_scan(torch.add, x, 0, combine_mode="generic"),
        None,
    ),
    "flex_attention": (attention, 192),  # of the expanded operands of products
    "flex_attention, with a mask": (masked_attention, 192),
    "a checkpoint, with its gradient": (with_gradient(checkpointed), 96),
    "a custom op, with its gradient": (with_gradient(twice), 48),
    "jacrev": (torch.func.jacrev(turned), None),
    "hessian": (torch.func.hessian(lambda x: (turned(x) ** 2).sum()), None),
    "functionalize": (torch.func.functionalize(lambda x: turned(x).add_(1)), 48),
}

OF_FLEX_ATTENTION = ("flex_attention", "flex_attention, with a mask")

if torch.__version__ < "2.9":
    # There it compiles itself until it is compiled, and never ends where the compiler is off.
    del PROGRAMS["associative_scan"]


def assert_same(actual, expected):
    for x, y in zip(tree_leaves(actual), tree_leaves(expected), strict=True):
        assert torch.equal(x, y)
        assert (x.stride(), x.requires_grad) == (y.stride(), y.requires_grad)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_that_runs_alone_runs_under_audit(name):
    program, copied = PROGRAMS[name]
    x = torch.arange(12.0).view(3, 4)
    try:
        expected = program(x)
    except Exception as error:
        pytest.skip(f"this torch does not run it alone: {error}")
    with stridekit.audit() as audit:
        actual = program(x)
    assert_same(actual, expected)
    if copied is not None:
        assert (audit.bytes, audit.unwatched) == (copied, ())
        audit.assert_no_copies(max_bytes=copied)
    assert_same(program(x), expected)  # nothing of the audit stays behind


@pytest.mark.parametrize("name", ["cond", "while_loop", "scan", "map", *OF_FLEX_ATTENTION])
def test_all_copies_of_an_operator_that_takes_functions_are_seen(name):
    if name in ("scan", "map") and torch.__version__ < "2.9":
        pytest.skip("this torch also traces the function in each run, and copies meanwhile")
    program, _ = PROGRAMS[name]
    x = torch.arange(12.0).view(3, 4)
    program(x)  # torch may compile first
    with torch.profiler.profile() as profiler:
        program(x)
    with stridekit.audit() as audit:
        program(x)
    names = [event.name for event in profiler.events()]
    # Outside its function, scan of most versions clones the first row.
    expected = names.count("aten::copy_") - names.count("aten::select_copy")
    assert len(audit.copies) == expected
    if name in OF_FLEX_ATTENTION:
        assert "logsumexp" in {event.name for event in audit.events}


def test_a_line_in_a_branch_is_found():
    audit = stridekit.audit(choice, torch.ones(3, 4))
    (finding,) = audit.findings
    assert finding.first.place.expression == "x.t().contiguous()"
    assert finding.first.place.line == turned.__code__.co_firstlineno + 1


@pytest.mark.parametrize("kind", ["compiled", "exported"])
def test_a_branch_of_a_program_that_torch_captured_is_watched(kind):
    x = torch.ones(3, 4)
    program = exported(x) if kind == "exported" else torch.compile(choice, backend="eager")
    expected = program(x)
    with stridekit.audit() as audit:
        actual = program(x)
    assert_same(actual, expected)
    assert (audit.bytes, audit.unwatched) == (48, ())


BATCHES = [*itertools.product((1, 3), (1, 3), (False, True), (False, True), (False, True))]


@pytest.mark.parametrize(("of_a", "of_b", "a_learns", "b_learns", "is_turned"), BATCHES)
def test_a_product_takes_the_kernel_that_it_takes_alone(of_a, of_b, a_learns, b_learns, is_turned):
    a = torch.rand(of_a, 2, 4)
    b = torch.rand(of_b, 4, 5)
    if is_turned:
        a = torch.rand(of_a, 4, 2).mT
        b = torch.rand(of_b, 5, 4).mT
    a.requires_grad_(a_learns)
    b.requires_grad_(b_learns)
    for product in (torch.matmul, torch.linalg.matmul):
        with torch.profiler.profile() as profiler:
            product(a, b)
        alone = [event.name.removeprefix("aten::") for event in profiler.events()]
        with stridekit.audit() as audit:
            product(a, b)
        watched = [event.name for event in audit.events]
        for kernel in ("mm", "bmm"):
            assert watched.count(kernel) == alone.count(kernel)
        assert len(audit.copies) == alone.count("copy_")


def test_an_audit_ends_on_the_thread_on_which_it_began():
    block = stridekit.audit()
    with block, ThreadPoolExecutor(1) as other_thread:
        end = other_thread.submit(block.__exit__, None, None, None)
        with pytest.raises(RuntimeError, match="began on another thread"):
            end.result()
        torch.ones(3, 4).t().contiguous()
    assert block.bytes == 48
    with stridekit.audit() as after:
        torch.ones(3, 4).t().contiguous()
    assert after.bytes == 48


class Reluctant(torch.nn.Module):
    """A model that refuses to be asked for more than torch asks for, and cannot be hashed."""

    __hash__ = None

    def __getattr__(self, name):
        if name.startswith("_"):
            return super().__getattr__(name)
        raise KeyError(name)

    def __eq__(self, other):
        return self is other

    def forward(self, x):
        return x.t().contiguous()


def test_a_model_is_asked_for_nothing_that_it_may_lack():
    audit = stridekit.audit(Reluctant(), torch.ones(3, 4))
    assert (audit.name, audit.bytes, audit.unwatched) == ("Reluctant", 48, ())
