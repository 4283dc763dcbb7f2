"""A reader on the exported site, from the disk and without a network: at a desk and on a phone."""

import re
import shutil
from itertools import product
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from stridekit import diagnose
from stridekit.export import families, reference
from stridekit.widgets.engine import Script
from tests.core.messages import BUCKET
from tests.course.browser import pages
from tests.course.browser.conftest import exported
from tests.course.browser.lab import ROOT
from tests.course.needs import needs_chromium
from tests.course.test_export import assert_whole
from tests.course.widget_kinds import KINDS

pytestmark = needs_chromium

LESSONS = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))
FIRST_MESSAGE = next(iter(families.pages()))
PAGES = ["index", "lessons", "gallery", "cheat_sheet", "diagnose", FIRST_MESSAGE, "search"]
PAGES += ["reference", *reference.pages(), *LESSONS]
PUBLISHED = "http://stridekit.test/"
DESK = {"viewport": {"width": 1280, "height": 800}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """All lessons, exported."""
    folder = tmp_path_factory.mktemp("lessons") / "notebooks"
    shutil.copytree(ROOT / "notebooks", folder)
    shutil.copy(ROOT / "README.md", folder.parent)
    return exported(folder)


@pytest.fixture
def visit(browser):
    """`visit(path)` opens a page from the disk; no page may fetch anything or fail."""
    contexts = []
    requests = []
    errors = []

    def open_page(path, query="", **options):
        context = browser.new_context(offline=True, **(options or DESK))
        context.set_default_timeout(pages.PATIENCE)
        contexts.append(context)
        context.on("request", lambda request: requests.append(request.url))
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(path.as_uri() + query)
        page.wait_for_function(pages.ALIVE)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert errors == []
    assert [
        url for url in requests if not url.startswith(("file:", "blob:", "data:", PUBLISHED))
    ] == []


def test_every_kind_lives_and_two_views_are_one(visit, small_site):
    """Each is drawn and reacts to a hand; two views of one widget stay in step."""
    page = visit(small_site / "kinds.html")
    pages.open_all(page)
    roots = page.locator("[data-widget] > .stridekit")
    assert roots.count() == len(KINDS) + 3
    for root in roots.all()[:-2]:
        assert_alive(root)
    page.mouse.move(2, 2)  # pointing shows something in one view alone
    page.wait_for_function(  # what is read aloud comes a little later
        "[...document.querySelectorAll('.sk-spoken')].slice(-2).every((node) => node.textContent)"
    )
    first_view = roots.nth(-2).inner_html()
    second_view = roots.nth(-1).inner_html()
    number = re.compile(r"stridekit-\d+")  # each view has ids of its own
    assert number.sub("", first_view) == number.sub("", second_view)


def assert_alive(widget):
    """Keys change the widget; its boxes to tick, and its button or its choice if it asks something."""
    before = widget.inner_html()
    for box in widget.locator("textarea:visible").all():
        box.fill("KeyError: 'a'")
    for box in widget.locator("input[type=checkbox]:visible").all():
        box.click()
    for rows in widget.locator("[role=listbox]:visible").all():
        rows.press("End")
    for control in widget.locator("[role=grid]:visible, input[type=range]:visible").all():
        for key in ("Home", "ArrowRight"):
            control.press(key)
    buttons = widget.get_by_role("button", name=re.compile("^(Commit|show me|copy)$"))
    for commit in buttons.all():
        if commit.is_visible():
            commit.click()
    choices = widget.locator("button.sk-option:visible")
    if choices.count():
        choices.first.click()
    assert widget.inner_html() != before


def test_a_pasted_message_means_what_python_says(visit, small_site):
    """On the front page, under a finger."""
    page = visit(small_site / "index.html", **PHONE)
    box = page.locator(".sk-paste")
    for message in (BUCKET, "KeyError: 'a'"):
        box.get_by_label(pages.BOX).tap()
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.insert_text(message)
        meaning = diagnose(message)
        pages.wait_for_frame(box)
        assert box.locator(".sk-title").inner_text() == meaning.title
        sentences = [sentence for _, sentence in meaning.lines]
        assert box.locator("dd").all_inner_texts() == sentences
    box.get_by_label(pages.BOX).fill(f"{'loss 0.5 ' * 3000}{BUCKET}")
    pages.wait_for_frame(box)
    assert box.locator(".sk-title").inner_text() == diagnose(BUCKET).title
    read = f"only the last 20,000 of {27_000 + len(BUCKET):,} characters"
    assert box.locator("dd").last.inner_text() == read


def publish(page, folder):
    """Serve a folder at PUBLISHED to all tabs of a browser.

    Between two tabs with pages from the disk, Chromium sometimes loses what the pages keep.
    """

    def serve(route):
        route.fulfill(path=folder / urlsplit(route.request.url).path.lstrip("/"))

    page.context.route(f"{PUBLISHED}**", serve)


def marks(page):
    return page.locator(".sk-done").all_inner_texts()


def test_an_answer_opens_what_gives_it_away_and_is_kept_until_it_is_forgotten(visit, small_site):
    page = visit(small_site / "cards.html")
    publish(page, small_site)
    page.goto(f"{PUBLISHED}cards.html")
    behind = page.get_by_text("It is four.")
    assert page.get_by_text("why=").count() == 0
    assert marks(page) == ["0/1"]
    expect(behind).to_be_hidden()
    pages.enter(page, "your prediction", "5")
    expect(behind).to_be_hidden()
    pages.enter(page, "your prediction", "6")
    expect(behind).to_be_visible()
    assert marks(page) == ["✓"]
    page.reload()
    expect(page.get_by_text("It is four.")).to_be_visible()
    pages.button(page, "try again").click()
    expect(behind).to_be_hidden()
    page.get_by_text("What torch says, and why").click()
    expect(behind).to_be_visible()
    home = page.context.new_page()
    home.goto(f"{PUBLISHED}index.html")
    assert marks(home) == ["0/1"]
    pages.enter(page, "your prediction", "4")
    expect(home.locator(".sk-done").first).to_have_text("✓")
    home.on("dialog", lambda dialog: dialog.accept())
    pages.button(home, "Forget my answers").click()
    expect(pages.button(home, "Forget my answers")).to_be_hidden()
    assert marks(home) == []


def test_a_wrong_answer_comes_back_in_the_review_of_another_tab(visit, small_site):
    review = visit(small_site / "review.html")
    publish(review, small_site)
    review.goto(f"{PUBLISHED}review.html")
    expect(review.get_by_text("Nothing to review yet")).to_be_visible()
    lesson = review.context.new_page()
    lesson.goto(f"{PUBLISHED}cards.html")
    pages.enter(lesson, "your prediction", "5")
    pages.enter(lesson, "your prediction", "4")  # right, but not at once
    expect(review.get_by_text("0 of 1 answered")).to_be_visible()
    pages.enter(review, "your prediction", "4")
    expect(review.get_by_text("1 of 1 answered, 1 right at once.")).to_be_visible()
    review.reload()
    expect(review.get_by_text("Nothing to review today")).to_be_visible()


def test_a_finger_that_scrolls_moves_no_slider_and_one_that_goes_sideways_does(visit, small_site):
    page = visit(small_site / "index.html", **PHONE)
    slider = page.locator("input[type=range]").first
    slider.evaluate("(node) => node.scrollIntoView({ block: 'center' })")
    before = slider.input_value()
    scrolled_before = page.evaluate("scrollY")
    pages.swipe(page, pages.middle(slider), 5, -200)
    assert page.evaluate("scrollY") > scrolled_before
    assert slider.input_value() == before
    slider.evaluate("(node) => node.scrollIntoView({ block: 'center' })")
    pages.swipe(page, pages.middle(slider), -400, 10)
    expect(slider).to_have_value("0")
    assert page.evaluate("document.documentElement.scrollWidth") == 390


@pytest.mark.parametrize("reader", [DESK, PHONE], ids=["at a desk", "on a phone"])
def test_a_link_to_a_section_shows_its_heading_below_the_header(visit, small_site, reader):
    page = visit(small_site / "cards.html", **reader)
    page.evaluate("location.hash = 'the-end'")
    header = page.locator(".bd-header").bounding_box()
    heading = page.get_by_role("heading", name="The end").bounding_box()
    assert 8 <= heading["y"] - (header["y"] + header["height"]) <= 40


# A query that people type, and the page and a part of the heading of one of the first five results.
QUERIES = {
    "view size is not compatible": ("message-view-size", "not compatible"),
    "at least one dimension spans": ("03_contiguity", ""),
    "Grad strides do not match": ("message-grad", ""),
    "kv cache": ("06_attention", "cache"),
    "checkpoint size": ("02_views", ""),
    "memory leak": ("02_views", ""),
    "contigous": ("03_contiguity", ""),
    "RuntimeError": ("message-", "runtimeerror"),
    "channels last": ("04_channels_last", ""),
    "memset": ("reference-sharing", "memset"),
    "why_not_view": ("reference-layouts", ""),
    "as_strided": ("01_strides", ""),
    "storage offset": ("01_strides", "storage offset"),
    "cache line": ("05_performance", ""),
    "expand write": ("02_views", ""),
    "stirde": ("0", ""),
    "transpsoe": ("0", ""),
    "scaled_dot_product_attention": ("06_attention", ""),
    "sizes of tensors must match": ("message-sizes-of", ""),
    "negative strides": ("message-", "stride"),
    "NHWC": ("04_channels_last", ""),
    "step": ("0", "stride"),
    "non-contiguous": ("03_contiguity", ""),
}


@pytest.mark.long
def test_twenty_queries_find_their_place(visit, site):
    page = visit(site / "search.html")
    missed = {}
    for query, (name, heading) in QUERIES.items():
        page.goto((site / "search.html").as_uri() + f"?q={query.replace(' ', '+')}")
        page.wait_for_selector("#search-results [role=status]", state="attached")
        links = page.locator(".sk-results a").all()[:5]
        results = [(link.get_attribute("href"), link.inner_text()) for link in links]
        fits = [href.startswith(name) and heading in text.lower() for href, text in results]
        if not any(fits):
            missed[query] = results
    assert missed == {}


def test_a_search_leads_to_a_section_and_without_results_to_the_box(visit, small_site):
    page = visit(small_site / "index.html")
    page.keyboard.press("Control+k")
    page.keyboard.type("enuogh")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=enuogh")
    expect(page.locator("#search-results [role=status]")).to_contain_text("for “enough”")
    expect(page.locator(".sk-offer")).to_be_hidden()
    page.get_by_role("link", name="The end").click()
    page.wait_for_url("**/cards.html*#The-end")
    page.goto((small_site / "search.html").as_uri() + "?q=KeyError+xyzzy+plugh")
    expect(page.locator("#search-results")).to_contain_text("Nothing has these words.")
    assert page.get_by_label(pages.BOX).input_value() == "KeyError xyzzy plugh"


@pytest.mark.long
def test_a_verdict_leads_to_its_place_in_the_lesson(visit, site):
    """The page links to the place of each family, and no link of the site is dead."""
    links = []
    for name, parsed in assert_whole(site).items():
        if name.startswith("message-"):
            links += parsed.links
    links_to_lessons = [link for link in links if re.match(r"0\d_\w+\.html#", link)]
    assert len(links_to_lessons) == len(Script("diagnose/diagnose.js").FAMILIES)
    page = visit(site / "diagnose.html")
    page.locator(".sk-paste").get_by_label(pages.BOX).fill(BUCKET)
    link = page.locator(".sk-paste dd a")
    assert link.inner_text() == "09 Way back: Buckets"
    link.click()
    page.wait_for_url("**/09_way_back.html#Buckets")


def test_the_messages_are_filtered_as_one_types(visit, small_site):
    page = visit(small_site / "diagnose.html")
    shown = page.locator(".sk-families li:visible")
    assert shown.count() == 3
    page.get_by_label("Filter").fill("SIZE view compatible")
    expect(shown).to_have_count(1)
    expect(page.locator(".sk-filter [role=status]")).to_have_text("1 of 3")
    shown.get_by_role("link").click()
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_contain_text("view size is not compatible")


@pytest.mark.parametrize("size", ["A4", "Letter"])
def test_the_cheat_sheet_is_one_printed_page(visit, small_site, size):
    pdf = visit(small_site / "cheat_sheet.html").pdf(format=size)
    assert len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf)) == 1


@pytest.mark.long
def test_the_table_of_the_readme_leads_to_pages_of_the_site(site):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    names = re.findall(r"\(https://stridekit\.github\.io/stridekit/(\S+)\)", readme)
    assert [name.removesuffix(".html") for name in names] == [*LESSONS, "drill"]
    assert all((site / name).is_file() for name in names)


# The theme makes what scrolls a stop of the tab key, a while after a page has another width.
SCROLLS_BY_KEYS = """[...document.querySelectorAll('pre, .pst-scrollable-table-container')]
  .every((node) => node.tabIndex === 0 || node.scrollWidth <= node.clientWidth)"""


@pytest.mark.long
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_alive_fits_and_is_accessible(visit, site, name):
    """It never scrolls sideways, axe finds nothing with all open, and a lesson's widgets react."""
    page = visit(site / f"{name}.html", "?q=stride" if name == "search" else "")
    pages.open_all(page)
    for size, scheme in product((DESK["viewport"], PHONE["viewport"]), ("light", "dark")):
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function(f"document.documentElement.dataset.theme === '{scheme}'")
        page.wait_for_function(SCROLLS_BY_KEYS)
        pages.painted(page)
        assert page.evaluate("document.documentElement.scrollWidth") == size["width"]
        pages.assert_accessible(page, only_colours=scheme == "dark")
    page.set_viewport_size(DESK["viewport"])
    if name in LESSONS:
        widgets = page.locator("[data-widget] > .stridekit").all()
        assert widgets
        for widget in widgets:
            assert_alive(widget)
        assert page.locator("h1").count() == 1
    assert page.locator("text=could not be drawn").count() == 0
