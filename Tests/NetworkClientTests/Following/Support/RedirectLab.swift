import HTTPLab
import NIOCore

@testable import NetworkClient

/// A server that redirects according to the path: `/301/to/path` is redirected with 301 to `/path`.
enum RedirectLab {
    /// The response to `/STATUS/to/PATH`; nil for other paths.
    static func redirect(_ request: AnsweringServer.Request, at origin: String = "") -> ServerStep? {
        let parts = request.target.split(separator: "/", maxSplits: 2)
        guard parts.count > 2, let status = Int(parts[0]), parts[1] == "to" else { return nil }
        return .response("moved", status: "\(status) Moved", headers: ["Location: \(origin)/\(parts[2])"])
    }

    /// A server whose redirects lead to its own origin, or to another; all else is answered `here`.
    static func server(to origin: String = "") throws -> AnsweringServer {
        try AnsweringServer { request in
            [redirect(request, at: origin) ?? .response(request.method == "HEAD" ? "" : "here")]
        }
    }
}

/// The body of a request of the matrix.
enum CarriedBody: CaseIterable, Sendable {
    case none
    case bytes
    case replayable
    case once

    static let text = Array("what is carried".utf8)

    var body: RequestBody {
        switch self {
        case .none: .none
        case .bytes: .bytes(Self.text, contentType: "text/plain")
        case .replayable: .pieces(isReplayable: true)
        case .once: .pieces(isReplayable: false)
        }
    }
}

extension RequestBody {
    /// Provides a text in pieces of four bytes.
    fileprivate static func pieces(isReplayable: Bool) -> Self {
        let make: Content.MakeSource = { () throws(HTTPError) in .pieces(isReplayable: isReplayable) }
        return .init(content: .success(.init(makeSource: make, contentType: "text/plain")))
    }
}

extension BodySource {
    /// Provides a text in pieces of four bytes.
    static func pieces(isReplayable: Bool) -> Self {
        .init(length: Int64(CarriedBody.text.count), isReplayable: isReplayable) { loop in
            PieceFeed(CarriedBody.text, loop)
        }
    }
}

private final class PieceFeed: BodyFeed {
    private var rest: ArraySlice<UInt8>
    private let loop: any EventLoop

    init(_ bytes: [UInt8], _ loop: any EventLoop) {
        rest = bytes[...]
        self.loop = loop
    }

    func next() -> EventLoopFuture<ByteBuffer?> {
        let piece = rest.prefix(4)
        rest = rest.dropFirst(4)
        return loop.makeSucceededFuture(piece.isEmpty ? nil : ByteBuffer(bytes: piece))
    }

    func close() {}
}
