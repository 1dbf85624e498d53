/// The page's script.
///
/// It makes no markup of its own: at each event it fetches the page and takes over the parts whose markup changed, so that
/// all values are escaped in one place. Only the table of the stored history is made here, of text nodes.
enum PageScript {
    /// The text; it has no `</`, which could end the element that contains it.
    static let text = #"""

        "use strict";
        (() => {
          const byID = (id) => document.getElementById(id);
          const body = document.body;
          const connection = byID("connection");
          const markup = new Map();
          let skew = Date.parse(body.dataset.now) - Date.now();

          const padded = (number, width = 2) => String(number).padStart(width, "0");
          const dayOf = (date) => `${padded(date.getMonth() + 1)}-${padded(date.getDate())}`;
          const clockOf = (date) => [date.getHours(), date.getMinutes(), date.getSeconds()].map((n) => padded(n)).join(":");

          // As the service writes lengths.
          function length(milliseconds) {
            const seconds = Math.max(0, Math.floor(milliseconds / 1000));
            const two = (large, unit, small, smaller) => `${large} ${unit}` + (small ? ` ${small} ${smaller}` : "");
            if (seconds < 60) return `${seconds} s`;
            if (seconds < 3600) return two(Math.floor(seconds / 60), "min", seconds % 60, "s");
            if (seconds < 86400) return two(Math.floor(seconds / 3600), "h", Math.floor(seconds / 60) % 60, "min");
            return two(Math.floor(seconds / 86400), "d", Math.floor(seconds / 3600) % 24, "h");
          }

          // Times by the clock of the reader, instead of UTC.
          function localize(root) {
            const today = new Date(Date.now() + skew).toDateString();
            for (const element of root.querySelectorAll("time[datetime]")) {
              const date = new Date(element.dateTime);
              const day = date.toDateString() === today ? "" : `${dayOf(date)} `;
              element.textContent = day + clockOf(date);
              element.title = date.toISOString();
            }
            for (const zone of root.querySelectorAll(".zone")) zone.remove();
          }

          function tick() {
            if (connection.className === "lost") return;
            const now = Date.now() + skew;
            for (const element of document.querySelectorAll("[data-since]")) {
              const text = length(now - Date.parse(element.dataset.since));
              if (element.textContent !== text) element.textContent = text;
            }
          }

          function filter() {
            const words = byID("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
            let shown = 0;
            const rows = byID("log-rows").rows;
            for (const row of rows) {
              const text = row.textContent.toLowerCase();
              row.hidden = !words.every((word) => text.includes(word));
              shown += row.hidden ? 0 : 1;
            }
            byID("filter-count").textContent = words.length ? `${shown} of ${rows.length}` : "";
          }

          // Without the style, which this page has and its policy forbids in another document.
          function parse(text) {
            const withoutStyle = text.slice(0, text.indexOf("<style")) + text.slice(text.indexOf("<\/head>"));
            return new DOMParser().parseFromString(withoutStyle, "text/html");
          }

          function take(page) {
            skew = Date.parse(page.body.dataset.now) - Date.now();
            for (const part of page.querySelectorAll(".live")) {
              const own = byID(part.id);
              own.className = part.className;
              if (markup.get(part.id) === part.innerHTML) continue;
              markup.set(part.id, part.innerHTML);
              own.replaceChildren(...part.childNodes);
              localize(own);
              if (part.id === "log-rows") filter();
            }
            document.title = page.title;
            document.querySelector("link[rel=icon]").href = page.querySelector("link[rel=icon]").getAttribute("href");
            if (body.dataset.status !== page.body.dataset.status) {
              body.dataset.status = page.body.dataset.status;
              byID("announcement").textContent = byID("state").innerText;
            }
            tick();
          }

          // One request at a time; what happens meanwhile is in the next one, a quarter of a second later in a storm.
          let isBusy = false;
          let isDue = false;
          async function refresh() {
            isDue = true;
            if (isBusy) return;
            isBusy = true;
            try {
              while (isDue) {
                isDue = false;
                const response = await fetch(location.href, { cache: "no-store" });
                if (response.ok) take(parse(await response.text()));
                if (isDue) await new Promise((resolve) => setTimeout(resolve, 250));
              }
            } catch {
              // The stream of events reports that the service cannot be reached.
            } finally {
              isBusy = false;
            }
          }

          function show(className, text) {
            connection.className = className;
            body.classList.toggle("stale", className === "lost");
            if (connection.textContent !== text) connection.textContent = text;
          }

          function follow(id) {
            const query = id ? `?mode=latest&after=${encodeURIComponent(id)}` : "?mode=latest";
            const events = new EventSource(`v1/events${query}`);
            events.onopen = () => {
              show("connected", "live");
              refresh();
            };
            events.onmessage = refresh;
            events.onerror = () => {
              const time = clockOf(new Date(Date.now() + skew));
              if (connection.className !== "lost") show("lost", `not connected since ${time}; trying again`);
              if (events.readyState !== EventSource.CLOSED) return;
              events.close();
              setTimeout(follow, 5000);
            };
          }

          // The availability of each day, from the journal; a service without one has no such resource.
          async function showHistory() {
            const response = await fetch("v1/history?since=7d", { cache: "no-store" }).catch(() => null);
            if (response === null || !response.ok) return;
            const { days } = await response.json();
            const rows = [...days].reverse().map((day) => {
              const share = day.available === null ? "unknown" : `${(Math.round(day.available * 10000) / 100).toFixed(2)} %`;
              const row = document.createElement("tr");
              row.setAttribute("role", "row");
              for (const text of [day.day, share, day.outages, length(day.unreachable * 1000)]) {
                const cell = row.insertCell();
                cell.setAttribute("role", "cell");
                cell.textContent = text;
              }
              return row;
            });
            byID("history-rows").replaceChildren(...rows);
            byID("history").hidden = rows.length === 0;
          }

          for (const part of document.querySelectorAll(".live")) markup.set(part.id, part.innerHTML);
          localize(document);
          document.querySelector(".filter").hidden = false;
          byID("filter").addEventListener("input", filter);
          filter();
          tick();
          setInterval(() => document.hidden || tick(), 1000);
          // Links that are not part of the path change without an event, and the timeline moves on.
          setInterval(() => document.hidden || connection.className === "lost" || refresh(), 10000);
          setInterval(() => document.hidden || byID("history").hidden || showHistory(), 300000);
          document.addEventListener("visibilitychange", () => document.hidden || refresh());
          showHistory();
          follow(body.dataset.id);
        })();

        """#
}
