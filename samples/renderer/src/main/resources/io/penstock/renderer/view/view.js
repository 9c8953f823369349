// SPDX-License-Identifier: Apache-2.0
// The page of `penstock view`. It asks for one frame, shows it, and asks for the next one: that is the back-pressure.
'use strict';

const KEPT = 125; // statistics of 30 s, four a second
const MEAN = 8; // of them, or of frames, are averaged
const SAMPLES = 600; // states of staging buffers, of 3 s
const COARSE = 256; // side of a picture while it is being turned, if a whole one takes long
const FINE = 512;
const SLOW_MS = 60;
const VIEWS = {shaded: 'Shaded', mip: 'Maximum intensity', x: 'Maximum, from the left', y: 'Maximum, from the front', z: 'Maximum, from above'};

const $ = id => document.getElementById(id);
const clamp = (value, least, most) => Math.min(most, Math.max(least, value));
const bytes = n => {
  const unit = n >= 1 << 30 ? [30, 'GiB'] : n >= 1 << 20 ? [20, 'MiB'] : [10, 'KiB'];
  const value = n / 2 ** unit[0];
  return (value < 10 ? value.toFixed(1) : Math.round(value)) + ' ' + unit[1];
};
const figure = value => value >= 100 ? value.toFixed(0) : value >= 1 ? value.toPrecision(3) : value > 0 ? String(+value.toPrecision(2)) : '0';

const FIRST = {view: 'shaded', azimuth: 30, elevation: 15, zoom: 1, level: 0.5, window: 1};
const state = {...FIRST, backend: '', path: '', budget: 0, chunk: 0, depth: 4};
const page = {socket: null, hello: null, asked: 0, changed: true, streaming: true, turning: false, dragging: false,
  failed: false, fullMs: 0, shown: 0, meta: null, retry: 0, turnedAt: 0};
const history = {rate: [], frames: [], flight: [], p50: [], p90: [], p99: []};
const recent = []; // statistics
const times = []; // of the last frames
const queues = []; // of staging buffers: a list of samples each

// The socket.

function connect() {
  if (page.socket) return;
  connection('wait', 'connecting');
  const socket = new WebSocket(location.origin.replace(/^http/, 'ws') + '/stream');
  socket.binaryType = 'blob';
  socket.onmessage = event => typeof event.data === 'string' ? received(JSON.parse(event.data)) : picture(event.data);
  let opened = false;
  socket.onopen = () => {
    opened = true;
    page.retry = 0;
  };
  socket.onclose = () => {
    if (page.socket !== socket) return;
    page.socket = null;
    if (!opened) refused();
    const seconds = Math.min(2 ** page.retry++, 10) / 2;
    connection('wait', 'connection lost, trying again');
    stale(true);
    setTimeout(connect, seconds * 1000);
  };
  page.socket = socket;
  page.asked = 0;
  page.failed = false;
}

/** Browsers do not tell pages why they get no socket. */
async function refused() {
  const there = await fetch('view.css', {cache: 'no-store'}).catch(() => null);
  if (!there || page.socket) return; // stopped, or back again
  const address = location.protocol === 'http:' && /^(localhost|[\d.]+|\[.+\])$/.test(location.hostname);
  failed(address ? 'The server has as many pages as it takes, 16.'
    : `The server takes pages by its address or as localhost. For this one, start it with --origin ${location.origin}`);
}

function connection(kind, text) {
  $('connection').dataset.state = kind;
  if ($('connection').textContent !== text) $('connection').textContent = text;
}

/** What is shown is no longer so: it is dimmed until the connection is back. */
function stale(is) {
  document.body.classList.toggle('stale', is);
  $('since').textContent = is ? `stopped at ${new Date().toLocaleTimeString()}` : 'last 30 s';
}

function received(message) {
  if (message.type === 'hello') hello(message);
  else if (message.type === 'stats') stats(message);
  else if (message.type === 'frame') page.meta = message;
  else if (message.type === 'error') failed(message.message);
}

/** Asks for a frame, if one is wanted and the last ones have come. */
function ask() {
  const most = page.fullMs > 0 && page.fullMs < SLOW_MS ? 2 : 1; // fast ones: one is drawn while the other is on its way
  const socket = page.socket;
  if (!page.hello || !socket || socket.readyState !== WebSocket.OPEN || page.failed || page.asked >= most) return;
  if (!page.streaming && !page.changed && !page.turning) return;
  turned();
  page.changed = false;
  page.asked++;
  if (!page.shown) $('at-frame').textContent = 'the first frame is on its way';
  const coarse = (page.dragging || page.turning) && page.fullMs > SLOW_MS;
  if (coarse) page.changed = true; // a whole one follows
  socket.send(new URLSearchParams({...state, side: coarse ? COARSE : FINE}).toString());
}

function turned() {
  const now = performance.now();
  if (page.turning) state.azimuth += (now - page.turnedAt) / 1000 * 20;
  state.azimuth %= 360;
  page.turnedAt = now;
}

function changed() {
  page.changed = true;
  page.failed = false;
  $('error').hidden = true;
  show();
  ask();
}

function failed(message) {
  page.asked = Math.max(0, page.asked - 1);
  page.failed = true;
  $('error').querySelector('p').textContent = message;
  $('error').hidden = false;
}

async function picture(jpeg) {
  const meta = page.meta;
  const image = await createImageBitmap(jpeg);
  requestAnimationFrame(() => {
    const context = $('canvas').getContext('2d');
    context.imageSmoothingQuality = 'high';
    context.drawImage(image, 0, 0, FINE, FINE);
    image.close();
    page.asked = Math.max(0, page.asked - 1);
    page.shown++;
    times.push(performance.now());
    if (times.length > MEAN) times.shift();
    if (meta.side === FINE) page.fullMs = meta.nanos / 1e6;
    $('canvas').dataset.frames = page.shown;
    framed(meta);
    ask();
  });
}

function framed(meta) {
  const ms = meta.nanos / 1e6;
  $('at-frame').textContent = `${meta.side} × ${meta.side}, ${ms.toFixed(0)} ms\n${(meta.bytes / 1e6).toFixed(1)} MB streamed`;
  $('plan').textContent = `Each frame streams ${meta.chunks} chunks of at most ${bytes(meta.chunkBytes)}, ${meta.depth} in memory,`
    + ` by path ${meta.path} to ${meta.device}.`;
  show();
}

// What the server offers.

function hello(message) {
  const before = page.hello;
  page.hello = message;
  const volume = message.volume;
  $('volume').textContent = `${volume.name}, ${volume.columns} × ${volume.rows} × ${volume.slices} ${volume.voxels}, ${bytes(volume.bytes)}`;
  if (!before) state.backend = message.backend;
  if (JSON.stringify(before?.volume) !== JSON.stringify(volume)) { // of another server at this address, perhaps
    state.budget = Math.max(message.budget, Math.ceil(budgetRange()[0]), volume.needed);
    chunks(volume);
  }
  backends(message.backends);
  connection('open', 'connected');
  stale(false);
  changed();
}

function backends(listings) {
  const open = $('absent')?.open ?? false;
  const absent = listings.filter(listing => !listing.available);
  const folded = document.createElement('details');
  Object.assign(folded, {id: 'absent', open, hidden: !absent.length});
  const summary = document.createElement('summary');
  summary.textContent = `${absent.length} not usable here`;
  folded.append(summary, ...choices(absent));
  $('backends').replaceChildren(...choices(listings.filter(listing => listing.available)), folded);
  paths();
}

function choices(listings) {
  return listings.map(listing => {
    const label = document.createElement('label');
    const input = document.createElement('input');
    Object.assign(input, {type: 'radio', name: 'backend', value: listing.name, disabled: !listing.available,
      checked: listing.name === state.backend});
    input.onchange = () => {
      Object.assign(state, {backend: listing.name, path: ''});
      paths();
      changed();
    };
    const name = document.createElement('span');
    name.textContent = listing.name;
    const reason = document.createElement('small');
    reason.textContent = listing.reason;
    label.append(input, name, reason);
    if (!listing.available) {
      label.className = 'absent';
      const remedy = document.createElement('small');
      const word = document.createElement('b');
      word.textContent = 'Remedy: ';
      remedy.append(word, listing.remedy);
      label.append(remedy);
    }
    return label;
  });
}

function paths() {
  const listing = page.hello.backends.find(one => one.name === state.backend);
  const known = listing ? listing.paths.filter(path => path !== 'auto') : [];
  $('path').replaceChildren(new Option(known.length ? 'auto' : 'one path', ''), ...known.map(path => new Option(path, path)));
  $('path').value = state.path;
  $('path').disabled = !known.length;
}

function chunks(volume) {
  const sizes = [];
  for (let size = 2 ** Math.ceil(Math.log2(volume.sliceBytes)); size < volume.bytes / 2 && sizes.length < 10; size *= 2) sizes.push(size);
  state.chunk = volume.bytes;
  $('chunk').replaceChildren(new Option('auto', volume.bytes), ...sizes.map(size => new Option(bytes(size), size)));
}

// What is shown.

function show() {
  const turns = state.view === 'shaded' || state.view === 'mip';
  const percent = value => Math.round(value * 100) + ' %';
  const texts = {level: percent(state.level), window: percent(state.window), zoom: state.zoom.toFixed(2) + ' ×',
    budget: bytes(state.budget), depth: state.depth};
  for (const output of document.querySelectorAll('label output')) output.textContent = texts[output.htmlFor];
  $('level').value = state.level * 100;
  $('window').value = Math.log10(state.window) * 100;
  $('zoom').value = Math.log2(state.zoom) * 40;
  $('depth').value = state.depth;
  $('budget').value = budgetStep(state.budget);
  for (const radio of document.getElementsByName('view')) radio.checked = radio.value === state.view;
  $('at-view').textContent = VIEWS[state.view];
  $('at-window').textContent = `Level ${percent(state.level)}, window ${percent(state.window)}\nZoom ${state.zoom.toFixed(2)} ×`;
  $('at-camera').textContent = turns ? `${Math.round(state.azimuth)}° around\n${Math.round(state.elevation)}° up` : '';
  $('stage').classList.toggle('fixed', !turns);
  $('stage').setAttribute('aria-label', `Picture of the volume. ${VIEWS[state.view]}.` + (turns ? ' Arrow keys turn it.' : ''));
  $('stream').setAttribute('aria-checked', page.streaming);
  $('turn').setAttribute('aria-checked', page.turning);
  $('turn').disabled = !turns;
}

const budgetRange = () => {
  const volume = page.hello.volume;
  return [Math.min(12 * volume.sliceBytes, volume.bytes / 4), Math.max(volume.bytes - 1, volume.needed)];
};
const budgetStep = budget => {
  if (!page.hello) return 0;
  const [least, most] = budgetRange();
  return Math.log(budget / least) / Math.log(most / least) * 100;
};
const budgetAt = step => {
  const [least, most] = budgetRange();
  return Math.floor(least * (most / least) ** (step / 100));
};

function stats(message) {
  recent.push(message);
  if (recent.length > MEAN) recent.shift();
  const sum = name => recent.reduce((all, one) => all + one[name], 0);
  push('rate', sum('bytes') / sum('nanos'));
  push('frames', times.length < 2 ? 0 : (times.length - 1) * 1000 / (performance.now() - times[0]));
  push('flight', message.inFlight / 2 ** 20);
  for (const p of ['p50', 'p90', 'p99']) push(p, p in message ? message[p] / 1e6 : null);
  for (const name of ['rate', 'frames']) chart(name, [name], last(name));
  chart('flight', ['flight'], Math.max(...history.flight.slice(-MEAN))); // of most intervals nothing is left when they end
  chart('latency', ['p99', 'p90', 'p50'], last('p50'));
  for (const p of ['p50', 'p90', 'p99']) document.querySelector(`#latency .${p} b`).textContent = figure(last(p));
  staging(message.staging);
}

function push(name, value) {
  history[name].push(value);
  if (history[name].length > KEPT) history[name].shift();
}

/** Returns the last value that there was. */
const last = name => history[name].reduce((value, next) => next ?? value, 0);

/** Returns the next 1, 2 or 5 times a power of ten. */
function rounded(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map(factor => factor * power).find(top => top >= value * 0.999);
}

function chart(id, names, now) {
  const svg = $(id).querySelector('svg');
  const width = svg.clientWidth;
  const height = svg.clientHeight;
  if (!width) return;
  const top = rounded(Math.max(...names.flatMap(name => history[name]).map(value => value ?? 0)));
  const points = name => history[name]
    .map((value, i) => value === null ? null : [(i + KEPT - history[name].length) / (KEPT - 1) * width, height - value / top * (height - 12)])
    .filter(Boolean).map(([x, y]) => x.toFixed(1) + ',' + y.toFixed(1));
  const parts = [line('grid', width, 12), line('grid', width, (height + 12) / 2), line('base', width, height)];
  for (const name of names) {
    const along = points(name);
    if (along.length < 2) continue;
    if (names.length === 1) {
      parts.push(element('polygon', {points: `${along[0].split(',')[0]},${height} ${along.join(' ')} ${width},${height}`}));
    }
    parts.push(element('polyline', {points: along.join(' '), class: name}));
  }
  const most = (top < 0.01 ? top.toExponential(0) : String(+top.toPrecision(1))) + ' ' + $(id).dataset.unit;
  parts.push(text(most, 0, 9), text('0', 0, height - 3), text('30 s ago', 0, height + 11), text('now', width, height + 11, 'end'));
  svg.replaceChildren(...parts);
  $(id).querySelector('b').textContent = figure(now);
}

function text(content, x, y, anchor = 'start') {
  const label = element('text', {x, y, 'text-anchor': anchor});
  label.textContent = content;
  return label;
}

function element(name, attributes) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

const line = (kind, width, y) => element('line', {class: kind, x1: 0, x2: width, y1: y - .5, y2: y - .5});

function staging(now) {
  while (queues.length > now.length) queues.pop();
  now.forEach((samples, i) => {
    const kept = queues[i] ?? [];
    queues[i] = (kept.length && samples.length && kept[0].length !== samples[0].length ? samples : kept.concat(samples)).slice(-SAMPLES);
  });
  $('states').hidden = !queues.length;
  $('unstaged').hidden = queues.length > 0;
  $('unstaged').textContent = page.shown ? 'Not used: this path reads straight into the memory of the chunks.' : '';
  while ($('queues').children.length > queues.length) $('queues').lastChild.remove();
  queues.forEach((samples, i) => {
    let figure = $('queues').children[i];
    if (!figure) {
      figure = document.createElement('figure');
      figure.append(document.createElement('figcaption'), document.createElement('canvas'));
      figure.lastChild.setAttribute('role', 'img');
      $('queues').append(figure);
    }
    strip(figure, samples, i);
  });
}

function strip(figure, samples, index) {
  const rows = samples.length ? samples[0].length : 0;
  const canvas = figure.querySelector('canvas');
  const last = samples.length ? samples[samples.length - 1] : '';
  const busy = [...last].filter(state => state !== '0').length;
  figure.querySelector('figcaption').textContent = `Queue ${index + 1}: ${rows} buffers, ${busy} busy now`;
  canvas.setAttribute('aria-label', figure.querySelector('figcaption').textContent);
  const each = rows > 16 ? 5 : 9; // pixels of a row, one of them between rows
  if (canvas.width !== SAMPLES || canvas.height !== rows * each) {
    Object.assign(canvas, {width: SAMPLES, height: Math.max(1, rows * each)});
    canvas.style.height = rows * each + 'px';
  }
  const style = getComputedStyle(document.documentElement);
  const colours = [0, 1, 2, 3, 4].map(state => style.getPropertyValue('--s' + state));
  const context = canvas.getContext('2d');
  context.fillStyle = style.getPropertyValue('--panel');
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = colours[0];
  for (let row = 0; row < rows; row++) context.fillRect(0, row * each, SAMPLES, each - 1);
  samples.forEach((states, i) => {
    for (let row = 0; row < states.length; row++) {
      if (states[row] === '0') continue;
      context.fillStyle = colours[states[row]];
      context.fillRect(SAMPLES - samples.length + i, row * each, 1, each - 1);
    }
  });
}

// What the user does.

function turnBy(right, up) {
  if (state.view !== 'shaded' && state.view !== 'mip') return;
  state.azimuth = (state.azimuth + right + 360) % 360;
  state.elevation = clamp(state.elevation + up, -90, 90);
  changed();
}

function zoomBy(factor) {
  state.zoom = clamp(state.zoom * factor, 0.5, 8);
  changed();
}

function windowBy(level, window) {
  state.level = clamp(state.level + level, 0, 1);
  state.window = clamp(state.window * window, 0.1, 10);
  changed();
}

function stage() {
  const stage = $('stage');
  const pointers = new Map(); // where each is that is down
  let windowing = false; // by the right button, Shift, or two fingers
  const spread = ([a, b]) => Math.hypot(a.x - b.x, a.y - b.y);
  stage.addEventListener('pointerdown', event => {
    if (event.target.closest('#error') || pointers.size === 2) return;
    pointers.set(event.pointerId, {x: event.clientX, y: event.clientY});
    windowing = pointers.size === 2 || event.button === 2 || event.shiftKey;
    if (event.isTrusted) stage.setPointerCapture(event.pointerId); // of events of a script there is none to capture
    stage.classList.add('dragging');
    page.dragging = true;
  });
  stage.addEventListener('pointermove', event => {
    const from = pointers.get(event.pointerId);
    if (!from) return;
    const dx = (event.clientX - from.x) / pointers.size; // of two fingers each moves their middle by half
    const dy = (event.clientY - from.y) / pointers.size;
    const side = stage.clientWidth;
    const before = pointers.size === 2 ? spread([...pointers.values()]) : 0;
    Object.assign(from, {x: event.clientX, y: event.clientY});
    if (pointers.size === 2) zoomBy(Math.max(spread([...pointers.values()]), 1) / Math.max(before, 1));
    if (windowing) windowBy(dy / side / 2, 2 ** (dx / side * 2));
    else turnBy(-dx / side * 180, dy / side * 180);
  });
  const end = event => {
    pointers.delete(event.pointerId);
    if (pointers.size) return; // the other finger goes on, as it began
    stage.classList.remove('dragging');
    if (page.dragging) {
      page.dragging = false;
      page.changed = true;
      ask();
    }
  };
  stage.addEventListener('pointerup', end);
  stage.addEventListener('pointercancel', end);
  stage.addEventListener('contextmenu', event => event.preventDefault());
  stage.addEventListener('wheel', event => {
    event.preventDefault();
    zoomBy(2 ** (-event.deltaY / 400));
  }, {passive: false});
  stage.addEventListener('keydown', event => {
    const does = {
      ArrowLeft: () => turnBy(5, 0), ArrowRight: () => turnBy(-5, 0), ArrowUp: () => turnBy(0, -5), ArrowDown: () => turnBy(0, 5),
      '+': () => zoomBy(1.1), '=': () => zoomBy(1.1), '-': () => zoomBy(1 / 1.1), ' ': () => $('stream').click(),
    }[event.key];
    if (!does || event.target !== stage || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    does();
  });
}

function controls() {
  for (const radio of document.getElementsByName('view')) {
    radio.onchange = () => {
      state.view = radio.value;
      page.turning = false;
      page.fullMs = 0;
      changed();
    };
  }
  const on = (id, set) => $(id).addEventListener('input', () => {
    set(Number($(id).value));
    changed();
  });
  on('level', value => state.level = value / 100);
  on('window', value => state.window = 10 ** (value / 100));
  on('zoom', value => state.zoom = 2 ** (value / 40));
  on('depth', value => state.depth = value);
  on('budget', value => state.budget = budgetAt(value));
  on('chunk', value => state.chunk = value);
  $('path').addEventListener('input', () => {
    state.path = $('path').value;
    changed();
  });
  $('stream').onclick = () => {
    page.streaming = !page.streaming;
    page.turning = page.turning && page.streaming;
    changed();
  };
  $('turn').onclick = () => {
    page.turning = !page.turning;
    page.turnedAt = performance.now();
    changed();
  };
  $('reset').onclick = () => {
    Object.assign(state, FIRST, {view: state.view});
    page.turning = false;
    changed();
  };
  $('again').onclick = changed;
  document.addEventListener('visibilitychange', ask);
}

stage();
controls();
show();
connect();
// A browser keeps a page that one may go back to, and its socket open.
addEventListener('pagehide', () => {
  const socket = page.socket;
  page.socket = null;
  if (socket) socket.close();
});
addEventListener('pageshow', connect);
