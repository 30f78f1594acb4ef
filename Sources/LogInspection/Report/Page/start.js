// The navigation. The fragment of the URL determines the view: `#view=operations&search=rejected`.

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
