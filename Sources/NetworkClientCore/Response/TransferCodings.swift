/// How a body is coded for its transfer (RFC 9112, 6.1).
public struct TransferCodings: Sendable, Hashable {
    /// A coding that compresses.
    public enum Compression: Sendable, Hashable {
        /// RFC 1952.
        case gzip
        /// RFC 1950.
        case deflate
    }

    /// How many compressions in a row are undone: an honest server uses one, and each costs work per byte.
    public static let maximumCompressions = 3

    /// The compressions, in the order in which they were applied.
    public let compressions: [Compression]
    /// Whether the body is in chunks; if not, it ends with the connection.
    public let isChunked: Bool

    /// Reads the values of `Transfer-Encoding`.
    ///
    /// - Throws: ``ResponseFault/malformed(_:)`` for a coding that is not known, too many of them, none at all, and
    ///   `chunked` anywhere but at the end.
    public init(_ values: some Sequence<String>) throws(ResponseFault) {
        var names = values.flatMap { $0.split(separator: ",") }.map { Self.trimmed($0).lowercased() }
        names.removeAll(where: \.isEmpty)
        guard let last = names.last else { throw .malformed("its Transfer-Encoding is empty") }
        isChunked = last == "chunked"
        if isChunked { names.removeLast() }
        var compressions: [Compression] = []
        for name in names {
            switch name {
            case "gzip", "x-gzip": compressions.append(.gzip)
            case "deflate": compressions.append(.deflate)
            case "identity": continue
            case "chunked": throw .malformed("its transfer coding 'chunked' is not the last, or there twice")
            default: throw .malformed("its transfer coding '\(Self.printable(name))' is not known")
            }
        }
        guard compressions.count <= Self.maximumCompressions else {
            throw .malformed("it is compressed more than \(Self.maximumCompressions) times for its transfer")
        }
        self.compressions = compressions
    }

    private static func trimmed(_ name: Substring) -> Substring {
        let start = name.utf8.drop { $0.isBlank }
        guard let last = start.lastIndex(where: { !$0.isBlank }) else { return "" }
        return Substring(start[...last])
    }

    private static func printable(_ name: String) -> String {
        String(name.unicodeScalars.prefix(40).map { $0.isASCII && $0.value > 0x1F ? Character($0) : "?" })
    }
}
