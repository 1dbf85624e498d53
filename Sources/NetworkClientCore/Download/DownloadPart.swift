/// The beginning of a download that is present already, and its version.
package struct DownloadPart: Sendable, Hashable {
    /// The number of bytes that are present.
    package var length: Int64
    /// The version of the bytes; nil if it can't be identified, so that the download can't be resumed.
    package var validator: StrongValidator?
    /// The number of bytes of the whole file; nil if it is unknown.
    package var total: Int64?

    /// Creates a part.
    package init(length: Int64 = 0, validator: StrongValidator? = nil, total: Int64? = nil) {
        self.length = length
        self.validator = validator
        self.total = total
    }

    /// Whether the rest can be requested.
    package var isContinuable: Bool { length > 0 && validator != nil && length <= total ?? .max }
}

/// The parts of a response's head that matter to a download.
package struct DownloadResponseHead: Sendable, Hashable {
    /// The status.
    package var status: Int
    /// The values of `ETag`.
    package var tags: [String]
    /// The values of `Last-Modified`.
    package var dates: [String]
    /// The values of `Date`.
    package var sent: [String]
    /// The values of `Content-Range`.
    package var ranges: [String]
    /// The length of the body in bytes, if it is known.
    package var length: Int64?
    /// `Content-Type`.
    package var type: String?
    /// Whether the body is encoded (`Content-Encoding`), so that its bytes are not those of the file.
    package var isEncoded: Bool

    /// Creates a response head.
    package init(
        status: Int,
        tags: [String] = [],
        dates: [String] = [],
        sent: [String] = [],
        ranges: [String] = [],
        length: Int64? = nil,
        type: String? = nil,
        isEncoded: Bool = false
    ) {
        self.status = status
        self.tags = tags
        self.dates = dates
        self.sent = sent
        self.ranges = ranges
        self.length = length
        self.type = type
        self.isEncoded = isEncoded
    }

    /// Whether the body consists of several parts (RFC 9110, 14.6).
    var isMultipart: Bool {
        guard let type else { return false }
        let essence = type.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }
        return essence.lowercased() == "multipart/byteranges"
    }
}

/// A record that is stored next to a partial download, so that another process can resume it.
///
/// Each line has a name and a value; the first line identifies the format, and the last one confirms that the record is
/// complete. Any other content is invalid, and the download starts over.
package struct PartRecord: Sendable, Hashable {
    /// The URL without user information and query, for human readers.
    package var url: String
    /// The SHA-256 of the whole URL: a query may contain secrets, and parts of another URL must not be resumed.
    package var key: String
    /// The part that is present.
    package var part: DownloadPart

    private static let form = "netwatch download 1"
    /// The maximum size of a record in bytes.
    package static let limit = 65_536

    /// Creates the record of a download.
    package init(url: String, key: String, part: DownloadPart) {
        self.url = url
        self.key = key
        self.part = part
    }

    /// Parses a record; nil if it is invalid.
    package init?(_ bytes: [UInt8]) {
        guard let values = Self.values(in: bytes), let url = values["url"], let key = values["key"],
            key.utf8.count == 64
        else { return nil }
        (self.url, self.key) = (url, key)
        part = .init()
        if let total = values["total"] {
            guard let number = Int64(total), number >= 0 else { return nil }
            part.total = number
        }
        // The value is sent in a field of the next request, so it must be one that a server could have sent.
        switch (values["etag"], values["last-modified"]) {
        case (let tag?, nil): part.validator = .init(keptTag: tag)
        case (nil, let date?): part.validator = .init(keptDate: date)
        default: return nil
        }
        if part.validator == nil { return nil }
    }

    /// Returns the names and values of a record's lines; nil if the record is invalid.
    ///
    /// It splits bytes: as a `Character`, a carriage return and a line feed are one.
    private static func values(in bytes: [UInt8]) -> [String: String]? {
        guard bytes.count <= limit, bytes.last == 0x0A, let text = String(validating: bytes, as: UTF8.self),
            text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x0A })
        else { return nil }
        let split = text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false)
        var lines = split.dropLast().map { Substring($0) }[...]
        guard lines.popFirst() == form[...], lines.popLast() == "end" else { return nil }
        var values: [String: String] = [:]
        for line in lines {
            guard let blank = line.utf8.firstIndex(of: 0x20) else { return nil }
            let value = String(decoding: line.utf8[blank...].dropFirst(), as: UTF8.self)
            guard values.updateValue(value, forKey: String(line[..<blank])) == nil else { return nil }
        }
        return values
    }

    /// The record in its stored form; nil if the part has no validator to resume with.
    package var bytes: [UInt8]? {
        var lines = [Self.form, "url \(url)", "key \(key)"]
        switch part.validator {
        case .tag(let tag): lines.append("etag \(tag)")
        case .date(let date): lines.append("last-modified \(date)")
        case nil: return nil
        }
        if let total = part.total { lines.append("total \(total)") }
        lines.append("end")
        return Array((lines.joined(separator: "\n") + "\n").utf8)
    }
}
