import DurableStore
import OutboxCore

/// The response of an outcome, as it is stored.
struct StoredResponse: Sendable {
    let status: Int
    /// The header fields in the form of ``TextTable``.
    let fields: String
    /// The first bytes of the body.
    let body: [UInt8]
}

/// An outcome as it is stored.
extension OutboxOutcome {
    /// The beginning of a query of outcomes.
    static let query = """
        SELECT sequence, outcome.id, coalesce(lane.name, ''), end, method, reference, key, user_info, ended_wall, status,
            fields, body, reason
        FROM outcome LEFT JOIN lane ON lane.id = outcome.lane
        """

    /// The same without the bodies of responses, which may be large together.
    static let queryWithoutBodies = query.replacing("fields, body,", with: "fields, NULL,")

    /// Creates an outcome from a row of the query.
    ///
    /// - Parameters:
    ///   - row: The row.
    ///   - forget: Removes it.
    init(_ row: borrowing Row, forget: @escaping @Sendable () async throws -> Void) {
        let response = row.optionalInteger(9).map { status in
            OutboxOutcome.Response(
                status: Int(status),
                fields: TextTable.decoded(row.text(10)),
                body: row.blob(11) ?? []
            )
        }
        self.init(
            id: .init(rawValue: row.integer(1)),
            lane: row.text(2) ?? "",
            end: .init(rawValue: row.integer(3)) ?? .damaged,
            method: row.text(4) ?? "",
            reference: row.text(5) ?? "",
            key: row.text(6),
            userInfo: TextTable.decoded(row.text(7)),
            response: response,
            reason: row.text(12) ?? "",
            ended: Double(row.integer(8)) / 1e9,
            sequence: row.integer(0),
            forget: forget
        )
    }
}
