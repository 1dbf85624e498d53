import CommandLineSupport
import NetwatchCore

/// The page of a fleet: a table that its script fills from the stream of events.
struct PageDocument {
    /// The broker's name.
    private let broker: String
    /// The random text that marks the page's own script and style (Content Security Policy Level 3, 2.3).
    private let nonce = Self.random + Self.random

    init(broker: String) { self.broker = broker }

    private static var random: String { String(UInt64.random(in: 0 ... .max), radix: 36) }

    /// The fields of the response that restrict what a browser does with the page, each with its line end.
    var fields: String {
        let policy = [
            "default-src 'none'", "script-src 'nonce-\(nonce)'", "style-src 'nonce-\(nonce)'", "connect-src 'self'",
            "img-src data:", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
        ]
        return "Content-Security-Policy: \(policy.joined(separator: "; "))\r\nReferrer-Policy: no-referrer\r\n"
            + "Cross-Origin-Opener-Policy: same-origin\r\nCross-Origin-Resource-Policy: same-origin\r\n"
    }

    /// The document.
    var text: String {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>Fleet · \(broker.escapedForMarkup) · netwatch</title>
        <link rel="icon" href="data:,">
        <style nonce="\(nonce)">\(Self.style)</style>
        </head>
        <body>
        <header><p><b>netwatch</b> fleet at \(broker.escapedForMarkup)</p><p id="connection" role="status">connecting</p></header>
        <main>
        <p id="summary" role="status"></p>
        <p id="notice" role="alert" hidden></p>
        <ul id="bursts"></ul>
        <p><label>Filter <input id="filter" type="search" autocomplete="off"></label> <span id="count"></span></p>
        <table>
        <thead><tr><th>Node</th><th>Link</th><th>State</th><th>Since</th><th>Path</th><th>Available 24 h</th><th>Outages</th>\
        <th>Last seen</th><th>Backlog</th><th>Why</th></tr></thead>
        <tbody id="nodes"></tbody>
        </table>
        <noscript><p>The table needs scripts. <a href="v1/fleet">The fleet as JSON</a></p></noscript>
        </main>
        <footer><p>netwatch \(CommandLineProgram.version.escapedForMarkup) <a href="v1/fleet">JSON</a></p></footer>
        <script nonce="\(nonce)">\(Self.script)</script>
        </body>
        </html>

        """
    }

    /// The style sheet; it has no `<`, which could end the element that contains it.
    private static let style = """
        :root { color-scheme: light dark; --dim: #566071; --ok: #0b7a40; --bad: #b4231b; --warning: #8a5600; --line: #dde1e8; }
        @media (prefers-color-scheme: dark) {
          :root { --dim: #9ca6b5; --ok: #4fcb8d; --bad: #ff8279; --warning: #e8b54a; --line: #2a303a; }
        }
        body { margin: 0 1rem; font: 15px/1.45 system-ui, sans-serif; font-variant-numeric: tabular-nums; }
        header, footer { display: flex; flex-wrap: wrap; justify-content: space-between; color: var(--dim); }
        #summary { font-size: 1.3rem; font-weight: 600; margin: 0.3rem 0; }
        #notice, #connection.lost { color: var(--bad); }
        main { overflow-x: auto; }
        table { border-collapse: collapse; width: 100%; }
        th, td { text-align: left; padding: 0.2rem 0.6rem 0.2rem 0; border-bottom: 1px solid var(--line); }
        /* Names and times stay whole; a narrow screen scrolls. */
        th, td:not(:last-child) { white-space: nowrap; }
        .ok { color: var(--ok); } .bad { color: var(--bad); font-weight: 600; } .warning { color: var(--warning); }
        .unknown { color: var(--dim); font-style: italic; }
        """

    /// The script, in which no tag ends: values become text nodes, never markup.
    private static let script = #"""
        "use strict";
        (() => {
          const byID = (id) => document.getElementById(id);
          const nodes = new Map();
          // As many rows as a browser draws without delay; the filter finds the others.
          const maximumRows = 1000;
          let fleet = null;
          let isDue = false;

          const isReachable = (node) => node.link === "online" && (node.state === "wifi" || node.state === "cellular");
          const isLimited = (node) =>
            node.link === "online" && ["portal", "noInternet"].includes(node.validation && node.validation.verdict);
          // The worst first, as in the terminal.
          function rank(node) {
            if (node.link === "silent") return 0;
            if (node.link === "online" && node.state === "notReachable") return 1;
            if (node.link === "unknown" || node.state === "unknown") return 2;
            if (isLimited(node)) return 3;
            if (node.flapping) return 4;
            return node.backlog > 0 ? 5 : 6;
          }
          const nameOf = (node) => `${node.group}/${node.node}`;
          const compare = (a, b) => rank(a) - rank(b) || nameOf(a).localeCompare(nameOf(b));
          const timeOf = (text) => (text ? new Date(text).toLocaleString() : "");
          const shareOf = (share) => (share === null ? "" : `${(Math.floor(share * 10000) / 100).toFixed(2)} %`);

          function verdictOf({ verdict, reason, loginURL, venueURL }) {
            const page = loginURL || venueURL;
            return verdict === "portal" ? (page ? `portal at ${page}` : "portal") : `no internet: ${reason}`;
          }

          function cellsOf(node) {
            const state = node.link === "online" ? node.state : `${node.state} (was ${node.lastState})`;
            const why = node.silence && node.silence.until === null ? node.why : node.reasons.join(" ");
            return [
              nameOf(node), node.link, state + (node.flapping ? ", flapping" : ""), timeOf(node.since),
              node.path ? `${node.path.interface} (${node.path.kind})` : "", shareOf(node.availability),
              String(node.outages), timeOf(node.lastSeen), node.backlog ? String(node.backlog) : "",
              isReachable(node) ? (isLimited(node) ? verdictOf(node.validation) : "") : why,
            ];
          }

          function rowOf(node) {
            const row = document.createElement("tr");
            for (const text of cellsOf(node)) row.insertCell().textContent = text;
            row.cells[1].className = { online: "ok", silent: "bad" }[node.link] || "unknown";
            row.cells[2].className = isReachable(node) ? (node.flapping || isLimited(node) ? "warning" : "ok") : "bad";
            return row;
          }

          function draw() {
            isDue = false;
            const words = byID("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
            const all = [...nodes.values()].sort(compare);
            const found = all.filter((node) => {
              const text = cellsOf(node).join(" ").toLowerCase();
              return words.every((word) => text.includes(word));
            });
            byID("nodes").replaceChildren(...found.slice(0, maximumRows).map(rowOf));
            const shown = Math.min(found.length, maximumRows);
            byID("count").textContent = shown < all.length ? `${shown} of ${all.length}` : "";
            if (!fleet || !fleet.totals) return;
            const totals = fleet.totals;
            byID("summary").textContent = `${totals.reachable} of ${totals.nodes} reachable, ${totals.silent} silent, `
              + `${totals.unknown} unknown, ${totals.flapping} flapping`;
            byID("notice").hidden = fleet.notice === null;
            byID("notice").textContent = fleet.notice || "";
            byID("bursts").replaceChildren(...totals.bursts.map((burst) => {
              const item = document.createElement("li");
              const seconds = Math.ceil((Date.parse(burst.until) - Date.parse(burst.from)) / 1000);
              item.textContent = `${burst.silent} of ${burst.of} of ${burst.name} silent within ${seconds} s`;
              return item;
            }));
          }

          function drawSoon() {
            if (isDue) return;
            isDue = true;
            setTimeout(draw, 250);
          }

          function follow() {
            const events = new EventSource("v1/fleet/events");
            events.onopen = () => {
              nodes.clear();
              byID("connection").className = "";
              byID("connection").textContent = "live";
            };
            events.onmessage = (event) => {
              const change = JSON.parse(event.data);
              fleet = change.fleet;
              for (const node of change.nodes) {
                if (node.removed) nodes.delete(nameOf(node));
                else nodes.set(nameOf(node), node);
              }
              drawSoon();
            };
            events.onerror = () => {
              byID("connection").className = "lost";
              byID("connection").textContent = "not connected; trying again";
              if (events.readyState !== EventSource.CLOSED) return;
              events.close();
              setTimeout(follow, 5000);
            };
          }

          byID("filter").addEventListener("input", drawSoon);
          follow();
        })();
        """#
}
