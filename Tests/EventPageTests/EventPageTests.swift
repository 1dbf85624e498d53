import EventCore
import Testing
import ValidationCore

@testable import EventPage
@testable import NetwatchCore
@testable import ReachabilityCore

@Suite("The page of the event service")
struct EventPageTests {
    @Test("The state, its start, the path and the links are in the markup")
    func state() {
        var scene = PageScene()
        scene.change(.wifi, through: "wlan0")
        scene.wait(.seconds(200))
        let page = scene.page()
        #expect(page.contains("<title>wifi · kiosk-7 · netwatch</title>"))
        #expect(page.contains("since <time datetime=\"2026-11-20T13:00:00.000Z\">13:00:00</time>"))
        #expect(page.contains(">3 min 20 s</span>"))
        #expect(page.contains("<p class=\"path\">wlan0 (wifi) → 192.0.2.1, IPv4</p>"))
        #expect(page.contains("scope=\"row\">eth0 <span class=\"kind\">wired</span></th>"))
        #expect(page.contains("class=\"link-state good\">up</td>"))
        #expect(page.contains("data-status=\"wifi\" data-id=\"0000000000000007.1\""))
    }

    @Test(
        "The verdict on the path is in the first lines and in the log",
        arguments: [
            (
                ValidationVerdict.validated, "<p class=\"since\">leads to the internet, checked <time ",
                "validation: validated"
            ),
            (
                .notChecked, "<p class=\"since\">not checked whether it leads to the internet</p>",
                "validation: not checked"
            ),
            (
                .noInternet(.noResponse), "<p class=\"why\">no internet: no server answers, checked <time ",
                "validation: no internet: no server answers"
            ),
            (
                .noInternet(.interception("<b>\u{202E}")),
                "another answers with a certificate of its own (&lt;b&gt;\\u{202e}), checked <time ",
                "validation: no internet: another answers with a certificate of its own (&lt;b&gt;\\u{202e})"
            ), (.portal(.init()), "<p class=\"why\">a portal asks for a login, checked <time ", "validation: portal"),
            (
                .portal(.init(loginURL: "https://h.example/a?b=1&c=2")),
                """
                <p class="why">a portal asks for a login at <a href="https://h.example/a?b=1&amp;c=2" \
                rel="noopener noreferrer" target="_blank">https://h.example/a?b=1&amp;c=2</a>, checked <time 
                """, "validation: portal at https://h.example/a?b=1&amp;c=2"
            ),
        ]
    )
    func verdict(verdict: ValidationVerdict, line: String, entry: String) {
        var scene = PageScene()
        scene.change(.wifi)
        scene.validation(verdict)
        let page = scene.page()
        #expect(page.contains(line), "\(page)")
        #expect(page.contains("<span class=\"tag\">\(entry)</span>"))
        #expect(page.contains("<title>wifi · "))
    }

    @Test(
        "A portal's URL that is not a plain one of http or https is shown as text only",
        arguments: [
            "javascript:alert(1)", "data:text/html,<script>alert(1)</script>", "https://bank.example@evil.example/",
            "http://\u{202E}moc.elgoog/", "https://", "https:///path", "http://a b/", "JavaScript://x/%0Aalert(1)",
            "https://x\\@evil.example/", "https://x/\" onmouseover=\"alert(1)", "//evil.example/", "/login", "",
        ]
    )
    func hostilePortal(url: String) {
        var scene = PageScene()
        scene.change(.wifi)
        scene.validation(.portal(.init(loginURL: url)))
        let page = scene.page()
        #expect(!page.contains("target=\"_blank\"") && !page.contains("<script>alert") && !page.contains("\" onmouse"))
        #expect(page.contains("a portal asks for a login at \(HTML("\(url.escapedForTerminal)").text), checked"))
    }

    @Test("Where paths are not validated, the page does not mention it")
    func notValidated() {
        var scene = PageScene()
        scene.change(.wifi)
        let page = scene.page()
        #expect(!page.contains("validation") && !page.contains("internet"))
    }

    @Test("Without a path, the page says why and what to do")
    func reason() {
        var scene = PageScene()
        scene.change(.notReachable, reasons: [.carrierLost])
        let page = scene.page()
        #expect(page.contains("<h1 id=\"state-title\">"))
        #expect(page.contains("not reachable</h1>"))
        #expect(page.contains("<p class=\"why\">eth0 has a carrier but no address"))
        #expect(page.contains("<p class=\"fix\"><b>Fix</b> "))
        #expect(page.contains(">link.carrier.lost</span>"))
    }

    @Test("Before the first change, the state is unknown")
    func beginning() {
        let page = PageScene().page()
        #expect(page.contains("<title>unknown · "))
        #expect(page.contains("data-id=\"\""))
        #expect(page.contains("Nothing is known of the last hour."))
    }

    @Test("Names that contain markup or control characters are shown as text")
    func escaping() {
        var scene = PageScene()
        scene.name = "<script>alert(1)</script>\u{202E}\u{1B}[2J\"'&"
        scene.change(.wifi, through: "<b onload='x'>&\"")
        let page = scene.page()
        #expect(!page.contains("<script>alert"))
        #expect(!page.contains("<b onload"))
        #expect(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;\\u{202e}\\u{1b}[2J&quot;&#39;&amp;"))
        #expect(page.contains("&lt;b onload=&#39;x&#39;&gt;&amp;&quot;"))
    }

    @Test("The outages have their reasons, and one that lasts is marked")
    func outages() {
        var scene = PageScene()
        scene.change(.wifi, through: "wlan0")
        #expect(scene.page().contains("None since the service started."))
        scene.wait(.seconds(60))
        scene.change(.notReachable, reasons: [.carrierLost])
        scene.wait(.milliseconds(4_200))
        scene.change(.notReachable, reasons: [.linkDown])
        scene.wait(.seconds(1))
        scene.change(.cellular, through: "wwan0")
        scene.wait(.seconds(60))
        scene.change(.notReachable, reasons: [.routeRemoved])
        scene.wait(.seconds(5))
        let page = scene.page()
        let rows = page.components(from: "id=\"outages-rows\"", to: "</tbody>")
        #expect(rows.contains("<td role=\"cell\">5.2 s</td>"))
        #expect(rows.contains(">5 s</span> so far</b>"))
        #expect(rows.firstIndex(of: "route.removed")! < rows.firstIndex(of: "link.carrier.lost")!)
        #expect(page.contains("2 outages, 10 s in all, the longest 5.2 s."))
    }

    @Test("The timeline has one bar for each stretch, and no outage is too short to be seen")
    func timeline() {
        var scene = PageScene()
        scene.change(.wifi, through: "wlan0")
        scene.wait(.seconds(1800))
        scene.change(.notReachable)
        scene.wait(.milliseconds(1))
        scene.change(.wifi, through: "wlan0")
        scene.wait(.seconds(1800))
        let picture = scene.page().components(from: "<svg class=\"band\" role=\"img\"", to: "</svg>")
        #expect(picture.components(of: "<rect ") == 3)
        #expect(picture.contains("class=\"notReachable\" y=\"0%\" height=\"100%\""))
        #expect(scene.page(.week).contains("Reachable 99.99 % of the 1 h since the service started; 1 outage of 1 ms."))
    }

    @Test("The log and the timeline are bounded, however much the network flaps")
    func bounds() {
        var scene = PageScene()
        for number in 0..<20_000 {
            scene.change(number.isMultiple(of: 2) ? .wifi : .notReachable, through: "wlan0")
            scene.wait(.milliseconds(300))
        }
        let page = scene.page()
        let rows = page.components(from: "id=\"log-rows\"", to: "</tbody>")
        #expect(rows.components(of: "<tr ") == PageHistory.changeCapacity)
        #expect(page.components(from: "id=\"outages-rows\"", to: "</tbody>").components(of: "<tr ") == 10)
        #expect(page.utf8.count < 120_000)
    }

    @Test("Time in suspension counts as unknown")
    func suspension() {
        var scene = PageScene()
        scene.change(.wifi, through: "wlan0")
        scene.wait(.seconds(100))
        scene.wait(.seconds(1700))
        scene.change(.wifi, through: "wlan0", suspended: .seconds(1700))
        scene.wait(.seconds(100))
        let picture = scene.page().components(from: "<svg class=\"band\" role=\"img\"", to: "</svg>")
        #expect(picture.contains("class=\"unknown\" y=\"85%\""))
        #expect(scene.page().contains("<span class=\"tag\">suspend</span>"))
    }

    @Test("Only the page's own script and style may run, and nothing is loaded from elsewhere")
    func policy() {
        let scene = PageScene()
        let fields = scene.eventPage().fields
        #expect(fields.contains("default-src 'none'; script-src 'nonce-n0nce'; style-src 'nonce-n0nce'; "))
        #expect(!fields.contains("unsafe"))
        #expect(fields.hasSuffix("\r\n") && !fields.contains("\r\n\r\n"))
        let page = scene.page()
        #expect(page.components(of: "<script ") == 1 && page.components(of: "<style ") == 1)
        #expect(page.contains("<script nonce=\"n0nce\">") && page.contains("<style nonce=\"n0nce\">"))
        #expect(!page.contains(" style=") && !page.contains(" onclick=") && !page.contains("//www.w3.org/1999"))
        #expect(!PageStyle.text.contains("<") && !PageStyle.text.contains("@import"))
        #expect(!PageScript.text.contains("</") && !PageScript.text.contains("innerHTML ="))
        for address in ["src=", "https://", "url(http"] { #expect(!page.contains(address), "\(address)") }
    }
}

extension String {
    /// The text from one mark to the next occurrence of another; empty if there is none.
    func components(from start: String, to end: String) -> String {
        guard let low = firstRange(of: start), let high = self[low.upperBound...].firstRange(of: end) else { return "" }
        return String(self[low.lowerBound..<high.lowerBound])
    }

    /// How often a text occurs.
    func components(of text: String) -> Int { ranges(of: text).count }

    /// Where a text begins.
    func firstIndex(of text: String) -> Index? { firstRange(of: text)?.lowerBound }
}
