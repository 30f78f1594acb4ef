extension ReportScript {
    /// Virtual lists of any length, which create only the visible rows.
    static let lists = #"""
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
        """#

    /// The details of a record, entity or batch next to the lists.
    static let details = #"""
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
        """#
}
