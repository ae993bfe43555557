// Completion, panels that load later or change alone, the map, light and dark. Every table works
// without it.
"use strict";

const root = document.documentElement;
try {
  const kept = localStorage.getItem("theme");
  if (kept === "light" || kept === "dark") root.dataset.theme = kept;
} catch { /* a browser that keeps nothing */ }

function themes() {
  const button = document.querySelector(".theme");
  if (!button) return;
  button.hidden = false;
  button.addEventListener("click", () => {
    const dark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem("theme", root.dataset.theme); } catch { /* as above */ }
  });
}

// Who comes for the concordance has it above the similar phrases; the browser keeps the choice.
function concordanceFirst() {
  const button = document.querySelector("button.first");
  if (!button || !document.getElementById("concordance")) return;
  button.hidden = false;
  function set(first) {
    root.classList.toggle("concordance-first", first);
    button.setAttribute("aria-pressed", first);
  }
  let kept = null;
  try { kept = localStorage.getItem("first"); } catch { /* as above */ }
  set(kept === "concordance");
  button.addEventListener("click", () => {
    const first = !root.classList.contains("concordance-first");
    set(first);
    try { localStorage.setItem("first", first ? "concordance" : ""); } catch { /* as above */ }
  });
}

// A panel is asked for as HTML that the server has escaped.
async function fetched(address) {
  const answer = await fetch(address, { headers: { accept: "text/html" } });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const panel = page.querySelector("section.panel");
  if (!panel) throw new Error(`${answer.status}`);
  return panel;
}

async function replace(section, address) {
  section.setAttribute("aria-busy", "true");
  try {
    const panel = await fetched(address);
    section.replaceWith(panel);
    prepare(panel);
    return panel;
  } catch {
    section.removeAttribute("aria-busy");
    const waiting = section.querySelector(".later");
    if (waiting) waiting.textContent = " This part could not be loaded.";
    return null;
  }
}

// Links and forms with data-panels change those panels alone; the address follows, and Back
// brings the panels of the address before.
let shown = location.search;

async function change(to, names) {
  shown = to.search;
  const panels = await Promise.all(names.map((name) => {
    const section = document.getElementById(name);
    return section ? replace(section, `/panel/${name}${to.search}`) : null;
  }));
  return panels[0];
}

// The present address with one setting changed; a concordance begins with its first line again.
function address(names, key, value) {
  const to = new URL(location.href);
  if (names.includes("concordance")) to.searchParams.delete("skip");
  if (value) to.searchParams.set(key, value);
  else to.searchParams.delete(key);
  to.hash = names[0];
  return to;
}

async function changeAndFocus(event, to, names) {
  event.preventDefault();
  if (to.search !== shown) history.pushState(null, "", to);
  const first = await change(to, names);
  if (!first || document.activeElement !== document.body) return; // the focus was moved meanwhile
  const heading = first.querySelector("h2");
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}

window.addEventListener("popstate", () => {
  if (location.search === shown) return;
  if (new URLSearchParams(location.search).get("q") !== new URLSearchParams(shown).get("q")) {
    location.reload();
    return;
  }
  const settings = [...document.querySelectorAll("section.panel")]
    .filter((section) => section.querySelector("[data-panels]") || section.id === "map");
  change(new URL(location.href), settings.map((section) => section.id));
});

function prepare(within) {
  for (const link of within.querySelectorAll("a[data-panels]")) {
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
      const names = link.dataset.panels.split(" ");
      const [key, ...value] = link.dataset.set.split("=");
      changeAndFocus(event, address(names, key, value.join("=")), names);
    });
  }
  for (const form of within.querySelectorAll("form[data-panels]")) {
    form.addEventListener("submit", (event) => {
      const names = form.dataset.panels.split(" ");
      const places = [...form.querySelectorAll("select")].map((one) => one.value).filter(Boolean);
      changeAndFocus(event, address(names, "order", places.join(",")), names);
    });
  }
  for (const frame of within.querySelectorAll(".frame")) maps(frame);
}

// A map is zoomed by buttons, wheel and keys, moved by dragging and arrows, and filtered.
function maps(frame) {
  const picture = frame.querySelector("svg"), tools = frame.parentNode.querySelector(".map-tools");
  const whole = picture.viewBox.baseVal, full = [whole.x, whole.y, whole.width, whole.height];
  let now = [...full];
  tools.hidden = false;

  function set(x, y, size) {
    const width = Math.min(full[2], Math.max(full[2] / 8, size));
    const height = width * full[3] / full[2];
    now = [Math.min(full[2] - width, Math.max(0, x)), Math.min(full[3] - height, Math.max(0, y)),
      width, height];
    picture.setAttribute("viewBox", now.map((value) => value.toFixed(1)).join(" "));
    picture.style.setProperty("--zoom", (full[2] / width).toFixed(2));
  }

  function zoom(by, x = now[0] + now[2] / 2, y = now[1] + now[3] / 2) {
    const size = by ? now[2] * by : full[2];
    const ratio = size / now[2];
    set(x - (x - now[0]) * ratio, y - (y - now[1]) * ratio, size);
  }

  function scale() { return now[2] / picture.getBoundingClientRect().width; }

  for (const button of tools.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => zoom(Number(button.dataset.zoom)));
  }
  frame.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && now[2] === full[2]) return; // else the page could not be scrolled past it
    event.preventDefault();
    const box = picture.getBoundingClientRect();
    zoom(event.deltaY < 0 ? 0.85 : 1.18, now[0] + (event.clientX - box.left) * scale(),
      now[1] + (event.clientY - box.top) * scale());
  }, { passive: false });
  frame.addEventListener("keydown", (event) => {
    const step = now[2] / 10;
    const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
    if (event.key === "+" || event.key === "-") zoom(event.key === "+" ? 0.7 : 1.43);
    else if (moves[event.key] && now[2] < full[2]) {
      set(now[0] + moves[event.key][0], now[1] + moves[event.key][1], now[2]);
    } else return;
    event.preventDefault();
  });
  let from = null;
  frame.addEventListener("pointerdown", (event) => {
    if (now[2] < full[2] && !event.target.closest("a")) from = [event.clientX, event.clientY, ...now];
  });
  frame.addEventListener("pointermove", (event) => {
    if (!from) return;
    set(from[2] - (event.clientX - from[0]) * scale(), from[3] - (event.clientY - from[1]) * scale(), now[2]);
  });
  for (const end of ["pointerup", "pointerleave"]) frame.addEventListener(end, () => { from = null; });

  const text = tools.querySelector("[data-filter]"), least = tools.querySelector("[data-least]");
  function filter() {
    tools.querySelector("output").textContent = Number(least.value).toFixed(2);
    for (const link of picture.querySelectorAll("a")) {
      const told = link.querySelector("title").textContent;
      const similarity = Number((/similarity (-?[\d.]+)/.exec(told) || [0, 1])[1]);
      const fits = told.split(": similarity")[0].toLowerCase().includes(text.value.trim().toLowerCase());
      link.classList.toggle("out", !fits || similarity < Number(least.value));
      if (link.classList.contains("out")) link.setAttribute("tabindex", "-1");
      else link.removeAttribute("tabindex");
    }
  }
  text.addEventListener("input", filter);
  least.addEventListener("input", filter);
  // Where a map is wider than the screen, the phrase itself is what is seen first.
  const focal = picture.querySelector("circle.p-warm");
  if (!focal || frame.scrollWidth <= frame.clientWidth) return;
  const at = focal.getBoundingClientRect(), box = frame.getBoundingClientRect();
  frame.scrollLeft += at.left + at.width / 2 - box.left - box.width / 2;
}

function later() {
  for (const section of document.querySelectorAll("section[data-later]")) {
    const text = section.querySelector(".waiting");
    text.querySelector("a").hidden = true;
    text.querySelector(".later").textContent = "Searching …";
    text.setAttribute("role", "status");
    replace(section, section.dataset.later);
  }
}

// A combobox as the ARIA practices have it: arrows choose, Enter takes, Escape closes.
function completes(input) {
  const list = document.createElement("ul");
  list.className = "options";
  list.id = `${input.id}-options`;
  list.hidden = true;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Completions");
  input.parentNode.append(list);
  for (const [name, value] of [["role", "combobox"], ["aria-autocomplete", "list"],
    ["aria-expanded", "false"], ["aria-controls", list.id]]) input.setAttribute(name, value);
  let chosen = -1, number = 0, timer = 0;

  function close() {
    list.hidden = true;
    chosen = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function choose(to) {
    const options = list.children;
    if (!options.length) return;
    if (chosen >= 0) options[chosen].setAttribute("aria-selected", "false");
    chosen = (to + options.length) % options.length;
    options[chosen].setAttribute("aria-selected", "true");
    options[chosen].scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", options[chosen].id);
  }

  function take(option) {
    input.value = option.firstChild.textContent;
    close();
    if (input.name === "q") input.form.requestSubmit();
    else input.focus();
  }

  async function ask() {
    const mine = ++number;
    const text = input.value;
    if (!text.trim()) { close(); return; }
    try {
      const answer = await fetch(`${input.dataset.complete}?${new URLSearchParams({ text, k: 8 })}`);
      if (!answer.ok || mine !== number) return;
      const rows = (await answer.json()).rows;
      list.replaceChildren(...rows.map((row, place) => {
        const option = document.createElement("li");
        option.id = `${list.id}-${place}`;
        option.setAttribute("role", "option");
        option.setAttribute("aria-selected", "false");
        const phrase = document.createElement("span");
        phrase.dir = "auto";
        phrase.textContent = row.phrase;
        const count = document.createElement("span");
        count.textContent = row.count.toLocaleString("en");
        option.append(phrase, count);
        option.addEventListener("mousedown", (event) => { event.preventDefault(); take(option); });
        return option;
      }));
      chosen = -1;
      list.hidden = !rows.length || document.activeElement !== input;
      input.setAttribute("aria-expanded", String(!list.hidden));
    } catch { close(); }
  }

  input.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(ask, 60); });
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (list.hidden) ask();
      else choose(event.key === "ArrowDown" ? chosen + 1 : chosen < 0 ? -1 : chosen - 1);
      event.preventDefault();
    } else if (event.key === "Enter" && chosen >= 0) {
      event.preventDefault();
      take(list.children[chosen]);
    } else if (event.key === "Escape" && !list.hidden) {
      event.preventDefault();
      close();
    }
  });
}

document.addEventListener("keydown", (event) => {
  const inside = event.target.closest("input, textarea, select");
  if (event.key === "/" && !inside && !event.ctrlKey && !event.metaKey && !event.altKey) {
    const field = document.querySelector("input[name=q]");
    if (field) { event.preventDefault(); field.focus(); field.select(); }
  }
});

// The filter on documents keeps the settings that panels have changed since.
const filter = document.querySelector("form[data-keeps]");
if (filter) {
  filter.addEventListener("submit", (event) => {
    event.preventDefault();
    const to = address(["concordance"], "where", filter.elements.where.value.trim());
    to.hash = "";
    location.assign(to);
  });
}

themes();
concordanceFirst();
document.querySelectorAll("input[data-complete]").forEach(completes);
prepare(document);
later();
