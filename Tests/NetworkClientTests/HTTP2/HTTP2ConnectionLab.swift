import HTTPLab
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NetworkClientCore
import RequestGate

@testable import NetworkClient

/// An HTTP/2 connection without a socket: a test receives its frames and decides when it may write.
final class HTTP2ConnectionLab {
    let channel = EmbeddedChannel()
    let connection: HTTP2Connection
    private let owner = Owner()
    private var output: [UInt8] = []

    /// Opens the connection; its first stream has the number.
    init(firstStream: Int = 1) throws {
        connection = HTTP2Connection(
            1,
            owner,
            on: channel.eventLoop,
            .init(host: "a", isSecure: false, maximumHeadSize: 8192, firstStream: firstStream),
            idleTimeout: nil
        )
        try connection.install(in: channel)
        try channel.connect(to: .init(unixDomainSocketPath: "/x")).wait()
        try receive(.settings(), .init(LabHTTP2Frame.Kind.settings, flags: 1))
        // The preface comes before the first frame.
        _ = try sentFrames(after: 24)
    }

    /// Starts an exchange whose request has no body, and sends the request.
    func request() -> StandInExchange {
        let exchange = begin()
        connection.send(.end(nil), for: exchange, flushes: true)
        channel.embeddedEventLoop.run()
        return exchange
    }

    /// Starts an exchange, and passes the head, which waits for the next part.
    func begin() -> StandInExchange {
        let exchange = StandInExchange(connection)
        _ = connection.start(exchange)
        let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: "/", headers: ["Host": "a"])
        connection.send(.head(head), for: exchange, flushes: false)
        return exchange
    }

    /// Receives frames in one piece.
    func receive(_ frames: LabHTTP2Frame...) throws { try receive(frames) }

    /// Receives frames in one piece.
    func receive(_ frames: [LabHTTP2Frame]) throws {
        _ = try channel.writeInbound(ByteBuffer(bytes: frames.flatMap { $0.bytes() }))
        channel.embeddedEventLoop.run()
    }

    /// Receives a whole response.
    func respond(on stream: UInt32) throws {
        try receive(.headers([(":status", "200")], on: stream), .data([1], on: stream, ends: true))
    }

    /// Sets whether the channel accepts more bytes.
    func setWritable(_ isWritable: Bool) {
        channel.isWritable = isWritable
        channel.pipeline.fireChannelWritabilityChanged()
        channel.embeddedEventLoop.run()
    }

    /// Returns the frames that were sent since the last call, after a number of other bytes.
    func sentFrames(after skipped: Int = 0) throws -> [LabHTTP2Frame] {
        while case .byteBuffer(let bytes)? = try channel.readOutbound(as: IOData.self) {
            output += bytes.readableBytesView
        }
        var rest = output.dropFirst(skipped)
        output = []
        var frames: [LabHTTP2Frame] = []
        while rest.count >= 9 {
            let header = Array(rest.prefix(9))
            let length = header.prefix(3).reduce(0) { $0 << 8 | Int($1) }
            let stream = header.suffix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            rest = rest.dropFirst(9)
            frames.append(.init(header[3], flags: header[4], stream: stream, Array(rest.prefix(length))))
            rest = rest.dropFirst(length)
        }
        return frames
    }

    /// A pool that does nothing.
    private final class Owner: HTTPConnectionOwner {
        var isClosing: Bool { false }

        func connectionIsFree(_ connection: any HTTPConnection) {}
        func connectionLimitChanged(_ connection: any HTTPConnection, to limit: Int, isFinal: Bool) {}
        func connectionRequiresHTTP1(_ connection: any HTTPConnection) {}
        func connectionWasClosed(_ connection: any HTTPConnection, whileBusy: Bool) {}
    }
}

/// An exchange that records what it receives, and cancels itself when it fails.
final class StandInExchange: HTTPExchange {
    private let connection: any HTTPConnection
    private(set) var receivedBytes = 0
    private(set) var hasEnd = false
    private(set) var hasFailed = false
    private(set) var isUnprocessed = false

    init(_ connection: any HTTPConnection) { self.connection = connection }

    var hasRequestBody: Bool { true }
    var pathLossPolicy: PathLossPolicy { .failFast }
    var lastActivity = NIODeadline.now()

    func receive(_ part: HTTPClientResponsePart) {
        switch part {
        case .head: break
        case .body(let bytes): receivedBytes += bytes.readableBytes
        case .end: hasEnd = true
        }
    }

    func connectionIsWritable() {}
    func connectionWasLost(_ cause: (any Error)?, hasResponseBegun: Bool) { fail() }
    func receiveSwitch(_ head: HTTPResponseHead) {}
    func receiveUnexpected() {}
    func pathWasLost(_ loss: PathLoss) { fail() }
    func connectionHasEnded() {}

    func exchangeFailed(_ error: HTTPError, isUnprocessed: Bool) {
        self.isUnprocessed = isUnprocessed
        fail()
    }

    private func fail() {
        hasFailed = true
        connection.cancel(self)
    }
}
