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
        /// A file of the spool.
        case spooled(String)
        /// A file elsewhere, and what it must be like.
        case referenced(String, FileCheck)
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
    /// The part that decides what happens to it.
    package var record: ItemRecord

    static let columns = """
        id, lane, state, method, reference, fields, content_type, key, digest, body, file, file_kind, file_check, size, \
        credential, user_info, added, added_wall, due, not_before, expires, first_sent, attempts, batch, failure
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
        size = row.integer(13)
        credential = row.text(14)
        userInfo = TextTable.decoded(row.text(15))
        added = .init(nanoseconds: row.integer(16))
        addedWall = row.integer(17)
        due = row.optionalInteger(18).map { .init(nanoseconds: $0) }
        notBefore = row.optionalInteger(19)
        batch = row.optionalInteger(23)
        failure = row.text(24)
        record = .init()
        record.expires = row.optionalInteger(20).map { .init(nanoseconds: $0) }
        record.firstSent = row.optionalInteger(21).map { .init(nanoseconds: $0) }
        record.attempts = Int(row.integer(22))
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
        return row.integer(11) == 0 ? .spooled(file) : .referenced(file, .init(text: row.text(12) ?? ""))
    }

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
        case .spooled(let name): (file, kind) = (name, 0)
        case .referenced(let path, let state): (file, kind, check) = (path, 1, state.text)
        }
        try database.run(
            """
            INSERT INTO item (lane, state, method, reference, fields, content_type, key, digest, body, file, file_kind,
                file_check, size, credential, user_info, added, added_wall, due, not_before, expires, batch)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
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
            .init(batch)
        )
        return database.lastIdentifier
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
            attempts: record.attempts,
            failure: failure
        )
    }
}

extension StoredItem {
    /// Returns the digest that two requests with the same key have in common: of method, reference, fields, type and contents.
    func digest(of body: String) -> [UInt8] {
        let parts = [method, reference, TextTable.encoded(fields), contentType ?? "", credential ?? "", body]
        return Array(SHA256.hash(data: Array(parts.joined(separator: "\n").utf8)))
    }

    /// Whether the row is as it was stored, as far as its digest tells: SQLite does not detect changed bytes.
    var isIntact: Bool {
        switch body {
        case .none: digest == self.digest(of: "")
        case .bytes(let bytes): digest == self.digest(of: bytes.sha256)
        case .referenced(_, let check): digest == self.digest(of: check.sha256)
        // The digest of a file is part of it only if the program chose the key.
        case .spooled: true
        }
    }
}

extension [UInt8] {
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

    static func decoded(_ text: String?) -> [String: String] {
        guard let text, text != "{}" else { return [:] }
        return (try? JSONDecoder().decode([String: String].self, from: Data(text.utf8))) ?? [:]
    }
}
