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
