package import EventCore
import NetwatchCore
import ReachabilityCore

/// The live view as a page of HTML: the state and why, the links, the timeline, the outages and the log.
///
/// All of that is in the markup, so that the page can be read without scripts. Its script fetches the page again at each
/// event, and takes over the parts that changed.
package struct EventPage: Sendable {
    /// The past.
    let history: PageHistory
    /// The machine.
    let network: PageNetwork
    /// The id of the newest event, after which the script continues; nil if there is none.
    let id: EventID?
    /// The time that the timeline covers.
    let span: PageSpan
    /// The current time.
    let now: EventMetrics.Moment
    /// The random text that marks the page's own script and style (Content Security Policy Level 3, 2.3).
    let nonce: String

    /// Creates a page.
    ///
    /// - Parameters:
    ///   - history: The past.
    ///   - network: The machine.
    ///   - id: The id of the newest event; nil if there is none.
    ///   - span: The time that the timeline covers.
    ///   - now: The current time.
    ///   - nonce: A random text of letters and digits, another one for each response.
    package init(
        history: PageHistory,
        network: PageNetwork,
        id: EventID?,
        span: PageSpan,
        now: EventMetrics.Moment,
        nonce: String
    ) {
        (self.history, self.network, self.id) = (history, network, id)
        (self.span, self.now, self.nonce) = (span, now, nonce)
    }

    /// The fields of the response that restrict what a browser does with the page, each with its line end.
    package var fields: String {
        let policy = [
            "default-src 'none'", "script-src 'nonce-\(nonce)'", "style-src 'nonce-\(nonce)'", "img-src data:",
            "connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
        ]
        return "Content-Security-Policy: \(policy.joined(separator: "; "))\r\nReferrer-Policy: no-referrer\r\n"
            + "Cross-Origin-Opener-Policy: same-origin\r\nCross-Origin-Resource-Policy: same-origin\r\n"
    }

    /// The document, in UTF-8.
    package var document: [UInt8] {
        let page: HTML = "<!doctype html>\n<html lang=\"en\">\n\(head)\(main)</html>\n"
        return Array(page.text.utf8)
    }

    /// The newest change; until there is one, the state is not known.
    var change: ReachabilityChange {
        history.latest
            ?? .init(
                event: .state,
                status: .unknown,
                previous: nil,
                path: .init(status: .unknown, reasons: [.reading]),
                reasons: [.reading],
                sequence: 0
            )
    }

    /// The current time, as the page has times.
    var time: PageTime { .init(nanosecondsSince1970: now.since1970) }

    private var head: HTML {
        """
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>\(change.status.word) · \(network.machine) · netwatch</title>
        <link rel="icon" href="\(change.status.icon)">
        <noscript><meta http-equiv="refresh" content="10"></noscript>
        <style nonce="\(nonce)">\(HTML(verbatim: PageStyle.text))</style>
        </head>

        """
    }

    private var main: HTML {
        """
        <body data-status="\(change.status.name)" data-id="\(id?.description ?? "")" data-now="\(time.text)">
        \(HTML(verbatim: StatusMark.definitions))
        <a class="skip" href="#log">Skip to the log</a>
        <header><p><b>netwatch</b> <span>\(network.machine)</span></p>
        <p id="connection" role="status">as of <time datetime="\(time.text)">\(time.text)</time></p></header>
        <main>
        \(stateSection)\(timelineSection)\(linksSection)\(outagesSection)\(historySection)\(logSection)</main>
        <footer><p>netwatch \(network.version)</p>
        <p><a href="v1/state">State as JSON</a> <a href="metrics">Metrics</a></p></footer>
        <p id="announcement" class="unseen" role="status"></p>
        <script nonce="\(nonce)">\(HTML(verbatim: PageScript.text))</script>
        </body>

        """
    }
}
