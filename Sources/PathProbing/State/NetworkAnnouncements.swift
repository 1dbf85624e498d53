import ReachabilityCore
import ValidationCore

/// How a network has announced the API of its captive portal (RFC 8910).
package enum AnnouncementSource: Sendable, Hashable {
    /// By DHCP: it takes precedence (RFC 8910, 3), and ends with the path, of which the lease is read again.
    case lease
    /// By a router advertisement.
    case router
}

/// The announcements of the network behind an interface.
struct NetworkAnnouncements: Sendable, Hashable {
    private var portalURLs: [AnnouncementSource: String] = [:]
    /// The prefixes of translators and until when they are valid, in the order in which they were announced first.
    private var translators: [Translator] = []

    private struct Translator: Sendable, Hashable {
        let prefix: NAT64Prefix
        var end: ValidationInstant
    }

    /// The maximum number of prefixes that are kept; a network has one, or two while it changes.
    private static let maximumTranslators = 8

    /// The URI of the portal's API.
    var portalURL: String? { portalURLs[.lease] ?? portalURLs[.router] }

    /// Records the URI of the portal's API; nil if the network has none.
    mutating func announcePortal(_ url: String?, by source: AnnouncementSource) { portalURLs[source] = url }

    /// Records a prefix that is valid until an instant; one that has come withdraws it.
    mutating func announceTranslator(_ prefix: NAT64Prefix, until end: ValidationInstant, at now: ValidationInstant) {
        if let position = translators.firstIndex(where: { $0.prefix == prefix }) {
            translators[position].end = end
        } else {
            translators.append(.init(prefix: prefix, end: end))
        }
        translators.removeAll { $0.end <= now }
        translators = Array(translators.prefix(Self.maximumTranslators))
    }

    /// Returns the first of the prefixes that are valid, and when it ends.
    func translator(at now: ValidationInstant) -> (prefix: NAT64Prefix, end: ValidationInstant)? {
        translators.first { $0.end > now }.map { ($0.prefix, $0.end) }
    }
}
