extension ReportScript {
    /// The timeline of all records on a canvas, with a lane for each set, one for batches and one for downloads.
    static let timeline = #"""
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
        """#

    /// The content of the panels.
    static let panels = #"""
        // ---- Panels

        function overview() {
          const panel = byID('panel-overview');
          for (const notice of report.notices) panel.append(make('p', { class: 'notice', role: 'note' }, notice));
          panel.append(make('h2', {}, 'Store'), make('div', { class: 'tiles' }, ...report.facts.map(([label, value]) =>
            make('div', { class: 'tile' }, make('div', { class: 'label' }, label), make('div', { class: 'value' }, value)))));
          const amounts = new Map();
          for (let row = 0; row < count; row += 1) {
            const fate = fateOf(row);
            if (fate) amounts.set(fate, (amounts.get(fate) || 0) + 1);
          }
          const total = [...amounts.values()].reduce((a, b) => a + b, 0);
          panel.append(make('h2', {}, number(total) + (total === 1 ? ' operation' : ' operations')));
          if (total) {
            const fates = worst.filter(fate => amounts.has(fate)).reverse();
            panel.append(
              make('div', { class: 'stack', role: 'img', 'aria-label': fates.map(fate => amounts.get(fate) + ' ' + fateWords[fate]).join(', ') },
                ...fates.map(fate => make('span', { style: 'flex:' + amounts.get(fate) + ';background:' + color(fate) }))),
              make('ul', { class: 'legend' }, ...fates.map(fate => make('li', {}, make('button', {
                onclick: () => { byID('fate').value = fate; go({ view: 'operations', fate }); },
              }, dot(fate), number(amounts.get(fate)) + ' ' + fateWords[fate])))));
          }
          if (report.errors.length) {
            panel.append(make('h2', {}, 'Needs a decision'), ...report.errors.slice(0, 5).map(errorCard));
            if (report.errors.length > 5) panel.append(make('button', { class: 'more', onclick: () => go({ view: 'errors' }) }, 'All ' + number(report.errors.length)));
          }
        }
        function cards(id, items, card, none) {
          const panel = byID(id);
          if (!items.length) panel.append(make('p', { class: 'empty' }, none));
          const add = from => {
            for (const item of items.slice(from, from + 100)) panel.append(card(item));
            if (items.length > from + 100) {
              const more = make('button', { class: 'more', onclick: () => { more.remove(); add(from + 100); } }, number(items.length - from - 100) + ' more …');
              panel.append(more);
            }
          };
          add(0);
        }
        function sizes() {
          const panel = byID('panel-size');
          const chart = (title, rows) => {
            const most = Math.max(1, ...rows.map(row => row.raw));
            panel.append(make('h2', {}, title), make('div', { class: 'sizes' }, ...rows.flatMap(row => [
              make('span', {}, row.name),
              make('span', { class: 'track', role: 'img', 'aria-label': bytes(row.stored) + ' stored of ' + bytes(row.raw) },
                make('span', { class: 'raw', style: 'width:' + row.raw / most * 100 + '%' }),
                make('span', { class: 'stored', style: 'width:' + row.stored / most * 100 + '%' })),
              make('span', { class: 'amount' }, number(row.records) + (row.records === 1 ? ' record, ' : ' records, ') + bytes(row.raw) + ' → ' + bytes(row.stored)),
            ])));
          };
          panel.append(make('p', { class: 'hint' }, 'Pale: size of the records without compression. Strong: size in the file.'));
          chart('Kinds of records', report.sizes.kinds);
          chart('Segments', report.sizes.segments);
          if (report.sizes.snapshots.length) chart('Snapshots', report.sizes.snapshots);
        }

        const lists_ = {
          operations: new List(byID('list-operations'), 'Records', fillRecord, showRecord),
          entities: new List(byID('list-entities'), 'Entities', (row, index) => row.append(
            make('span', { class: 'number' }, '~' + entities.id[index]), marked(entityName(entities.id[index]), view.words)),
            index => showEntity(entities.id[index])),
          batches: new List(byID('list-batches'), 'Batches', (row, batch) => row.append(
            make('span', { class: 'number' }, String(batch.id)),
            make('span', { class: 'time' }, timeText(time[rowOf(batch.prepared || batch.ended)])), state(batch.state),
            make('span', { class: 'text' }, batch.summary), make('span', { class: 'end' }, number(batch.operations.length))),
            batch => showBatch(batch)),
        };
        function fillChoices() {
          const fill = (id, all, values, words) => {
            const choice = byID(id);
            choice.append(make('option', { value: '' }, all), ...values.map(value => make('option', { value }, words(value))));
          };
          fill('fate', 'Every state', report.fates.filter(Boolean), fate => fateWords[fate] || fate);
          fill('set', 'Every set', report.sets.slice().sort(), set => set);
          byID('kind').append(make('option', { value: 'operation' }, 'Operations'), make('option', { value: '' }, 'All records'),
            ...report.kinds.filter(kind => kind !== 'operation').map(kind => make('option', { value: kind }, kind)));
        }
        const found = (id, shown, total) => { byID(id).textContent = shown === total ? number(total) : number(shown) + ' of ' + number(total); };
        function filterRecords() {
          const kind = view.kind, fate = view.fate, set = view.set, rows = [];
          const kindIndex = report.kinds.indexOf(kind), fateIndex = report.fates.indexOf(fate), setIndex = report.sets.indexOf(set);
          for (let row = 0; row < count; row += 1) {
            if (kind && report.kind[row] !== kindIndex) continue;
            if (fate && report.fate[row] !== fateIndex) continue;
            if (set && !identifiers(mentions[row]).some(id => entities.set[entityIndex.get(id)] === setIndex)) continue;
            if (view.words.length && !matches(view.words, row)) continue;
            rows.push(row);
          }
          lists_.operations.show(rows);
          found('found-operations', rows.length, count);
        }
        function filterEntities() {
          const setIndex = report.sets.indexOf(view.set), items = [];
          for (let index = 0; index < entities.id.length; index += 1) {
            if (view.set && entities.set[index] !== setIndex) continue;
            const name = view.words.length ? entityName(entities.id[index]).toLowerCase() : '';
            if (view.words.every(word => name.includes(word) || word === '~' + entities.id[index])) items.push(index);
          }
          lists_.entities.show(items);
          found('found-entities', items.length, entities.id.length);
        }
        function filterBatches() {
          const items = report.batches.filter(batch => !view.words.length ||
            [batch.prepared, batch.ended].some(place => rowOf(place) >= 0 && matches(view.words, rowOf(place))));
          lists_.batches.show(items);
          found('found-batches', items.length, report.batches.length);
        }
        """#

    /// The navigation. The fragment of the URL determines the view: `#view=operations&search=rejected`.
    static let start = #"""
        // ---- Start

        const names = ['overview', 'timeline', 'operations', 'entities', 'batches', 'conflicts', 'errors', 'size'];
        const view = { view: 'overview', search: '', kind: 'operation', fate: '', set: '', select: '', words: [] };
        function remember(change) {
          Object.assign(view, change);
          const parts = new URLSearchParams();
          for (const name of ['view', 'search', 'fate', 'set', 'select']) if (view[name]) parts.set(name, view[name]);
          if (view.kind !== 'operation') parts.set('kind', view.kind || 'all');
          try { window.history.replaceState(null, '', '#' + parts); } catch (error) { /* Some browsers do not let a local file do this. */ }
        }
        function apply() {
          view.words = view.search.toLowerCase().split(/\s+/).filter(Boolean);
          for (const name of names) {
            byID('panel-' + name).hidden = name !== view.view;
            const tab = byID('tab-' + name);
            tab.setAttribute('aria-selected', String(name === view.view));
            tab.tabIndex = name === view.view ? 0 : -1;
          }
          byID('search').value = view.search;
          byID('fate').value = view.fate; byID('set').value = view.set; byID('kind').value = view.kind;
          if (view.view === 'operations') filterRecords();
          if (view.view === 'entities') filterEntities();
          if (view.view === 'batches') filterBatches();
          if (view.view === 'timeline') timeline.draw();
        }
        function go(change) { remember(change); apply(); }
        function open(select) {
          if (/^~\d+$/.test(select)) showEntity(Number(select.slice(1)));
          else if (/^batch\d+$/.test(select)) { const batch = batchByID.get(Number(select.slice(5))); if (batch) showBatch(batch); }
          else if (/^\d+$/.test(select) && rowOf(Number(select)) >= 0) showRecord(rowOf(Number(select)));
        }
        function read() {
          const parts = new URLSearchParams(location.hash.slice(1));
          const search = parts.get('search') || '';
          const named = names.includes(parts.get('view')) ? parts.get('view') : search ? 'operations' : 'overview';
          const kind = parts.get('kind');
          Object.assign(view, {
            view: named, search, fate: parts.get('fate') || '', set: parts.get('set') || '', select: parts.get('select') || '',
            kind: kind === 'all' || (kind === null && search) ? '' : report.kinds.includes(kind) ? kind : 'operation',
          });
          apply();
          if (view.select) open(view.select);
        }

        const amounts = { entities: entities.id.length, batches: report.batches.length, conflicts: report.conflicts.length, errors: report.errors.length,
          operations: report.kind.filter(kind => report.kinds[kind] === 'operation').length };
        for (const name of names) {
          const tab = byID('tab-' + name);
          if (amounts[name] !== undefined) {
            tab.append(make('span', { class: 'count' + (amounts[name] && /conflicts|errors/.test(name) ? ' bad' : '') }, number(amounts[name])));
          }
          tab.addEventListener('click', () => go({ view: name }));
          tab.addEventListener('keydown', event => {
            const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
            if (!step) return;
            const next = names[(names.indexOf(name) + step + names.length) % names.length];
            go({ view: next });
            byID('tab-' + next).focus();
            event.preventDefault();
          });
        }
        let waiting;
        byID('search').addEventListener('input', () => {
          clearTimeout(waiting);
          waiting = setTimeout(() => {
            const search = byID('search').value;
            const listed = ['operations', 'entities', 'batches'].includes(view.view);
            go(listed ? { search } : { search, view: 'operations', kind: '' });
          }, 120);
        });
        for (const id of ['kind', 'fate', 'set']) byID(id).addEventListener('change', () => go({ [id]: byID(id).value }));
        document.addEventListener('keydown', event => {
          if (event.key === 'Escape' && !aside.hidden) closeDetail();
          else if (event.key === '/' && !/INPUT|SELECT|TEXTAREA/.test(document.activeElement.tagName)) { byID('search').focus(); event.preventDefault(); }
        });
        window.addEventListener('hashchange', read);

        overview();
        cards('panel-conflicts', report.conflicts, conflictCard, 'No conflicts.');
        cards('panel-errors', report.errors, errorCard, 'The error archive is empty.');
        sizes();
        fillChoices();
        timeline.prepare();
        timeline.listen();
        byID('busy').remove();
        byID('stage').hidden = false;
        read();
        timeline.draw();
        document.documentElement.dataset.ready = 'true';
        """#
}
