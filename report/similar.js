// Pictures that look alike. data.js gives each sample codes: codeLength bytes from −127 to
// 127, base64, whose distances are nearly those of the features by which the samples were
// compared. partwise.similar(samples) returns all samples, those first that are nearest to
// the given ones. What is shown of it is in the large view and in the panel of results.
"use strict";

document.addEventListener("partwise:ready", () => {
  const data = window.partwiseData, {partwise} = window, {element, view} = partwise;
  if (!data.codeLength) return;
  const length = data.codeLength;
  const codes = Int8Array.from(atob(data.codes), (c) => c.charCodeAt(0));

  partwise.similar = (samples) => {
    const n = partwise.pictures.length;
    const keys = new Float64Array(n); // distance and place in one number
    for (let i = 0; i < n; i++) {
      let least = Infinity;
      for (const s of samples) {
        let sum = 0;
        for (let c = 0; c < length; c++) {
          const d = codes[i * length + c] - codes[s * length + c];
          sum += d * d;
        }
        least = Math.min(least, sum);
      }
      keys[i] = least * 2 ** 24 + i;
    }
    for (const s of samples) keys[s] = s; // before copies of it
    return Array.from(keys.sort(), (key) => key % 2 ** 24);
  };

  const title = element("h3", {textContent: "Similar images", id: "similar-title"});
  const strip = element("div", {className: "pictures similar"});
  strip.setAttribute("role", "group");
  strip.setAttribute("aria-labelledby", "similar-title");
  let at = 0;
  const all = element("button", {type: "button", textContent: `All ${data.thing}s by similarity`, onclick: () => {
    view.close();
    partwise.list(`Similar to ${partwise.pictures[at].name}`, partwise.similar([at]));
    document.getElementById("results").focus();
  }});
  title.textContent = `Similar ${data.thing}s`;
  view.extra.append(title, strip, all);
  document.addEventListener("partwise:show", (event) => {
    at = event.detail.i;
    strip.replaceChildren(...partwise.similar([at]).slice(1, 13).map(partwise.tile));
    for (const a of strip.children) a.tabIndex = 0;
  });
});
