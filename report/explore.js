// Corrections of the groups, on the page that partwise explore serves. Each correction is an act,
// which goes to the server; the answer is the state of pipeline/feedback, which says where all
// pictures are. This script uses what page.js describes, and these addresses beside the page:
//
//   GET state            groups, names, confidence, labelled, must, cannot, offer, questions, model, undo, …
//   GET search?text=     rows: all samples, those first that the text describes best; only with data.search
//   POST act             {do, pictures, groups, name}; do is move, merge, split,
//                        name, together, apart, follow, decline or skip
//   POST undo, redo, finish   {}
//
// A POST also has an id, since the server does nothing twice that is sent again, and the model of the
// state, since groups have other numbers with another one. It is answered by the state, or by a line of
// text that says why not.
"use strict";

document.addEventListener("partwise:ready", () => {
const data = window.partwiseData, {partwise} = window;
const {pictures, groups, selection, element, groupTitle, thumbnail, view} = partwise;
const byId = (id) => document.getElementById(id);
const button = (textContent, onclick, properties = {}) => element("button", {type: "button", textContent, onclick, ...properties});
const count = (n) => `${n.toLocaleString("en")} ${data.thing}${n === 1 ? "" : "s"}`;
const viewer = byId("viewer");

let state = null; // the last one
let over = false; // after Finish
let away = false; // whether the server does not answer

// ---- the server

async function ask(path, body) {
  let answer, text;
  try {
    answer = await fetch(path, body ? {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)} : {headers: state ? {"If-None-Match": state.tag} : {}});
    text = await answer.text();
  } catch {}
  if (!answer || text === undefined || [403, 404, 503].includes(answer.status)) throw Object.assign(new Error("gone"), {gone: true});
  if (answer.status === 304) return state;
  if (!answer.ok) throw new Error(text.trim());
  return {...JSON.parse(text), tag: answer.headers.get("ETag")};
}

const queue = []; // acts that are not saved yet, in their order; the first is under way
const failed = []; // those that could not be done
const tab = crypto.randomUUID();
let sent = 0, sending = false;

// send appends an act to the queue, and tells whether it did. After it is done, then is called with
// the new state.
function send(path, body, then = () => {}) {
  if (away) say("Not saved: partwise explore is not running.", true);
  if (over || away || leaving.open) return false;
  queue.push({path, body: {...body, id: `${tab} ${++sent}`, model: state?.model}, then});
  next();
  return true;
}

// next sends the acts of the queue, one after the other.
async function next() {
  showWork();
  if (sending) return;
  sending = true;
  try {
    while (queue.length > 0 && !away) {
      const now = await ask(queue[0].path, queue[0].body).catch(fail);
      if (!now) continue;
      const {body, then} = queue.shift();
      asked.delete(body.pictures?.[0]);
      take(now);
      then(now);
      refocus();
      showWork();
    }
  } finally {
    sending = false;
  }
}

// fail takes an act that failed out of the queue, or waits for the server.
function fail(error) {
  if (error.gone) return gone();
  const job = queue.shift();
  if (job.path !== "act") say(`Failed: ${error.message}`, true);
  else if (queue[0]?.path !== "undo") failed.push({...job, why: error.message});
  else { queue.shift(); asked.delete(job.body.pictures?.[0]); } // it undoes this act
  stay();
  showTrouble();
  showWork();
}

const act = (body, then) => send("act", body, then);

// refresh shows what was done in another window, and finds out whether the server is there.
async function refresh() {
  if (over || dragged || queue.length > 0 && !away || document.visibilityState !== "visible") return;
  const before = sent;
  try {
    const now = await ask("state");
    if (state && now.model !== state.model && queue.length + failed.length === 0) return location.reload();
    if (now !== state && before === sent) take(now, false);
    if (!away) return;
    away = false;
    showTrouble();
    next();
  } catch (error) {
    if (error.gone) gone();
  }
}
document.addEventListener("visibilitychange", refresh);
setInterval(refresh, 1000);

function gone() {
  if (over || away) return;
  away = true;
  stay();
  showTrouble();
}
window.addEventListener("beforeunload", (event) => { if (queue.length + failed.length > 0) event.preventDefault(); });

// what is an act in words.
function what({do: verb, pictures: of = [], groups: to = [], name}) {
  const title = {move: to.length > 0 ? "Move" : "New group", merge: "Merge", split: "Split", name: "Rename", together: "Belong together", apart: "Do not belong together", follow: "Move too", decline: "Not now", skip: "Skip"}[verb] ?? "Undo or redo";
  const names = of.slice(0, 3).map((i) => pictures[i].name).join(", ") + (of.length > 3 ? ` and ${of.length - 3} more` : "");
  return `${title}: ${[names, to.map(groupTitle).join(", "), name].filter(Boolean).join(" → ")}`;
}

// showTrouble lists the acts that are not saved.
function showTrouble() {
  document.body.classList.toggle("away", away);
  trouble.hidden = !away && failed.length === 0;
  const forget = (job) => { failed.splice(failed.indexOf(job), 1); showTrouble(); };
  trouble.replaceChildren(away ? `partwise explore is not running. Start it again with --port ${location.port || 80} to continue on this page. ${queue.length > 0 ? "Corrections that are not saved yet:" : "All corrections are saved."}` : "",
    ...(away ? queue : []).map((job) => element("p", {textContent: what(job.body)})),
    ...failed.map((job) => element("p", {}, `Not saved: ${what(job.body)} (${job.why}) `,
      button("Try again", () => { forget(job); queue.push(job); next(); }), " ",
      button("Discard", () => { forget(job); asked.delete(job.body.pictures?.[0]); showQuestion(); }))));
}

// ---- what is shown of a state

// take shows a state. What is looked at stays where it is in the window. A picture that is being
// dragged must stay in the page until it is dropped.
let dragged = null, held = null;
function take(next, announce = true) {
  if (dragged) return void (held = [next, announce]);
  const first = state === null;
  const from = pictures.map((p) => p.group);
  const hold = anchor();
  state = next;
  partwise.update({
    groups: next.groups, names: next.names, labelled: next.labelled,
    confidence: next.confidence.length === pictures.length ? next.confidence.map((c) => c / 100) : undefined,
  });
  dressGroups();
  showOffer();
  showQuestion();
  showActs();
  if (viewer.open) partwise.show(view.list[view.at], view.list);
  if (!first || scrollY > 0) hold();
  const moved = first ? [] : pictures.filter((p) => p.group !== from[p.i]).map((p) => p.i);
  light(moved);
  if (!announce) return;
  say(next.said);
  show.hidden = moved.length === 0;
  show.onclick = () => partwise.list("Moved", moved);
}

const say = (text, wrong = false) => {
  partwise.tell(text);
  show.hidden = true;
  byId("status").classList.toggle("wrong", wrong);
};

// anchor remembers where the group that is looked at, or the question, stands in the window.
function anchor() {
  const at = document.activeElement?.closest("section.group, #question") ?? [...document.querySelectorAll("section.group")].find((s) => s.getBoundingClientRect().bottom > 100);
  const top = at?.getBoundingClientRect().top;
  return () => {
    if (at && !at.hidden && top < innerHeight && top !== at.getBoundingClientRect().top) scrollBy({top: at.getBoundingClientRect().top - top, behavior: "instant"});
  };
}

// refocus gives the focus back where it got lost, because its picture went to another group or a
// button is not shown any more: to the picture that stands where the last one with the focus stood.
let stood = null;
document.addEventListener("focusin", ({target}) => {
  const a = target.closest("section.group a.picture");
  if (a) stood = {section: a.closest("section.group"), at: [...a.parentElement.children].indexOf(a)};
});
function refocus() {
  const now = document.activeElement;
  if (!stood || viewer.open || now !== document.body && now?.getClientRects().length > 0) return;
  const left = stood.section.hidden ? [] : stood.section.querySelectorAll("a.picture");
  if (left.length > 0) left[Math.min(stood.at, left.length - 1)].focus({preventScroll: true});
  else document.querySelector("section.group:not([hidden]) > h2 button")?.focus({preventScroll: true});
}

// light marks pictures for a moment.
function light(samples) {
  const of = new Set(samples), lit = [...document.querySelectorAll(".group a.picture")].filter((a) => of.has(+a.dataset.i));
  for (const a of lit) a.classList.add("moved");
  setTimeout(() => { for (const a of lit) a.classList.remove("moved"); }, 4000);
}

// ---- acts

const clear = (list) => partwise.select(list, false);

// move puts pictures into a group, or with null into a new one. Those of them that are in it
// already are confirmed.
function move(list, group, name) {
  if (list.length > 0) act({do: "move", pictures: list, groups: group === null ? undefined : [group], name}, () => clear(list));
}

// confirm says that pictures are where they should be.
function confirm(list) {
  for (const group of new Set(list.map((i) => pictures[i].group))) move(list.filter((i) => pictures[i].group === group), group);
}

function pair(verb, list) {
  if (list.length > 1) act({do: verb, pictures: list}, () => clear(list));
  else say(`Select two or more ${data.thing}s first.`, true);
}

function split(g) {
  const out = g.members.filter((i) => selection.has(i));
  if (out.length > 0 && out.length < g.members.length) act({do: "split", groups: [g.index], pictures: out}, () => clear(out));
  else act({do: "split", groups: [g.index]});
}

// subject is what a key acts on: the picture that is shown large, or what is selected, or the
// picture that has the focus.
function subject() {
  if (viewer.open) return [view.list[view.at]];
  if (selection.size > 0) return [...selection];
  const a = document.activeElement?.closest("a.picture");
  return a ? [+a.dataset.i] : [];
}

// ---- the offer: what could move too

const offerText = element("span"), offerShow = button("Show", () => showOffered(), {title: "o"});
const offered = element("div", {id: "offer", hidden: true}, offerText, offerShow,
  button("Move", () => follow(), {title: "a"}), button("Not now", () => act({do: "decline"}, () => clear(state.offer.pictures)), {title: "x"}));
let shown = ""; // the offer that was shown, whose pictures a person may have taken out
function showOffer() {
  const {pictures: list, groups: to} = state.offer, names = [...new Set(to)].map(groupTitle);
  offered.hidden = list.length === 0;
  offerText.textContent = `${count(list.length).replace(" ", " similar ")} could move too, to ${names.slice(0, 2).join(" and ")}${names.length > 2 ? " and others" : ""}:`;
}
function showOffered() {
  if (offered.hidden) return;
  const {pictures: list} = state.offer;
  shown = list.join();
  partwise.list("Could move too; deselect those that should stay", list);
  clear([...selection]);
  partwise.select(list);
}
function follow() {
  if (offered.hidden) return;
  const list = state.offer.pictures.filter((i) => shown !== state.offer.pictures.join() || selection.has(i));
  if (list.length === 0) return say(`Select the ${data.thing}s that move, or click Not now.`, true);
  act({do: "follow", pictures: list}, () => clear(list));
}

// ---- the bar at the bottom

const bar = element("div", {id: "acts"});
bar.setAttribute("role", "region");
bar.ariaLabel = "Corrections";
const undo = button("Undo", () => send("undo", {})), redo = button("Redo", () => send("redo", {}));
const finish = button("Finish", () => {
  if (failed.length > 0) return say("Some corrections are not saved: try again or discard them.", true);
  send("finish", {}, end);
  leaving.replaceChildren(element("h2", {textContent: "Saving …"}));
  leaving.showModal();
}, {id: "finish"});
const leaving = element("dialog", {id: "finished"});
leaving.addEventListener("cancel", (event) => event.preventDefault());
const trouble = element("div", {className: "warn", hidden: true});
trouble.setAttribute("role", "alert");
const work = element("span", {id: "work", hidden: true});
const chosen = element("span", {id: "chosen"});
const together = button("Belong together", () => pair("together", [...selection]));
const apart = button("Do not belong together", () => pair("apart", [...selection]), {title: "Each of them belongs to a different group (d)"});
together.title = "All of them belong to the same group (t)";
const selected = element("div", {id: "selected", hidden: true}, chosen,
  button("Move to …", () => chooseMove([...selection]), {title: "m"}),
  button("New group", () => move([...selection], null), {title: "g"}),
  button("Confirm", () => confirm([...selection]), {title: "Confirm that they are in the right group (r)"}),
  together, apart, partwise.compare, button("Clear", () => clear([...selection]), {title: "Clear the selection (Escape)"}));
const dock = element("div", {id: "dock", hidden: true});
const show = button("Show", null, {hidden: true, ariaLabel: `Show the moved ${data.thing}s`});
const always = element("div", {id: "always"}, undo, redo, byId("status"), show, work, finish);
bar.append(trouble, offered, always, selected, dock);
document.body.append(bar, leaving);

function showWork() {
  work.hidden = queue.length === 0;
  work.textContent = queue.length > 1 ? `Saving ${queue.length} corrections …` : "Saving …";
  if (state) showActs();
}

function showActs() {
  for (const [b, what, name] of [[undo, state.undo, "Undo"], [redo, state.redo, "Redo"]]) {
    b.disabled = !what && queue.length === 0;
    b.title = what;
    b.replaceChildren(element("b", {textContent: name}));
    if (what) b.append(element("span", {textContent: `: ${what}`}));
  }
}

function showSelection() {
  selected.hidden = over || selection.size === 0;
  chosen.textContent = `${selection.size.toLocaleString("en")} selected`;
  together.disabled = apart.disabled = selection.size < 2;
}
document.addEventListener("partwise:selection", showSelection);

function end() {
  over = true;
  leaving.replaceChildren(element("h2", {textContent: "Finished"}),
    element("p", {textContent: "All corrections are saved. partwise now writes the corrected groups. You can close this page."}));
  for (const e of [bar, byId("question")]) e.hidden = true;
}

// stay takes Finish back.
function stay() {
  queue.splice(0, queue.length, ...queue.filter((job) => job.path !== "finish"));
  leaving.close();
}

// ---- groups

function dressGroups() {
  for (const g of groups) {
    let acts = g.section.querySelector(".group-acts");
    if (!acts) {
      acts = element("div", {className: "group-acts"});
      acts.classList.toggle("folded", g.folded);
      const rename = button("Rename", () => naming(g, acts, rename));
      acts.append(rename,
        button("Merge with …", () => choose(`Merge ${groupTitle(g.index)} with`, g.members, g.index, false, (to) => act({do: "merge", groups: [to, g.index]}))),
        button("Split", () => split(g), {title: `Split the group in two, or move its selected ${data.thing}s into a new group`}),
        button("Select all", () => partwise.select(g.members)));
      g.section.querySelector("h2").after(acts);
    }
    for (const b of acts.querySelectorAll(":scope > button")) b.ariaLabel = `${b.textContent} ${groupTitle(g.index)}`;
  }
}

// naming asks for the name of a group, in the place of its buttons.
function naming(g, acts, back) {
  const input = element("input", {value: g.name, maxLength: 100, ariaLabel: `Name of group ${g.index + 1}`, autocomplete: "off"});
  const form = element("span", {className: "naming"}, input,
    button("Save", () => { done(); act({do: "name", groups: [g.index], name: input.value.trim()}); }), button("Cancel", () => done()));
  const done = () => { form.remove(); acts.classList.remove("naming-now"); back.focus(); };
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") form.querySelector("button").click();
    else if (event.key === "Escape") done();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  acts.classList.add("naming-now");
  acts.append(form);
  input.select();
}

// choose asks for a group other than without, the most similar to the list first, and calls then with
// it. With fresh, the choice may be a new group: then gets null and the name.
const looks = (g) => element("span", {className: "looks", ariaHidden: "true"}, ...groups[g].members.slice(0, 3).map(thumbnail));
const chooser = element("dialog", {id: "chooser"});
chooser.setAttribute("aria-labelledby", "chooser-title");
document.body.append(chooser);
function choose(title, list, without, fresh, then) {
  if (list.length === 0) return say(`Select ${data.thing}s first.`, true);
  const near = new Map();
  for (const i of partwise.similar ? partwise.similar(list.slice(0, 8)) : []) if (!near.has(pictures[i].group)) near.set(pictures[i].group, near.size);
  const take = (g, name) => { chooser.close(); then(g, name); };
  const choices = groups.filter((g) => g.members.length > 0 && g.index !== without)
    .sort((a, b) => (near.get(a.index) ?? 0) - (near.get(b.index) ?? 0) || a.index - b.index)
    .map((g) => element("button", {type: "button", onclick: () => take(g.index)},
      looks(g.index),
      element("span", {textContent: `${groupTitle(g.index)} (${count(g.members.length)})`})));
  const another = button("New group", () => take(null, input.value.trim() || undefined), {hidden: !fresh});
  const input = element("input", {type: "search", placeholder: fresh ? "Find a group or name a new one" : "Find a group", ariaLabel: "Find a group", autocomplete: "off"});
  const box = element("div", {className: "choices"}, ...choices, another);
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const c of choices) c.hidden = !words.every((w) => c.textContent.toLowerCase().includes(w));
    another.textContent = input.value.trim() ? `New group “${input.value.trim()}”` : "New group";
  });
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    box.querySelector("button:not([hidden])")?.click();
  });
  chooser.replaceChildren(element("h2", {id: "chooser-title", textContent: title}), input, box, button("Cancel", () => chooser.close()));
  chooser.showModal();
  (matchMedia("(pointer: coarse)").matches ? box.querySelector("button") : input).focus();
}
function chooseMove(list) {
  const of = new Set(list.map((i) => pictures[i].group));
  choose(`Move ${count(list.length)} to`, list, of.size === 1 ? [...of][0] : null, true, (g, name) => move(list, g, name));
}
chooser.addEventListener("click", (event) => { if (event.target === chooser) chooser.close(); });

// ---- the question

const question = element("section", {id: "question", hidden: true});
question.setAttribute("aria-labelledby", "question-title");
const asking = element("figure"), answers = element("div", {className: "answers"});
question.append(element("h2", {id: "question-title", textContent: "Which group does this belong to?"}), element("div", {className: "ask"}, asking, answers));

// asked holds the pictures whose answers are not saved yet. The next question is shown at once, so that
// each answer is one to the question that is seen; it stays while it is open.
const asked = new Set();
let q = null;
function showQuestion() {
  q = state.questions.find((next) => !asked.has(next.picture) && next.picture === q?.picture) ?? state.questions.find((next) => !asked.has(next.picture)) ?? null;
  question.hidden = !q;
  if (!q) return;
  const i = q.picture, p = pictures[i];
  if (question.dataset.picture !== String(i)) {
    question.dataset.picture = i;
    const a = partwise.tile(i);
    a.tabIndex = 0;
    a.addEventListener("click", (event) => {
      if (event.target.closest(".tick") || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      partwise.show(i, [i]);
    });
    if (p.href && partwise.cellOf(i)) {
      const large = element("img", {alt: p.name, className: "large"});
      large.onload = () => a.querySelector("img").replaceWith(large);
      large.src = p.href;
    }
    asking.replaceChildren(a, element("figcaption", {textContent: p.name}));
  }
  answers.replaceChildren(...q.groups.map((g, at) => {
    const b = button("", () => answer(g), {className: "choice"});
    b.append(element("kbd", {textContent: at + 1}), looks(g), element("span", {textContent: groupTitle(g) + (g === p.group ? " (now)" : "")}));
    b.setAttribute("aria-keyshortcuts", at + 1);
    return b;
  }), element("div", {className: "bar"},
    button("Another group …", () => chooseMove([i])), button("New group", () => answer(null)), button("Skip", () => answer(), {title: "s"})));
}

// answer puts the picture of the question into a group, with null into a new one, and skips the question without one.
function answer(group) {
  const of = [q.picture];
  if (!act(group === undefined ? {do: "skip", pictures: of} : {do: "move", pictures: of, groups: group === null ? undefined : [group]})) return;
  asked.add(q.picture);
  showQuestion();
}

// ---- search by a description

if (data.search) {
  const field = element("input", {id: "describe", type: "search", placeholder: "a dog on grass", maxLength: 250, autocomplete: "off"});
  field.addEventListener("keydown", async (event) => {
    const text = field.value.trim();
    if (event.key !== "Enter" || !text) return;
    event.preventDefault();
    try {
      const {rows} = await ask(`search?text=${encodeURIComponent(text)}`);
      if (text === field.value.trim()) partwise.list(`Best matches for “${text}”`, rows);
    } catch (error) {
      if (error.gone) gone();
      else say(`Search failed: ${error.message}`, true);
    }
  });
  byId("find").parentElement.after(element("label", {}, "Description ", field));
}

// ---- help

const keys = [
  ["m", "move to another group"], ["g", "move to a new group"], ["r", "confirm the present group"],
  ["t", `the selected ${data.thing}s belong to the same group`], ["d", `the selected ${data.thing}s belong to different groups`],
  ["1, 2, 3, 4, s", "answer the question: a group, or skip"], ["o, a, x", "the offer: show, move, not now"], ["u, Ctrl+Z", "undo"], ["U, Ctrl+Shift+Z", "redo"],
  ["Space", `select the focused ${data.thing}`], ["Escape", "clear the selection"],
];
const help = element("details", {id: "help"}, element("summary", {textContent: "How to correct the groups"}),
  element("p", {textContent: `Drag ${data.thing}s to another group; the bottom of the window then lists all groups. Or select ${data.thing}s with the ring in their corner or with Space, and use the buttons at the bottom. A correction moves only the ${data.thing}s that you name. Then it offers to move similar ones too. A green dot marks labelled ${data.thing}s, such as those that you moved or confirmed. The keys act on the selection, or on the focused or enlarged ${data.thing}.`}),
  element("dl", {}, ...keys.flatMap(([key, what]) => [element("dt", {}, ...key.split(", ").flatMap((k, at) => at > 0 ? [", ", element("kbd", {textContent: k})] : [element("kbd", {textContent: k})])), element("dd", {textContent: what})])));
byId("results").after(help, question);

// ---- keys

const byKey = {
  m: () => chooseMove(subject()),
  g: () => move(subject(), null),
  r: () => confirm(subject()),
  t: () => pair("together", subject()),
  d: () => pair("apart", subject()),
  o: showOffered,
  a: follow,
  x: () => { if (!offered.hidden) act({do: "decline"}); },
  u: () => undo.click(),
  U: () => redo.click(),
  "?": () => { help.open = true; help.scrollIntoView({block: "center"}); help.querySelector("summary").focus(); },
};

document.addEventListener("keydown", (event) => {
  if (over || event.defaultPrevented || event.repeat || event.altKey || chooser.open || event.target.closest("input, select, textarea")) return;
  const {key} = event;
  if (event.ctrlKey || event.metaKey) {
    if (key.toLowerCase() === "z") (event.shiftKey ? redo : undo).click();
    else if (key === "y") redo.click();
    else return;
  } else if (Object.hasOwn(byKey, key)) {
    byKey[key]();
  } else if (/^[1-4s]$/.test(key) && !viewer.open && !question.hidden && (key === "s" || key <= q.groups.length)) {
    const {top, bottom} = question.getBoundingClientRect();
    if (bottom < 0 || top > innerHeight - bar.offsetHeight) question.scrollIntoView({block: "center"}); // it was not seen yet
    else answer(key === "s" ? undefined : q.groups[key - 1]);
  } else if (key === "Escape" && !viewer.open && byId("results").hidden && selection.size > 0) {
    clear([...selection]);
  } else return;
  event.preventDefault();
}, true);

// ---- a picture, large

view.extra.before(element("div", {className: "bar picture-acts"}, button("Move to …", () => byKey.m(), {title: "m"}), button("New group", () => byKey.g(), {title: "g"}), button("Confirm", () => byKey.r(), {title: "Confirm that it is in the right group (r)"})));
document.addEventListener("partwise:show", ({detail: {i}}) => {
  if (!state) return;
  const partners = (pairs) => pairs.filter((p) => p.includes(i)).map(([a, b]) => pictures[a === i ? b : a].name).join(", ");
  for (const [what, value] of [
    ["Labelled", state.labelled.includes(i) ? "yes, in this group" : ""], ["Belongs with", partners(state.must)], ["Does not belong with", partners(state.cannot)],
  ]) if (value) view.known.append(element("dt", {textContent: what}), element("dd", {textContent: value}));
});

// ---- dragging

let under = null;

// dropAt returns the element of the group below the pointer, the group, null for a new one, and
// whether all that is dragged is in it.
function dropAt(target) {
  const e = target?.closest?.("#dock button, section.group, #cards a");
  if (!e) return null;
  const group = e.dataset.group === "new" ? null : e.dataset.group !== undefined ? +e.dataset.group : +e.getAttribute("href").slice(7) - 1;
  return {e, group, there: dragged.every((i) => pictures[i].group === group)};
}
function hover(e) {
  under?.classList.remove("drop-here");
  under = e;
  under?.classList.add("drop-here");
}

document.addEventListener("pointerdown", (event) => {
  const a = event.target.closest?.("a.picture");
  if (a && !over && event.pointerType === "mouse") a.draggable = true;
}, true);
document.addEventListener("dragstart", (event) => {
  const a = event.target.closest?.("a.picture");
  if (!a || over) return;
  if (viewer.open) return event.preventDefault();
  const i = +a.dataset.i;
  dragged = selection.has(i) ? [...selection] : [i];
  event.dataTransfer.clearData();
  event.dataTransfer.setData("text/plain", count(dragged.length));
  event.dataTransfer.effectAllowed = "move";
  const badge = element("div", {id: "dragged", textContent: count(dragged.length)});
  document.body.append(badge);
  event.dataTransfer.setDragImage(badge, -8, -8);
  setTimeout(() => { // a change of the page at once would end the dragging
    badge.remove();
    if (!dragged) return;
    dock.replaceChildren(...groups.filter((g) => g.members.length > 0).map((g) => {
      const b = element("button", {type: "button", tabIndex: -1}, ...g.members.slice(0, 1).map(thumbnail), element("span", {textContent: groupTitle(g.index)}));
      b.dataset.group = g.index;
      return b;
    }));
    const fresh = element("button", {type: "button", tabIndex: -1, textContent: "New group"});
    fresh.dataset.group = "new";
    dock.prepend(fresh);
    dock.hidden = false;
    document.body.classList.add("dragging");
  });
});
document.addEventListener("dragover", (event) => {
  if (!dragged) return;
  const at = dropAt(event.target);
  hover(at?.there ? null : at?.e);
  if (!at) return;
  event.preventDefault();
  event.dataTransfer.dropEffect = "move";
});
document.addEventListener("drop", (event) => {
  if (!dragged) return;
  event.preventDefault();
  const at = dropAt(event.target);
  if (at?.there) say(`Not moved: already in ${groupTitle(at.group)}.`, true);
  else if (at) move(dragged, at.group);
  drop();
});
function drop() {
  dragged = null;
  if (held) take(...held);
  held = null;
  hover(null);
  dock.hidden = true;
  document.body.classList.remove("dragging");
}
document.addEventListener("dragend", () => {
  if (dragged) say(`Not moved: drop ${data.thing}s on a group or on its button at the bottom of the window.`, true);
  drop();
});

// ---- the start

showSelection();
undo.disabled = redo.disabled = true;
refresh();
});
