package import ValidationCore

extension ValidationVerdict {
    /// The verdict in a few words: `portal at https://hotel.example/login`, `no internet: no server answers`.
    ///
    /// Strangers choose a portal's URL and what is wrong with a certificate: escape the words where they are shown.
    package var words: String {
        switch self {
        case .validated: "validated"
        case .portal(let portal): portal.page.map { "portal at \($0)" } ?? "portal"
        case .noInternet(let reason): "no internet: \(reason.words)"
        case .notChecked: "not checked"
        }
    }

    /// Whether the path does not lead to the internet as it is.
    package var isLimited: Bool {
        switch self {
        case .portal, .noInternet: true
        case .validated, .notChecked: false
        }
    }
}

extension CaptivePortal {
    /// The page to show to a person: the one to log in at, or that of the place; nil if the portal has named none.
    package var page: String? { loginURL ?? venueURL }
}

extension NoInternetReason {
    /// The reason in a few words.
    package var words: String {
        switch self {
        case .noResponse: "no server answers"
        case .unreachable: "a router or the kernel reports that servers can't be reached"
        case .refused: "all servers refuse connections"
        case .connectionCut: "connections are cut before a server answers"
        case .nameServer: "no name server answers"
        case .unknownNames: "the name server knows none of the servers"
        case .interception(let text):
            "another answers with a certificate of its own" + (text.isEmpty ? "" : " (\(text))")
        case .proxyLogin: "the proxy requires a login"
        }
    }
}
