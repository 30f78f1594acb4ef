// The content of the panels.

// The content of the panels.

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
