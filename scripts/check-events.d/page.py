"""Checks the page in a browser.

In each state of the network, and for light and dark:

  - the accessibility tree: the roles, that each control, table and picture has a name, and the order of headings
  - the contrast of every text against what is behind it (WCAG 2.2, 1.4.3: at least 4.5, or 3 for large text)
  - that nothing is wider than the window, from 360 to 3840 pixels
  - that nothing is loaded from elsewhere, and the browser reports no error
  - that a lost carrier changes the page, and how long that takes
"""
import json
import statistics
import time
import urllib.request

from browser import Browser
from report import expect, say

ADDRESS = "http://127.0.0.1:8787/"
WIDTHS = {360: 780, 1280: 800, 3840: 2160}
SCHEMES = ("light", "dark")
LATENCY_LIMIT = 100


CONTRAST = r"""
(() => {
  const channels = (text) => {
    const numbers = text.match(/[\d.]+/g).map(Number);
    return [numbers[0], numbers[1], numbers[2], numbers.length > 3 ? numbers[3] : 1];
  };
  const light = (color) => {
    const [r, g, b] = color.slice(0, 3).map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const background = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = channels(getComputedStyle(at).backgroundColor);
      if (color[3] === 1) return color;
      if (color[3] > 0) return null;
    }
    return [255, 255, 255, 1];
  };
  const found = [];
  let least = 99;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility() || element.closest("script, style, noscript")) continue;
    const style = getComputedStyle(element);
    const [text, behind] = [channels(style.color), background(element)];
    const [one, other] = [light(text), behind ? light(behind) : 0];
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || size >= 18.66 && Number(style.fontWeight) >= 700;
    least = Math.min(least, ratio);
    if (!behind || ratio < (isLarge ? 3 : 4.5)) found.push(`${walker.currentNode.data.trim()}: ${ratio.toFixed(2)}`);
  }
  return { found, least };
})()
"""


def check_tree(browser, state):
    """Checks the names and roles that assistive technology is given."""
    nodes = [n for n in browser.call("Accessibility.getFullAXTree")["nodes"] if not n["ignored"]]
    name = lambda node: node.get("name", {}).get("value", "").strip()
    by_role = {}
    for node in nodes:
        by_role.setdefault(node["role"]["value"], []).append(name(node))
    for role in ("banner", "main", "contentinfo", "navigation"):
        expect(len(by_role.get(role, [])) == 1, f"{state}: one element has the role {role}, not {by_role.get(role)}")
    headings = [(int(p["value"]["value"]), name(n)) for n in nodes if n["role"]["value"] == "heading"
                for p in n["properties"] if p["name"] == "level"]
    # The tree's nodes are in the order in which they were made.
    order = browser.evaluate("[...document.querySelectorAll('h1, h2, h3')].map((one) => one.tagName)")
    expect(order[0] == "H1" and set(order[1:]) == {"H2"}, f"{state}: headings {order}")
    expect({"Timeline", "Links", "Outages", "Log"} <= {h[1] for h in headings}, f"{state}: headings {headings}")
    expect({"Links", "Outages", "Log"} <= set(by_role.get("table", [])), f"{state}: tables {by_role.get('table')}")
    expect("columnheader" in by_role and "rowheader" in by_role, f"{state}: the tables have headers")
    expect(by_role.get("searchbox") == ["Filter"], f"{state}: the filter is {by_role.get('searchbox')}")
    for role in ("link", "button", "image", "img", "table", "region", "searchbox", "navigation", "heading"):
        expect(all(by_role.get(role, [])), f"{state}: each {role} has a name: {by_role.get(role)}")
    pictures = by_role.get("image", []) + by_role.get("img", [])
    expect(len(pictures) == 1 and "Reachable" in pictures[0] or "known" in pictures[0], f"{state}: pictures {pictures}")


def check_keyboard(browser):
    """Checks that everything that can be operated is reached by the tab key, in order, and shows it."""
    browser.evaluate("document.activeElement.blur()")
    reached = []
    for _ in range(40):
        for kind in ("keyDown", "keyUp"):
            browser.call("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)
        element = browser.evaluate("(() => { const e = document.activeElement; return e === document.body ? null : "
                                   "[e.id || e.textContent.trim().slice(0, 20), getComputedStyle(e).outlineStyle]; })()")
        if element is None or element in reached:
            break
        reached.append(element)
    names = [one[0] for one in reached]
    browser.evaluate("document.activeElement.blur(); window.scrollTo(0, 0)")
    for wanted in ("Skip to the log", "10 minutes", "hour", "24 hours", "7 days", "filter", "State as JSON", "Metrics"):
        expect(wanted in names, f"the tab key reaches '{wanted}': {names}")
    expect(all(one[1] != "none" for one in reached), f"the focus is visible: {reached}")


def check_look(browser, state, pictures):
    """Checks each size and color scheme, and takes the pictures."""
    least = 99
    for width, height in WIDTHS.items():
        for scheme in SCHEMES:
            browser.size(width, height, scheme)
            wide = browser.evaluate("document.documentElement.scrollWidth")
            expect(wide <= width, f"{state}, {width} px: the page is {wide} px wide")
            contrast = browser.evaluate(CONTRAST)
            least = min(least, contrast["least"])
            expect(not contrast["found"], f"{state}, {width} px, {scheme}: too little contrast: {contrast['found'][:5]}")
            if pictures:
                browser.picture(pictures / f"page-{state}-{width}-{scheme}.png")
    say(f"{state}: the least contrast is {least:.2f}")


def check_latency(browser, machine, rounds, is_timed):
    """Measures the time from the loss of a carrier to the changed page, and judges it if `is_timed`."""
    lengths = []
    for _ in range(rounds):
        browser.evaluate("""window.changed = new Promise((done) => new MutationObserver((_, observer) => {
            if (document.body.dataset.status === "wifi") return;
            observer.disconnect();
            requestAnimationFrame(() => done(performance.timeOrigin + performance.now()));
        }).observe(document.body, { attributes: true })); 0""")
        # The observer's clock is the wall clock.
        start = time.time() * 1000
        machine.lose_carrier()
        lengths.append(browser.evaluate("window.changed") - start)
        machine.restore()
        browser.wait("document.body.dataset.status === 'wifi'", "the page shows wifi again")
        time.sleep(0.5)
    middle = statistics.median(lengths)
    say(f"from the loss of the carrier to the page: {middle:.0f} ms (median of {rounds}; most {max(lengths):.0f} ms)")
    expect(middle <= LATENCY_LIMIT or not is_timed, f"the page changes within {LATENCY_LIMIT} ms, and not {middle:.0f}")


HISTORY = """
(() => {
  const fetchFromService = window.fetch;
  const days = [
    { day: "2026-11-22", available: null, outages: 0, reachable: 0, unreachable: 0, unknown: 86400, longest: 0 },
    { day: "2026-11-23", available: 0.9987, outages: 2, reachable: 86288, unreachable: 112.4, unknown: 0, longest: 80 },
  ];
  window.fetch = (address, options) => address.startsWith("v1/history")
    ? Promise.resolve(new Response(JSON.stringify({ v: 1, days }))) : fetchFromService(address, options);
})()
"""


def check_history(browser):
    """Checks the table of days, with a response as the journal gives it, whether or not the service has one."""
    script = browser.call("Page.addScriptToEvaluateOnNewDocument", source=HISTORY)["identifier"]
    browser.open(ADDRESS)
    browser.wait("!document.getElementById('history').hidden", "the history is shown")
    rows = browser.evaluate("[...document.getElementById('history-rows').rows].map("
                            "(row) => [...row.cells].map((cell) => cell.textContent))")
    expect(rows == [["2026-11-23", "99.87 %", "2", "1 min 52 s"], ["2026-11-22", "unknown", "0", "0 s"]],
           f"the history has the days, the newest first: {rows}")
    browser.call("Page.removeScriptToEvaluateOnNewDocument", identifier=script)
    browser.open(ADDRESS)


def check_plain():
    """Checks that the page can be read without scripts."""
    with urllib.request.urlopen(ADDRESS) as response:
        page = response.read().decode()
    expect("wlan0" in page and ">wifi</h1>" in page.replace("</svg> ", ">"), "the state and the links are in the markup")


def check_events(browser):
    """Checks what the browser reported meanwhile."""
    for event in browser.events:
        method, parameters = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent":
            address = parameters["request"]["url"]
            # The history is asked for where the service may have none.
            expect(address.startswith((ADDRESS, "data:", "about:")), f"the page asks for {address}")
        elif method == "Log.entryAdded" and "v1/history" not in parameters["entry"].get("url", ""):
            expect(False, f"the browser reports: {parameters['entry']['text']}")
        elif method == "Runtime.exceptionThrown":
            expect(False, f"the script fails: {parameters['exceptionDetails']}")


def check(machine, stop_service, directory, pictures, is_timed):
    """Checks the page of a running service, and at last what it shows when the service ends."""
    check_plain()
    browser = Browser(f"{directory}/profile")
    try:
        browser.size(1280, 800, "light")
        browser.open(ADDRESS)
        check_latency(browser, machine, 5, is_timed)
        check_keyboard(browser)
        check_history(browser)
        for state, change, status in (
            ("wifi", machine.restore, "wifi"), ("cellular", machine.use_cellular, "cellular"),
            ("not-reachable", machine.lose_all, "notReachable"),
        ):
            change()
            browser.wait(f"document.body.dataset.status === '{status}'", f"the page shows {status}")
            # The browser takes over the parts that changed, one request at a time.
            time.sleep(1)
            check_tree(browser, state)
            check_look(browser, state, pictures)
        machine.restore()
        machine.flap(30)
        browser.open(ADDRESS + "?span=10m")
        browser.wait("document.body.dataset.status === 'wifi'", "the page shows wifi after flapping")
        check_tree(browser, "flapping")
        check_look(browser, "flapping", pictures)
        browser.size(1280, 800, "light")
        check_events(browser)
        stop_service()
        browser.wait("document.querySelector('#connection.lost') !== null", "the page says that the connection is lost")
        if pictures:
            browser.picture(pictures / "page-lost-1280-light.png")
    finally:
        browser.end()
