/// The end of a WebSocket: a code and a reason (RFC 6455, 7.1.5 and 7.1.6).
public struct WebSocketClosure: Sendable, Hashable {
    /// The code.
    public var code: WebSocketCloseCode
    /// The reason, for people and logs; at most 123 bytes of UTF-8, often empty.
    public var reason: String

    /// Creates a closure.
    public init(_ code: WebSocketCloseCode, reason: String = "") {
        self.code = code
        self.reason = reason
    }

    /// The maximum size of a reason in bytes.
    package static let maximumReasonSize = 123

    /// Parses the payload of a Close frame (RFC 6455, 5.5.1).
    ///
    /// - Throws: ``WebSocketFault`` for a code that must not be sent, or a reason that is not UTF-8.
    package init(payload: [UInt8]) throws(WebSocketFault) {
        guard !payload.isEmpty else {
            self.init(.noStatus)
            return
        }
        guard payload.count >= 2 else { throw .violation("its Close frame has a payload of one byte") }
        let code = WebSocketCloseCode(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
        guard code.isSendable else { throw .violation("its Close frame has the code \(code.rawValue)") }
        guard let reason = String(validating: payload.dropFirst(2), as: UTF8.self) else {
            throw .init(.invalidPayload, "the reason in its Close frame is not UTF-8")
        }
        self.init(code, reason: reason)
    }

    /// The payload of a Close frame; empty for ``WebSocketCloseCode/noStatus``.
    package var payload: [UInt8] {
        guard code != .noStatus else { return [] }
        return [UInt8(code.rawValue >> 8), UInt8(truncatingIfNeeded: code.rawValue)] + reason.utf8
    }
}

/// The code for the end of a WebSocket (RFC 6455, 7.4).
///
/// Codes from 3000 are those of libraries and frameworks, codes from 4000 those of applications.
public struct WebSocketCloseCode: RawRepresentable, Sendable, Hashable {
    /// The number.
    public let rawValue: UInt16

    /// Creates a code from its number.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The purpose of the connection is fulfilled (1000).
    public static let normal = Self(rawValue: 1000)
    /// A side goes away: a server shuts down, or a program no longer needs the connection (1001).
    public static let goingAway = Self(rawValue: 1001)
    /// The other side violated the protocol (1002).
    public static let protocolError = Self(rawValue: 1002)
    /// The other side sent data of a type that is not accepted (1003).
    public static let unsupportedData = Self(rawValue: 1003)
    /// The other side's Close frame has no code (1005); never sent.
    public static let noStatus = Self(rawValue: 1005)
    /// The connection ended without a Close frame (1006); never sent.
    public static let abnormal = Self(rawValue: 1006)
    /// A message is inconsistent with its type, such as text that is not UTF-8 (1007).
    public static let invalidPayload = Self(rawValue: 1007)
    /// A message violates a policy (1008).
    public static let policyViolation = Self(rawValue: 1008)
    /// A message is too large (1009).
    public static let messageTooLarge = Self(rawValue: 1009)
    /// The server did not agree to an extension that the client requires (1010).
    public static let extensionRequired = Self(rawValue: 1010)
    /// The server can't continue because of an unexpected condition (1011).
    public static let internalError = Self(rawValue: 1011)
    /// The service restarts (1012).
    public static let serviceRestart = Self(rawValue: 1012)
    /// The service is overloaded (1013).
    public static let tryAgainLater = Self(rawValue: 1013)
    /// A gateway received an invalid response (1014).
    public static let badGateway = Self(rawValue: 1014)

    /// Whether the code may be in a Close frame (RFC 6455, 7.4.2).
    package var isSendable: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}

extension WebSocketCloseCode: CustomStringConvertible {
    /// The number.
    public var description: String { String(rawValue) }
}

/// A violation of the protocol by the other side, or a message that is not accepted; it closes the WebSocket.
package struct WebSocketFault: Error, Sendable, Hashable {
    /// The code that is sent to the other side.
    package let code: WebSocketCloseCode
    /// The description of the fault.
    package let reason: String

    /// Creates a fault.
    package init(_ code: WebSocketCloseCode, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// Returns the fault for a violation of the protocol.
    package static func violation(_ reason: String) -> Self { .init(.protocolError, reason) }

    /// Returns the fault for a message that is larger than allowed.
    package static func tooLarge(_ limit: Int) -> Self {
        .init(.messageTooLarge, "a message is larger than \(limit) bytes: raise maximumMessageSize if that is expected")
    }
}
