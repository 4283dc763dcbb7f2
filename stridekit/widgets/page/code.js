// The module of `Code`. A page has this model before any widget of the kind, so it also saves notebooks with their widgets.

const VIEW = "application/vnd.jupyter.widget-view+json";
const STATE = "application/vnd.jupyter.widget-state+json";

/** Give the widgets that wait for it the module, run once per page. */
async function unpack(key, zip) {
  const shared = (globalThis[key] ??= Promise.withResolvers());
  if (shared.begun) return;
  shared.begun = true;
  const zipped = new Response(Uint8Array.from(atob(zip), (char) => char.charCodeAt(0))).body;
  const [module, ...styles] = await new Response(
    zipped.pipeThrough(new DecompressionStream("deflate")),
  ).json();
  const worn = (globalThis.stridekitStyles ??= {}); // by their texts: all kinds share the first sheet
  for (const textContent of styles)
    worn[textContent] ??= document.head.appendChild(
      Object.assign(document.createElement("style"), { textContent }),
    );
  const url = URL.createObjectURL(new Blob([module], { type: "text/javascript" }));
  shared.resolve(await import(url));
  URL.revokeObjectURL(url);
}

function store(manager) {
  const { model: notebook } = manager.context;
  const before = notebook.getMetadata("widgets")?.[STATE]?.state ?? {};
  const live = manager.get_state_sync({ drop_defaults: true }).state;
  const state = {};
  const add = (id) => {
    const saved = live[id] ?? withoutKernel(manager._modelsSync.get(id)) ?? before[id];
    if (!saved || state[id]) return;
    state[id] = saved;
    for (const [, other] of JSON.stringify(saved.state).matchAll(/"IPY_MODEL_(\w+)"/g)) add(other);
  };
  for (const cell of notebook.cells) {
    for (let k = 0; k < (cell.outputs?.length ?? 0); k++)
      add(cell.outputs.get(k).data[VIEW]?.model_id);
  }
  if (Object.keys(state).length) {
    notebook.setMetadata("widgets", { [STATE]: { version_major: 2, version_minor: 0, state } });
  } else notebook.deleteMetadata("widgets");
}

/** What the manager leaves out: a model whose kernel is gone, as it is now on the page. */
function withoutKernel(model) {
  return (
    model && {
      model_name: model.name,
      model_module: model.module,
      model_module_version: model.get("_model_module_version"),
      state: model.serialize(model.get_state(true)),
    }
  );
}

export default {
  initialize({ model }) {
    unpack(model.get("_key"), model.get("_zip"));
    // Whenever the notebook is saved, the widgets that its outputs show are saved with it.
    const kept = (globalThis.stridekitKept ??= new WeakSet()); // each Code has a module of its own
    const saving = model.widget_manager?.context?.saveState; // JupyterLab's; others save widgets by themselves
    if (!saving || kept.has(saving)) return;
    kept.add(saving);
    saving.connect((_, status) => status === "started" && store(model.widget_manager));
  },
};
