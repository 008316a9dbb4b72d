// The page of photos to clean up. A box of the class steps holds its first items, and in a template all others.
"use strict";

(() => {
const {element, arrow, Grid} = window.partwiseGrid;

function inTabOrder(item) {
  for (const a of item.querySelectorAll(".picture")) a.tabIndex = -1; // arrow keys lead to it
  return item;
}

class Steps extends Grid {
  constructor(box) {
    super(box, element("p", {className: "more note"}), inTabOrder, box.dataset.thing);
    const later = box.querySelector("template");
    later?.remove();
    this.shown = box.children.length;
    this.list = [...[...box.children].map(inTabOrder), ...later?.content.children ?? []];
    box.after(this.more);
    this.grow(0);
  }
  // next leads through the photos of a stack, and on to the stack above or below.
  next(key, from) {
    const to = arrow(key, from.closest(".photo"));
    if (to !== null) return to && to.querySelector(".picture");
    const stack = from.closest(".steps > .stack"), back = key === "ArrowLeft" || key === "ArrowUp";
    if (!back && this.box.lastElementChild.contains(from)) this.grow();
    const other = back ? stack?.previousElementSibling : stack?.nextElementSibling ?? from.closest(".steps > .photo")?.nextElementSibling;
    return other?.querySelector(key === "ArrowLeft" ? ".photo:last-child .picture" : ".picture") ?? null;
  }
}
for (const box of document.querySelectorAll(".steps")) new Steps(box);
})();
