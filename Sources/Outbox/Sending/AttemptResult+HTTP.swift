import NetworkClient
import OutboxCore
import ReachabilityCore
import RequestGate

/// A response, with or without its body.
struct ReceivedResponse: Sendable {
    var status: Int
    /// The names and values of the header fields.
    var fields: [(name: String, value: String)]
    /// The URL that was requested last.
    var url: String
    var body: [UInt8]
    /// Whether a captive portal may have sent it, by the validation of the session.
    var mayBeFromPortal: Bool

    /// Returns the value of a field; nil if there is none.
    fileprivate func value(of name: String) -> String? {
        fields.first { $0.name.utf8.count == name.utf8.count && $0.name.lowercased() == name }?.value
    }
}

extension AttemptResult {
    /// Creates the result of a response.
    init(_ response: ReceivedResponse, _ confirmation: ResponseConfirmation) {
        let retryAfter = response.value(of: "retry-after")
            .flatMap { RetryAfter.duration($0, date: response.value(of: "date")) }
        let isConfirmed =
            switch confirmation {
            case .any: true
            case .field(let name): response.value(of: name.lowercased()) != nil
            case .tls: Destination.isTrusted(response.url)
            }
        self = .response(
            status: response.status,
            retryAfter: retryAfter,
            isConfirmed: isConfirmed && !response.mayBeFromPortal
        )
    }

    /// Creates the result of an error.
    ///
    /// A single request calls many of these permanent. For an outbox only what the item itself causes is: certificates,
    /// names, credentials, proxies and the device's clock are repaired, and the items are delivered then.
    init(_ error: HTTPError) {
        let mayBeProcessed = error.processing == .maybeProcessed || error.processing == .answered
        switch error.code {
        case .bodyUnavailable where error.errno.map(FileSystem.isShortage) == true:
            self = .failure(.destination, mayBeProcessed: mayBeProcessed)
        case .invalidURL, .invalidConfiguration, .requestSerializationFailed, .bodyUnavailable, .bodyNotReplayable:
            self = .failure(.item, mayBeProcessed: mayBeProcessed)
        case .fileFailed where error.errno.map(DownloadFiles.isOfItem) == true:
            self = .failure(.item, mayBeProcessed: mayBeProcessed)
        case .cancelled:
            self = .failure(.interrupted, mayBeProcessed: mayBeProcessed)
        default:
            self = .failure(.destination, mayBeProcessed: mayBeProcessed)
        }
    }
}

/// The URLs of lanes.
enum Destination {
    /// Whether responses of a URL can't be those of a captive portal: it is encrypted, or on this machine.
    static func isTrusted(_ url: String) -> Bool {
        if url.lowercased().hasPrefix("https://") { return true }
        return IPAddress.isLoopback(authority: url.dropFirst("http://".count).prefix { $0 != "/" })
    }

    /// Returns why a lane's URL can't be used; nil if it can.
    static func problem(_ url: String, _ confirmation: ResponseConfirmation) -> String? {
        let lowercased = url.lowercased()
        guard lowercased.hasPrefix("https://") || lowercased.hasPrefix("http://") else {
            return "the destination '\(url)' is no URL: it begins with https:// or http://"
        }
        if url.contains("@") { return "the destination has a user name in it: name a credential instead" }
        if url.contains("?") || url.contains("#") { return "the destination '\(url)' has a query or a fragment" }
        if confirmation == .tls, !isTrusted(url) {
            return """
                over plain http any captive portal can respond in place of '\(url)': use https, or name a field of the \
                server's responses (confirmation: .field), or take any response (.any; in a command: --trust-http)
                """
        }
        return nil
    }

    /// Returns the URL of a reference.
    static func url(_ destination: String, _ reference: String) -> String {
        if reference.isEmpty { return destination }
        return destination.hasSuffix("/") ? destination + reference : "\(destination)/\(reference)"
    }
}
