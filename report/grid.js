// What the page of a grouping and the page of photos to clean up share.
"use strict";

window.partwiseGrid = (() => {
function element(tag, properties, ...children) {
  const e = Object.assign(document.createElement(tag), properties);
  e.append(...children);
  return e;
}

const count = (n, what) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;

const few = 48, step = 150;

// arrow returns where an arrow key, Home or End leads from an element among its siblings: null if nowhere, undefined for another key.
function arrow(key, from) {
  switch (key) {
  case "ArrowRight": return from.nextElementSibling;
  case "ArrowLeft": return from.previousElementSibling;
  case "ArrowDown": return across(from, "nextElementSibling");
  case "ArrowUp": return across(from, "previousElementSibling");
  case "Home": return from.parentElement.firstElementChild;
  case "End": return from.parentElement.lastElementChild;
  }
}

// across returns the element in the next row that is nearest.
function across(from, way) {
  const middle = (e) => e.offsetLeft + e.offsetWidth / 2;
  const row = (e) => e.offsetTop + e.offsetHeight / 2;
  let best = null;
  let first = null;
  for (let e = from[way]; e; e = e[way]) {
    if (Math.abs(row(e) - row(from)) < from.offsetHeight / 2) continue;
    first ??= e;
    if (Math.abs(row(e) - row(first)) > first.offsetHeight / 2) break;
    if (!best || Math.abs(middle(e) - middle(from)) < Math.abs(middle(best) - middle(from))) best = e;
  }
  return best;
}

// A grid shows a list: the first few, or step by step all, as its end comes into view. make returns the element of an item.
class Grid {
  constructor(box, more, make, thing) {
    Object.assign(this, {box, more, make, thing, list: [], shown: 0, whole: false});
    box.addEventListener("keydown", (event) => this.key(event));
    this.button = element("button", {type: "button", onclick: () => { this.whole = true; this.grow(); }});
    this.note = element("span");
    more.replaceChildren(this.note, " ", this.button);
    new IntersectionObserver((seen) => { if (this.whole && seen.some((s) => s.isIntersecting)) this.grow(); }, {rootMargin: "600px"}).observe(more);
  }
  // show shows a list in place of what is shown, and as many of it.
  show(list) {
    const focused = this.box.contains(document.activeElement) && document.activeElement.dataset.i;
    this.list = list;
    const n = Math.max(this.shown, few);
    this.shown = 0;
    this.box.replaceChildren();
    this.grow(n);
    if (focused) this.box.querySelector(`[data-i="${focused}"]`)?.focus();
  }
  grow(by = step) {
    const next = this.list.slice(this.shown, this.shown + by).map(this.make);
    this.shown += next.length;
    this.box.append(...next);
    const first = this.box.querySelector("[tabindex='0']") ?? this.box.querySelector(".picture");
    if (first) first.tabIndex = 0;
    const left = this.list.length - this.shown;
    this.more.hidden = left === 0;
    this.note.textContent = `${count(left, `more ${this.thing}`)}.`;
    this.button.textContent = `Show all ${this.list.length.toLocaleString("en")}`;
    this.button.hidden = this.whole;
    this.box.classList.toggle("long", this.whole); // drawn only in view
  }
  key(event) {
    const from = event.target.closest(".picture");
    if (!from || event.ctrlKey || event.metaKey || event.altKey) return;
    const to = this.next(event.key, from);
    if (to === undefined) return;
    event.preventDefault();
    if (to) this.focus(to);
  }
  focus(to) {
    for (const e of this.box.querySelectorAll("[tabindex='0']")) e.tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
  }
}

return {element, count, arrow, Grid};
})();
