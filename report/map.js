// A map of all images: similar images are close together. data.js gives the places of
// the samples in map, base64: x and y of each, from 0 to 65535, two bytes each, the low one first.
// From afar pictures are points in the colours of their groups, and samples of which there are none
// always, with their names where there is room.
"use strict";

document.addEventListener("partwise:ready", () => {
  const data = window.partwiseData, {partwise} = window, {element} = partwise;
  const box = document.getElementById("map");
  if (!data.map) return;
  box.hidden = false;

  const bytes = atob(data.map), n = partwise.pictures.length;
  const places = new Float32Array(2 * n);
  for (let i = 0; i < 2 * n; i++) places[i] = (bytes.charCodeAt(2 * i) + 256 * bytes.charCodeAt(2 * i + 1)) / 65535;

  // spread is the distance of pictures, about, on a map that is 1 wide: the map has empty parts.
  const parts = Math.max(4, Math.min(100, Math.ceil(Math.sqrt(n))));
  const taken = new Set(Array.from({length: n}, (_, i) => Math.floor(places[2 * i] * parts) * (parts + 1) + Math.floor(places[2 * i + 1] * parts)));
  const spread = Math.sqrt(taken.size / n) / parts;

  const canvas = box.querySelector("canvas"), paint = canvas.getContext("2d");
  const look = {x: 0.5, y: 0.5, scale: 1}; // the place in the middle, and pixels of a side
  let width = 0, height = 0, hovered = -1, drawing = false;
  const whole = () => Math.min(width, height) * 0.96;
  const pointers = new Map();
  let moved = false, frame = null; // whether the pointer was, and the rectangle that is drawn

  const colour = (g) => `hsl(${(g * 137.508) % 360} 70% ${g % 2 ? 42 : 55}%)`;
  const toX = (i) => (places[2 * i] - look.x) * look.scale + width / 2;
  const toY = (i) => (places[2 * i + 1] - look.y) * look.scale + height / 2;

  // Of a contact sheet that came into view a copy with small cells is kept, and of pictures that are shown larger
  // the whole of their cells. What was not in view for longest goes.
  const cellSize = data.sheets?.cell ?? 1, smallSize = Math.min(32, cellSize);
  const mostSmall = 40e6 / (smallSize * smallSize * (data.sheets?.perSheet ?? 1)), mostLarge = 1500;
  const small = new Map(), large = new Map(); // canvases, by path and by sample; what was in view last at the end
  let missing = new Map(); // of what is in view: the samples of each sheet that lack their large picture
  let loading = 0, soon = 0;
  const busy = new Set(); // sheets that are loading, and those that cannot be loaded
  function cut(img, x, y, w, h, times) {
    const canvas = element("canvas", {width: Math.ceil(w * times), height: Math.ceil(h * times)});
    canvas.getContext("2d").drawImage(img, x, y, w, h, 0, 0, w * times, h * times);
    return canvas;
  }
  function load() {
    for (const [path, samples] of missing) {
      if (loading >= 4) return;
      if (busy.has(path) || small.has(path) && samples.length === 0) continue;
      const img = new Image();
      busy.add(path);
      loading++;
      img.src = path;
      img.decode().then(() => {
        if (!small.has(path)) small.set(path, cut(img, 0, 0, img.naturalWidth, img.naturalHeight, smallSize / cellSize));
        for (const i of missing.get(path) ?? []) {
          const cell = partwise.cellOf(i);
          large.set(i, cut(img, cell.column * cellSize, cell.row * cellSize, cell.width, cell.height, 1));
        }
        missing.delete(path);
        busy.delete(path);
        img.removeAttribute("src"); // which frees it
      }, () => {}).then(() => {
        loading--;
        load();
        soon ||= setTimeout(() => { soon = 0; redraw(); }, 150);
      });
    }
  }
  // kept returns what is kept under a key, which is then the last to go.
  function kept(map, key) {
    const found = map.get(key);
    if (found) { map.delete(key); map.set(key, found); }
    return found;
  }
  function forget(map, most) {
    for (const key of map.keys()) {
      if (map.size <= most) return;
      map.delete(key);
    }
  }
  function drawPicture(i, x, y, side) {
    const cell = partwise.cellOf(i);
    if (!cell) return false;
    if (!missing.has(cell.path)) missing.set(cell.path, []);
    const times = side / cellSize, w = cell.width * times, h = cell.height * times;
    const whole = side * (window.devicePixelRatio || 1) > 1.3 * smallSize && smallSize < cellSize && kept(large, i);
    if (whole === undefined) missing.get(cell.path).push(i);
    const sheet = kept(small, cell.path), step = smallSize / cellSize;
    if (whole) paint.drawImage(whole, x - w / 2, y - h / 2, w, h);
    else if (sheet) paint.drawImage(sheet, cell.column * smallSize, cell.row * smallSize, cell.width * step, cell.height * step, x - w / 2, y - h / 2, w, h);
    else return false;
    paint.strokeRect(x - w / 2, y - h / 2, w, h);
    return true;
  }

  // name writes the name of a sample that has no picture.
  function name(i, x, y) {
    const text = partwise.pictures[i].name;
    paint.font = "13px system-ui, sans-serif";
    paint.textBaseline = "middle";
    paint.fillStyle = getComputedStyle(canvas).color;
    paint.fillText(text.length > 24 ? text.slice(0, 23) + "…" : text, x, y);
  }

  const redraw = () => { if (!drawing) { drawing = true; requestAnimationFrame(draw); } };
  function draw() {
    drawing = false;
    missing = new Map();
    const ratio = window.devicePixelRatio || 1;
    const spacing = spread * look.scale; // of pictures, about, in pixels
    const largest = data.sheets ? data.sheets.cell * data.sheets.zoom : 0;
    const side = Math.min(1.3 * spacing, largest);
    const pictures = side >= 20;
    const radius = Math.min(6, Math.max(1.2, spacing / 3));
    paint.setTransform(ratio, 0, 0, ratio, 0, 0);
    paint.clearRect(0, 0, width, height);
    paint.imageSmoothingEnabled = !data.sheets || !data.sheets.ending.endsWith("png");
    paint.lineWidth = 2;
    const margin = pictures ? side : radius;
    const colours = partwise.groups.map((g) => colour(g.index));
    let inView = 0;
    for (let i = 0; i < n; i++) {
      const x = toX(i), y = toY(i);
      if (x < -margin || y < -margin || x > width + margin || y > height + margin) continue;
      inView++;
      const on = partwise.selection.has(i);
      paint.fillStyle = paint.strokeStyle = on ? "#ff0" : colours[partwise.pictures[i].group];
      if (pictures && drawPicture(i, x, y, side)) continue;
      const r = on ? radius + 2 : radius;
      if (r < 2.5) paint.fillRect(x - r, y - r, 2 * r, 2 * r);
      else { paint.beginPath(); paint.arc(x, y, r, 0, 7); paint.fill(); }
      if (!data.sheets && (spacing > 60 || i === hovered)) name(i, x + r + 4, y);
    }
    if (hovered >= 0 && largest > 0) {
      const x = Math.min(Math.max(toX(hovered), largest / 2), width - largest / 2), y = Math.min(Math.max(toY(hovered), largest / 2), height - largest / 2);
      paint.strokeStyle = colour(partwise.pictures[hovered].group);
      paint.lineWidth = 4;
      drawPicture(hovered, x, y, largest);
    }
    if (frame) {
      paint.strokeStyle = getComputedStyle(canvas).color;
      paint.lineWidth = 1;
      paint.strokeRect(frame.x, frame.y, frame.w, frame.h);
    }
    if (document.activeElement === canvas && canvas.matches(":focus-visible")) { // what Enter opens
      paint.strokeStyle = getComputedStyle(canvas).color;
      paint.lineWidth = 1;
      paint.beginPath();
      paint.moveTo(width / 2 - 12, height / 2); paint.lineTo(width / 2 + 12, height / 2);
      paint.moveTo(width / 2, height / 2 - 12); paint.lineTo(width / 2, height / 2 + 12);
      paint.stroke();
    }
    load();
    forget(small, Math.max(mostSmall, missing.size));
    forget(large, Math.max(mostLarge, inView));
  }

  // nearest returns the sample that is nearest to a place on the canvas, up to a distance.
  function nearest(x, y, within) {
    let best = -1, least = within * within;
    for (let i = 0; i < n; i++) {
      const d = (toX(i) - x) ** 2 + (toY(i) - y) ** 2;
      if (d <= least) { best = i; least = d; }
    }
    return best;
  }

  function zoom(by, x = width / 2, y = height / 2) {
    const scale = Math.min(Math.max(look.scale * by, whole() / 2), Math.max(2 * whole(), 400 / spread));
    look.x += (x - width / 2) * (1 / look.scale - 1 / scale);
    look.y += (y - height / 2) * (1 / look.scale - 1 / scale);
    look.scale = scale;
    redraw();
  }
  function pan(dx, dy) {
    look.x = Math.min(1, Math.max(0, look.x - dx / look.scale));
    look.y = Math.min(1, Math.max(0, look.y - dy / look.scale));
    redraw();
  }
  function reset() {
    Object.assign(look, {x: 0.5, y: 0.5, scale: whole()});
    redraw();
  }

  const place = (event) => { const r = canvas.getBoundingClientRect(); return [event.clientX - r.left, event.clientY - r.top]; };
  canvas.addEventListener("wheel", (event) => {
    if (document.activeElement !== canvas && !event.ctrlKey) return; // the page scrolls
    event.preventDefault();
    zoom(Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.002)), ...place(event));
  }, {passive: false});
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, place(event));
    moved = false;
    if (event.shiftKey) { const [x, y] = place(event); frame = {x, y, w: 0, h: 0}; }
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = place(event), last = pointers.get(event.pointerId);
    if (!last) {
      const now = nearest(x, y, 12);
      if (now !== hovered) {
        hovered = now;
        canvas.title = now < 0 ? "" : partwise.pictures[now].name;
        redraw();
      }
      return;
    }
    if (Math.hypot(x - last[0], y - last[1]) < 3 && !moved) return;
    moved = true;
    hovered = -1;
    if (frame) Object.assign(frame, {w: x - frame.x, h: y - frame.y});
    else if (pointers.size === 1) pan(x - last[0], y - last[1]);
    else {
      const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
      zoom(Math.hypot(x - other[0], y - other[1]) / Math.max(1, Math.hypot(last[0] - other[0], last[1] - other[1])), (x + other[0]) / 2, (y + other[1]) / 2);
    }
    pointers.set(event.pointerId, [x, y]);
    redraw();
  });
  const up = (event) => {
    const [x, y] = place(event);
    const alone = pointers.delete(event.pointerId) && pointers.size === 0;
    if (frame) {
      const within = (v, from, by) => v >= Math.min(from, from + by) && v <= Math.max(from, from + by);
      partwise.select(partwise.pictures.map((p) => p.i).filter((i) => within(toX(i), frame.x, frame.w) && within(toY(i), frame.y, frame.h)));
      frame = null;
      redraw();
    } else if (alone && !moved && event.type === "pointerup") open(x, y);
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerleave", () => { hovered = -1; redraw(); });
  function open(x, y) {
    const spacing = spread * look.scale;
    const i = nearest(x, y, Math.max(16, Math.min(spacing, 70)));
    if (i < 0) return;
    canvas.focus({preventScroll: true});
    partwise.show(i, partwise.similar ? partwise.similar([i]).slice(0, 100) : [i]);
  }

  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    switch (event.key) {
    case "ArrowLeft": pan(60, 0); break;
    case "ArrowRight": pan(-60, 0); break;
    case "ArrowUp": pan(0, 60); break;
    case "ArrowDown": pan(0, -60); break;
    case "+": case "=": zoom(1.4); break;
    case "-": zoom(1 / 1.4); break;
    case "0": case "Home": reset(); break;
    case "Enter": open(width / 2, height / 2); break;
    default: return;
    }
    event.preventDefault();
  });
  canvas.addEventListener("focus", redraw);
  canvas.addEventListener("blur", redraw);

  const button = (textContent, label, onclick) => element("button", {type: "button", textContent, ariaLabel: label, title: label, onclick});
  box.querySelector(".bar").append(button("+", "Zoom in", () => zoom(1.6)), button("−", "Zoom out", () => zoom(1 / 1.6)), button("Whole map", "Whole map", reset));

  // The key of the colours: a click goes to the group on the map.
  const key = box.querySelector(".map-key");
  function legend() {
    key.replaceChildren(...partwise.groups.filter((g) => g.members.length > 0).map((g) => {
      const dot = element("span", {className: "dot", ariaHidden: "true"});
      dot.style.background = colour(g.index);
      return element("li", {}, element("button", {type: "button", onclick: () => visit(g)}, dot, partwise.groupTitle(g.index)));
    }));
  }
  function visit(g) {
    const xs = g.members.map((i) => places[2 * i]).sort((a, b) => a - b), ys = g.members.map((i) => places[2 * i + 1]).sort((a, b) => a - b);
    const at = (of, share) => of[Math.floor(share * (of.length - 1))];
    look.x = (at(xs, 0.05) + at(xs, 0.95)) / 2;
    look.y = (at(ys, 0.05) + at(ys, 0.95)) / 2;
    look.scale = 0.8 * Math.min(width / Math.max(0.01, at(xs, 0.95) - at(xs, 0.05)), height / Math.max(0.01, at(ys, 0.95) - at(ys, 0.05)));
    redraw();
    canvas.focus({preventScroll: true});
  }

  new ResizeObserver(() => {
    const first = width === 0;
    const before = whole();
    ({width, height} = canvas.getBoundingClientRect());
    if (width === 0) return; // folded away
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    if (first) look.scale = whole();
    else look.scale *= whole() / before;
    redraw();
  }).observe(canvas);
  document.addEventListener("partwise:selection", redraw);
  document.addEventListener("partwise:update", () => { legend(); redraw(); });
  legend();
});
