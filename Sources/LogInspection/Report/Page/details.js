// The details of a record, entity or batch next to the lists.

// ---- Details

const aside = byID('detail');
let openedFrom;
function detail(title, ...children) {
  if (aside.hidden) openedFrom = document.activeElement;
  aside.replaceChildren(
    make('div', { class: 'head' }, make('h2', { tabindex: '-1' }, title),
      make('button', { class: 'close', 'aria-label': 'Close', onclick: closeDetail }, '×')),
    ...children.filter(Boolean));
  aside.hidden = false;
  aside.scrollTop = 0;
}
function closeDetail() {
  aside.hidden = true;
  remember({ select: '' });
  if (openedFrom && openedFrom.focus) openedFrom.focus();
}
function terms(pairs) {
  const list = make('dl');
  for (const [name, value] of pairs) {
    if (value === undefined || value === null || value === '') continue;
    list.append(make('dt', {}, name), make('dd', {}, value));
  }
  return list;
}
const shownLinks = 200;
function links(items, item) {
  const list = make('ul', { class: 'links' });
  const add = from => {
    for (const each of items.slice(from, from + shownLinks)) list.append(make('li', {}, ...item(each)));
    if (items.length > from + shownLinks) {
      const more = make('button', { onclick: () => { more.parentNode.remove(); add(from + shownLinks); } },
        number(items.length - from - shownLinks) + ' more …');
      list.append(make('li', {}, more));
    }
  };
  add(0);
  return list;
}
const toRow = row => make('button', { onclick: () => showRecord(row) }, '#' + sequence[row] + ' ' + text[row]);
const toEntity = id => make('button', { onclick: () => showEntity(id) }, entityName(id));
const toBatch = batch => make('button', { onclick: () => showBatch(batch) }, 'batch ' + batch.id);

function showRecord(row) {
  remember({ select: String(sequence[row]) });
  const batch = batchOfRow.get(row);
  if (batch) return showBatch(batch, row);
  const sent = batchesOfOperation.get(sequence[row]) || [];
  const error = report.errors.find(each => each.operation === sequence[row]);
  const named = identifiers(mentions[row]);
  detail('#' + sequence[row] + ' ' + (report.actions[report.action[row]] || kindOf(row)),
    make('p', {}, text[row]),
    terms([['kind', kindOf(row)], ['time', timeText(time[row]) + ' UTC'], ['state', fateWords[fateOf(row)]]]),
    named.length ? make('h2', {}, named.length === 1 ? 'Entity' : number(named.length) + ' entities') : null,
    named.length ? links(named, id => [toEntity(id)]) : null,
    sent.length ? make('h2', {}, 'Sent in') : null,
    sent.length ? links(sent, each => {
      const outcome = each.outcomes.find(one => one.operation === sequence[row]);
      const words = outcome ? [fateWords[outcome.result] || outcome.result, outcome.status, outcome.message] : ['no response'];
      return [toBatch(each), make('div', { class: 'note' }, words.filter(Boolean).join(' · '))];
    }) : null,
    error ? make('h2', {}, 'In the error archive') : null, error ? errorCard(error) : null);
}
function showEntity(id) {
  remember({ select: '~' + id });
  const rows = historyOf(id);
  const conflict = report.conflicts.find(each => each.entity === id);
  detail(entityName(id), terms([['entity ID', '~' + id], ['records', number(rows.length)]]),
    conflict ? make('h2', {}, 'Conflict') : null, conflict ? conflictCard(conflict) : null,
    make('h2', {}, 'History'),
    links(rows.slice().reverse(), row => [
      toRow(row), make('div', { class: 'note' }, timeText(time[row]) + (fateOf(row) ? ' · ' + fateWords[fateOf(row)] : '')),
    ]));
}
function showBatch(batch) {
  remember({ select: 'batch' + batch.id });
  const outcome = new Map(batch.outcomes.map(each => [each.operation, each]));
  const requests = requestText(batch);
  detail('Batch ' + batch.id,
    terms([
      ['prepared', batch.prepared ? timeText(time[rowOf(batch.prepared)]) + ' UTC, #' + batch.prepared : 'before the report begins'],
      [batch.interrupted ? 'interrupted' : 'answered', batch.ended ? timeText(time[rowOf(batch.ended)]) + ' UTC, #' + batch.ended : 'not yet'],
      ['reason', batch.reason], ['operations', number(batch.operations.length)]]),
    make('h2', {}, 'Outcomes'),
    links(batch.operations, operation => {
      const result = outcome.get(operation), row = rowOf(operation);
      const words = result ? [fateWords[result.result] || result.result, result.status, result.code, result.message] : ['no response'];
      return [row >= 0 ? toRow(row) : make('span', {}, '#' + operation),
        make('div', { class: 'note' }, dot(result ? result.result : 'inDoubt'), words.filter(Boolean).join(' · '))];
    }),
    make('h2', {}, 'Requests'),
    make('p', { class: 'hint' }, batch.note),
    requests ? make('pre', { tabindex: '0', 'aria-label': 'Requests of batch ' + batch.id }, requests) : null);
}
function errorCard(error) {
  return make('div', { class: 'card' },
    make('p', {}, dot(error.state === 'conflict' ? 'inDoubt' : error.state),
      [error.state === 'inDoubt' ? 'in doubt' : error.state, error.status, error.code].filter(Boolean).join(' · ')),
    make('p', {}, error.message),
    make('p', {}, make('button', { class: 'link', onclick: () => {
      const row = rowOf(error.operation);
      if (row >= 0) showRecord(row); else showEntity(error.entity);
    } }, '#' + error.operation + ' ' + error.action + ' ' + error.name)),
    error.url ? make('pre', { tabindex: '0' }, error.method + ' ' + error.url + (error.body ? '\n\n' + error.body : '')) : null);
}
function conflictCard(conflict) {
  const rows = conflict.properties.map(each => make('tr', {}, ...each.map(cell => make('td', {}, cell))));
  return make('div', { class: 'card' },
    make('p', {}, make('button', { class: 'link', onclick: () => showEntity(conflict.entity) }, conflict.name), ' ' + conflict.kind),
    rows.length ? make('table', {}, make('thead', {}, make('tr', {},
      ...['property', 'base', 'mine', 'theirs'].map(name => make('th', { scope: 'col' }, name)))), make('tbody', {}, ...rows)) : null,
    make('p', { class: 'hint' }, 'Operations ' + conflict.operations.join(', ')));
}
