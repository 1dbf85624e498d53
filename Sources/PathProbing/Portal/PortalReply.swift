package import ValidationCore

/// The reply of a captive portal's API (RFC 8908).
package struct PortalReply: Sendable, Hashable {
    /// `captive`: whether the portal holds this machine back.
    package var isCaptive: Bool
    /// `user-portal-url`: the page to log in at.
    package var loginURL: String?
    /// `venue-info-url`: the page about the place.
    package var venueURL: String?
    /// `can-extend-session`: whether the login page can extend the session.
    package var isExtensible: Bool?
    /// `seconds-remaining`: the rest of the session.
    package var secondsLeft: Int64?
    /// `bytes-remaining`: the rest of the session's volume.
    package var bytesLeft: Int64?

    /// The media type of requests and replies.
    package static let mediaType = "application/captive+json"

    /// Creates a reply.
    package init(
        isCaptive: Bool,
        loginURL: String? = nil,
        venueURL: String? = nil,
        isExtensible: Bool? = nil,
        secondsLeft: Int64? = nil,
        bytesLeft: Int64? = nil
    ) {
        self.isCaptive = isCaptive
        self.loginURL = loginURL
        self.venueURL = venueURL
        self.isExtensible = isExtensible
        self.secondsLeft = secondsLeft
        self.bytesLeft = bytesLeft
    }

    /// Returns the limits of the session, counted from when the reply was received; nil if it names none.
    package func session(at now: ValidationInstant) -> PortalSession? {
        guard !isCaptive, secondsLeft != nil || bytesLeft != nil || isExtensible != nil else { return nil }
        let end = secondsLeft.map { now.advanced(by: .seconds($0)) }
        return .init(end: end, bytesLeft: bytesLeft, isExtensible: isExtensible)
    }
}

extension PortalReply {
    /// Decodes a reply: an object with `captive`, and any other members of RFC 8908, 5; unknown ones are ignored.
    ///
    /// URLs must be `https`, because the user enters a password there.
    ///
    /// - Throws: ``PortalReplyError``, which names the member.
    package init(decoding bytes: [UInt8]) throws(PortalReplyError) {
        let element: JSONElement
        do throws(JSONFault) { element = try .init(parsing: bytes) } catch {
            throw .init("it is no JSON text: \(error)")
        }
        guard case .object(let members) = element else { throw .init("it is no JSON object") }
        guard let isCaptive = try Self.bool(members, "captive") else { throw .init("'captive' is missing") }
        self.init(
            isCaptive: isCaptive,
            loginURL: try Self.url(members, "user-portal-url"),
            venueURL: try Self.url(members, "venue-info-url"),
            isExtensible: try Self.bool(members, "can-extend-session"),
            secondsLeft: try Self.count(members, "seconds-remaining"),
            bytesLeft: try Self.count(members, "bytes-remaining")
        )
    }

    private static func bool(_ members: [String: JSONElement], _ name: String) throws(PortalReplyError) -> Bool? {
        switch members[name] {
        case nil: nil
        case .bool(let value)?: value
        default: throw .init("'\(name)' is neither true nor false")
        }
    }

    private static func url(_ members: [String: JSONElement], _ name: String) throws(PortalReplyError) -> String? {
        guard let element = members[name] else { return nil }
        guard case .string(let text) = element, PortalURL.isUsable(text) else {
            throw .init("'\(name)' is no https URL")
        }
        return text
    }

    private static func count(_ members: [String: JSONElement], _ name: String) throws(PortalReplyError) -> Int64? {
        guard let element = members[name] else { return nil }
        guard case .number(let text) = element, let value = Int64(text), value >= 0 else {
            throw .init("'\(name)' is no whole number from 0 on")
        }
        return value
    }
}

/// An error in the reply of a captive portal's API.
package struct PortalReplyError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The fault.
    package let reason: String

    init(_ reason: String) { self.reason = reason }

    /// The fault, and that it is the reply's.
    package var description: String { "the reply of the captive portal's API can't be used: \(reason)" }
}

/// The URI of a captive portal's API, as a network announces it (RFC 8910).
package enum PortalURL {
    /// Whether a text is an absolute `https` URL of at most 2,048 bytes; the API must not be used otherwise (RFC 8908, 3).
    package static func isUsable(_ text: String) -> Bool {
        text.utf8.count <= 2048 && EndpointURL(text)?.isSecure == true
    }
}
