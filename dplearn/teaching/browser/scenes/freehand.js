// A guess, drawn over the empty picture.

/** Follow a pointer until it is lifted; a curve has one value for each T, so it goes to the right. */
export function drawFreehand(page, event) {
  if (!page.guessing) return;
  const { svg } = page;
  const at = ({ clientX, clientY }) => {
    const box = svg.getBoundingClientRect();
    return [clientX - box.left, clientY - box.top];
  };
  page.stroke = [at(event)];
  const more = (moved) => {
    const point = at(moved);
    if (point[0] > page.stroke.at(-1)[0]) page.stroke.push(point);
    page.schedule();
  };
  svg.setPointerCapture(event.pointerId);
  svg.addEventListener("pointermove", more);
  svg.addEventListener("lostpointercapture", () => svg.removeEventListener("pointermove", more), { once: true });
  event.preventDefault();
}
