// The drawing of a graph: zoom with the wheel or the buttons, move by dragging, click a box to see what it is,
// a box with a plus to see what is inside it, and a line of the source to see the boxes that it made.
"use strict";

function explore(root) {
  const stage = root.querySelector(".gx-stage");
  const details = root.querySelector(".gx-details");
  const crumbs = root.querySelector(".gx-crumbs");
  const search = root.querySelector("input");
  const figures = new Map([...stage.querySelectorAll(".gx-figure")].map((figure) => [figure.dataset.key, figure]));
  const views = new Map(); // of each figure: scale and offset, in units of the drawing
  const parents = new Map();
  let shown = "";

  for (const [key, figure] of figures) {
    for (const box of figure.querySelectorAll("[data-opens]")) {
      for (const inner of box.dataset.opens.split(" ")) parents.set(inner, key);
    }
  }

  const svgOf = (key) => figures.get(key).querySelector("svg");

  function draw() {
    const { scale, x, y } = views.get(shown);
    svgOf(shown).querySelector(".gx-view").style.transform = `translate(${x}px, ${y}px) scale(${scale})`;
  }

  // How many pixels of the screen a unit of the drawing takes where nothing is zoomed.
  const unit = () => svgOf(shown).getScreenCTM().a;

  function fit(whole) {
    const box = svgOf(shown).viewBox.baseVal;
    // Large drawings begin at a size that can be read, those that nearly fit as wide as the stage.
    const wide = stage.clientWidth / (box.width * unit());
    const readable = whole ? 1 : Math.max(1, Math.min(0.9 / unit(), Math.max(wide, 0.6 / unit())));
    views.set(shown, { scale: readable, x: (box.width / 2) * (1 - readable), y: 0 });
    draw();
  }

  function zoom(factor, clientX, clientY) {
    const view = views.get(shown);
    const matrix = svgOf(shown).getScreenCTM();
    const frame = stage.getBoundingClientRect();
    const px = ((clientX ?? frame.x + frame.width / 2) - matrix.e) / matrix.a;
    const py = ((clientY ?? frame.y + frame.height / 2) - matrix.f) / matrix.d;
    const scale = Math.min(Math.max(view.scale * factor, 0.2), 60);
    view.x = px - ((px - view.x) / view.scale) * scale;
    view.y = py - ((py - view.y) / view.scale) * scale;
    view.scale = scale;
    draw();
  }

  function show(key) {
    figures.get(shown).hidden = true;
    shown = key;
    figures.get(key).hidden = false;
    const path = [];
    for (let at = key; at !== undefined; at = parents.get(at)) path.unshift(at);
    crumbs.replaceChildren(
      ...path.flatMap((at, index) => {
        const button = document.createElement("button");
        button.textContent = figures.get(at).dataset.title;
        button.addEventListener("click", () => show(at));
        return index ? [" › ", button] : [button];
      }),
    );
    if (views.has(key)) draw();
    else fit(false);
  }

  function choose(boxes) {
    for (const box of document.querySelectorAll(".gx-chosen")) box.classList.remove("gx-chosen");
    for (const box of boxes) box.classList.add("gx-chosen");
  }

  function describe(box) {
    choose([box]);
    const text = document.createElement("pre");
    text.textContent = box.querySelector(":scope > title")?.textContent ?? box.dataset.key;
    const inner = (box.dataset.opens ?? "").split(" ").filter((key) => figures.has(key));
    const buttons = inner.map((key) => {
      const button = document.createElement("button");
      button.textContent = `Open ${figures.get(key).dataset.title}`;
      button.addEventListener("click", () => show(key));
      return button;
    });
    details.replaceChildren(text, ...buttons);
    for (const row of document.querySelectorAll("tr[data-place]")) {
      if (row.dataset.place === box.dataset.place) row.classList.add("gx-chosen");
    }
  }

  function reveal(box) {
    const figure = box.closest(".gx-figure");
    if (figure.dataset.key !== shown) show(figure.dataset.key);
    const target = box.getBoundingClientRect();
    const frame = stage.getBoundingClientRect();
    const matrix = svgOf(shown).getScreenCTM();
    const view = views.get(shown);
    view.x += (frame.x + frame.width / 2 - target.x - target.width / 2) / matrix.a;
    view.y += (frame.y + Math.min(frame.height / 3, 200) - target.y) / matrix.d;
    draw();
  }

  let pointers = new Map();
  let moved = 0;
  stage.addEventListener("pointerdown", (event) => {
    pointers.set(event.pointerId, event);
    moved = 0;
  });
  stage.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const matrix = svgOf(shown).getScreenCTM();
    const others = [...pointers.values()].filter((other) => other.pointerId !== event.pointerId);
    moved += Math.abs(event.clientX - before.clientX) + Math.abs(event.clientY - before.clientY);
    if (moved > 4) stage.setPointerCapture(event.pointerId);
    if (others.length) {
      const length = (point) => Math.hypot(point.clientX - others[0].clientX, point.clientY - others[0].clientY);
      zoom(length(event) / Math.max(length(before), 1), others[0].clientX, others[0].clientY);
    } else {
      const view = views.get(shown);
      view.x += (event.clientX - before.clientX) / matrix.a;
      view.y += (event.clientY - before.clientY) / matrix.d;
      draw();
    }
    pointers.set(event.pointerId, event);
  });
  for (const end of ["pointerup", "pointercancel"]) {
    stage.addEventListener(end, (event) => pointers.delete(event.pointerId));
  }
  stage.addEventListener("wheel", (event) => {
    // A plain wheel scrolls the page over a drawing that nobody has touched.
    if (!event.ctrlKey && !event.metaKey && !stage.matches(":focus-within, :focus")) return;
    event.preventDefault();
    zoom(Math.exp(-event.deltaY * 0.0015), event.clientX, event.clientY);
  }, { passive: false });
  stage.addEventListener("click", (event) => {
    const box = event.target.closest(".gx-box");
    if (box && moved < 5) describe(box);
  });
  stage.addEventListener("dblclick", (event) => {
    const key = event.target.closest("[data-opens]")?.dataset.opens.split(" ")[0];
    if (figures.has(key)) show(key);
  });
  stage.addEventListener("keydown", (event) => {
    const does = { "+": () => zoom(1.25), "=": () => zoom(1.25), "-": () => zoom(0.8), 0: () => fit(true) }[event.key];
    const step = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key];
    if (step) {
      const view = views.get(shown);
      view.x += step[0];
      view.y += step[1];
      draw();
    }
    does?.();
    if (does || step) event.preventDefault();
  });
  const actions = { in: () => zoom(1.25), out: () => zoom(0.8), fit: () => fit(true) };
  for (const button of root.querySelectorAll("[data-do]")) {
    button.addEventListener("click", actions[button.dataset.do]);
  }
  search.addEventListener("change", () => {
    const wanted = search.value.trim().toLowerCase();
    const boxes = wanted ? [...stage.querySelectorAll(".gx-box")] : [];
    const found = boxes.filter((box) => box.dataset.key.toLowerCase().includes(wanted) && !box.matches(".gx-reference"));
    choose(found);
    details.textContent = wanted ? `${found.length} boxes have “${wanted}” in their names` : "";
    if (found.length) reveal(found[0]);
  });
  for (const row of document.querySelectorAll("tr[data-place]")) {
    row.addEventListener("click", () => {
      const boxes = [...stage.querySelectorAll(".gx-box")].filter((box) => box.dataset.place === row.dataset.place);
      choose([row, ...boxes]);
      details.textContent = `${boxes.length} boxes come from this line`;
      if (boxes.length) reveal(boxes[0]);
    });
  }
  show("");
}

document.querySelectorAll(".gx-explorer").forEach(explore);
