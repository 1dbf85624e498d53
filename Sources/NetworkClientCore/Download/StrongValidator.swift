/// What tells one version of a resource from all others, to the byte (RFC 9110, 8.8.1).
///
/// Two parts of a whole may be put together only if both have the same one.
package enum StrongValidator: Sendable, Hashable {
    /// An entity tag that is not marked as weak, quotes included.
    case tag(String)
    /// A `Last-Modified` that is known to be strong, as the server wrote it.
    case date(String)

    /// How much older than its answer a version must be for its date to be strong, in seconds.
    ///
    /// A date has seconds, and a file may change twice in one; nor need both dates be of one clock (RFC 9110, 8.8.2.2; the
    /// number is that of RFC 7232).
    private static let certainAge: Int64 = 60

    /// Takes what an answer has, if it is strong.
    ///
    /// A date counts only where there is no tag at all: with a tag that is weak, the server has said that it can't tell
    /// versions apart (RFC 9110, 13.1.5).
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

    /// Takes an entity tag that was kept; nil where it is none, or not strong.
    package init?(keptTag tag: String) {
        guard Self.isStrong(tag) else { return nil }
        self = .tag(tag)
    }

    /// Takes a date that was kept, since it was strong; nil where it is none.
    package init?(keptDate date: String) {
        guard HTTPDate(date) != nil else { return nil }
        self = .date(date)
    }

    /// What `If-Range` says.
    package var condition: String {
        switch self {
        case .tag(let text), .date(let text): text
        }
    }

    /// How an answer's validators stand to this one.
    package enum Comparison: Sendable, Hashable {
        /// They say that it is this version.
        case same
        /// They say nothing.
        case silent
        /// They say that it is another one, or do not say for certain that it is this one.
        case other
    }

    /// Compares it with what an answer has; tags by the strong comparison (RFC 9110, 8.8.3.2).
    package func compare(tags: [String], dates: [String]) -> Comparison {
        switch self {
        case .tag(let tag):
            // Where tags are the same, dates add nothing: servers of one name have files of different ages.
            if tags.isEmpty { return .silent }
            return tags == [tag] ? .same : .other
        case .date(let date):
            guard tags.isEmpty else { return .other }
            if dates.isEmpty { return .silent }
            return dates == [date] ? .same : .other
        }
    }

    /// Whether a text is an entity tag without the mark of weakness: visible characters between quotes.
    private static func isStrong(_ tag: String) -> Bool {
        let bytes = tag.utf8
        guard bytes.count >= 2, bytes.count <= 4_096, bytes.first == 0x22, bytes.last == 0x22 else { return false }
        return bytes.dropFirst().dropLast().allSatisfy { $0 == 0x21 || 0x23...0x7E ~= $0 || $0 >= 0x80 }
    }
}
