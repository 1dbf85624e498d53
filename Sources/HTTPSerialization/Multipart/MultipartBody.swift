/// A form as it goes over the wire: pieces, some of which are still to be read.
public struct MultipartBody: Sendable {
    /// What separates the parts.
    public let boundary: String
    /// What is sent, in this order.
    public private(set) var pieces: [MultipartContent] = []

    /// Bytes up to this many are put to those before, so that many small parts are not many small writes.
    private static let joined = 4_096

    init(boundary: String) { self.boundary = boundary }

    /// The value of `Content-Type`.
    public var contentType: String { "multipart/form-data; boundary=\(boundary)" }

    /// How many bytes there will be, exactly; nil if a stream does not say.
    ///
    /// - Parameter fileLength: Gives the length of the file at a path; asked once for each file.
    /// - Returns: The length.
    /// - Throws: What `fileLength` throws, and nothing else.
    public func length<Failure: Error>(
        ofFile fileLength: (String) throws(Failure) -> Int64
    ) throws(Failure) -> Int64? {
        var sum: Int64? = 0
        for piece in pieces {
            // Also where the sum is lost already: a file that is not there is to be seen.
            let length: Int64? =
                switch piece {
                case .bytes(let bytes): Int64(bytes.count)
                case .file(let path): try fileLength(path)
                case .stream(let stream): stream.length
                }
            sum = Self.add(sum, length)
        }
        return sum
    }

    private static func add(_ sum: Int64?, _ length: Int64?) -> Int64? {
        guard let sum, let length else { return nil }
        let (result, overflow) = sum.addingReportingOverflow(length)
        return overflow ? nil : result
    }

    mutating func append(_ bytes: [UInt8]) { append(.bytes(bytes)) }

    mutating func append(_ content: MultipartContent) {
        guard case .bytes(let bytes) = content, bytes.count <= Self.joined, case .bytes(let before) = pieces.last,
            before.count <= Self.joined
        else { return pieces.append(content) }
        pieces[pieces.count - 1] = .bytes(before + bytes)
    }
}
