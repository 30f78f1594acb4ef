/// The style sheet of the page: light or dark according to the system, and one column on a phone.
enum ReportStyle {
    static let css = #"""
        :root {
          color-scheme: light dark;
          --ground: #f6f7f9; --card: #ffffff; --line: #dfe3e8; --soft: #eef1f4; --text: #1a2330; --faint: #5c6773;
          --accent: #0b6bcb; --accent-soft: #e3effb; --mark: #ffe9a8;
          --confirmed: #2f8f63; --pending: #2d6cdf; --inFlight: #7b4fd6; --inDoubt: #c77b00; --rejected: #cc3a3a;
          --deferred: #a8642a; --undone: #8b94a0; --elided: #b3bac2; --unknown: #6b6f76; --record: #9fb0c3;
          --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --ground: #12161c; --card: #1a2028; --line: #2c3540; --soft: #222a34; --text: #e6ebf1; --faint: #9aa7b5;
            --accent: #6cb2ff; --accent-soft: #1d3148; --mark: #5c4a12;
            --confirmed: #4cc38a; --pending: #6ea0ff; --inFlight: #ab8bf5; --inDoubt: #f0a93b; --rejected: #f47067;
            --deferred: #d69a63; --undone: #77818d; --elided: #5b6570; --unknown: #8d939b; --record: #4d6078;
          }
        }
        * { box-sizing: border-box; }
        html, body { height: 100%; margin: 0; }
        body {
          display: flex; flex-direction: column; background: var(--ground); color: var(--text);
          font: 15px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif;
        }
        button, input, select { font: inherit; color: inherit; }
        :focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
        header { display: flex; flex-wrap: wrap; gap: 8px 24px; align-items: center; padding: 14px 20px 10px; }
        header h1 { font-size: 19px; margin: 0; letter-spacing: -.01em; }
        header .where { color: var(--faint); font-size: 13px; overflow-wrap: anywhere; }
        header .titles { flex: 1 1 240px; min-width: 0; }
        header input {
          flex: 0 1 340px; min-width: 0; padding: 8px 12px; border: 1px solid var(--line); border-radius: 8px;
          background: var(--card);
        }
        nav { display: flex; gap: 2px; padding: 0 14px; border-bottom: 1px solid var(--line); overflow-x: auto; flex: none; }
        nav button {
          border: 0; background: none; padding: 8px 11px; border-bottom: 2px solid transparent; color: var(--faint);
          cursor: pointer; white-space: nowrap;
        }
        nav button[aria-selected=true] { color: var(--text); border-color: var(--accent); font-weight: 600; }
        nav .count { font-size: 12px; color: var(--faint); font-weight: 400; margin-left: 5px; }
        nav .count.bad { color: var(--rejected); font-weight: 600; }
        .stage { flex: 1 1 auto; min-height: 0; display: flex; }
        main { flex: 1 1 auto; min-width: 0; overflow: auto; padding: 16px 20px; display: flex; flex-direction: column; }
        main > section { display: flex; flex-direction: column; flex: 1 0 auto; min-height: 0; }
        main > section.fills { flex: 1 1 0; }
        main > section[hidden] { display: none; }
        h2 { font-size: 15px; margin: 18px 0 8px; }
        h2:first-child { margin-top: 0; }
        .notice { background: var(--mark); border-radius: 8px; padding: 8px 12px; margin: 0 0 8px; }
        .tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(170px, 1fr)); gap: 10px; }
        .tile { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 10px 12px; min-width: 0; }
        .tile .label { color: var(--faint); font-size: 12px; }
        .tile .value { font-size: 16px; font-weight: 600; overflow-wrap: anywhere; }
        .card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 12px 14px; margin: 0 0 10px; }
        .card p { margin: 4px 0; overflow-wrap: anywhere; }
        .stack { display: flex; height: 16px; border-radius: 8px; overflow: hidden; background: var(--soft); }
        .stack span { min-width: 2px; }
        .legend { display: flex; flex-wrap: wrap; gap: 4px 16px; margin: 8px 0 0; padding: 0; list-style: none; font-size: 13px; }
        .legend button { border: 0; background: none; padding: 2px 0; cursor: pointer; }
        .legend button:hover { text-decoration: underline; }
        .dot { display: inline-block; width: 9px; height: 9px; border-radius: 50%; margin-right: 6px; flex: none; }
        .bar { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; margin: 0 0 10px; flex: none; }
        .bar select, .bar button, .more {
          padding: 5px 9px; border: 1px solid var(--line); border-radius: 7px; background: var(--card); max-width: 100%;
        }
        .bar button, .more { cursor: pointer; }
        .bar button[aria-pressed=true] { background: var(--accent-soft); border-color: var(--accent); }
        .bar .found { color: var(--faint); margin-left: auto; font-size: 13px; }
        .list {
          flex: 1 1 0; min-height: 260px; overflow: auto; background: var(--card); border: 1px solid var(--line);
          border-radius: 10px; position: relative; contain: strict;
        }
        .list .space { position: relative; }
        .row {
          position: absolute; left: 0; right: 0; height: 32px; display: flex; align-items: center; gap: 12px;
          padding: 0 12px; border-bottom: 1px solid var(--soft); cursor: pointer; white-space: nowrap; overflow: hidden;
        }
        .row:hover { background: var(--soft); }
        .row[aria-selected=true] { background: var(--accent-soft); }
        .row .number { width: 66px; text-align: right; color: var(--faint); flex: none; font-variant-numeric: tabular-nums; }
        .row .time { width: 172px; color: var(--faint); flex: none; font-size: 13px; font-variant-numeric: tabular-nums; }
        .row .state { width: 92px; flex: none; display: flex; align-items: center; font-size: 13px; }
        .row .text { flex: 1 1 auto; overflow: hidden; text-overflow: ellipsis; min-width: 0; }
        .row .end { flex: none; color: var(--faint); font-size: 13px; }
        .empty { color: var(--faint); padding: 22px; text-align: center; }
        mark { background: var(--mark); color: inherit; border-radius: 2px; }
        aside {
          flex: 0 0 400px; border-left: 1px solid var(--line); background: var(--card); overflow: auto; padding: 14px 18px;
        }
        aside[hidden] { display: none; }
        aside h2 { margin: 14px 0 6px; font-size: 14px; }
        aside .head { display: flex; align-items: start; gap: 8px; }
        aside .head h2 { flex: 1; margin: 0 0 4px; font-size: 17px; overflow-wrap: anywhere; }
        aside .close { border: 0; background: none; font-size: 20px; line-height: 1; cursor: pointer; padding: 4px 8px; }
        aside p { margin: 4px 0; overflow-wrap: anywhere; }
        aside dl { display: grid; grid-template-columns: auto 1fr; gap: 3px 12px; margin: 8px 0; font-size: 14px; }
        aside dt { color: var(--faint); } aside dd { margin: 0; overflow-wrap: anywhere; }
        .links { list-style: none; margin: 0; padding: 0; }
        .links li { margin: 0; }
        .links button, .link {
          border: 0; background: none; color: var(--accent); padding: 2px 0; cursor: pointer; text-align: left;
          overflow-wrap: anywhere;
        }
        .links button:hover, .link:hover { text-decoration: underline; }
        .links .note { color: var(--faint); font-size: 13px; }
        pre {
          font: 12.5px/1.5 var(--mono); background: var(--soft); padding: 10px 12px; border-radius: 8px; overflow: auto;
          white-space: pre-wrap; overflow-wrap: anywhere; margin: 6px 0; max-height: 50vh;
        }
        table { border-collapse: collapse; width: 100%; font-size: 14px; }
        th { text-align: left; color: var(--faint); font-weight: 500; }
        td, th { padding: 4px 10px 4px 0; vertical-align: top; overflow-wrap: anywhere; }
        canvas { display: block; width: 100%; border-radius: 10px; border: 1px solid var(--line); background: var(--card);
          touch-action: none; cursor: crosshair; }
        .hint { color: var(--faint); font-size: 13px; margin: 8px 0 0; }
        .sizes { display: grid; grid-template-columns: minmax(90px, max-content) 1fr max-content; gap: 5px 12px; align-items: center;
          font-size: 14px; }
        .sizes .track { background: var(--soft); border-radius: 5px; height: 14px; position: relative; overflow: hidden; }
        .sizes .raw, .sizes .stored { position: absolute; left: 0; top: 0; bottom: 0; border-radius: 5px; }
        .sizes .raw { background: var(--record); opacity: .45; } .sizes .stored { background: var(--accent); }
        .sizes .amount { color: var(--faint); text-align: right; font-variant-numeric: tabular-nums; }
        .hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
        @media (max-width: 760px) {
          header { padding: 12px 14px 8px; } header input { flex: 1 1 100%; } main { padding: 12px 14px; }
          nav { padding: 0 6px; } .row .time, .row .end { display: none; } .row { gap: 8px; padding: 0 10px; }
          .row .number { width: 52px; } .row .state { width: auto; } .row .state .word { display: none; }
          aside { position: fixed; inset: auto 0 0 0; height: 72%; border: 0; border-top: 1px solid var(--line);
            border-radius: 14px 14px 0 0; box-shadow: 0 -6px 24px rgba(0, 0, 0, .25); }
          .sizes { grid-template-columns: 1fr max-content; } .sizes .track { grid-column: 1 / -1; grid-row: auto; }
        }
        @media print { aside, nav, header input { display: none; } }
        """#
}
