import NetwatchCore

/// The page of a captive portal, which anyone on the network may have chosen.
struct PortalLink {
    /// The URL, as the portal gave it.
    let url: String

    /// The URL as text, and as a link if it is a plain one for a browser.
    ///
    /// The page that it leads to learns nothing of this one, and can't reach it.
    var markup: HTML {
        let text = url.escapedForTerminal
        return isUsable ? "<a href=\"\(url)\" rel=\"noopener noreferrer\" target=\"_blank\">\(text)</a>" : "\(text)"
    }

    /// Whether it is http or https, of the characters of a URL (RFC 3986), with a host and without user information, which makes
    /// one host look like another.
    private var isUsable: Bool {
        let scheme = ["https://", "http://"].first { url.lowercased().hasPrefix($0) }
        guard let scheme, url.utf8.allSatisfy(Self.isURLByte) else { return false }
        let authority = url.dropFirst(scheme.count).prefix { !"/?#".contains($0) }
        return !authority.isEmpty && !authority.contains("@")
    }

    private static func isURLByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "-._~:/?#[]@!$&'()*+,;=%".utf8.contains(byte)
        }
    }
}
