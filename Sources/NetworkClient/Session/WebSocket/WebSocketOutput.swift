import NIOCore
import NetworkClientCore

/// Sends messages and control frames, as fast as the stream accepts them; confined to the session's event loop.
///
/// Messages are sent in their order, a frame at a time. Control frames are sent between two frames.
final class WebSocketOutput {
    typealias Completion = (Result<Void, HTTPError>) -> Void

    private struct Item {
        var call: WebSocketCall?
        var opcode: WebSocketFrame.Opcode
        var isCompressed: Bool
        var payload: ByteBuffer
        var completion: Completion?
        /// Whether its first frame was sent.
        var hasBegun = false
    }

    private let stream: any UpgradedStream
    private let loop: any EventLoop
    private let maximumFrameSize: Int
    private let minimumCompressedSize: Int
    private let deflater: MessageDeflater?
    /// The message of which a part was sent.
    private var current: Item?
    private var queue = CircularBuffer<Item>()
    /// The response to the last ping, which waits until the stream accepts more.
    private var pong: [UInt8]?
    private var isSending = false
    /// Whether ``resume()`` is scheduled for the next turn of the event loop.
    private var isTurnDue = false
    /// Whether the Close frame was sent, after which nothing follows.
    private var isClosed = false

    init(
        _ stream: any UpgradedStream,
        on loop: any EventLoop,
        _ options: WebSocketOptions,
        _ agreement: WebSocketHandshake.Agreement
    ) {
        (self.stream, self.loop) = (stream, loop)
        maximumFrameSize = options.maximumFrameSize
        minimumCompressedSize = options.compression?.minimumSize ?? 0
        deflater = agreement.compression.flatMap { MessageDeflater($0) }
    }

    /// The number of bytes after which the event loop has its turn: a server may take a large message as fast as it is written,
    /// and in between its pings are read, and other requests served.
    private static let turnSize = 1 << 20

    // MARK: Messages

    /// Queues a message; the completion is called when the kernel has accepted its last byte.
    func send(
        _ payload: ByteBuffer,
        isText: Bool,
        for call: WebSocketCall,
        _ completion: @escaping Completion
    ) {
        queue.append(
            .init(
                call: call,
                opcode: isText ? .text : .binary,
                isCompressed: false,
                payload: payload,
                completion: completion
            )
        )
        resume()
    }

    /// Completes a call whose task was cancelled; a message of which a part was sent is sent to its end.
    func cancel(_ call: WebSocketCall) {
        if current?.call === call {
            let completion = current?.completion
            current?.completion = nil
            completion?(.failure(.cancelledCall("sending to", .maybeProcessed)))
        } else if let index = queue.firstIndex(where: { $0.call === call }) {
            queue.remove(at: index).completion?(.failure(.cancelledCall("sending to", .neverSent)))
        }
    }

    // MARK: Control frames

    /// Sends a ping.
    func ping(_ payload: [UInt8]) {
        if !isClosed { write(.init(.ping, length: payload.count), ByteBuffer(bytes: payload)) }
    }

    /// Responds to a ping: only to the last one if the other side does not read (RFC 6455, 5.5.3).
    func pong(_ payload: [UInt8]) {
        pong = payload
        resume()
    }

    /// Sends the Close frame after the messages that are queued, or in place of them.
    func close(_ closure: WebSocketClosure, discardsQueue: Bool) {
        guard !isClosed else { return }
        let payload = ByteBuffer(bytes: closure.payload)
        if discardsQueue {
            failAll(.webSocketClosed(closure))
            isClosed = true
            write(.init(.close, length: payload.readableBytes), payload)
        } else {
            queue.append(.init(call: nil, opcode: .close, isCompressed: false, payload: payload))
            resume()
        }
    }

    /// Fails all messages that were not sent, because the WebSocket is closed.
    func failAll(_ error: HTTPError) {
        let failed = [current].compactMap(\.self) + queue
        (current, queue) = (nil, [])
        for item in failed { item.completion?(.failure(error)) }
    }

    // MARK: Frames

    /// Sends what the stream accepts; called whenever it accepts more.
    func resume() {
        guard !isSending, !isTurnDue else { return }
        isSending = true
        defer { isSending = false }
        var sent = 0
        while stream.isWritable, !isClosed {
            guard sent < Self.turnSize else { return resumeLater() }
            if let payload = pong {
                pong = nil
                write(.init(.pong, length: payload.count), ByteBuffer(bytes: payload))
            } else if let item = current ?? queue.popFirst().map(compressed) {
                sent += sendFrame(of: item)
            } else {
                return
            }
        }
    }

    private func resumeLater() {
        isTurnDue = true
        loop.assumeIsolated().execute { [self] in
            isTurnDue = false
            resume()
        }
    }

    /// Sends the next frame of a message, or a Close frame.
    ///
    /// - Returns: The size of its payload in bytes.
    private func sendFrame(of item: Item) -> Int {
        var item = item
        // Control frames are not fragmented (RFC 6455, 5.5).
        let maximum = item.opcode.isControl ? WebSocketFrame.maximumControlSize : maximumFrameSize
        let length = min(item.payload.readableBytes, maximum)
        guard let payload = item.payload.readSlice(length: length) else { return 0 }
        let isLast = item.payload.readableBytes == 0
        let frame = WebSocketFrame(
            item.hasBegun ? .continuation : item.opcode,
            length: length,
            isFinal: isLast,
            isCompressed: item.isCompressed && !item.hasBegun
        )
        item.hasBegun = true
        current = isLast ? nil : item
        isClosed = item.opcode == .close
        write(frame, payload, isLast ? item.completion : nil)
        return length
    }

    /// Compresses a message, unless it is too small.
    private func compressed(_ item: Item) -> Item {
        let size = item.payload.readableBytes
        // Compression of an empty message may give no bytes at all.
        guard let deflater, !item.opcode.isControl, size > 0, size >= minimumCompressedSize else { return item }
        var item = item
        item.payload = deflater.deflate(item.payload)
        item.isCompressed = true
        return item
    }

    private func write(_ frame: WebSocketFrame, _ payload: ByteBuffer, _ completion: Completion? = nil) {
        let key = UInt32.random(in: .min ... .max)
        let header = frame.encoded(maskedBy: key)
        var bytes = ByteBuffer()
        bytes.reserveCapacity(header.count + payload.readableBytes)
        bytes.writeBytes(header)
        bytes.writeImmutableBuffer(payload)
        bytes.withUnsafeMutableReadableBytes { all in
            WebSocketFrame.mask(.init(rebasing: all[header.count...]), with: key)
        }
        let written = loop.makePromise(of: Void.self)
        if let completion {
            written.futureResult.assumeIsolated().whenComplete { result in
                completion(result.mapError { .connectionEnded($0) })
            }
        }
        stream.write(bytes, written)
    }
}

extension HTTPError {
    /// The error for a message that was not sent, because the connection has ended.
    fileprivate static func connectionEnded(_ cause: any Error) -> Self {
        let reason = "the connection of the WebSocket ended before the message was sent"
        let errno = (cause as? IOError)?.errnoCode
        return .init(.connectionLost, processing: .maybeProcessed, reason: reason, errno: errno, cause: cause)
    }
}
