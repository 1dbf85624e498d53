/// The beginning of a download that is there already, and of which version it is.
package struct DownloadPart: Sendable, Hashable {
    /// How many bytes there are.
    package var length: Int64
    /// The version they are of; nil where nothing tells it from others: then they can't be continued.
    package var validator: StrongValidator?
    /// How many bytes the whole has; nil where that is not known.
    package var total: Int64?

    /// Sets each.
    package init(length: Int64 = 0, validator: StrongValidator? = nil, total: Int64? = nil) {
        self.length = length
        self.validator = validator
        self.total = total
    }

    /// Whether the rest can be asked for.
    package var isContinuable: Bool { length > 0 && validator != nil && length <= total ?? .max }
}

/// The head of an answer to a download's request, as far as it matters.
package struct DownloadAnswer: Sendable, Hashable {
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
    /// The body's length, if it was said.
    package var length: Int64?
    /// `Content-Type`.
    package var type: String?
    /// Whether the body is coded (`Content-Encoding`): its bytes are not those of the file then.
    package var isCoded: Bool

    /// Sets each.
    package init(
        status: Int,
        tags: [String] = [],
        dates: [String] = [],
        sent: [String] = [],
        ranges: [String] = [],
        length: Int64? = nil,
        type: String? = nil,
        isCoded: Bool = false
    ) {
        self.status = status
        self.tags = tags
        self.dates = dates
        self.sent = sent
        self.ranges = ranges
        self.length = length
        self.type = type
        self.isCoded = isCoded
    }

    /// Whether the body is several parts in one (RFC 9110, 14.6).
    var isMultipart: Bool {
        guard let type else { return false }
        let essence = type.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }
        return essence.lowercased() == "multipart/byteranges"
    }
}

/// What is noted beside the part of a download, so that another process can go on with it.
///
/// Lines of a name and a value, the first of which tells the form, and the last one that it is whole. Whatever is not
/// as it was written here is no record: the download begins again then.
package struct PartRecord: Sendable, Hashable {
    /// The URL without user information and query, for people.
    package var url: String
    /// The whole URL's SHA-256: queries may hold secrets, and parts of another URL must not be continued.
    package var key: String
    /// What the part is of.
    package var part: DownloadPart

    private static let form = "netwatch download 1"
    /// No record that was written here is larger.
    package static let limit = 65_536

    /// Makes the record of a download.
    package init(url: String, key: String, part: DownloadPart) {
        self.url = url
        self.key = key
        self.part = part
    }

    /// Reads a record; nil where it is none.
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
        // It goes into a field of the next request: what no server can have sent is not believed.
        switch (values["etag"], values["last-modified"]) {
        case (let tag?, nil): part.validator = .init(keptTag: tag)
        case (nil, let date?): part.validator = .init(keptDate: date)
        default: return nil
        }
        if part.validator == nil { return nil }
    }

    /// The names and values of a record's lines; nil where it is none.
    ///
    /// By bytes: of characters, a line's end behind a carriage return is none.
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

    /// The record as it is written; nil where there is nothing by which the part could be continued.
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
