/// The compression of messages with permessage-deflate (RFC 7692), as the client offers it.
///
/// The server may decline it. Compression reveals to an observer how much of a message repeats an earlier one: leave it
/// off, or turn context takeover off, if messages mix secrets with text that others choose.
public struct WebSocketCompression: Sendable, Hashable {
    /// Whether the client's messages may refer to earlier ones; true by default.
    ///
    /// Each direction then keeps its window between messages: up to 256 KiB for sending, 44 KiB for receiving.
    public var clientContextTakeover: Bool
    /// Whether the server's messages may refer to earlier ones; true by default.
    public var serverContextTakeover: Bool
    /// The base-2 logarithm of the client's window, from 9 to 15; 15, the default, for 32 KiB.
    public var clientWindowBits: Int
    /// The base-2 logarithm of the server's window, from 9 to 15; 15, the default, for 32 KiB.
    public var serverWindowBits: Int
    /// The size below which messages are sent as they are, in bytes; 64 by default.
    public var minimumSize: Int

    /// Creates an offer; the properties describe the parameters.
    public init(
        clientContextTakeover: Bool = true,
        serverContextTakeover: Bool = true,
        clientWindowBits: Int = 15,
        serverWindowBits: Int = 15,
        minimumSize: Int = 64
    ) {
        self.clientContextTakeover = clientContextTakeover
        self.serverContextTakeover = serverContextTakeover
        self.clientWindowBits = clientWindowBits
        self.serverWindowBits = serverWindowBits
        self.minimumSize = minimumSize
    }

    /// The value of `Sec-WebSocket-Extensions` in the request.
    package var offer: String {
        var parts = ["permessage-deflate"]
        if !serverContextTakeover { parts.append("server_no_context_takeover") }
        if !clientContextTakeover { parts.append("client_no_context_takeover") }
        if serverWindowBits < 15 { parts.append("server_max_window_bits=\(serverWindowBits)") }
        parts.append(clientWindowBits < 15 ? "client_max_window_bits=\(clientWindowBits)" : "client_max_window_bits")
        return parts.joined(separator: "; ")
    }

    /// The parameters on which both sides have agreed.
    package struct Agreement: Sendable, Hashable {
        /// Whether the client's messages may refer to earlier ones.
        package var clientContextTakeover: Bool
        /// Whether the server's messages may refer to earlier ones.
        package var serverContextTakeover: Bool
        /// The base-2 logarithm of the client's window, from 8 to 15.
        package var clientWindowBits: Int
        /// The base-2 logarithm of the server's window, from 8 to 15.
        package var serverWindowBits: Int

        /// Creates an agreement.
        package init(
            clientContextTakeover: Bool = true,
            serverContextTakeover: Bool = true,
            clientWindowBits: Int = 15,
            serverWindowBits: Int = 15
        ) {
            self.clientContextTakeover = clientContextTakeover
            self.serverContextTakeover = serverContextTakeover
            self.clientWindowBits = clientWindowBits
            self.serverWindowBits = serverWindowBits
        }
    }

    /// Returns the agreement for the server's response to the offer (RFC 7692, 7.1).
    ///
    /// - Parameter parameters: The parameters of the extension in the response.
    /// - Returns: The agreement.
    /// - Throws: ``WebSocketRefusal`` for parameters that are unknown, invalid, repeated or not offered.
    package func agreement(
        _ parameters: [(name: String, value: String?)]
    ) throws(WebSocketRefusal) -> Agreement {
        var agreement = Agreement(
            clientContextTakeover: clientContextTakeover,
            serverContextTakeover: true,
            clientWindowBits: clientWindowBits,
            serverWindowBits: 15
        )
        var names: Set<String> = []
        for (name, value) in parameters {
            guard names.insert(name).inserted else { throw .parameter(name, value, "is repeated") }
            switch (name, value) {
            case ("client_no_context_takeover", nil): agreement.clientContextTakeover = false
            case ("server_no_context_takeover", nil): agreement.serverContextTakeover = false
            case ("client_max_window_bits", let bits?):
                agreement.clientWindowBits = try min(clientWindowBits, Self.windowBits(name, bits))
            case ("server_max_window_bits", let bits?): agreement.serverWindowBits = try Self.windowBits(name, bits)
            default: throw .parameter(name, value, "is unknown or invalid")
            }
        }
        guard serverContextTakeover || !agreement.serverContextTakeover else {
            throw .parameter("server_no_context_takeover", nil, "is missing, although the request has it")
        }
        guard agreement.serverWindowBits <= serverWindowBits else {
            let bits = String(agreement.serverWindowBits)
            throw .parameter("server_max_window_bits", bits, "is more than the requested \(serverWindowBits)")
        }
        return agreement
    }

    private static func windowBits(_ name: String, _ text: String) throws(WebSocketRefusal) -> Int {
        guard let bits = Int(text), 8...15 ~= bits, String(bits) == text else {
            throw .parameter(name, text, "is not a number from 8 to 15")
        }
        return bits
    }
}

extension WebSocketRefusal {
    fileprivate static func parameter(_ name: String, _ value: String?, _ why: String) -> Self {
        let text = value.map { "\(name)=\($0)" } ?? name
        return .init("in its Sec-WebSocket-Extensions, the parameter '\(text)' of permessage-deflate \(why)")
    }
}
