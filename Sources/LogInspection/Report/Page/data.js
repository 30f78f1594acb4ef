// Decompression, and queries on the data.

// ---- Elements

const byID = id => document.getElementById(id);
const visible = text => String(text).replace(
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
  mark => '\\u{' + mark.charCodeAt(0).toString(16) + '}');
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === 'onclick') element.addEventListener('click', value);
    else if (name === 'style') element.style.cssText = value;
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? '' : value);
  }
  for (const child of children) {
    if (child === undefined || child === null) continue;
    element.append(child instanceof Node ? child : visible(child));
  }
  return element;
}
const color = name => 'var(--' + (name || 'record') + ')';
const dot = name => make('span', { class: 'dot', style: 'background:' + color(name), 'aria-hidden': 'true' });
const number = value => value.toLocaleString('en-US');
function bytes(count) {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let unit = 0;
  while (count >= 1000 && unit < 4) { count /= 1000; unit += 1; }
  return (unit ? count.toFixed(count < 10 ? 1 : 0) : count) + ' ' + units[unit];
}
const timeText = ms => ms === null || !isFinite(ms) || Math.abs(ms) > 8.64e15 ? '' :
  new Date(ms).toISOString().replace('T', ' ').replace('Z', '');

// ---- Data

async function unpack(text) {
  const packed = Uint8Array.from(atob(text), character => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return JSON.parse(await new Response(stream).text());
}
function sums(deltas) {
  const values = new Float64Array(deltas.length);
  let sum = 0;
  for (let index = 0; index < deltas.length; index += 1) values[index] = sum += deltas[index];
  return values;
}
const lines = text => text === '' ? [] : text.split('\n');
// "5-8,11": entity IDs in ascending stretches, in the order of the record.
function identifiers(text) {
  if (!text) return [];
  const found = [];
  for (const part of text.split(',')) {
    const dash = part.indexOf('-', 1);
    const first = Number(dash < 0 ? part : part.slice(0, dash));
    const last = dash < 0 ? first : Number(part.slice(dash + 1));
    // Beyond these, one more is the same number.
    if (!Number.isSafeInteger(first) || !Number.isSafeInteger(last)) continue;
    for (let id = first; id <= last; id += 1) found.push(id);
  }
  return found;
}

if (typeof DecompressionStream === 'undefined') {
  byID('busy').textContent = 'This browser is too old. The page requires Chrome 103, Firefox 113, Safari 16.4, or later.';
  return;
}
const report = await unpack(byID('data').textContent.trim());
const count = report.seq.length;
const sequence = sums(report.seq);
const time = sums(report.time);
const text = lines(report.text);
const mentions = report.ents.split('\n');
const kindOf = row => report.kinds[report.kind[row]];
const fateOf = row => report.fates[report.fate[row]];
const rowOf = number => {
  let low = 0, high = count - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (sequence[middle] === number) return middle;
    if (sequence[middle] < number) low = middle + 1; else high = middle - 1;
  }
  return -1;
};

const entities = { id: sums(report.entity.id), set: report.entity.set, name: lines(report.entity.name) };
const entityIndex = new Map();
entities.id.forEach((id, index) => entityIndex.set(id, index));
const entityName = id => {
  const index = entityIndex.get(id);
  if (index === undefined) return '~' + id;
  return report.sets[entities.set[index]] + '(' + (entities.name[index] || '~' + id) + ')';
};
// Rows by entity, created on first use.
let history;
function historyOf(id) {
  if (!history) {
    history = new Map();
    for (let row = 0; row < count; row += 1) {
      for (const entity of identifiers(mentions[row])) {
        const rows = history.get(entity);
        if (rows) rows.push(row); else history.set(entity, [row]);
      }
    }
  }
  return history.get(id) || [];
}

const batchByID = new Map(report.batches.map(batch => [batch.id, batch]));
const batchOfRow = new Map();
const batchesOfOperation = new Map();
for (const batch of report.batches) {
  batch.operations = Array.from(sums(batch.ops));
  // The outcomes list only operations that were not confirmed.
  if (batch.ended && !batch.interrupted) {
    const listed = new Map(batch.outcomes.map(outcome => [outcome.operation, outcome]));
    batch.outcomes = batch.operations.map(operation => listed.get(operation) || { operation, result: 'confirmed' });
  }
  for (const place of [batch.prepared, batch.ended]) if (place) batchOfRow.set(rowOf(place), batch);
  for (const operation of batch.operations) {
    const known = batchesOfOperation.get(operation);
    if (known) known.push(batch); else batchesOfOperation.set(operation, [batch]);
  }
}
const requestText = batch => (batch.requests || []).map(request =>
  request.method + ' ' + request.url + '\n' + request.headers + (request.body ? '\n' + request.body : '')).join('\n\n');

// The searchable text in lower case, created on the first search.
let haystack;
function searchable() {
  if (!haystack) {
    haystack = text.map(line => line.toLowerCase());
    for (let row = 0; row < count; row += 1) {
      const named = mentions[row] && !/[-,]/.test(mentions[row]) ? entityName(Number(mentions[row])).toLowerCase() : '';
      if (named && !haystack[row].includes(named)) haystack[row] += ' ' + named;
    }
    for (const batch of report.batches) {
      const prepared = rowOf(batch.prepared), ended = rowOf(batch.ended);
      if (prepared >= 0) haystack[prepared] += ' ' + requestText(batch).toLowerCase();
      if (ended >= 0) haystack[ended] += ' ' + batch.outcomes.map(o => Object.values(o).join(' ')).join(' ').toLowerCase();
    }
    for (const error of report.errors) {
      const row = rowOf(error.operation);
      if (row >= 0) haystack[row] += ' ' + [error.status, error.code, error.message, error.body].join(' ').toLowerCase();
    }
  }
  return haystack;
}
function matches(words, row) {
  const line = searchable()[row];
  const place = '#' + sequence[row];
  return words.every(word => line.includes(word) || place === word);
}
