import NIOCore
import NIOHTTP1

/// A stream of an HTTP/2 connection that carries another protocol since the response (RFC 8441, 5).
///
/// Its bytes are those of DATA frames. END_STREAM ends a direction in order, and RST_STREAM both at once.
final class HTTP2UpgradedStream: HTTPExchange, UpgradedStream {
    private let connection: HTTP2Connection
    private var receiver: (any UpgradedStreamReceiver)?
    private var isOutputFinished = false
    let pathLossPolicy: PathLossPolicy
    private(set) var lastActivity = NIODeadline.now()

    init(_ connection: HTTP2Connection, _ pathLossPolicy: PathLossPolicy) {
        (self.connection, self.pathLossPolicy) = (connection, pathLossPolicy)
    }

    // MARK: UpgradedStream

    var channel: (any Channel)? { nil }

    var isWritable: Bool { !isOutputFinished && connection.isWritable(for: self) }

    func start(_ receiver: any UpgradedStreamReceiver) { self.receiver = receiver }

    func resume() { setReading(true) }

    func setReading(_ isReading: Bool) { connection.setReading(isReading, for: self) }

    func write(_ bytes: ByteBuffer, _ promise: EventLoopPromise<Void>?) {
        connection.send(.body(.byteBuffer(bytes)), for: self, flushes: true, promise: promise)
    }

    func finishOutput() {
        guard !isOutputFinished else { return }
        isOutputFinished = true
        connection.send(.end(nil), for: self, flushes: true)
    }

    func checkLiveness() { connection.checkLiveness() }

    func close(inOrder: Bool) {
        receiver = nil
        connection.cancel(self)
    }

    // MARK: HTTPExchange

    var hasRequestBody: Bool { true }

    func receive(_ part: HTTPClientResponsePart) {
        lastActivity = .now()
        switch part {
        case .head: break
        case .body(let bytes): receiver?.receive(bytes)
        case .end: receiver.take()?.streamEnded(nil)
        }
    }

    func connectionIsWritable() { receiver?.streamIsWritable() }

    func connectionWasLost(_ cause: (any Error)?, hasResponseBegun: Bool) { end { $0.streamEnded(cause) } }

    func exchangeFailed(_ error: HTTPError, isUnprocessed: Bool) { end { $0.streamEnded(error) } }

    func pathWasLost(_ loss: PathLoss) { end { $0.pathWasLost(loss, until: nil) } }

    func connectionHasEnded() { receiver.take()?.streamEnded(nil) }

    // HTTP/2 has neither.
    func receiveSwitch(_ head: HTTPResponseHead) {}

    func receiveUnexpected() {}

    private func end(_ body: (any UpgradedStreamReceiver) -> Void) {
        let receiver = self.receiver.take()
        connection.cancel(self)
        if let receiver { body(receiver) }
    }
}
