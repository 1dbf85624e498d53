/// A validator that identifies one version of a resource to the byte (RFC 9110, 8.8.1).
///
/// Two parts of a resource may be combined only if both have the same strong validator.
package enum StrongValidator: Sendable, Hashable {
    /// An entity tag, including its quotes, that is not marked as weak.
    case tag(String)
    /// A `Last-Modified` value that is known to be strong, as the server wrote it.
    case date(String)

    /// The minimum age of a version at the time of its response for its date to be strong, in seconds.
    ///
    /// Dates have a resolution of one second, in which a file may change twice, and both dates may come from different
    /// clocks (RFC 9110, 8.8.2.2; the number is from RFC 7232).
    private static let certainAge: Int64 = 60

    /// Creates the validator of a response; nil if it is not strong.
    ///
    /// A date is used only if there is no tag at all: with a weak tag, the server states that it can't distinguish
    /// versions (RFC 9110, 13.1.5).
    ///
    /// - Parameters:
    ///   - tags: The values of `ETag`.
    ///   - dates: The values of `Last-Modified`.
    ///   - sent: The values of `Date`.
    package init?(tags: [String], dates: [String], sent: [String]) {
        guard tags.isEmpty else {
            guard tags.count == 1, Self.isStrong(tags[0]) else { return nil }
            self = .tag(tags[0])
            return
        }
        guard dates.count == 1, sent.count == 1, let modified = HTTPDate(dates[0]), let now = HTTPDate(sent[0]),
            now.seconds - modified.seconds >= Self.certainAge
        else { return nil }
        self = .date(dates[0])
    }

    /// Creates a validator from a stored entity tag; nil if it is invalid or weak.
    package init?(keptTag tag: String) {
        guard Self.isStrong(tag) else { return nil }
        self = .tag(tag)
    }

    /// Creates a validator from a stored date, which was strong; nil if it is invalid.
    package init?(keptDate date: String) {
        guard HTTPDate(date) != nil else { return nil }
        self = .date(date)
    }

    /// The value of `If-Range`.
    package var condition: String {
        switch self {
        case .tag(let text), .date(let text): text
        }
    }

    /// The result of a comparison with a response's validators.
    package enum Comparison: Sendable, Hashable {
        /// The response is of this version.
        case same
        /// The response has no validators.
        case silent
        /// The response is of another version, or not certainly of this one.
        case other
    }

    /// Compares the validator with those of a response.
    ///
    /// Tags use the strong comparison (RFC 9110, 8.8.3.2).
    package func compare(tags: [String], dates: [String]) -> Comparison {
        switch self {
        case .tag(let tag):
            // If the tags are equal, dates are ignored: servers behind one name may have copies with different dates.
            if tags.isEmpty { return .silent }
            return tags == [tag] ? .same : .other
        case .date(let date):
            guard tags.isEmpty else { return .other }
            if dates.isEmpty { return .silent }
            return dates == [date] ? .same : .other
        }
    }

    /// Whether a text is an entity tag that is not weak: visible characters between quotes.
    private static func isStrong(_ tag: String) -> Bool {
        let bytes = tag.utf8
        guard bytes.count >= 2, bytes.count <= 4_096, bytes.first == 0x22, bytes.last == 0x22 else { return false }
        return bytes.dropFirst().dropLast().allSatisfy { $0 == 0x21 || 0x23...0x7E ~= $0 || $0 >= 0x80 }
    }
}
