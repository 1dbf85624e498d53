package import ReachabilityCore
import ValidationCore

/// Says in a sentence whether a path leads to the internet.
package enum ValidationWords {
    /// The number of characters of a URL that are shown.
    private static let shownLength = 100

    /// Returns the status with the verdict: `wifi, but a portal asks for a login at https://hotel.example/`.
    package static func line(_ summary: ValidationSummary, _ status: ReachabilityStatus) -> String {
        switch summary.verdict {
        case .validated: "\(status.name), and servers on the internet answer" + exceptions(summary)
        case .notChecked: "\(status.name), \(sentence(summary)?.text ?? "not checked")"
        case .portal, .noInternet: "\(status.name), but \(sentence(summary)?.text ?? "nothing answers")"
        }
    }

    /// Returns what is wrong, and what to do about it; nil if nothing is.
    package static func sentence(_ summary: ValidationSummary) -> Sentence? {
        switch summary.verdict {
        case .validated: nil
        case .portal(let portal): sentence(portal)
        case .noInternet(let reason): sentence(reason, summary.trouble)
        case .notChecked: unchecked(summary)
        }
    }

    /// Returns a line for each endpoint that did not answer as configured: `http://a.example/: the connection was refused`.
    package static func trouble(_ summary: ValidationSummary) -> [String] { summary.trouble.map(\.line) }

    /// Text that strangers chose, as a terminal may show it: control characters are written out, and the end is cut.
    static func shown(_ text: String) -> String {
        let safe = text.escapedForTerminal
        return safe.count > shownLength ? safe.prefix(shownLength) + "..." : safe
    }

    private static func exceptions(_ summary: ValidationSummary) -> String {
        guard let first = summary.trouble.first else { return "" }
        let more = summary.trouble.count > 1 ? ", and \(summary.trouble.count - 1) more" : ""
        return " (in trouble: \(shown(first.endpoint))\(more))"
    }

    private static func sentence(_ portal: CaptivePortal) -> Sentence {
        guard let url = portal.loginURL else {
            let fix = "open an http:// page in a browser, and log in"
            return .init("a portal answers in the place of servers", fix: fix)
        }
        return .init("a portal asks for a login at \(shown(url))", fix: "log in there with a browser")
    }

    private static func sentence(_ reason: NoInternetReason, _ trouble: [EndpointTrouble]) -> Sentence {
        let uplink = "check the uplink of the router"
        switch reason {
        case .noResponse where trouble.count == 1:
            let name = shown(trouble[0].endpoint)
            return .init("\(name) does not answer", fix: uplink + ", and name a second server with --validate")
        case .noResponse, .unreachable, .connectionCut: return .init(reason.words, fix: uplink)
        case .refused:
            return .init(reason.words, fix: "check for a firewall on the network that refuses for them")
        case .nameServer: return .init(reason.words, fix: "check the name servers in /etc/resolv.conf")
        case .unknownNames:
            let fix = "check the names of --validate, and the name servers in /etc/resolv.conf"
            return .init(reason.words, fix: fix)
        case .interception(let text):
            let why = text.isEmpty ? "" : ": \(shown(text))"
            let fix = "log in to the network with a browser, or trust the proxy's root with --validate-cacert"
            return .init("another answers with a certificate that is not the server's" + why, fix: fix)
        case .proxyLogin:
            let fix = "give its user and password in the variables http_proxy and https_proxy"
            return .init(reason.words, fix: fix)
        }
    }

    private static func unchecked(_ summary: ValidationSummary) -> Sentence {
        if summary.path?.isMetered == true, summary.basis == .none {
            return .init("not checked: the path is metered", fix: "'--validate-metered' asks over it, too")
        }
        guard let first = summary.trouble.first else { return .init("not checked") }
        return .init("not checked: \(first.line)")
    }
}

extension EndpointTrouble {
    /// The endpoint, and what was wrong.
    fileprivate var line: String { "\(ValidationWords.shown(endpoint)): \(words)" }

    private var words: String {
        let detail = detail.map { ": " + ValidationWords.shown($0) } ?? ""
        return switch meaning {
        case .fault: "it answers, but not as configured" + detail
        case .portal: "another answers in its place" + detail
        case .interception: "another answers with its own certificate" + detail
        case .proxyLogin: "the proxy requires a login"
        case .inconclusive: "the answer allows no conclusion" + detail
        case .timedOut: "no answer"
        case .refused: "the connection was refused"
        case .unreachable: "it can't be reached"
        case .connectionCut: "the connection was cut"
        case .nameServer: "no name server answers"
        case .unknownName: "the name does not exist"
        }
    }
}
