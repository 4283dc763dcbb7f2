"""A reader on an exported site, at a desk and on a phone: contents, search, cards, exercises, progress."""

import nbformat
import pytest
from playwright.sync_api import expect

from tests.browser.pages import COLOURS, assert_accessible, button, enter, painted
from tests.browser.test_export import exported
from tests.needs import needs_chromium

pytestmark = [needs_chromium, pytest.mark.long]

code, words = nbformat.v4.new_code_cell, nbformat.v4.new_markdown_cell
DESK = {"viewport": {"width": 1280, "height": 800}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
LONG = "x = torch.arange(24).view(4, 6).transpose(0, 1).contiguous().reshape(2, 12)[:, 1:].unfold(1, 3, 1)"
FIRST = [
    words("# Walk along strides\n\nEach `stride` counts elements. Press Shift+Enter."),
    code("import torch\nfrom stridekit import Predict, StrideExplorer"),
    words("## A question\n\nHow far?"),
    code("Predict('What is `2 + 2`?', 4, why='Count.')"),
    code(f"{LONG}\nprint('x' * 200)"),
    words("It is four.\n\n## An exercise\n\n| a | b |\n|---|---|\n| `" + "long" * 30 + "` | c |"),
    code("from stridekit.exercises import strides as ex"),
    code("def row(x, i):\n    ...\n\n\nex.row.check(row)", metadata={"tags": ["exercise"]}),
    words(
        "## To play\n\n$$x_0 + x_1 + x_2 + x_3 + x_4 + x_5 + x_6 + x_7 + x_8 + x_9 + x_{10} + x_{11}$$"
    ),
    code("StrideExplorer()"),
    words("## The end\n\n" + "Enough is said. " * 200),
]
SECOND = [
    words("# Look at views\n\nA view has a stride, and shares memory."),
    words("## Stride again\n\nThe last section of them."),
    code("Predict = __import__('stridekit').Predict\nPredict('Again?', True)"),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("a site") / "notebooks"
    folder.mkdir()
    for name, cells in {"1 walk": FIRST, "2_look": SECOND}.items():
        nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / f"{name}.ipynb")
    return exported(folder)


@pytest.fixture
def reader(browser, site):
    """`reader(options, name)` opens a page of the site in a browser of its own, without a network."""
    contexts, wrong = [], []

    def open_page(options, name="1 walk", script=""):
        context = browser.new_context(offline=True, **options)
        context.set_default_timeout(10_000)
        contexts.append(context)
        context.on("request", lambda request: wrong.append(request.url))
        if script:
            context.add_init_script(script)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto((site / f"{name}.html").as_uri())
        alive(page)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert [url for url in wrong if not url.startswith(("file:", "blob:", "data:"))] == []


def alive(page):
    page.wait_for_function(ALIVE)


ALIVE = (
    "[...document.querySelectorAll('[data-widget]')].every((el) => el.querySelector('.stridekit'))"
)


def test_contents_stand_beside_the_text_and_know_the_place(reader):
    """They stay while the page scrolls."""
    page = reader(DESK)
    contents = page.get_by_role("navigation", name="Contents")
    links = ["Walk along strides", "A question", "An exercise", "To play", "The end"]
    assert contents.get_by_role("link").all_inner_texts()[:5] == links
    contents.get_by_role("link", name="The end").click()
    expect(page.locator(".sk-contents [aria-current=location]")).to_have_text("The end")
    assert page.url.endswith("#The-end") and page.evaluate("scrollY") > 500
    box = contents.bounding_box()
    assert (
        0 <= box["y"] < 60 and box["x"] + box["width"] <= page.locator("main").bounding_box()["x"]
    )
    heading = page.locator("h2", has_text="The end")
    assert heading.bounding_box()["y"] >= 48  # below the bar
    heading.get_by_role("link").click()
    page.get_by_role("link", name="Look at views →").first.click()
    assert page.locator("h1").inner_text() == "Look at views"
    page.get_by_role("link", name="How tensors live in memory").click()
    assert page.locator("h1").inner_text() == "How tensors live in memory"


def test_contents_are_folded_on_a_phone(reader):
    page = reader(PHONE)
    contents = page.get_by_role("navigation", name="Contents")
    assert contents.bounding_box()["height"] < 80
    contents.get_by_text("Contents").tap()
    contents.get_by_role("link", name="The end").tap()
    expect(contents.get_by_role("link", name="To play")).to_be_hidden()
    assert page.url.endswith("#The-end")


def test_search_from_the_keyboard(reader):
    """From any page on the disk: headings first, Enter goes to the first, arrows walk, Escape ends."""
    page = reader(DESK)
    page.keyboard.press("/")
    page.keyboard.type("stride")
    found = page.locator(".sk-found li")
    expect(found.first).to_contain_text("Stride again")
    expect(found.nth(1)).to_contain_text("Walk along strides")
    assert page.locator(".sk-found [role=status]").inner_text().endswith("places")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.innerText").startswith("Stride again")
    page.keyboard.press("Escape")
    expect(page.locator(".sk-found")).to_be_hidden()
    search = page.get_by_role("searchbox")
    expect(search).to_be_focused()
    search.fill("nowhere to be found")
    expect(page.locator(".sk-found [role=status]")).to_have_text("Nothing has these words.")
    search.fill("last section")
    expect(found).to_have_count(1)
    search.press("Enter")
    page.wait_for_url("**/2_look.html#Stride-again")
    page.goto(page.url.replace("2_look.html#Stride-again", "index.html"))
    page.keyboard.press("/")
    page.keyboard.type("memset")
    expect(found.first).to_contain_text("memset")


def test_a_slash_in_a_field_is_a_slash(reader):
    page = reader(DESK)
    answer = page.get_by_label("your prediction")
    answer.press("/")
    assert answer.input_value() == "/"


def test_search_says_that_its_index_is_missing(browser, site, tmp_path):
    """As beside a page that was sent to somebody."""
    (tmp_path / "one.html").write_text((site / "1 walk.html").read_text("utf-8"), "utf-8")
    page = browser.new_page()
    page.goto((tmp_path / "one.html").as_uri())
    page.get_by_role("searchbox").fill("stride")
    expect(page.locator(".sk-found")).to_contain_text("search-index.js is not beside this page")
    page.close()


def test_what_gives_an_answer_away_opens_with_the_answer(reader):
    page = reader(DESK)
    behind = page.get_by_text("It is four.")
    assert page.get_by_text("why=").count() == 0
    expect(behind).to_be_hidden()
    enter(page, "your prediction", "5")
    expect(behind).to_be_visible()
    button(page, "try again").click()
    expect(behind).to_be_hidden()
    page.get_by_text("What torch says, and why").click()
    expect(behind).to_be_visible()


def test_hints_open_one_after_the_other(reader):
    page = reader(DESK)
    steps = ["Hint 1 of 3", "Hint 2 of 3", "Hint 3 of 3", "Solution"]
    for k, step in enumerate(steps):
        assert [page.get_by_text(other, exact=True).is_visible() for other in steps] == [
            n <= k for n in range(4)
        ]
        page.get_by_text(step, exact=True).click()
    solution = page.locator(".sk-help .highlight")
    expect(solution).to_be_visible()
    colours = "(all) => new Set(all.map((node) => getComputedStyle(node).color)).size"
    assert solution.locator("span").evaluate_all(colours) > 2


def marks(page):
    return page.locator(".sk-done").all_inner_texts()


def test_answers_are_kept_and_can_be_forgotten(reader):
    """In contents and on the front page, until a reader says otherwise; other lessons are left alone."""
    page = reader(DESK)
    assert marks(page) == ["0/1", ""]
    enter(page, "your prediction", "5")
    assert marks(page) == ["✓", ""]
    page.reload()
    alive(page)
    expect(page.locator(".sk-answer").first).to_have_text("✗ you said 5, it is 4")
    expect(page.get_by_text("It is four.")).to_be_visible()
    page.get_by_role("link", name="How tensors live in memory").click()
    assert marks(page) == ["✓", ""]
    page.on("dialog", lambda dialog: dialog.accept())
    button(page, "Forget my answers").click()
    expect(button(page, "Forget my answers")).to_be_hidden()
    assert marks(page) == ["", ""]
    page.get_by_role("link", name="Walk along strides").click()
    alive(page)
    assert page.locator(".sk-answer").first.inner_text() == ""


NO_STORAGE = (
    """Object.defineProperty(window, "localStorage", { get() { throw new Error("no"); } })"""
)


def test_where_nothing_can_be_kept_all_else_works(reader):
    page = reader(DESK, script=NO_STORAGE)
    enter(page, "your prediction", "5")
    expect(page.get_by_text("It is four.")).to_be_visible()
    assert marks(page) == ["", ""] and not button(page, "Forget my answers").is_visible()


# On a phone ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["1 walk", "2_look", "index", "reference-layouts"])
def test_a_page_fits_a_phone(reader, name):
    """It never scrolls sideways, its targets are 24 px high, and its text 12 px or more."""
    page = reader(PHONE, name)
    open_all(page)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.evaluate(SMALL) == []


def open_all(page):
    page.evaluate("document.querySelectorAll('details').forEach((node) => (node.open = true))")
    painted(page)


# Links within a line of text may be as high as the line.
SMALL = """() => {
  const own = [...document.body.querySelectorAll('*')].filter((node) =>
    node.checkVisibility() && !node.closest('.stridekit, math'));
  const inText = (node) => node.matches('p a, li a, td a') && getComputedStyle(node).display === 'inline';
  const low = own.filter((node) => node.matches('a[href], button, input, summary') && !inText(node)
    && node.getBoundingClientRect().height < 24);
  const tiny = own.filter((node) => [...node.childNodes].some(({ data }) => data?.trim())
    && parseFloat(getComputedStyle(node).fontSize) < 12);
  return [...low, ...tiny].map((node) => node.outerHTML.slice(0, 120));
}"""


def test_what_is_wide_scrolls_within_itself_and_by_keys(reader):
    page = reader(PHONE)
    open_all(page)
    for node in page.locator("[aria-label='wide, scrolls sideways']").all():
        node.press("ArrowRight")
    scrolled = "(all) => all.map((node) => node.scrollLeft > 0)"
    page.wait_for_function(
        f"({scrolled})([...document.querySelectorAll('[tabindex][role=group]')]).every(Boolean)"
    )
    kinds = page.locator("[tabindex][role=group]").evaluate_all(
        "(all) => all.map((node) => node.className)"
    )
    assert len(kinds) >= 4  # a line of code, a line of output, a table, a formula


CODE = ".stridekit:has(input[type=range]) .sk-code code:first-child"


def swipe(page, slider, sideways, down):
    """Land with a finger in the middle of a slider, and move it."""
    box = slider.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    send = page.context.new_cdp_session(page).send
    for k in range(11):
        point = {"x": x + sideways * k / 10, "y": y + down * k / 10}
        kind = "touchMove" if k else "touchStart"
        send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [point]})
        painted(page)
    send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    painted(page)


def test_a_finger_that_scrolls_moves_no_slider(reader):
    page = reader(PHONE)
    sliders = page.locator("input[type=range]")
    values = "(all) => all.map((node) => node.value)"
    before = sliders.evaluate_all(values)
    code_before = page.locator(CODE).inner_text()
    for slider in sliders.all():
        slider.evaluate("(node) => node.scrollIntoView({ block: 'center' })")
        at = page.evaluate("scrollY")
        swipe(page, slider, 5, -200)
        assert page.evaluate("scrollY") > at
        assert sliders.evaluate_all(values) == before
    assert page.locator(CODE).inner_text() == code_before


def test_a_finger_that_goes_sideways_or_taps_moves_a_slider(reader):
    page = reader(PHONE)
    slider = page.locator("input[type=range]").first
    slider.evaluate("(node) => node.scrollIntoView({ block: 'center' })")
    most = int(slider.input_value())
    slider.tap(position={"x": slider.bounding_box()["width"] / 8, "y": 8})
    assert 0 < int(slider.input_value()) < most
    swipe(page, slider, -400, 10)
    assert slider.input_value() == "0"
    assert "(0, " in page.locator(CODE).inner_text()
    slider.press("ArrowRight")
    assert slider.input_value() == "1"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("options", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("name", ["1 walk", "index"])
def test_accessibility(reader, name, options, scheme):
    """axe finds nothing, with all that can be opened open, and with results of a search."""
    page = reader(options | {"color_scheme": scheme}, name)
    open_all(page)
    page.get_by_role("searchbox").fill("stride")
    expect(page.locator(".sk-found li").first).to_be_visible()
    assert_accessible(page, rules=COLOURS if scheme == "dark" else ())
