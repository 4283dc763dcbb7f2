"""Tables, character by character: a notebook that shows one would only say that it changed."""

from stridekit._table import columns, html_table

LEFT, RIGHT, BOLD = "text-align:left", "text-align:right", "font-weight:600"
ROWS = [("a & b", "1"), ("<c>", "20")]


def test_columns_are_as_wide_as_their_longest_text():
    """The last sign holds for the rest; no line ends with a space."""
    rows = [("", "n", "of"), ("long", "7", ""), ("x", "12", "9")]
    assert columns(rows, "<>") == ["         n  of", "  long   7", "  x     12   9"]
    assert columns(rows, ">") == ["         n  of", "  long   7", "     x  12   9"]
    assert columns(rows) == ["        n   of", "  long  7", "  x     12  9"]
    assert columns([]) == []


def test_a_table_in_our_look_has_sides_bold_titles_and_parts():
    table = html_table("a < b", ROWS, head=("x", "<y>"), foot="1 > 0", align="<>")
    assert table == (
        f'<table><caption style="caption-side:top;{LEFT};{BOLD}">a &lt; b</caption>'
        f'<thead><tr><th scope="col" style="{LEFT}">x</th>'
        f'<th scope="col" style="{RIGHT}">&lt;y&gt;</th></tr></thead>'
        f'<tbody><tr><th scope="row" style="{LEFT};{BOLD}">a &amp; b</th><td style="{RIGHT}">1</td></tr>'
        f'<tr><th scope="row" style="{LEFT};{BOLD}">&lt;c&gt;</th><td style="{RIGHT}">20</td></tr></tbody>'
        f'<tfoot><tr><td colspan="2" style="{LEFT}">1 &gt; 0</td></tr></tfoot></table>'
    )


def test_a_table_in_the_look_of_the_page_says_nothing_of_sides():
    caption = f'<caption style="caption-side:top;{LEFT}">t</caption>'
    head = '<tr><th scope="col">x</th><th scope="col">y</th></tr>'
    row = '<tr><th scope="row">a &amp; b</th><td>1</td></tr>'
    assert html_table("t", ROWS[:1]) == f"<table>{caption}{row}</table>"
    assert html_table("t", [], head=("x", "y")) == f"<table>{caption}{head}</table>"
