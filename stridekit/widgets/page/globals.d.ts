// Values that all modules of a page share. Each kind of widget has its own copy of the modules, so
// these live on globalThis.

declare global {
  /** The number of views that the page has had; a view's id has its own. */
  var stridekitViews: number | undefined;
  /** The style sheets of the page, by their texts. */
  var stridekitStyles: Record<string, CSSStyleSheet> | undefined;
  /** The signals of notebooks that are already saved with their widgets. */
  var stridekitKept: WeakSet<object> | undefined;
  /** The speed of all players. */
  var stridekitPlaying: { speed: string } | undefined;

  /** Sphinx's search, on the pages that stridekit/export writes. */
  var Search: { performSearch: (query: string) => void };
  /** The extensions of JupyterLab, by their names. */
  var _JUPYTERLAB: Record<string, unknown> | undefined;
}

export {};
