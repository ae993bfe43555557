// What the page does beyond links and forms: completion, panels that arrive later or change
// alone, light or dark. Without it every table stands.
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
    if (waiting) waiting.textContent = " They could not be fetched.";
    return null;
  }
}

// Links with data-panels change those panels alone; the address follows.
function prepare(within) {
  for (const link of within.querySelectorAll("a[data-panels]")) {
    link.addEventListener("click", async (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
      event.preventDefault();
      const to = new URL(link.href);
      const names = link.dataset.panels.split(" ");
      history.replaceState(null, "", to);
      const shown = await Promise.all(names.map((name) => {
        const section = document.getElementById(name);
        return section ? replace(section, `/panel/${name}${to.search}`) : null;
      }));
      const first = shown[0];
      if (first) {
        const heading = first.querySelector("h2");
        heading.tabIndex = -1;
        heading.focus({ preventScroll: true });
      }
    });
  }
  // Where a map is wider than the screen, the phrase itself is what is seen first.
  for (const frame of within.querySelectorAll(".frame")) {
    const focal = frame.querySelector("circle.p-warm");
    if (!focal || frame.scrollWidth <= frame.clientWidth) continue;
    const at = focal.getBoundingClientRect(), box = frame.getBoundingClientRect();
    frame.scrollLeft += at.left + at.width / 2 - box.left - box.width / 2;
  }
}

function later() {
  for (const section of document.querySelectorAll("section[data-later]")) {
    const text = section.querySelector(".waiting");
    text.querySelector("a").hidden = true;
    text.querySelector(".later").textContent = "They are being looked for …";
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
  list.setAttribute("aria-label", "Phrases that begin so");
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

themes();
document.querySelectorAll("input[data-complete]").forEach(completes);
prepare(document);
later();
