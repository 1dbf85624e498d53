import NIOCore
import NIOEmbedded
import Testing

@testable import NetworkClient
@testable import NetworkClientCore

/// The order of frames on a stream that takes whatever is written.
@Suite struct WebSocketOutputTests {
    /// A stream that is always writable.
    private final class FastStream: UpgradedStream {
        private(set) var written: [ByteBuffer] = []
        let channel: (any Channel)? = nil
        let isWritable = true

        func write(_ bytes: ByteBuffer, _ promise: EventLoopPromise<Void>?) {
            written.append(bytes)
            promise?.succeed()
        }

        func start(_ receiver: any UpgradedStreamReceiver) {}
        func resume() {}
        func setReading(_ isReading: Bool) {}
        func finishOutput() {}
        func close(inOrder: Bool) {}
    }

    @Test func `a pong is sent within a large message, however fast the server takes it`() throws {
        let (loop, stream) = (EmbeddedEventLoop(), FastStream())
        let options = WebSocketOptions(maximumFrameSize: 64 << 10)
        let output = WebSocketOutput(stream, on: loop, options, .init())
        var isSent = false
        output.send(.init(repeating: 7, count: 8 << 20), isText: false, for: .init()) { _ in isSent = true }
        // The event loop has a turn before the message is sent.
        #expect(!isSent && stream.written.count < 128)
        output.pong(Array("now".utf8))
        loop.run()
        #expect(isSent)
        let opcodes = stream.written.compactMap { $0.getInteger(at: $0.readerIndex, as: UInt8.self) }.map { $0 & 0x0F }
        #expect(opcodes.count == 129 && opcodes.first == 2)
        #expect(opcodes.firstIndex(of: 10) ?? 129 < 128)
    }

    @Test func `a Close frame is whole, however small the frames of messages are`() throws {
        let (loop, stream) = (EmbeddedEventLoop(), FastStream())
        let output = WebSocketOutput(stream, on: loop, WebSocketOptions(maximumFrameSize: 4), .init())
        output.send(ByteBuffer(string: "message"), isText: true, for: .init()) { _ in }
        output.close(.init(.normal, reason: "goodbye"), discardsQueue: false)
        let heads = stream.written.map { Array($0.readableBytesView.prefix(2)) }
        // Text and its continuation, and the Close frame: final, masked, with 9 bytes.
        #expect(heads == [[0x01, 0x84], [0x80, 0x83], [0x88, 0x89]])
    }
}
