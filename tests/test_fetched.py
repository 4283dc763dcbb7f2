"""Everything that a browser would load is found, however it is spelled; links and own files are not."""

import pytest

from stridekit.export.fetched import loaded_from_elsewhere

LOADS = [
    '<img src="https://a.org/x">',
    '<img src="//a.org/x">',
    "<img src=//a.org/x>",
    "<IMG SRC=HTTPS://A.ORG/x>",
    '<img\nsrc = " //a.org/x">',
    '<img src="\t/\n/a.org/x">',
    '<img src="ht\ntps://a.org/x">',
    '<img src="\x01//a.org/x">',
    '<img src="\\\\a.org/x">',
    '<img src="/\\a.org/x">',
    '<img src="https:a.org/x">',
    '<img src="&#47;&#x2f;a.org/x">',
    '<img/src="//a.org/x">',
    '<img alt=">" src="//a.org/x">',
    '<img src="a.png" srcset="b.png 1x,//a.org/x 2x">',
    '<img srcset="data:image/png;base64,//8A 1x, //a.org/x 2x">',
    '<source srcset="//a.org/x">',
    '<link rel="preload" imagesrcset="a.png, //a.org/x 2x">',
    '<link rel="stylesheet" href="//a.org/x">',
    '<base href="//a.org/">',
    '<script src="//a.org/x"></script>',
    '<script type="module">import x from "//a.org/x"</script>',
    "<script>fetch( 'https://a.org/x')</script>",
    '<script>import("https://a.org/x")</script>',
    '<iframe src="//a.org"></iframe>',
    '<iframe src="data:text/html,<img src=//a.org/x>"></iframe>',
    '<iframe src="javascript:go()"></iframe>',
    '<iframe srcdoc="<img src=&quot;//a.org/x&quot;>"></iframe>',
    '<video poster="//a.org/x"></video>',
    '<audio src="ftp://a.org/x"></audio>',
    '<object data="//a.org/x"></object>',
    '<embed src="file:///etc/passwd">',
    '<table background="//a.org/x"></table>',
    '<svg><image href="//a.org/x"/></svg>',
    '<svg><use xlink:href="//a.org/x#y"/></svg>',
    '<svg><rect fill="url(//a.org/x#y)"/></svg>',
    "<svg><rect filter=\"u\\72l('//a.org/x')\"/></svg>",
    '<p style="background: url( //a.org/x )">',
    "<p style='background: URL(\"//a.org/x\")'>",
    '<p style="background: u\\72 l(\\2f\\2f a.org/x)">',
    "<p style=\"background: image-set('a.png' 1x, '//a.org/x' 2x)\">",
    '<style>@import "//a.org/x";</style>',
    "<style>@import/**/'//a.org/x';</style>",
    "<style>@font-face { src: url(//a.org/x) }</style>",
    '<meta http-equiv="refresh" content="0; URL=//a.org">',
    "<noscript><img src=//a.org/x></noscript>",
    "<!--><img src=//a.org/x>-->",
    "<!---><img src=//a.org/x>-->",
    "<!-- --!><img src=//a.org/x> -->",
    "<![CDATA[><img src=//a.org/x>]]>",
]
LOADS_NOTHING = [
    "<p>https://a.org and //a.org</p>",
    '<a href="https://a.org">a</a> <a href="//a.org">b</a> <map><area href="//a.org"></map>',
    '<svg><a xlink:href="https://a.org">a</a></svg>',
    '<img src="a.png"> <img src="/a.png"> <img src="../a//b.png"> <img src="#x"> <img src="">',
    '<img src="data:image/png;base64,//8A"> <link rel="icon" href="data:,">',
    '<img srcset="data:image/png;base64,//8A 1x, b.png 2x">',
    '<img alt="see https://a.org" title="//a.org">',
    '<svg xmlns="http://www.w3.org/2000/svg"><rect fill="url(#y)"/></svg>',
    '<math xmlns="http://www.w3.org/1998/Math/MathML"></math>',
    '<p style="background: url(data:image/png;base64,//8A)">',
    "<style>/* https://a.org */ a::after { content: '→'; color: red }</style>",
    "<!-- <img src=//a.org/x> -->",
    '<script>const svg = "http://www.w3.org/2000/svg"; // from "here"</script>',
    '<script type="application/json">{"from": "https://a.org"}</script>',
    "<pre>&lt;img src=//a.org/x&gt;</pre>",
    '<meta name="viewport" content="width=device-width">',
]


@pytest.mark.parametrize("page", LOADS)
def test_what_would_be_loaded_is_found(page):
    assert loaded_from_elsewhere(f"<p>before</p>{page}<p>after</p>")


@pytest.mark.parametrize("page", LOADS_NOTHING)
def test_what_loads_nothing_is_left_alone(page):
    assert loaded_from_elsewhere(f"<p>before</p>{page}<p>after</p>") == ""


def test_the_first_address_is_told():
    assert loaded_from_elsewhere("<img src=a.png><img src=//b.org><img src=//c.org>") == "//b.org"


def test_it_is_told_as_a_browser_reads_it():
    """In one line."""
    assert loaded_from_elsewhere('<img src=" ht\ntps:\\\\a.org/x\t">') == "https://a.org/x"
