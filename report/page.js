// The page of a grouping. data.js, which comes before this script, sets partwiseData:
//
//   thing       "image" or "sample"
//   names       name of each sample
//   base, links where the pictures are: base + links[i], or base + the escaped name without
//               links; neither where samples are in no files, and links[i] is "" where one is not
//   groups      group of each sample, from 0
//   groupNames  name of each group beside its number, or ""
//   order       all samples, group by group; thumbnails stand in this order
//   typical     whether each group's most typical samples come first in it
//   sheets      contact sheets: cell is the side of a cell in pixels; a sheet has perSheet
//               cells in rows of columns; count is that of sheets, pictures/000 + ending and so on;
//               zoom enlarges thumbnails; sizes, base64, has a byte for the width and one
//               for the height of each sample's thumbnail, 0 where there is none
//   labels      class of each sample, an index into classes, or -1
//   confidence  how surely each sample is in its group, in percent
//   copyOf      original of the stack of copies that each is in
//   near        samples that are near and no exact copies
//   outliers, remarks   lists of [sample, 0..1] and of [sample, "blurred"]
//   search      whether the server finds pictures by a description (explore.js)
//   captures    list of [sample, capture time, camera, place], each "" where unknown
//
// and codes for similar.js and a map for map.js, which stand on their own.
//
// Other scripts may use the global partwise once document gets the event partwise:ready:
//
//   partwise.pictures   array of {i, name, href, group, confidence, label, copyOf, near,
//                       outlier, remark, labelled, taken, camera, place}; confidence is in [0, 1] or null, href ""
//                       where there is no file
//   partwise.groups     array of {index, name, members, section}; members are the samples as
//                       they are shown, section is the element
//   partwise.selection  Set of the samples that are selected; change it by select
//   partwise.select(samples, on)   selects samples, or with on false does not
//   partwise.update({groups, names, confidence, labelled})   moves pictures in place: group of
//                       each sample, name of each group, confidence of each sample, and the
//                       samples with a label; omitted values stay
//   partwise.show(i, list)   opens a picture large; list is what to page through
//   partwise.list(title, samples)   shows samples in the panel of results
//   partwise.similar(samples)   all samples, the most similar first (similar.js, where there are codes)
//   partwise.compare    the button that shows the selected pictures side by side
//   partwise.tell(text) says something, to screen readers too
//
// and the events partwise:selection, partwise:update and partwise:show, whose detail.i is
// the picture that the large view shows. A picture is a.picture[data-i], a
// group section.group[data-group]. Not every picture has an element at all times: long
// groups show their first until they are asked for all.
"use strict";

(() => {
const data = window.partwiseData;
const {sheets} = data;
const byId = (id) => document.getElementById(id);
const {element, arrow, Grid} = window.partwiseGrid;

const bytes = (base64) => Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
const count = (n, what = data.thing) => window.partwiseGrid.count(n, what);
const percent = (x) => `${Math.round(100 * x)} %`;

const rank = new Int32Array(data.names.length); // place in data.order
data.order.forEach((i, at) => { rank[i] = at; });
const sizes = sheets && bytes(sheets.sizes);

const escaped = (name) => encodeURIComponent(name).replaceAll("%2F", "/").replace(/[!'()*]/g, (c) => "%" + c.charCodeAt(0).toString(16).toUpperCase());
function linkOf(i) {
  if (data.base === undefined && !data.links) return "";
  const rest = data.links ? data.links[i] : escaped(data.names[i]);
  return rest && (data.base ?? "") + rest;
}

const near = new Set(data.near), outliers = new Map(data.outliers), remarks = new Map(data.remarks);
const captures = new Map((data.captures ?? []).map(([i, ...known]) => [i, known]));
const pictures = data.names.map((name, i) => ({
  i, name, href: linkOf(i), group: data.groups[i], confidence: data.confidence ? data.confidence[i] / 100 : null,
  label: data.labels ? data.labels[i] : -1, copyOf: data.copyOf ? data.copyOf[i] : i, near: near.has(i),
  outlier: outliers.get(i) ?? 0, remark: remarks.get(i) ?? "", labelled: false,
}));
for (const p of pictures) [p.taken, p.camera, p.place] = captures.get(p.i) ?? ["", "", ""];
const copies = new Map(); // of the original of each stack: all that are in it
if (data.copyOf) for (const p of pictures) if (p.copyOf !== p.i) {
  if (!copies.has(p.copyOf)) copies.set(p.copyOf, [p.copyOf]);
  copies.get(p.copyOf).push(p.i);
}

// ---- thumbnails

// unsure is from which confidence on down a picture is marked.
const unsure = 0.05;
const isUnsure = (p) => p.confidence !== null && p.confidence < unsure;

// cellOf returns where the thumbnail of a sample is, or null where it has none.
function cellOf(i) {
  if (!sheets || !sizes[2 * i]) return null;
  const sheet = Math.floor(rank[i] / sheets.perSheet), at = rank[i] % sheets.perSheet;
  return {
    sheet, column: at % sheets.columns, row: Math.floor(at / sheets.columns), width: sizes[2 * i], height: sizes[2 * i + 1],
    path: `pictures/${String(sheet).padStart(3, "0")}${sheets.ending}`,
  };
}

function thumbnail(i) {
  const cell = cellOf(i);
  if (!cell) return element("span", {className: "name", textContent: pictures[i].name});
  const img = element("img", {className: `x${cell.column} y${cell.row}`, width: cell.width, height: cell.height, loading: "lazy", alt: pictures[i].name});
  img.src = cell.path;
  img.style.height = `${cell.height}px`; // also in figures
  return img;
}

const groupTitle = (g) => `Group ${g + 1}${groups[g].name ? ": " + groups[g].name : ""}`;

// about lists what is known of a picture beside its name.
function about(p) {
  const known = [];
  if (p.label >= 0) known.push(["Class", data.classes[p.label]]);
  if (p.confidence !== null) known.push(["Confidence", percent(p.confidence) + (isUnsure(p) ? ", uncertain: almost as close to another group" : "")]);
  if (p.taken) known.push(["Taken", p.taken]);
  if (p.camera) known.push(["Camera", p.camera]);
  if (p.place) known.push(["Place", p.place]);
  if (p.remark) known.push(["Quality", p.remark]);
  if (p.outlier > 0) known.push(["Outlier probability", percent(p.outlier)]);
  const stack = copies.get(p.copyOf);
  if (stack) known.push(["Copies", `${stack.length} of one image${p.near ? ", near duplicate" : ""}`]);
  return known;
}

function tile(i) {
  const p = pictures[i];
  const a = element("a", {className: "picture", tabIndex: -1, title: p.name}, thumbnail(i));
  a.dataset.i = i;
  if (p.href) a.href = p.href;
  else a.setAttribute("role", "button");
  a.append(element("span", {className: "tick", ariaHidden: "true"}));
  const known = about(p).map(([what, value]) => `${what}: ${value}`);
  if (known.length > 0) a.title += "\n" + known.join("\n");
  if (p.label >= 0) a.classList.add(p.label === groups[p.group].main ? "hit" : "miss");
  if (isUnsure(p)) a.classList.add("unsure");
  dress(a, p);
  return a;
}

// dress shows whether a picture is selected, and whether it has a label.
function dress(a, p) {
  const on = partwise.selection.has(p.i);
  a.classList.toggle("selected", on);
  a.classList.toggle("labelled", p.labelled);
  a.setAttribute("aria-label", [p.name, isUnsure(p) ? "uncertain" : "", p.remark, p.labelled ? "labelled" : "", on ? "selected" : ""].filter(Boolean).join(", "));
}

// redress does so for all elements of some samples.
function redress(samples) {
  const of = new Set(samples);
  for (const a of document.querySelectorAll("a.picture")) if (of.has(+a.dataset.i)) dress(a, pictures[a.dataset.i]);
}

// ---- grids of pictures

// Pictures is a grid of pictures, which keys select and open.
class Pictures extends Grid {
  constructor(box, more) { super(box, more, decorated, data.thing); }
  next(key, from) {
    if (key === " ") select([+from.dataset.i], !partwise.selection.has(+from.dataset.i));
    else if (key !== "Enter" || from.href) return arrow(key, from);
    else from.click();
    return null;
  }
}

// decorated is a tile with the number of its copies, where it stands for them.
const open = new Set(); // stacks that are open
function decorated(i) {
  const a = tile(i), stack = copies.get(pictures[i].copyOf);
  if (!stack) return a;
  const here = stack.filter((j) => pictures[j].group === pictures[i].group);
  if (here[0] === i && here.length > 1) {
    const badge = element("span", {className: "badge", textContent: open.has(pictures[i].copyOf) ? `− ${here.length}` : `${here.length}`, title: "Copies of one image: click to show or hide them"});
    a.append(badge);
    a.setAttribute("aria-label", a.getAttribute("aria-label") + `, ${here.length} copies`);
  }
  if (open.has(pictures[i].copyOf)) a.classList.add("in-stack");
  return a;
}

// stacked leaves out the copies in closed stacks of a list of one group, and puts those
// of open ones beside each other.
function stacked(list) {
  if (copies.size === 0) return list;
  const done = new Set(), out = [];
  for (const i of list) {
    const stack = copies.get(pictures[i].copyOf);
    if (!stack) { out.push(i); continue; }
    if (done.has(pictures[i].copyOf)) continue;
    done.add(pictures[i].copyOf);
    const here = stack.filter((j) => pictures[j].group === pictures[i].group);
    out.push(...(open.has(pictures[i].copyOf) ? here : here.slice(0, 1)));
  }
  return out;
}

// ---- groups

const collator = new Intl.Collator("en", {numeric: true});
let moved = false; // whether confidences say what is typical, since groups are not what they were
const orders = {
  typical: [data.typical ? "most typical first" : "order of the data", (a, b) => (moved && a.confidence !== null ? b.confidence - a.confidence : 0) || rank[a.i] - rank[b.i]],
  unsure: ["least certain first", (a, b) => a.confidence - b.confidence || rank[a.i] - rank[b.i]],
  name: ["by name", (a, b) => collator.compare(a.name, b.name) || a.i - b.i],
  taken: ["by capture time", (a, b) => (a.taken === "") - (b.taken === "") || (a.taken < b.taken ? -1 : +(a.taken > b.taken)) || a.i - b.i],
};
let order = "typical";

const groups = [];

function addGroup(index, name) {
  let section = document.querySelector(`section.group[data-group="${index}"]`);
  if (!section) {
    const title = `group-${index + 1}-title`;
    section = element("section", {className: "group", id: `group-${index + 1}`}, element("h2", {id: title}), element("p"), element("div", {className: "pictures"}));
    section.dataset.group = index;
    section.setAttribute("aria-labelledby", title);
    byId("groups").append(section);
  }
  const g = {index, name, members: [], main: -1, folded: false, section};
  section.querySelector(".more")?.remove();
  const box = section.querySelector(".pictures");
  box.setAttribute("role", "group");
  g.button = element("button", {type: "button", ariaExpanded: "true", onclick: () => fold(g, !g.folded)});
  section.querySelector("h2").replaceChildren(g.button);
  g.grid = new Pictures(box, element("p", {className: "more note"}));
  section.append(g.grid.more);
  groups.push(g);
}

function fold(g, folded) {
  g.folded = folded;
  g.button.ariaExpanded = String(!folded);
  for (const e of [...g.section.children].slice(1)) e.classList.toggle("folded", folded);
  if (!folded && g.stale) render(g);
  sayFold();
}

function sayFold() {
  byId("fold").textContent = groups.every((g) => g.folded) ? "Expand all groups" : "Collapse all groups";
}

// arrange finds the members of each group and their most frequent class.
function arrange() {
  for (const g of groups) { g.members = []; g.classes = new Map(); }
  for (const p of pictures) {
    const g = groups[p.group];
    g.members.push(p.i);
    if (p.label >= 0) g.classes.set(p.label, (g.classes.get(p.label) ?? 0) + 1);
  }
  for (const g of groups) {
    g.classes = [...g.classes].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
    g.main = g.classes.length > 0 ? g.classes[0][0] : -1;
    const compare = orders[order][1];
    g.members.sort((a, b) => compare(pictures[a], pictures[b]));
  }
}

// render shows a group, or remembers to when it is unfolded.
function render(g) {
  g.section.hidden = g.members.length === 0;
  g.button.textContent = groupTitle(g.index);
  const words = [`${count(g.members.length)}.`];
  if (order === "typical" && data.typical && g.members.length > 1) words.push("Most typical first.");
  if (g.classes.length > 0) words.push(`Classes: ${g.classes.map(([l, n]) => `${data.classes[l]} (${n})`).join(", ")}.`);
  g.section.querySelector("p").textContent = words.join(" ");
  g.section.querySelector(".pictures").setAttribute("aria-label", `${count(g.members.length)} in group ${g.index + 1}`);
  g.stale = g.folded;
  if (!g.folded) g.grid.show(stacked(g.members));
}

// navigation shows the groups as cards: a face, the name and the number of members.
const cards = element("div", {id: "cards"});
if (sheets) cards.style.setProperty("--zoom", 96 / sheets.cell);
cards.addEventListener("keydown", (event) => {
  const to = !event.ctrlKey && !event.metaKey && !event.altKey && arrow(event.key, event.target);
  if (!to) return;
  event.preventDefault();
  to.focus();
});
function card(g) {
  const key = `${g.members[0]} ${g.members.length} ${g.name}`;
  if (g.cardKey !== key) {
    g.cardKey = key;
    g.card = element("a", {className: "card", href: `#group-${g.index + 1}`}, ...sheets ? [element("span", {className: "face", ariaHidden: "true"}, thumbnail(g.members[0]))] : [],
      element("span", {textContent: groupTitle(g.index)}), element("span", {className: "note", textContent: count(g.members.length)}));
  }
  return g.card;
}
function navigation() {
  const now = groups.filter((g) => g.members.length > 0).map(card);
  if (now.some((a, at) => cards.children[at] !== a) || cards.children.length !== now.length) {
    const at = [...cards.children].indexOf(document.activeElement);
    cards.replaceChildren(...now);
    if (at >= 0) now[Math.min(at, now.length - 1)].focus({preventScroll: true});
  }
  document.querySelector(".lead").textContent = `${count(pictures.length)} in ${count(groups.filter((g) => g.members.length > 0).length, "group")}.`;
}

function update({groups: to, names, confidence, labelled} = {}) {
  const before = groups.map((g) => ({...g}));
  if (to) pictures.forEach((p, i) => { moved ||= p.group !== to[i]; p.group = to[i]; });
  if (confidence) pictures.forEach((p, i) => { p.confidence = confidence[i]; });
  for (let g = groups.length, most = pictures.reduce((m, p) => Math.max(m, p.group), -1); g <= most; g++) addGroup(g, "");
  if (labelled) {
    const now = new Set(labelled);
    const changed = pictures.filter((p) => p.labelled !== now.has(p.i));
    for (const p of changed) p.labelled = !p.labelled;
    redress(changed.map((p) => p.i));
  }
  if (names) groups.forEach((g) => { g.name = names[g.index] ?? ""; });
  arrange();
  for (const g of groups) {
    const was = before[g.index], now = new Set(g.members);
    // A group with the same members keeps its order, since confidences change a little with each correction.
    if (was?.members.length === now.size && was.members.every((i) => now.has(i))) g.members = was.members;
    if (g.members !== was?.members || g.name !== was.name) render(g);
  }
  navigation();
  lists();
  document.dispatchEvent(new CustomEvent("partwise:update"));
}

// ---- selection

function select(samples, on = true) {
  for (const i of samples) {
    if (on) partwise.selection.add(i);
    else partwise.selection.delete(i);
  }
  redress(samples);
  document.dispatchEvent(new CustomEvent("partwise:selection"));
}

// ---- results: what was looked for

const results = byId("results");
let resultGrid = null, before = null;

function tell(text) { byId("status").textContent = text; }

function list(title, samples) {
  resultGrid ??= new Pictures(results.querySelector(".pictures"), results.appendChild(element("p", {className: "more note"})));
  if (results.hidden) before = {focus: document.activeElement, top: scrollY};
  resultGrid.whole = false;
  resultGrid.shown = 0;
  results.hidden = false;
  byId("results-title").textContent = title;
  resultGrid.show(samples);
  const {top} = results.getBoundingClientRect();
  if (top < byId("tools").getBoundingClientRect().bottom || top > innerHeight / 2) results.scrollIntoView({behavior: "instant"});
  tell(`${title}: ${count(samples.length)}.`);
}

function closeResults() {
  if (results.hidden) return;
  const back = results.contains(document.activeElement), seen = results.getBoundingClientRect().bottom > 0;
  results.hidden = true;
  tell("");
  if (back) before.focus.focus({preventScroll: true});
  if (seen) scrollTo({top: before.top, behavior: "instant"});
}

function find(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return closeResults();
  const found = pictures.filter((p) => { const known = `${p.name} ${p.taken} ${p.camera}`.toLowerCase(); return words.every((w) => known.includes(w)); });
  list(`Names with “${text.trim()}”`, found.sort(orders.name[1]).map((p) => p.i));
}

// lists puts up a button for each list of pictures that are worth a look.
function lists() {
  const all = [
    ["Labelled", pictures.filter((p) => p.labelled)],
    ["Uncertain", pictures.filter(isUnsure).sort(orders.unsure[1])],
    ["Outliers", pictures.filter((p) => p.outlier > 0).sort((a, b) => b.outlier - a.outlier)],
    ...[...new Set(remarks.values())].sort().map((r) => [r[0].toUpperCase() + r.slice(1), pictures.filter((p) => p.remark === r)]),
    ["Exact copies", pictures.filter((p) => p.copyOf !== p.i && !p.near)],
    ["Near duplicates", pictures.filter((p) => p.near)],
  ];
  byId("lists").replaceChildren(...all.filter(([, of]) => of.length > 0).map(([title, of]) =>
    element("button", {type: "button", textContent: `${title} (${of.length})`, onclick: () => list(title, of.map((p) => p.i))})));
}

// ---- a picture, large

const viewer = element("dialog", {id: "viewer"});
viewer.setAttribute("aria-labelledby", "viewer-title");
const view = {
  title: element("h2", {id: "viewer-title"}), figure: element("figure"), known: element("dl"),
  original: element("a", {textContent: "Open the original"}),
  bar: element("div", {className: "bar"}), extra: element("div"),
  at: 0, list: [], close: () => viewer.close(),
};
const bar = (text, onclick) => element("button", {type: "button", textContent: text, onclick});
view.select = bar("Select", () => { const i = view.list[view.at]; select([i], !partwise.selection.has(i)); });
view.bar.append(bar("← Previous", () => turn(-1)), bar("Next →", () => turn(1)), ...zoomable(viewer, view.figure), view.select, view.original);
viewer.append(view.title, element("button", {id: "viewer-close", type: "button", textContent: "Close", onclick: () => viewer.close()}), view.figure, view.bar, view.known, view.extra);
document.body.append(viewer);

function show(i, within = [i]) {
  view.list = within.includes(i) ? within : [i];
  view.at = view.list.indexOf(i);
  draw();
  if (!viewer.open) viewer.showModal();
}

function turn(by) {
  view.at = (view.at + by + view.list.length) % view.list.length;
  draw();
}

// large returns the picture of a sample: the thumbnail, until the original is there.
function large(i) {
  const p = pictures[i], small = thumbnail(i);
  small.classList.add("picture-small");
  if (p.href && sheets) {
    const img = element("img", {alt: p.name});
    img.onload = () => small.replaceWith(img);
    img.src = p.href;
  }
  return small;
}

// zoomable lets the wheel and the keys +, − and 0 enlarge all images of a box alike, and dragging move them.
function zoomable(dialog, box) {
  let scale = 1, x = 0, y = 0, last = null;
  const zoom = (by) => {
    const next = Math.min(16, Math.max(1, scale * by));
    [x, y, scale] = next === 1 ? [0, 0, 1] : [x * next / scale, y * next / scale, next];
    box.style.setProperty("--scale", scale);
    box.style.setProperty("--pan", `${x}px ${y}px`);
    box.classList.toggle("zoomed", scale > 1);
  };
  box.classList.add("zoomable");
  box.addEventListener("wheel", (event) => { event.preventDefault(); zoom(Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.002))); }, {passive: false});
  box.addEventListener("pointerdown", (event) => {
    if (scale === 1) return;
    last = event;
    box.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  box.addEventListener("pointermove", (event) => {
    if (!last) return;
    x += event.clientX - last.clientX;
    y += event.clientY - last.clientY;
    last = event;
    zoom(1);
  });
  for (const end of ["pointerup", "pointercancel"]) box.addEventListener(end, () => { last = null; });
  dialog.addEventListener("keydown", (event) => {
    const by = {"+": 1.5, "=": 1.5, "-": 1 / 1.5, 0: 0}[event.key];
    if (by === undefined || event.ctrlKey || event.metaKey) return;
    zoom(by);
    event.preventDefault();
  });
  return [bar("+", () => zoom(1.5)), bar("−", () => zoom(1 / 1.5))].map((b, at) => Object.assign(b, {ariaLabel: at ? "Zoom out" : "Zoom in", title: b.textContent}));
}

// ---- pictures side by side

const mostCompared = 12;
const side = element("dialog", {id: "side"}), sides = element("div", {className: "sides"});
side.ariaLabel = `Compare ${data.thing}s`;
side.append(element("div", {className: "bar"}, ...zoomable(side, sides), bar("Close", () => side.close())), sides);
side.addEventListener("click", (event) => { if (event.target === side) side.close(); });
document.body.append(side);
const compare = element("button", {type: "button", textContent: "Compare", title: `Show the selected ${data.thing}s side by side (c)`, hidden: true, onclick: () => {
  const list = [...partwise.selection].slice(0, mostCompared);
  if (list.length < 2 || side.open) return;
  sides.style.setProperty("--columns", Math.ceil(Math.sqrt(list.length)));
  sides.replaceChildren(...list.map((i) => element("figure", {}, element("div", {}, large(i)), element("figcaption", {textContent: `${pictures[i].name}, ${groupTitle(pictures[i].group)}`}))));
  side.showModal();
}});
document.addEventListener("partwise:selection", () => { compare.hidden = partwise.selection.size < 2; });
document.addEventListener("keydown", (event) => {
  if (event.key === "c" && !viewer.open && !event.ctrlKey && !event.metaKey && !event.altKey && !event.target.closest("input, select, dialog")) compare.click();
});

function draw() {
  const p = pictures[view.list[view.at]];
  view.title.textContent = p.name;
  view.original.hidden = !p.href;
  if (p.href) view.original.href = p.href;
  view.figure.hidden = !sheets;
  view.figure.replaceChildren(large(p.i));
  view.known.replaceChildren(...[["Group", groupTitle(p.group)], ...about(p)].flatMap(([what, value]) => [element("dt", {textContent: what}), element("dd", {textContent: value})]));
  mark();
  document.dispatchEvent(new CustomEvent("partwise:show", {detail: {i: p.i}}));
}

function mark() {
  if (view.list.length > 0) view.select.textContent = partwise.selection.has(view.list[view.at]) ? "Deselect" : "Select";
}

viewer.addEventListener("keydown", (event) => {
  if (event.target.closest(".pictures")) return;
  if (event.key === "ArrowRight") turn(1);
  else if (event.key === "ArrowLeft") turn(-1);
});
viewer.addEventListener("click", (event) => { if (event.target === viewer) viewer.close(); });

// ---- what is clicked and typed

document.addEventListener("click", (event) => {
  const a = event.target.closest("a.picture");
  if (!a || event.defaultPrevented) return;
  const i = +a.dataset.i;
  if (event.target.closest(".tick")) select([i], !partwise.selection.has(i));
  else if (event.target.closest(".badge")) {
    const first = pictures[i].copyOf;
    if (!open.delete(first)) open.add(first);
    render(groups[pictures[i].group]);
  } else if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  else show(i, a.closest("#results") ? resultGrid.list : a.closest(".group") ? groups[pictures[i].group].grid.list : undefined);
  event.preventDefault();
});
document.addEventListener("partwise:selection", mark);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !viewer.open) { byId("find").value = ""; closeResults(); }
});
// A link leads to what is folded away, too.
function unfoldTarget() {
  const target = location.hash && byId(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let e = target.closest("details"); e; e = e.parentElement.closest("details")) e.open = true;
  const g = target.closest(".group");
  if (g && groups[g.dataset.group]?.folded) fold(groups[g.dataset.group], false);
  if (target.closest("#groups")) tab("groups");
  target.scrollIntoView();
}

// ---- groups or the map

const tabs = element("div", {id: "tabs"}), tabNames = {groups: "Groups", map: "Map"};
tabs.setAttribute("role", "tablist");
for (const [name, textContent] of Object.entries(tabNames)) {
  const b = element("button", {type: "button", id: `tab-${name}`, textContent, onclick: () => tab(name)});
  b.setAttribute("role", "tab");
  b.setAttribute("aria-controls", name);
  tabs.append(b);
}
tabs.addEventListener("keydown", (event) => {
  const to = arrow(event.key, event.target);
  if (!to) return;
  to.focus();
  to.click();
  event.preventDefault();
});
function tab(name) {
  if (!data.map) return;
  document.body.dataset.tab = name;
  for (const b of tabs.children) {
    b.ariaSelected = String(b.id === `tab-${name}`);
    b.tabIndex = b.id === `tab-${name}` ? 0 : -1;
  }
}
window.addEventListener("hashchange", unfoldTarget);
window.addEventListener("beforeprint", () => groups.forEach((g) => fold(g, false)));

// ---- the start

const partwise = {
  pictures, groups, selection: new Set(), select, update, show, list, tell,
  compare, element, tile, thumbnail, cellOf, groupTitle, view, // for the scripts of the page
};
let typing = 0;
byId("find").addEventListener("input", (event) => { clearTimeout(typing); typing = setTimeout(() => find(event.target.value), 150); });
byId("results-close").addEventListener("click", closeResults);
byId("fold").addEventListener("click", () => { const to = !groups.every((g) => g.folded); groups.forEach((g) => fold(g, to)); });
byId("order").append(...Object.entries(orders).filter(([key]) => (key !== "unsure" || data.confidence) && (key !== "taken" || captures.size > 0)).map(([value, [text]]) => element("option", {value, textContent: text})));
byId("order").addEventListener("change", (event) => { order = event.target.value; arrange(); groups.forEach(render); });
window.partwise = partwise;
if (captures.size > 0) byId("find").parentElement.firstChild.data = "Name, date, camera ";
data.groupNames.forEach((name, index) => addGroup(index, name));
arrange();
groups.forEach(render);
lists();
sayFold();
tab("groups");
for (const a of document.querySelectorAll("nav a[href^='#group-']")) a.remove();
document.querySelector("nav").before(...data.map ? [tabs] : [], cards);
navigation();
if (sheets) byId("lists").before(element("label", {}, "Size ", element("input", {id: "size", type: "range", min: 50, max: 300, step: 25, value: 100,
  oninput: ({target}) => document.documentElement.style.setProperty("--zoom", sheets.zoom * target.value / 100)})));
byId("fold").before(compare);
byId("tools").hidden = false;
document.body.prepend(element("a", {className: "skip", href: "#groups", textContent: `Skip to the ${data.thing}s`, onclick: (event) => {
  const to = groups.find((g) => g.members.length > 0 && !g.folded)?.grid.box ?? byId("groups");
  event.preventDefault();
  to.tabIndex = -1;
  to.focus();
}}));
// What is scrolled to is not behind the tools. Lines above that of the search scroll away.
new ResizeObserver(() => {
  const above = byId("find").parentElement.offsetTop - parseFloat(getComputedStyle(byId("tools")).paddingTop);
  const {style} = document.documentElement;
  style.setProperty("--above", `${-above}px`);
  style.setProperty("--tools", `${byId("tools").offsetHeight - above}px`);
}).observe(byId("tools"));
if (location.hash) unfoldTarget();
document.dispatchEvent(new CustomEvent("partwise:ready"));
})();
