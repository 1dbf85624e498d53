import NIOCore
import NetworkClientCore

/// What is said to a proxy before the connection leads to the origin.
enum ProxyDialogue: Sendable {
    /// Nothing: the proxy is handed requests, as soon as TLS with it stands.
    case nothing
    case connect(ConnectDialogue)
    case socks(SOCKS5Dialogue)

    /// What is said first.
    var opening: [UInt8] {
        switch self {
        case .nothing: []
        case .connect(let dialogue): dialogue.request
        case .socks(let dialogue): dialogue.greeting
        }
    }

    /// Takes in what came.
    mutating func receive(_ bytes: ByteBuffer) -> ProxyStep {
        switch self {
        case .nothing: return .wait
        case .connect(var dialogue):
            defer { self = .connect(dialogue) }
            return dialogue.receive(bytes.readableBytesView)
        case .socks(var dialogue):
            defer { self = .socks(dialogue) }
            return dialogue.receive(bytes.readableBytesView)
        }
    }

    /// What is known of a refusal when nothing more will come.
    mutating func end() -> ProxyRefusal? {
        guard case .connect(var dialogue) = self else { return nil }
        defer { self = .connect(dialogue) }
        return dialogue.end()
    }
}
