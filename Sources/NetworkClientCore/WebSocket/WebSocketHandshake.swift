/// The part of the opening handshake that does not depend on HTTP (RFC 6455, 4).
package struct WebSocketHandshake: Sendable, Hashable {
    /// The subprotocols that the client offers, in the order of preference.
    package let subprotocols: [String]
    /// The compression that the client offers; nil for none.
    package let compression: WebSocketCompression?

    /// The terms on which both sides have agreed.
    package struct Agreement: Sendable, Hashable {
        /// The subprotocol; nil for none.
        package var subprotocol: String?
        /// The compression; nil for none.
        package var compression: WebSocketCompression.Agreement?
    }

    /// Creates the handshake of an offer.
    package init(subprotocols: [String] = [], compression: WebSocketCompression? = nil) {
        self.subprotocols = subprotocols
        self.compression = compression
    }

    /// The text that follows the key in the input of SHA-1 (RFC 6455, 1.3).
    package static let acceptSuffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

    /// The reason why the offer can't be sent; nil if it can.
    package var flaw: String? {
        for name in subprotocols where name.isEmpty || !name.utf8.allSatisfy(\.isTokenCharacter) {
            return "the subprotocol '\(name)' is not a token (RFC 9110, 5.6.2)"
        }
        guard Set(subprotocols).count == subprotocols.count else { return "a subprotocol is offered twice" }
        guard let compression else { return nil }
        for bits in [compression.clientWindowBits, compression.serverWindowBits] where !(9...15 ~= bits) {
            return "a window of \(bits) bits can't be used for compression: the range is 9 to 15"
        }
        return nil
    }

    /// The fields of the request, except for its key.
    package var fields: [(name: String, value: String)] {
        var fields = [
            (name: "Connection", value: "Upgrade"), (name: "Upgrade", value: "websocket"),
            (name: "Sec-WebSocket-Version", value: "13"),
        ]
        if !subprotocols.isEmpty { fields.append(("Sec-WebSocket-Protocol", subprotocols.joined(separator: ", "))) }
        if let compression { fields.append(("Sec-WebSocket-Extensions", compression.offer)) }
        return fields
    }

    /// Checks the response with the status 101 (RFC 6455, 4.1), or with 2xx over HTTP/2 (RFC 8441, 5).
    ///
    /// - Parameters:
    ///   - accept: The value that `Sec-WebSocket-Accept` must have; nil over HTTP/2, where the method and the status stand
    ///     for it and for the upgrade.
    ///   - values: Returns the values of the response's fields with a name.
    /// - Returns: The agreement.
    /// - Throws: ``WebSocketRefusal``.
    package func agreement(
        accept: String?,
        _ values: (String) -> [String]
    ) throws(WebSocketRefusal) -> Agreement {
        if let accept { try checkUpgrade(accept, values) }
        return .init(
            subprotocol: try subprotocol(values("Sec-WebSocket-Protocol")),
            compression: try compression(values("Sec-WebSocket-Extensions"))
        )
    }

    private func checkUpgrade(_ accept: String, _ values: (String) -> [String]) throws(WebSocketRefusal) {
        guard values("Upgrade").contains(where: { $0.utf8.listContains("websocket".utf8) }) else {
            throw .init("its Upgrade field does not name 'websocket'")
        }
        guard values("Connection").contains(where: { $0.utf8.listContains("upgrade".utf8) }) else {
            throw .init("its Connection field does not name 'Upgrade'")
        }
        let accepts = values("Sec-WebSocket-Accept")
        guard accepts.count == 1, accepts[0] == accept else {
            let found = accepts.isEmpty ? "missing" : "'\(accepts.joined(separator: ", "))'"
            throw .init("its Sec-WebSocket-Accept is \(found), not '\(accept)' as the request's key requires")
        }
    }

    private func subprotocol(_ values: [String]) throws(WebSocketRefusal) -> String? {
        guard let value = values.first else { return nil }
        guard values.count == 1, subprotocols.contains(value) else {
            let offered = subprotocols.isEmpty ? "none" : subprotocols.joined(separator: ", ")
            throw .init(
                "it chose the subprotocol '\(values.joined(separator: ", "))', which was not offered (\(offered))"
            )
        }
        return value
    }

    private func compression(_ values: [String]) throws(WebSocketRefusal) -> WebSocketCompression.Agreement? {
        let extensions = values.flatMap { $0.split(separator: ",") }
        var agreement: WebSocketCompression.Agreement?
        for one in extensions {
            let parts = one.split(separator: ";", omittingEmptySubsequences: false).map { String($0).trimmed }
            guard let compression, parts[0] == "permessage-deflate", agreement == nil else {
                throw .init("it uses the extension '\(String(one).trimmed)', which was not offered, or twice")
            }
            agreement = try compression.agreement(parts.dropFirst().map(Self.parameter))
        }
        return agreement
    }

    private static func parameter(_ text: String) -> (name: String, value: String?) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return (text, nil) }
        var value = String(parts[1]).trimmed
        if value.count >= 2, value.hasPrefix("\""), value.hasSuffix("\"") {
            value = String(value.dropFirst().dropLast())
        }
        return (String(parts[0]).trimmed, value)
    }
}

/// The reason why the client does not accept a server's response to the opening handshake.
package struct WebSocketRefusal: Error, Sendable, Hashable {
    /// The fault of the response.
    package let reason: String

    init(_ reason: String) { self.reason = reason }
}

extension String {
    /// The text without the blanks around it.
    fileprivate var trimmed: String {
        var rest = utf8.drop { $0.isBlank }
        while rest.last?.isBlank == true { rest.removeLast() }
        return String(decoding: rest, as: UTF8.self)
    }
}
