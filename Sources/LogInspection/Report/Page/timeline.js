// The timeline of all records on a canvas, with a lane for each set, one for batches and one for downloads.

// ---- Timeline

const worst = ['rejected', 'inDoubt', 'deferred', 'unknown', 'pending', 'inFlight', 'undone', 'elided', 'confirmed', ''];
const timeline = {
  canvas: byID('canvas'), byTime: true, from: 0, to: 1, lanes: [], laneHeight: 30, left: 118, top: 6, dragged: false,
  prepare() {
    const sets = new Map();
    const put = (name, row) => { if (!sets.has(name)) sets.set(name, []); sets.get(name).push(row); };
    for (let row = 0; row < count; row += 1) {
      const kind = kindOf(row);
      if (kind === 'operation') {
        const first = parseInt(mentions[row], 10), index = entityIndex.get(first);
        put(index === undefined ? '(unknown)' : report.sets[entities.set[index]], row);
      } else if (/^download|^entit|^links|^streams/.test(kind)) put('\u0001downloads', row);
      else if (!/^batch/.test(kind)) put('\u0001other records', row);
    }
    const named = [...sets].filter(([name]) => name[0] !== '\u0001').sort((a, b) => b[1].length - a[1].length);
    this.lanes = named.slice(0, 12).map(([name, rows]) => ({ name, rows }));
    if (named.length > 12) {
      this.lanes.push({ name: 'other sets', rows: named.slice(12).flatMap(([, rows]) => rows).sort((a, b) => a - b) });
    }
    this.lanes.push({ name: 'batches', batches: report.batches });
    for (const name of ['downloads', 'other records']) {
      if (sets.has('\u0001' + name)) this.lanes.push({ name, rows: sets.get('\u0001' + name) });
    }
    if (this.lanes.length < 8) this.laneHeight = 46;
    this.reset();
  },
  place(row) { return this.byTime ? time[row] : row; },
  reset() {
    let low = Infinity, high = -Infinity;
    for (let row = 0; row < count; row += 1) { const at = this.place(row); if (at < low) low = at; if (at > high) high = at; }
    if (!isFinite(low)) { low = 0; high = 1; }
    const margin = Math.max((high - low) * .01, this.byTime ? 500 : .6);
    this.low = low - margin; this.high = high + margin;
    this.from = this.low; this.to = this.high;
    this.draw();
  },
  x(at) { return this.left + (at - this.from) / (this.to - this.from) * (this.width - this.left - 10); },
  at(x) { return this.from + (x - this.left) / (this.width - this.left - 10) * (this.to - this.from); },
  zoom(factor, x) {
    const middle = this.at(x === undefined ? (this.left + this.width) / 2 : x);
    const least = this.byTime ? 20 : 4;
    const span = Math.max(least, Math.min(this.high - this.low, (this.to - this.from) * factor));
    const share = (middle - this.from) / (this.to - this.from);
    this.from = middle - span * share; this.to = this.from + span;
    this.clamp();
  },
  pan(part) { const span = this.to - this.from; this.from += span * part; this.to += span * part; this.clamp(); },
  clamp() {
    const span = this.to - this.from;
    if (this.from < this.low) { this.from = this.low; this.to = this.low + span; }
    if (this.to > this.high) { this.to = this.high; this.from = this.high - span; }
    this.draw();
  },
  draw() {
    const canvas = this.canvas, box = canvas.parentNode.clientWidth;
    if (!box || byID('panel-timeline').hidden) return;
    this.width = box;
    const height = this.top + this.lanes.length * this.laneHeight + 30;
    const scale = window.devicePixelRatio || 1;
    canvas.width = box * scale; canvas.height = height * scale; canvas.style.height = height + 'px';
    const pen = canvas.getContext('2d'), style = getComputedStyle(document.documentElement);
    const ink = name => style.getPropertyValue('--' + name).trim();
    const inks = Object.fromEntries(worst.map(name => [name, ink(name || 'record')]));
    pen.scale(scale, scale);
    pen.clearRect(0, 0, box, height);
    pen.font = '12px system-ui, sans-serif';
    pen.textBaseline = 'middle';
    this.drawTicks(pen, ink, height);
    this.lanes.forEach((lane, index) => {
      const top = this.top + index * this.laneHeight;
      pen.fillStyle = ink('faint');
      pen.fillText(visible(lane.name).slice(0, 18), 8, top + this.laneHeight / 2);
      pen.fillStyle = ink('soft');
      pen.fillRect(this.left, top + this.laneHeight - 1, box - this.left - 10, 1);
      if (lane.batches) this.drawBatches(pen, lane, top, inks); else this.drawRows(pen, lane, top, inks);
    });
  },
  drawRows(pen, lane, top, inks) {
    // The worst state of each column of pixels, and how many records are in it.
    const columns = Math.ceil(this.width), state = new Uint8Array(columns).fill(255), amount = new Uint32Array(columns);
    for (const row of lane.rows) {
      const x = Math.round(this.x(this.place(row)));
      if (x < this.left || x >= columns) continue;
      amount[x] += 1;
      const rank = worst.indexOf(fateOf(row) || '');
      if (rank < state[x]) state[x] = rank;
    }
    let most = 1;
    for (const one of amount) if (one > most) most = one;
    for (let x = 0; x < columns; x += 1) {
      if (!amount[x]) continue;
      const share = .35 + .65 * Math.log(1 + amount[x]) / Math.log(1 + most), tall = (this.laneHeight - 8) * share;
      pen.fillStyle = inks[worst[state[x]]];
      pen.fillRect(x - .5, top + this.laneHeight - 3 - tall, 2, tall);
    }
  },
  drawBatches(pen, lane, top, inks) {
    for (const batch of lane.batches) {
      const begin = rowOf(batch.prepared || batch.ended), end = rowOf(batch.ended || batch.prepared);
      if (begin < 0 || end < 0) continue;
      const from = this.x(this.place(begin)), to = Math.max(from + 2, this.x(this.place(end)));
      if (to < this.left || from > this.width) continue;
      pen.fillStyle = inks[batch.state];
      pen.fillRect(Math.max(from, this.left), top + 7, to - Math.max(from, this.left), this.laneHeight - 14);
    }
  },
  drawTicks(pen, ink, height) {
    const steps = this.byTime ?
      [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 3e4, 6e4, 12e4, 3e5, 6e5, 18e5, 36e5, 72e5, 216e5, 432e5, 864e5,
        1728e5, 6048e5, 2592e6, 7776e6, 31536e6, 31536e7] : [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5];
    const wanted = (this.to - this.from) / Math.max(1, (this.width - this.left) / 130);
    const step = steps.find(each => each >= wanted) || steps[steps.length - 1];
    for (let at = Math.ceil(this.from / step) * step; at <= this.to; at += step) {
      const x = this.x(at);
      pen.fillStyle = ink('line'); pen.fillRect(x, 0, 1, height - 24);
      const full = this.byTime ? timeText(at) : '#' + (sequence[Math.round(at)] || '');
      const label = !this.byTime ? full : step >= 864e5 ? full.slice(0, 10) : step >= 6e4 ? full.slice(5, 16) : full.slice(11, step >= 1e3 ? 19 : 23);
      pen.fillStyle = ink('faint'); pen.fillText(label, Math.min(x + 3, this.width - 70), height - 12);
    }
  },
  open(x, y) {
    const lane = this.lanes[Math.floor((y - this.top) / this.laneHeight)];
    if (!lane) return;
    let best = -1, distance = 9;
    const rows = lane.batches ? lane.batches.flatMap(batch => [rowOf(batch.prepared), rowOf(batch.ended)]) : lane.rows;
    for (const row of rows) {
      const away = row < 0 ? Infinity : Math.abs(this.x(this.place(row)) - x);
      if (away < distance) { best = row; distance = away; }
    }
    if (lane.batches && best < 0) {
      const at = this.at(x);
      const batch = lane.batches.find(each => rowOf(each.prepared) >= 0 && rowOf(each.ended) >= 0 &&
        this.place(rowOf(each.prepared)) <= at && at <= this.place(rowOf(each.ended)));
      if (batch) showBatch(batch);
    } else if (best >= 0) showRecord(best);
  },
  listen() {
    const canvas = this.canvas, fingers = new Map();
    const local = event => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
    canvas.addEventListener('wheel', event => {
      event.preventDefault();
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.pan((event.deltaX || event.deltaY) / this.width);
      else this.zoom(Math.exp(event.deltaY * .0015), local(event)[0]);
    }, { passive: false });
    canvas.addEventListener('pointerdown', event => {
      canvas.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, local(event));
      this.dragged = false;
    });
    canvas.addEventListener('pointermove', event => {
      const before = fingers.get(event.pointerId);
      if (!before) return;
      const now = local(event), part = (before[0] - now[0]) / (this.width - this.left);
      const others = [...fingers].filter(([id]) => id !== event.pointerId);
      if (others.length) {
        const other = others[0][1][0], old = Math.abs(before[0] - other), gap = Math.abs(now[0] - other);
        if (old > 4 && gap > 4) this.zoom(old / gap, (now[0] + other) / 2);
        this.dragged = true;
      } else if (this.dragged || Math.abs(before[0] - now[0]) > 3) { this.dragged = true; this.pan(part); } else return;
      fingers.set(event.pointerId, now);
    });
    const lift = event => { if (fingers.delete(event.pointerId) && event.type === 'pointerup' && !this.dragged) this.open(...local(event)); };
    canvas.addEventListener('pointerup', lift);
    canvas.addEventListener('pointercancel', lift);
    canvas.addEventListener('keydown', event => {
      const keys = { ArrowLeft: () => this.pan(-.15), ArrowRight: () => this.pan(.15), '+': () => this.zoom(.6), '=': () => this.zoom(.6),
        '-': () => this.zoom(1 / .6), Home: () => this.reset(), '0': () => this.reset() };
      if (!keys[event.key]) return;
      keys[event.key]();
      event.preventDefault();
    });
    byID('zoom-in').onclick = () => this.zoom(.5);
    byID('zoom-out').onclick = () => this.zoom(2);
    byID('zoom-all').onclick = () => this.reset();
    for (const [id, byTime] of [['by-time', true], ['by-number', false]]) {
      byID(id).onclick = () => {
        this.byTime = byTime;
        byID('by-time').setAttribute('aria-pressed', String(byTime));
        byID('by-number').setAttribute('aria-pressed', String(!byTime));
        this.reset();
      };
    }
    new ResizeObserver(() => this.draw()).observe(canvas.parentNode);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw());
  },
};
