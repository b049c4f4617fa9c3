"use strict";
// Shows of every group of alternatives the one that is selected. What is selected by size and pair holds for the whole run;
// metric and way hold for the section they stand in.
for (const run of document.querySelectorAll(".run")) {
  const selected = {};
  const status = run.querySelector("[data-status]");

  function read(root) {
    const values = {};
    for (const c of root.querySelectorAll("select[data-control], input[data-control]:checked")) {
      if (root !== run || !c.closest("section:not(.run)")) {
        values[c.dataset.control] = c.value;
      }
    }
    return values;
  }

  function show() {
    Object.assign(selected, read(run));
    for (const group of run.querySelectorAll(".choice")) {
      const section = group.closest("section");
      const wanted = { ...selected, ...read(section) };
      let any = false;
      let none = null;
      for (const part of group.children) {
        if (part.classList.contains("none")) {
          none = part;
          continue;
        }
        const keys = ["pair", "size", "metric", "way"].filter((k) => k in part.dataset);
        if (keys.length === 0) {
          continue;
        }
        part.hidden = !keys.every((k) => !(k in wanted) || part.dataset[k] === wanted[k]);
        any = any || (!part.hidden && !("optional" in part.dataset));
      }
      if (none) {
        none.hidden = any;
      }
    }
  }

  function text(control) {
    return control.options ? control.options[control.selectedIndex].text : control.value;
  }

  for (const hidden of run.querySelectorAll(".toolbar, .chips")) {
    hidden.hidden = false;
  }
  run.addEventListener("change", (event) => {
    if (event.target.dataset.control) {
      show();
      status.textContent = "Shown: " + text(event.target);
    }
  });
  show();
}

// A link into the method opens it, also in browsers that do not do so by themselves.
function reveal() {
  const target = document.getElementById(location.hash.slice(1));
  const around = target && (target.closest("details") || target.querySelector("details"));
  if (around && !around.open) {
    around.open = true;
    target.scrollIntoView();
  }
}
addEventListener("hashchange", reveal);
reveal();
