/// The contents of a key of a cache: the head of a response, or the fields on which responses depend.
package struct CacheRecord: Sendable, Hashable {
    /// The URL, which the reader compares.
    package var url: String
    package var content: Content
    /// The number of bytes of the body.
    package var bodyLength: Int64 = 0
    /// The CRC-32 of the body.
    package var bodyChecksum: UInt32 = 0
    /// The identifier of the file with the body; 0 if the body follows the record.
    package var bodyFile: UInt64 = 0

    /// The kinds of records.
    package enum Content: Sendable, Hashable {
        case response(CachedResponse)
        /// The names in `Vary`, and a number that belongs to the keys of the responses.
        case variants([String], generation: UInt64)
    }

    package init(url: String, _ content: Content) { (self.url, self.content) = (url, content) }

    /// The response; nil for variants.
    package var response: CachedResponse? { if case .response(let response) = content { response } else { nil } }
}

/// The encoding of records: integers in little-endian order, and texts after their length.
extension CacheRecord {
    /// The first bytes of each file: the format and its version.
    package static let magic: [UInt8] = Array("nwhttpc1".utf8)

    /// The record as bytes, without a checksum.
    package var bytes: [UInt8] {
        var writer = Writer()
        writer.write(url)
        writer.write(UInt64(bitPattern: bodyLength))
        writer.write(UInt64(bodyChecksum))
        writer.write(bodyFile)
        switch content {
        case .variants(let names, let generation):
            writer.write(UInt64(0))
            writer.write(generation)
            writer.write(UInt64(names.count))
            for name in names { writer.write(name) }
        case .response(let response):
            writer.write(UInt64(response.status))
            writer.write(response.reason)
            writer.write(UInt64(bitPattern: response.requestTime))
            writer.write(UInt64(bitPattern: response.responseTime))
            writer.write(UInt64(response.fields.all.count))
            for field in response.fields.all {
                writer.write(field.name)
                writer.write(field.value)
            }
        }
        return writer.bytes
    }

    /// Reads a record; nil if the bytes are none.
    package init?(_ bytes: [UInt8]) {
        var reader = Reader(bytes[...])
        guard let url = reader.text(), let length = reader.number(), let checksum = reader.number(),
            let file = reader.number(), let status = reader.number(), length <= Int64.max, checksum <= UInt32.max,
            let content = status == 0 ? Self.variants(&reader) : Self.response(&reader, status), reader.isAtEnd
        else { return nil }
        self.init(url: url, content)
        (bodyLength, bodyChecksum, bodyFile) = (Int64(length), UInt32(checksum), file)
    }

    private static func variants(_ reader: inout Reader) -> Content? {
        guard let generation = reader.number(), let count = reader.number() else { return nil }
        var names: [String] = []
        for _ in 0..<min(count, Reader.maximumCount) {
            guard let name = reader.text() else { return nil }
            names.append(name)
        }
        return .variants(names, generation: generation)
    }

    private static func response(_ reader: inout Reader, _ status: UInt64) -> Content? {
        guard (200...999).contains(status), let reason = reader.text(), let request = reader.number(),
            let response = reader.number(), let count = reader.number(),
            let requestTime = time(request), let responseTime = time(response)
        else { return nil }
        var fields: [CachedField] = []
        for _ in 0..<min(count, Reader.maximumCount) {
            guard let name = reader.text(), let value = reader.text() else { return nil }
            fields.append(.init(name, value))
        }
        return .response(
            .init(
                status: Int(status),
                reason: reason,
                fields: .init(fields),
                requestTime: requestTime,
                responseTime: responseTime
            )
        )
    }

    /// Returns a time with which the arithmetic can't overflow; nil for another.
    private static func time(_ number: UInt64) -> Int64? { number < 1 << 40 ? Int64(number) : nil }

    private struct Writer {
        var bytes: [UInt8] = []

        mutating func write(_ number: UInt64) {
            for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
        }

        mutating func write(_ text: String) {
            write(UInt64(text.utf8.count))
            bytes += text.utf8
        }
    }

    private struct Reader {
        /// The largest number of fields that is read.
        static let maximumCount: UInt64 = 1 << 16
        var rest: ArraySlice<UInt8>

        init(_ rest: ArraySlice<UInt8>) { self.rest = rest }

        var isAtEnd: Bool { rest.isEmpty }

        mutating func number() -> UInt64? {
            guard rest.count >= 8 else { return nil }
            let number = rest.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            rest = rest.dropFirst(8)
            return number
        }

        mutating func text() -> String? {
            guard let count = number(), count <= UInt64(rest.count),
                let text = String(validating: rest.prefix(Int(count)), as: UTF8.self)
            else { return nil }
            rest = rest.dropFirst(Int(count))
            return text
        }
    }
}
