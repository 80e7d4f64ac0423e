'use strict';

// The drawing of a net: how large it is, which part is seen, and layers that are looked for.

let netZoom = 1;

const frame = () => $('canvas').parentNode; // what scrolls

// zoomNet draws the net at a size. The point of the frame at (x, y), by default its middle, stays where it is.
function zoomNet(to, x = frame().clientWidth / 2, y = frame().clientHeight / 2) {
  const img = $('drawing'), box = frame();
  if (!img.naturalWidth) return;
  const now = Math.min(4, Math.max(0.02, to)), by = now / netZoom, left = (box.scrollLeft + x) * by - x, top = (box.scrollTop + y) * by - y;
  netZoom = now;
  img.style.width = img.naturalWidth * netZoom + 'px';
  $('net-size').textContent = Math.round(100 * netZoom) + ' %';
  box.scrollTo(left, top);
}

// fitting is the size at which the whole drawing is seen, or its whole width.
function fitting(whole) {
  const img = $('drawing'), wide = (frame().clientWidth - 2) / img.naturalWidth;
  return whole ? Math.min(wide, 0.8 * innerHeight / img.naturalHeight) : wide;
}

const placeOf = layer => [...$('places').children].find(b => b.title === layer);

// centre scrolls the drawing to a layer.
function centre(place) {
  const box = frame(), p = place.getBoundingClientRect(), b = box.getBoundingClientRect();
  box.scrollBy(p.left + p.width / 2 - b.left - box.clientWidth / 2, p.top + p.height / 2 - b.top - box.clientHeight / 2);
}

let foundAt = 0; // which of the found layers is in the middle

// findLayers marks the layers whose names or types hold what is typed, hides the others' rows in the table, and scrolls to one of them; null: to the
// one that is in the middle, if it is another one now.
function findLayers(at) {
  const words = $('net-find').value.toLowerCase().split(/\s+/).filter(w => w), types = new Map((netRun()?.state.started?.layers || []).map(l => [l.name, l.type]));
  const has = name => words.every(w => `${name} ${types.get(name) || ''}`.toLowerCase().includes(w));
  for (const tr of $('layers').tBodies[0]?.rows || []) tr.hidden = !has(tr.cells[0].textContent);
  const before = $('places').querySelector('.current'), found = [...$('places').children].filter(b => {
    const hit = words.length > 0 && has(b.title);
    b.classList.toggle('found', hit);
    b.classList.remove('current');
    return hit;
  });
  foundAt = found.length ? ((at ?? foundAt) + found.length) % found.length : 0;
  $('net-found').textContent = !words.length ? '' : found.length ? `${foundAt + 1} of ${found.length} layers` : 'No layer has this name or type.';
  if (!found.length) return;
  found[foundAt].classList.add('current');
  if (found[foundAt] !== before || at !== null) centre(found[foundAt]);
}

let sized = false; // the drawing has got its first size

// sizeNet gives a new drawing the size at which its width fits. While the view is hidden there is no width.
function sizeNet() {
  if (sized || !$('drawing').naturalWidth || !frame().clientWidth) return;
  sized = true;
  netZoom = 1;
  zoomNet(Math.min(1, fitting(false)), 0, 0);
}

$('drawing').addEventListener('load', () => {
  sized = false;
  sizeNet();
});
$('net-in').addEventListener('click', () => zoomNet(netZoom * 1.25));
$('net-out').addEventListener('click', () => zoomNet(netZoom / 1.25));
$('net-fit').addEventListener('click', () => zoomNet(fitting(true), 0, 0));
$('net-width').addEventListener('click', () => zoomNet(fitting(false), 0));
$('net-size').addEventListener('click', () => zoomNet(1));
$('net-find').addEventListener('input', () => findLayers(0));
$('net-find').addEventListener('keydown', e => {
  if (e.key !== 'Enter') return;
  if (netZoom < 0.7) zoomNet(1);
  findLayers(foundAt + (e.shiftKey ? -1 : 1));
});
frame().addEventListener('wheel', e => {
  if (!e.ctrlKey) return;
  e.preventDefault();
  const b = frame().getBoundingClientRect();
  zoomNet(netZoom * Math.exp(-e.deltaY / 300), e.clientX - b.left, e.clientY - b.top);
}, {passive: false});

// The pointer drags the drawing.
frame().addEventListener('pointermove', e => {
  if (!(e.buttons & 1) || e.pointerType === 'touch') return;
  frame().setPointerCapture(e.pointerId);
  frame().scrollBy(-e.movementX, -e.movementY);
});
