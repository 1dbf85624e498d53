import NIOCore
import NIOHTTP2

/// The flow control of what an HTTP/2 connection receives: allows the server to send as many bytes again as were taken
/// (RFC 9113, 5.2).
///
/// Confined to the connection's event loop.
final class HTTP2ReceiveWindows {
    private let output: HTTP2Output
    private let loop: any EventLoop
    /// The number of bytes of a response that the server may send before its reader takes them.
    private let streamWindow: Int
    /// The number of bytes whose return to the connection's window is under way.
    private var returning = 0
    /// Whether the library is about to report why it did not send a WINDOW_UPDATE frame.
    private var isRefused = false

    init(_ output: HTTP2Output, on loop: any EventLoop, streamWindow: Int) {
        self.output = output
        self.loop = loop
        self.streamWindow = streamWindow
    }

    /// Enlarges the connection's window, which only a WINDOW_UPDATE frame can (RFC 9113, 6.9.2).
    func raiseConnectionWindow() {
        returnToConnection(HTTP2ClientSettings.connectionWindow - HTTP2ClientSettings.initialConnectionWindow)
    }

    /// Records the size of a window after bytes were received, or returned to it.
    ///
    /// - Parameters:
    ///   - update: The size, and the number of the stream.
    ///   - stream: The stream; nil for the connection's window, and for a stream that has ended.
    func changed(_ update: NIOHTTP2WindowUpdatedEvent, of stream: HTTP2Stream?) {
        guard let size = update.inboundWindowSize, !output.isClosed else { return }
        if update.streamID == .rootStream {
            // Bytes count here as soon as they are received, so that a stream that is not read stops no other.
            guard size + returning <= HTTP2ClientSettings.connectionWindow / 2 else { return }
            returnToConnection(HTTP2ClientSettings.connectionWindow - size - returning)
        } else if let stream {
            stream.window = size
            returnWindow(of: stream)
        }
    }

    /// Returns the bytes that an exchange has taken to the server's window, once they are half of it.
    func returnWindow(of stream: HTTP2Stream) {
        let taken = streamWindow - stream.window - stream.returning - stream.heldBytes
        guard stream.isReading, !stream.hasEnd, !stream.isClosed, taken >= streamWindow / 2, let id = stream.id
        else { return }
        stream.returning += taken
        sendUpdate(of: id, by: taken) { [self] isSent in
            stream.returning -= taken
            if isSent, !output.isClosed { returnWindow(of: stream) }
        }
    }

    /// Returns whether an error of the channel only reports that a WINDOW_UPDATE frame was not sent, because its stream
    /// has ended while the frame waited.
    func takeRefusal() -> Bool {
        defer { isRefused = false }
        return isRefused
    }

    private func returnToConnection(_ increment: Int) {
        returning += increment
        sendUpdate(of: .rootStream, by: increment) { [self] _ in returning -= increment }
    }

    /// Enlarges a window, and calls a closure when the kernel has accepted the frame, or the frame can't be sent.
    ///
    /// While the kernel accepts nothing, the library keeps the frame, and its sizes of windows do not include it.
    private func sendUpdate(of id: HTTP2StreamID, by increment: Int, _ completion: @escaping (_ isSent: Bool) -> Void) {
        let sent = loop.makePromise(of: Void.self)
        sent.futureResult.assumeIsolated().whenComplete { [self] result in
            if case .failure(let error) = result { isRefused = Self.isReported(error) }
            completion((try? result.get()) != nil)
        }
        output.write(.init(streamID: id, payload: .windowUpdate(windowSizeIncrement: increment)), sent)
        // The library forgets a frame that exceeds its limit.
        if output.isClosed { sent.fail(ChannelError.ioOnClosedChannel) }
    }

    /// Returns whether the library reports an error of a frame also as one of the connection.
    private static func isReported(_ error: any Error) -> Bool {
        !(error is NIOHTTP2Errors.StreamClosed) && error is any NIOHTTP2Error
    }
}
