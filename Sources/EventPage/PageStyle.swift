/// The page's style sheet.
enum PageStyle {
    /// The text; it has no `<`, which could end the element that contains it.
    static let text = #"""

        :root {
          color-scheme: light dark;
          --page: #f3f4f6; --panel: #ffffff; --text: #171b22; --dim: #566071; --line: #dde1e8; --link: #0b57d0;
          --wifi: #0b7a40; --cellular: #8a5600; --notReachable: #b4231b; --unknown: #566071;
          --wifi-soft: #e9f6ee; --cellular-soft: #fdf3de; --notReachable-soft: #fdebe9; --unknown-soft: #eef0f4;
          --wifi-band: #36a06a; --cellular-band: #c08a2b; --hatch: #f3aaa5;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --page: #0d1014; --panel: #161a21; --text: #e7eaf0; --dim: #9ca6b5; --line: #2a303a; --link: #8ab4f8;
            --wifi: #4fcb8d; --cellular: #e8b54a; --notReachable: #ff8279; --unknown: #9ca6b5;
            --wifi-soft: #13261d; --cellular-soft: #2b2312; --notReachable-soft: #331a1a; --unknown-soft: #20252d;
            --wifi-band: #3fa876; --cellular-band: #c99c40; --hatch: #7a2f2c;
          }
        }
        * { box-sizing: border-box; }
        html {
          font: clamp(13.5px, 9.5px + 0.33vw, 24px)/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans",
            "Liberation Sans", "DejaVu Sans", Arial, sans-serif;
          font-variant-numeric: tabular-nums; -webkit-text-size-adjust: 100%;
        }
        body { margin: 0; background: var(--page); color: var(--text); }
        p, h1, h2, table { margin: 0; }
        a { color: var(--link); text-underline-offset: 0.15em; }
        :focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 3px; }
        [hidden] { display: none; }
        .unseen, .definitions { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
        .skip { position: absolute; left: 0.8rem; top: -4rem; padding: 0.4rem 0.8rem; background: var(--panel); z-index: 1; }
        .skip:focus { top: 0.4rem; }

        header, footer {
          display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0.2rem 1.5rem;
          padding: 0.75rem clamp(0.75rem, 1.2vw, 2rem) 0; color: var(--dim);
        }
        header b { color: var(--text); font-weight: 650; margin-right: 0.5em; }
        footer { padding-bottom: 1.2rem; padding-top: 0; }
        footer a { margin-left: 1em; }
        footer p:first-child + p a:first-child { margin-left: 0; }
        #connection::before {
          content: ""; display: inline-block; width: 0.55em; height: 0.55em; margin-right: 0.5em; border-radius: 50%;
          border: 1.5px solid currentColor;
        }
        #connection.connected::before { background: var(--wifi); border-color: var(--wifi); }
        #connection.lost { color: var(--notReachable); font-weight: 600; }
        #connection.lost::before { border-radius: 0; background: var(--notReachable); border-color: var(--notReachable); }

        .stale main { filter: grayscale(1); }
        main { display: grid; gap: clamp(0.75rem, 0.8vw, 1.4rem); padding: 0.75rem clamp(0.75rem, 1.2vw, 2rem) 1rem; }
        section {
          background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: 0.85rem 1rem; min-width: 0;
        }
        h2 { font-size: 0.82rem; font-weight: 650; letter-spacing: 0.02em; color: var(--dim); margin-bottom: 0.45rem; }
        .tag {
          border: 1px solid var(--line); border-radius: 3px; padding: 0 0.35em; font-size: 0.9em; color: var(--dim);
          white-space: nowrap;
        }
        .wifi { --own: var(--wifi); --soft: var(--wifi-soft); --band: var(--wifi-band); }
        .cellular { --own: var(--cellular); --soft: var(--cellular-soft); --band: var(--cellular-band); }
        .notReachable { --own: var(--notReachable); --soft: var(--notReachable-soft); }
        .unknown { --own: var(--unknown); --soft: var(--unknown-soft); --band: var(--unknown); }
        .mark { width: 0.72em; height: 0.72em; fill: currentColor; margin-right: 0.15em; flex: none; }

        .state { padding: 0; overflow: hidden; }
        #state {
          display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem 2.2rem; padding: 1rem 1.2rem; min-height: 100%;
          background: var(--soft); border-left: 6px solid var(--own);
        }
        h1 { font-size: 2.1rem; line-height: 1.15; font-weight: 650; color: var(--own); white-space: nowrap; }
        #state > div { flex: 1 1 22rem; min-width: 0; overflow-wrap: anywhere; }
        .since { color: var(--dim); }
        .why { font-size: 1.12rem; font-weight: 600; margin-top: 0.15rem; }
        .fix b { font-weight: 600; color: var(--dim); margin-right: 0.4em; }

        .bar { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: baseline; gap: 0 1.5rem; }
        nav { display: flex; gap: 0.25rem; margin-bottom: 0.4rem; }
        nav a { color: var(--dim); text-decoration: none; padding: 0.1rem 0.55rem; border-radius: 4px; white-space: nowrap; }
        nav a:hover { color: var(--text); text-decoration: underline; }
        nav a[aria-current] { background: var(--unknown-soft); color: var(--text); font-weight: 600; }
        .band {
          display: block; width: 100%; height: 3rem; border-bottom: 1px solid var(--line); background: var(--page);
        }
        .band rect { fill: var(--band); }
        .band rect.notReachable { fill: url(#hatch); }
        #hatch rect { fill: var(--notReachable); }
        #hatch path { stroke: var(--hatch); stroke-width: 3; }
        .axis { display: flex; justify-content: space-between; color: var(--dim); font-size: 0.85rem; margin-top: 0.15rem; }
        .summary { margin-top: 0.35rem; }
        .legend { display: flex; flex-wrap: wrap; gap: 0.1rem 1.2rem; color: var(--dim); font-size: 0.85rem; margin-top: 0.3rem; }
        .band.key { display: inline-block; width: 1.3em; height: 0.95em; vertical-align: -0.12em; background: none; }

        .scroll { overflow-x: auto; }
        table { width: 100%; border-collapse: collapse; }
        th, td { text-align: left; vertical-align: top; padding: 0.28rem 1rem 0.28rem 0; border-top: 1px solid var(--line); }
        th:last-child, td:last-child { padding-right: 0; }
        thead th { border-top: 0; color: var(--dim); font-size: 0.85rem; font-weight: 500; padding-top: 0; white-space: nowrap; }
        tbody th { font-weight: 600; }
        time { white-space: nowrap; }
        .zone { font-size: 0.92em; }
        .ms, .kind, .none, .path { color: var(--dim); }
        #state .path { color: inherit; }
        .kind { font-weight: 400; }
        .kind b { color: var(--text); font-weight: 600; }
        .line { display: block; overflow-wrap: anywhere; }
        .reason { white-space: nowrap; margin-right: 0.45em; text-decoration: underline dotted var(--line); cursor: help; }
        .status { color: var(--own); white-space: nowrap; font-weight: 600; }
        .log td .path { display: block; overflow-wrap: anywhere; }
        .log td:first-child { width: 1%; white-space: nowrap; }
        .log td:nth-child(2) { width: 1%; }
        .link-state { white-space: nowrap; }
        .link-state::before {
          content: ""; display: inline-block; width: 0.6em; height: 0.6em; margin-right: 0.45em; border-radius: 50%;
          border: 1.5px solid currentColor; vertical-align: 0.02em;
        }
        .good { color: var(--wifi); }
        .good::before { background: currentColor; }
        .waiting { color: var(--cellular); }
        .waiting::before { background: linear-gradient(90deg, currentColor 50%, transparent 50%); }
        .bad { color: var(--notReachable); font-weight: 600; }
        .off { color: var(--dim); }
        .off::before { border-radius: 0; height: 0; vertical-align: 0.28em; border-width: 1px 0 0; }
        .filter { margin-bottom: 0.5rem; color: var(--dim); }
        input {
          font: inherit; color: inherit; background: var(--page); border: 1px solid var(--dim); border-radius: 4px;
          padding: 0.1rem 0.5rem; width: 16rem; max-width: 60vw;
        }

        @media (max-width: 639px) {
          .links thead, .log thead { position: absolute; clip-path: inset(50%); }
          .links tr, .log tr:not([hidden]) {
            display: grid; grid-template-columns: 1fr auto; border-top: 1px solid var(--line); padding: 0.3rem 0;
          }
          .links th, .links td, .log td { border: 0; padding: 0; }
          .log td:first-child, .log td:nth-child(2) { width: auto; }
          .links td:nth-child(n + 3), .log td:nth-child(3) { grid-column: 1 / -1; }
          .links td:nth-child(n + 3) { color: var(--dim); }
          .links td:nth-child(4) .line::before { content: "via "; }
          th, td { padding-right: 0.7rem; }
          h1 { font-size: 1.9rem; }
          .axis span:nth-child(even) { display: none; }
        }
        @media (min-width: 1024px) {
          main {
            grid-template: "state state" auto "timeline timeline" auto "links log" auto "outages log" auto "history log" 1fr
              / 1fr 1fr;
          }
          .state { grid-area: state; }
          #timeline { grid-area: timeline; }
          #links { grid-area: links; }
          #outages { grid-area: outages; }
          #history { grid-area: history; }
          #log { grid-area: log; }
          #log .scroll { max-height: max(30rem, 100vh - 25rem); overflow-y: auto; }
          #log thead th { position: sticky; top: 0; background: var(--panel); }
        }
        @media (min-width: 2200px) {
          main {
            grid-template: "state timeline" auto "links log" auto "outages log" auto "history log" 1fr / 1fr 1.4fr;
          }
          #state { align-content: center; }
          .log td .path { display: inline; }
          #log .scroll { max-height: max(40rem, 100vh - 18rem); }
          .band { height: 4.5rem; }
          .band.key { height: 0.95em; }
        }
        @media (forced-colors: active) {
          .band rect { forced-color-adjust: none; }
        }
        @media print {
          header, footer, nav, .filter { display: none; }
        }

        """#
}
