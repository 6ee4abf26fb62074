"use strict";
for (const figure of document.querySelectorAll("figure[data-grid]")) {
  const data = JSON.parse(document.getElementById(figure.dataset.grid).textContent);
  const svg = figure.querySelector("svg"), told = figure.querySelector("output");
  const mark = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  mark.setAttribute("class", "at");
  let line = 0, column = 0;
  const run = () => data.lines[line].runs.findIndex(([from, to]) => from <= column && column <= to);
  const show = () => {
    line = Math.max(0, Math.min(line, data.lines.length - 1));
    column = Math.max(0, Math.min(column, data.columns - 1));
    const found = data.lines[line].runs[run()];
    const [from, to, says] = found || [column, column, "nothing recorded"];
    mark.setAttribute("x", data.left + from * data.width - 0.5);
    mark.setAttribute("y", data.top + line * data.height - 0.5);
    mark.setAttribute("width", (to + 1 - from) * data.width);
    mark.setAttribute("height", data.height - 1);
    svg.append(mark);
    told.textContent = data.lines[line].name + ": " + says;
  };
  const jump = (by) => {
    const runs = data.lines[line].runs, next = runs[run() + by];
    if (next) column = next[0];
  };
  const keys = {
    ArrowLeft: () => { column -= 1; }, ArrowRight: () => { column += 1; },
    ArrowUp: () => { line -= 1; }, ArrowDown: () => { line += 1; },
    Home: () => { column = 0; }, End: () => { column = data.columns - 1; },
    PageUp: () => jump(-1), PageDown: () => jump(1),
  };
  svg.setAttribute("tabindex", "0");
  told.textContent = "Move the pointer over the picture, or focus it and use the arrow keys; Page Up and Page Down go to the next stretch.";
  svg.addEventListener("keydown", (event) => {
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
    show();
  });
  svg.addEventListener("pointermove", (event) => {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const to = [Math.floor((at.y - data.top) / data.height), Math.floor((at.x - data.left) / data.width)];
    if (to[0] < 0 || to[1] < 0 || to[0] >= data.lines.length || to[1] >= data.columns) return;
    [line, column] = to;
    show();
  });
}
