// Virtual lists of any length, which create only the visible rows.

// ---- Lists

const rowHeight = 32;
// A list of `count` rows; `fill(row, index)` puts cells into a row, `open(index)` shows one.
class List {
  constructor(element, label, fill, open) {
    this.element = element;
    this.fill = fill;
    this.open = open;
    this.items = [];
    this.selected = -1;
    element.classList.add('list');
    element.setAttribute('role', 'listbox');
    element.setAttribute('aria-label', label);
    element.tabIndex = 0;
    this.space = make('div', { class: 'space', role: 'presentation' });
    element.append(this.space);
    element.addEventListener('scroll', () => this.draw(), { passive: true });
    element.addEventListener('keydown', event => this.key(event));
    new ResizeObserver(() => this.draw()).observe(element);
  }
  show(items) {
    this.items = items;
    this.selected = -1;
    this.element.scrollTop = 0;
    this.draw();
  }
  draw() {
    const length = this.items.length;
    this.space.style.height = length * rowHeight + 'px';
    const height = this.element.clientHeight || 600;
    const first = Math.max(0, Math.floor(this.element.scrollTop / rowHeight) - 4);
    const last = Math.min(length, first + Math.ceil(height / rowHeight) + 8);
    const rows = [];
    for (let index = first; index < last; index += 1) {
      const row = make('div', {
        class: 'row', role: 'option', id: this.element.id + '-' + index, style: 'top:' + index * rowHeight + 'px',
        'aria-selected': String(index === this.selected), 'aria-setsize': length, 'aria-posinset': index + 1,
        onclick: () => this.select(index),
      });
      this.fill(row, this.items[index]);
      rows.push(row);
    }
    if (!length) rows.push(make('div', { class: 'empty' }, 'No matches.'));
    this.space.replaceChildren(...rows);
    if (this.selected >= first && this.selected < last) {
      this.element.setAttribute('aria-activedescendant', this.element.id + '-' + this.selected);
    } else {
      this.element.removeAttribute('aria-activedescendant');
    }
  }
  select(index, opens = true) {
    if (!this.items.length) return;
    this.selected = Math.max(0, Math.min(this.items.length - 1, index));
    const top = this.selected * rowHeight;
    if (top < this.element.scrollTop) this.element.scrollTop = top;
    const bottom = top + rowHeight - this.element.clientHeight;
    if (this.element.clientHeight && bottom > this.element.scrollTop) this.element.scrollTop = bottom;
    this.draw();
    if (opens) this.open(this.items[this.selected]);
  }
  key(event) {
    const page = Math.max(1, Math.floor(this.element.clientHeight / rowHeight) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page };
    if (event.key in steps) this.select(this.selected + steps[event.key]);
    else if (event.key === 'Home') this.select(0);
    else if (event.key === 'End') this.select(this.items.length - 1);
    else if (event.key === 'Enter' || event.key === ' ') this.select(this.selected);
    else return;
    event.preventDefault();
  }
}

// Returns a cell with the matches of the search marked.
function marked(line, words) {
  const cell = make('span', { class: 'text', title: visible(line) });
  const lower = line.toLowerCase();
  let at = 0;
  while (words.length && lower.length === line.length) {
    let next = -1, length = 0;
    for (const word of words) {
      const place = lower.indexOf(word, at);
      if (place >= 0 && (next < 0 || place < next)) { next = place; length = word.length; }
    }
    if (next < 0) break;
    cell.append(visible(line.slice(at, next)), make('mark', {}, line.slice(next, next + length)));
    at = next + length;
  }
  cell.append(visible(line.slice(at)));
  return cell;
}
function state(name) {
  return make('span', { class: 'state' }, dot(name), make('span', { class: 'word' }, fateWords[name] || name || ''));
}
const fateWords = {
  confirmed: 'confirmed', pending: 'pending', inFlight: 'in flight', inDoubt: 'in doubt', rejected: 'rejected',
  deferred: 'postponed', undone: 'undone', elided: 'cancelled out', unknown: 'unknown',
};
function fillRecord(row, index) {
  row.append(
    make('span', { class: 'number' }, String(sequence[index])), make('span', { class: 'time' }, timeText(time[index])),
    state(fateOf(index)), marked(text[index], view.words));
}
