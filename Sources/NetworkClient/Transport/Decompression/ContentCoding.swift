import NetworkClientCore

/// A way in which a server has compressed a body (RFC 9110, 8.4.1).
enum ContentCoding: Sendable, Hashable {
    /// A gzip file, of one or several members (RFC 1952).
    case gzip
    /// A zlib stream (RFC 1950), or the bare deflate data (RFC 1951) that some servers send instead.
    case deflate

    /// How many codings in a row are undone: an honest server has one, and each costs work per byte.
    static let maximumCount = 3

    /// What a request says it accepts.
    static let accepted = "gzip, deflate"

    /// The codings that the values of Content-Encoding name, in the order in which they were applied.
    ///
    /// - Throws: `decompressionFailed` for a coding that is not known, or too many.
    static func list(_ values: some Sequence<String>) throws(HTTPError) -> [ContentCoding] {
        var codings: [ContentCoding] = []
        for name in values.flatMap({ $0.split(separator: ",") }) {
            switch trimmed(name).lowercased() {
            case "gzip", "x-gzip": codings.append(.gzip)
            case "deflate": codings.append(.deflate)
            case "identity", "": continue
            case let unknown: throw unreadable("of its coding '\(unknown)', which was not asked for: use \(accepted)")
            }
        }
        guard codings.count <= maximumCount else {
            throw unreadable(
                "it is compressed \(codings.count) times over, and more than \(maximumCount) are not undone"
            )
        }
        return codings
    }

    /// The compressions that the values of `Transfer-Encoding` name, in the order in which they were applied.
    static func list(transferEncoding values: [String]) -> [ContentCoding] {
        let compressions = values.isEmpty ? nil : (try? TransferCodings(values))?.compressions
        return (compressions ?? []).map { $0 == .gzip ? .gzip : .deflate }
    }

    private static func trimmed(_ name: Substring) -> Substring {
        let start = name.drop { $0 == " " || $0 == "\t" }
        guard let last = start.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
        return start[...last]
    }

    private static func unreadable(_ why: String) -> HTTPError {
        HTTPError(.decompressionFailed, .answered, "the answer's body can't be decompressed because \(why)")
    }
}
