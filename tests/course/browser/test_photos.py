"""The tools that need a browser: the pictures of the documents, and the latency of a key press."""

import re
import time
from contextlib import nullcontext

from PIL import Image

import bench
import pictures
from stridekit import Layout, StrideExplorer
from tests.course.needs import needs_chromium


def test_each_picture_shows_what_the_document_says_of_it():
    """Its words are those of the widget, or of the picture beside it."""
    shown = pictures.scenes()
    assert {f"{name}-{theme}.png" for name in shown for theme in pictures.THEMES} == {
        path.name for path in pictures.DOCS.glob("*-*.png") if path.name != "memory-sets.png"
    }
    explorer = shown["explorer"]
    assert explorer.code.startswith("torch.arange(40.).as_strided((4, 6), (8, 1), 2)")
    assert explorer.index == (2, 3)
    words = {name: " ".join(repr(widget).split()) for name, widget in shown.items()}
    assert "y changed: 9 of its 9" in words["aliases"]
    assert "z changed too: 3 of its 8" in words["aliases"]
    assert "shape (4, 6), stride (8, 1) as (2, 12)" in words["reshape"]
    assert "the new dim 1 of size 12 would straddle them" in words["reshape"]
    assert shown["reshape"].step == 4  # the last one, which has torch's message
    assert "row by row, dims (0, 1) 48 visits load 6 cache lines" in words["traversal"]
    assert "column by column, dims (1, 0) 48 visits load 48 cache lines" in words["traversal"]
    assert "a cache of 4 lines" in words["traversal"]
    # With one thread, a convolution makes another copy, which changes none.
    assert re.search("2 of [23] copies changed a layout, 6.42 MB", words["copies"])
    guide = (pictures.DOCS / "guide.md").read_text("utf-8")
    assert "copies 3.21 MB" in " ".join(guide.split())


@needs_chromium
def test_a_widget_is_shot_in_both_themes_at_each_width(browser, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(pictures, "SETTLED", 150)
    broken = "<script>throw Error('it is broken')</script>"
    offline_page = pictures.offline_page
    monkeypatch.setattr(pictures, "offline_page", lambda shown: offline_page(shown) + broken)
    shown = {"a": StrideExplorer(Layout((2, 3)))}
    pages = len(browser.contexts)
    pictures.shoot(browser, shown, tmp_path / "new", {900: "-900", 500: ""})
    assert len(browser.contexts) == pages
    paths = [
        tmp_path / "new" / f"a-{end}.png" for end in ("light-900", "dark-900", "light", "dark")
    ]
    printed = capsys.readouterr().out.splitlines()
    assert [line for line in printed if "error" not in line] == [str(path) for path in paths]
    assert [line for line in printed if "error" in line] == ["error: it is broken"] * 4
    images = [Image.open(path).convert("L") for path in paths]
    assert [image.getpixel((5, image.height - 5)) > 128 for image in images] == [True, False] * 2
    wide, _, narrow, _ = [image.width for image in images]
    assert 500 < wide <= 900 and 300 < narrow <= 500


@needs_chromium
def test_the_picture_of_a_link_has_the_name_and_fits_a_card(browser, tmp_path, capsys):
    path = tmp_path / "shared.png"
    contexts = len(browser.contexts)
    pictures.share(browser, StrideExplorer(), path)
    assert len(browser.contexts) == contexts
    assert capsys.readouterr().out == f"{path}\n"
    image = Image.open(path).convert("L")
    assert image.size == (1200, 630)
    # The name stands in the uppermost fifth; nothing is cut off at the edges.
    assert image.crop((160, 40, 1100, 110)).getextrema()[0] < 20
    edges = [
        image.crop(box) for box in ((0, 0, 1200, 12), (0, 618, 1200, 630), (1188, 0, 1200, 630))
    ]
    assert all(edge.getextrema()[0] > 250 for edge in edges)


def test_main_shoots_the_scenes_or_the_expressions_behind_a_folder(monkeypatch):
    shot = []
    monkeypatch.setattr(pictures, "running_browser", lambda: nullcontext("a browser"))
    monkeypatch.setattr(pictures, "shoot", lambda *what: shot.append(what))
    monkeypatch.setattr(pictures, "share", lambda *what: shot.append(what))
    scenes = {"explorer": "a scene"}
    monkeypatch.setattr(pictures, "scenes", lambda: scenes)
    pictures.main([])
    pictures.main(["/tmp/shots"])
    shared = ("a browser", "a scene", pictures.STATIC / "shared.png")
    assert shot == [("a browser", scenes, pictures.DOCS, {1280: ""}), shared] * 2
    shot.clear()
    pictures.main(["/tmp/shots", "StrideExplorer()", "torch.ones(2)", "stridekit.Layout((3,))"])
    ((_, shown, folder, widths),) = shot
    assert str(folder) == "/tmp/shots" and widths == {1280: "-1280", 800: "-800"}
    assert [*shown] == ["0", "1", "2"]
    assert isinstance(shown["0"], StrideExplorer) and shown["2"].shape == (3,)


@needs_chromium
def test_a_latency_is_measured_for_each_press_of_a_key(browser):
    explorer = StrideExplorer(Layout((2, 3)), 24)
    contexts = len(browser.contexts)
    begun = time.perf_counter()
    waits = bench.measure_latency(browser, explorer, rounds=2)
    assert len(waits) == 4  # there and back, twice
    assert all(0 < wait <= 1000 * (time.perf_counter() - begun) for wait in waits)
    assert len(browser.contexts) == contexts


def test_the_latency_of_each_explorer_is_printed(monkeypatch, capsys):
    monkeypatch.setattr(bench, "find_chromium", lambda: "/chromium")
    monkeypatch.setattr(bench, "running_browser", lambda: nullcontext("a browser"))
    monkeypatch.setattr(bench, "measure_latency", lambda browser, explorer: [1.0, 2.0, 4.0])
    bench.latency()
    lines = capsys.readouterr().out.splitlines()
    names = [
        re.fullmatch(r"key press to frame, (\w+): median 2.0 ms .*", line)[1] for line in lines
    ]
    assert names.count("StrideExplorer") == 2
    others = ["AttentionExplorer", "CacheExplorer", "ChannelsLastExplorer", "TraversalExplorer"]
    assert sorted(names[2:]) == others
    small, large, *_ = bench.explorers()
    for explorer, size in ((small, 6 * 8), (large, 64 * 64)):
        assert explorer.layout.numel == size and explorer.storage_size == 2 * size
