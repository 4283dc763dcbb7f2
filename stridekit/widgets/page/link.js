// A state in the address of a page: "#state=", the number of the widget, a checksum, and the state in base64url.
// The checksum is over the widget as the page was written with it, too: what was cut off or is of another page does
// not fit, and is left alone.

const MARK = "#state=";

/** The links of a page with these widgets, as they are before a hand changes them. */
export function createLinks(widgets) {
  const begun = widgets.map((widget, number) => `${number} ${JSON.stringify(widget)}`);
  return {
    /** The address of a state of the widget with this number, which the page then has as well. */
    to(number, state) {
      history.replaceState(null, "", hashOf(number, begun[number], state));
      return location.href;
    },
    /** Call `show(number, state)` for the link by which the page was opened, and for each that is followed on it. */
    follow(show) {
      const read = () => {
        const link = readHash(location.hash, begun);
        if (link) show(...link);
      };
      addEventListener("hashchange", read);
      read();
    },
  };
}

export function hashOf(number, widget, state) {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  const text = btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return `${MARK}${number}.${checksum(widget, text)}.${text}`;
}

/** [number, state] of a hash, if it fits one of the widgets by their texts; or null. */
export function readHash(hash, widgets) {
  const [number, sum, text] = hash.startsWith(MARK) ? hash.slice(MARK.length).split(".") : [];
  const widget = widgets[number];
  if (widget === undefined || sum !== checksum(widget, text)) return null;
  const bytes = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return [Number(number), JSON.parse(new TextDecoder().decode(Uint8Array.from(bytes, (c) => c.charCodeAt(0))))];
}

function checksum(...texts) {
  let sum = 2166136261;
  for (const char of texts.join("\n")) sum = Math.imul(sum ^ char.codePointAt(0), 16777619) >>> 0;
  return sum.toString(36);
}
