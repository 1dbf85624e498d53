import Crypto
import DurableStore
import FoundationEssentials
package import OutboxCore

/// An item as it is stored, with its body if that is in the database.
package struct StoredItem: Sendable {
    /// Where the body is.
    package enum Body: Sendable, Hashable {
        case none
        case bytes([UInt8])
        /// A file of the spool, and its size and contents; nil in rows of the first version.
        case spooled(String, FileCheck?)
        /// A file elsewhere, and what it must be like.
        case referenced(String, FileCheck)
        /// None: the response's body is the file.
        case download(DownloadTarget)
    }

    package var id: Int64 = 0
    package var lane: Int64
    package var state = ItemState.waiting
    package var method: String
    package var reference: String
    package var fields: [String: String]
    package var contentType: String?
    package var key: String?
    package var digest: [UInt8]
    package var body: Body
    package var size: Int64
    package var credential: String?
    package var userInfo: [String: String]
    package var added = BoxTime(nanoseconds: 0)
    package var addedWall: Int64 = 0
    package var due: BoxTime?
    /// Nanoseconds since 1970.
    package var notBefore: Int64?
    package var batch: Int64?
    package var failure: String?
    /// Whether its key was made for it, and can't be that of another item.
    package var hasNewKey = false
    /// The time after which it expires, from when it was added.
    package var lifetime: Duration?
    /// The part that decides what happens to it.
    package var record: ItemRecord
    /// Whether the time of its first attempt is as it was stored.
    private var hasSoundMark = true

    static let columns = """
        id, lane, state, method, reference, fields, content_type, key, digest, body, file, file_kind, file_check, size, \
        credential, user_info, added, added_wall, due, not_before, expires, first_sent, attempts, batch, failure, \
        lifetime, sent_check
        """

    init(_ row: borrowing Row) {
        id = row.integer(0)
        lane = row.integer(1)
        state = .init(rawValue: row.integer(2)) ?? .waiting
        method = row.text(3) ?? ""
        reference = row.text(4) ?? ""
        fields = TextTable.decoded(row.text(5))
        contentType = row.text(6)
        key = row.text(7)
        digest = row.blob(8) ?? []
        body = Self.body(row)
        size = Self.size(row, 13)
        credential = row.text(14)
        userInfo = TextTable.decoded(row.text(15))
        added = .init(nanoseconds: row.integer(16))
        addedWall = row.integer(17)
        due = row.optionalInteger(18).map { .init(nanoseconds: $0) }
        notBefore = row.optionalInteger(19)
        batch = row.optionalInteger(23)
        failure = row.text(24)
        lifetime = row.optionalInteger(25).map { .nanoseconds($0) }
        hasSoundMark = row.optionalInteger(21) == row.optionalInteger(26).map { ~$0 }
        record = .init()
        record.expires = row.optionalInteger(20).map { .init(nanoseconds: $0) }
        record.firstSent = row.optionalInteger(21).map { .init(nanoseconds: $0) }
        record.attempts = Int(min(max(row.integer(22), 0), 1 << 30))
        record.hasKey = key != nil
        record.isIdempotent = Self.isIdempotent(method)
    }

    init(
        lane: Int64,
        method: String,
        reference: String,
        fields: [String: String],
        contentType: String?,
        key: String?,
        digest: [UInt8],
        body: Body,
        size: Int64,
        credential: String?,
        userInfo: [String: String]
    ) {
        self.lane = lane
        self.method = method
        self.reference = reference
        self.fields = fields
        self.contentType = contentType
        self.key = key
        self.digest = digest
        self.body = body
        self.size = size
        self.credential = credential
        self.userInfo = userInfo
        record = .init()
        record.hasKey = key != nil
        record.isIdempotent = Self.isIdempotent(method)
    }

    private static func body(_ row: borrowing Row) -> Body {
        if let bytes = row.blob(9) { return .bytes(bytes) }
        guard let file = row.text(10) else { return .none }
        return switch row.integer(11) {
        case 0: .spooled(file, row.text(12).map { .init(text: $0) })
        case 1: .referenced(file, .init(text: row.text(12) ?? ""))
        default: .download(.init(path: file, text: row.text(12) ?? ""))
        }
    }

    /// Returns the size of a row's body in a column, clamped to those with which can be calculated: it may be damaged.
    static func size(_ row: borrowing Row, _ column: Int32) -> Int64 { min(max(row.integer(column), 0), 1 << 50) }

    /// RFC 9110, 9.2.2.
    private static func isIdempotent(_ method: String) -> Bool {
        ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"].contains(method)
    }

    /// Inserts the item, and returns its identifier.
    func insert(into database: Database) throws(StoreError) -> Int64 {
        var (bytes, file, kind, check): ([UInt8]?, String?, Int?, String?)
        switch body {
        case .none: break
        case .bytes(let content): bytes = content
        case .spooled(let name, let state): (file, kind, check) = (name, 0, state?.text)
        case .referenced(let path, let state): (file, kind, check) = (path, 1, state.text)
        case .download(let target): (file, kind, check) = (target.path, 2, target.text)
        }
        try BoxContext.of(database).added(size, to: lane, database)
        try database.run(
            """
            INSERT INTO item (lane, state, method, reference, fields, content_type, key, digest, body, file, file_kind,
                file_check, size, credential, user_info, added, added_wall, due, not_before, expires, batch,
                lifetime)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            .integer(lane),
            .integer(state.rawValue),
            .text(method),
            .text(reference),
            .text(TextTable.encoded(fields)),
            .init(contentType),
            .init(key),
            .blob(digest),
            .init(bytes),
            .init(file),
            .init(kind),
            .init(check),
            .integer(size),
            .init(credential),
            .text(TextTable.encoded(userInfo)),
            .integer(added.nanoseconds),
            .integer(addedWall),
            .init(due?.nanoseconds),
            .init(notBefore),
            .init(record.expires?.nanoseconds),
            .init(batch),
            .init(lifetime?.wholeNanoseconds)
        )
        return database.lastIdentifier
    }

    /// Whether its lifetime lasts until it may be sent, as far as the clock is known.
    func maySend(after reading: ClockReading) -> Bool {
        guard reading.isSynchronized, let notBefore, let lifetime else { return true }
        // A difference of 64 bits could overflow.
        return Duration.nanoseconds(notBefore) - .nanoseconds(reading.wall) < lifetime
    }

    /// The item for the user.
    func publicItem(lane name: String) -> OutboxItem {
        .init(
            id: .init(rawValue: id),
            lane: name,
            state: state,
            method: method,
            reference: reference,
            key: key,
            size: size,
            userInfo: userInfo,
            added: Double(addedWall) / 1e9,
            notBefore: notBefore.map { Double($0) / 1e9 },
            attempts: record.attempts,
            failure: failure
        )
    }
}

extension StoredItem {
    /// Returns the digest that two requests with the same key have in common: the key, everything that was asked for, and
    /// the contents of the body.
    func completeDigest() -> [UInt8] {
        var text = requestText
        for part in [key ?? "", TextTable.encoded(userInfo)] { text.append(line: part) }
        for time in [lifetime?.wholeNanoseconds, notBefore] { text.append(line: time.map { "\($0)" } ?? "-") }
        return [2] + SHA256.hash(data: text)
    }

    /// Whether a stored digest is that of this request; the first version left out the user's values and the times.
    func hasDigest(_ stored: [UInt8]?) -> Bool {
        guard let stored else { return false }
        return stored == (stored.count == SHA256.byteCount ? Array(SHA256.hash(data: requestText)) : completeDigest())
    }

    /// The reason for the end of an item whose row is not intact.
    static let damage = "the stored request is damaged: its digest differs"

    /// Whether the row is as it was stored, as far as its digests tell: SQLite does not detect changed bytes.
    var isIntact: Bool {
        // The digest of a file was part of it only if the program chose the key.
        if case .spooled(_, nil) = body { return true }
        guard hasSoundMark, hasDigest(digest) else { return false }
        return digest.count == SHA256.byteCount || record.expires == lifetime.map { added.advanced(by: $0) }
    }

    /// The parts of the request, a line each.
    private var requestText: [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(512)
        text.append(contentsOf: method.utf8)
        text.append(line: reference)
        text.append(line: TextTable.encoded(fields))
        text.append(line: contentType ?? "")
        text.append(line: credential ?? "")
        text.append(line: contents)
        return text
    }

    /// The digest of the body, or the file of a download.
    private var contents: String {
        switch body {
        case .none: ""
        case .bytes(let bytes): bytes.sha256
        case .spooled(_, let check): check?.sha256 ?? ""
        case .referenced(_, let check): check.sha256
        case .download(let target): target.identity
        }
    }
}

extension [UInt8] {
    /// Adds a text in a further line.
    fileprivate mutating func append(line: String) {
        append(0x0A)
        append(contentsOf: line.utf8)
    }

    /// The SHA-256 in hexadecimal digits.
    var sha256: String { SHA256.hash(data: self).hexadecimal }
}

/// Texts by name, as JSON with sorted names.
enum TextTable {
    static func encoded(_ table: [String: String]) -> String {
        if table.isEmpty { return "{}" }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(table)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    /// Returns the values by name, in any order, with those of the same name joined by commas.
    static func encoded(_ fields: [(name: String, value: String)]) -> String {
        // Each name is compared with all before it, and the server decides how many there are.
        guard fields.count <= 64 else { return encoded(Dictionary(fields, uniquingKeysWith: { "\($0), \($1)" })) }
        var text = "{"
        for (index, field) in fields.enumerated() {
            let isRepeated = fields[..<index].contains { $0.name == field.name }
            guard !isRepeated, isPlain(field.name), isPlain(field.value) else {
                return encoded(Dictionary(fields, uniquingKeysWith: { "\($0), \($1)" }))
            }
            text += index == 0 ? "\"" : ",\""
            text += field.name
            text += "\":\""
            text += field.value
            text += "\""
        }
        return text + "}"
    }

    /// Whether a text needs no escapes in JSON.
    private static func isPlain(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C }
    }

    static func decoded(_ text: String?) -> [String: String] {
        guard let text, text != "{}" else { return [:] }
        return (try? JSONDecoder().decode([String: String].self, from: Data(text.utf8))) ?? [:]
    }
}
