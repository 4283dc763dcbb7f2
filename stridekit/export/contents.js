// The contents beside a page: open where there is room, folded on a phone, and aware of where the reader is.

const WIDE = "(min-width: 1100px)"; // as in pages.css

function follow(nav) {
  const [details, wide] = [nav.querySelector("details"), matchMedia(WIDE)];
  const open = () => (details.open = wide.matches);
  open();
  wide.addEventListener("change", open);
  nav.addEventListener("click", ({ target }) => target.closest("a") && open());

  const places = [...nav.querySelectorAll("a[href^='#']")].map((link) =>
    [link, document.getElementById(decodeURIComponent(link.hash.slice(1)))]);
  let [waiting, now] = [false, null];
  const mark = () => {
    waiting = false;
    const [here] = places.findLast(([, heading]) => heading.getBoundingClientRect().top < innerHeight / 3) ?? [null];
    if (here === now) return;
    now?.removeAttribute("aria-current");
    here?.setAttribute("aria-current", "location");
    now = here;
    const below = here && here.offsetTop - nav.scrollTop;
    if (here && (below < 0 || below > nav.clientHeight - 40)) nav.scrollTop = here.offsetTop - nav.clientHeight / 2;
  };
  addEventListener("scroll", () => {
    if (!waiting) requestAnimationFrame(mark);
    waiting = true;
  }, { passive: true });
  mark();
}

/** What is wider than the page scrolls within itself, and then has to be reached by the tab key. */
const reach = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const isWide = target.scrollWidth > target.clientWidth;
    target.toggleAttribute("tabindex", isWide);
    if (isWide) Object.assign(target, { tabIndex: 0, role: "group", ariaLabel: "wide, scrolls sideways" });
    else for (const name of ["role", "aria-label"]) target.removeAttribute(name);
  }
});

for (const nav of document.querySelectorAll(".sk-contents")) follow(nav);
for (const node of document.querySelectorAll(".highlight, .jp-OutputArea-output, .jp-RenderedMarkdown"))
  if (!node.querySelector("[data-widget]")) reach.observe(node);
