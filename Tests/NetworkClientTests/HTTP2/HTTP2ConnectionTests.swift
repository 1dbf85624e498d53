import HTTPLab
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import NetworkClient

/// An HTTP/2 connection whose channel accepts bytes only when the test says so.
struct HTTP2ConnectionTests {
    private typealias Kind = LabHTTP2Frame.Kind

    /// Frames with a number of MiB of a response's body.
    private func body(mebibytes: Int, on stream: UInt32) -> [LabHTTP2Frame] {
        [LabHTTP2Frame](
            repeating: .data([UInt8](repeating: 1, count: 16_384), on: stream),
            count: mebibytes * 64
        )
    }

    @Test func `a window is returned once while nothing can be written`() throws {
        let lab = try HTTP2ConnectionLab()
        let exchanges = (0..<3).map { _ in lab.request() }
        lab.setWritable(false)
        for stream: UInt32 in [1, 3, 5] {
            try lab.receive(.headers([(":status", "200")], on: stream))
            try lab.receive(body(mebibytes: 3, on: stream))
        }
        _ = try lab.sentFrames()
        lab.setWritable(true)
        let updates = try lab.sentFrames().filter { $0.kind == Kind.windowUpdate }
        #expect(updates.filter { $0.stream == 0 }.map { $0.number(at: 0) } == [8 << 20])
        for stream: UInt32 in [1, 3, 5] {
            #expect(updates.filter { $0.stream == stream }.map { $0.number(at: 0) } == [2 << 20])
        }
        // What was returned is returned again as it is used.
        try lab.receive(body(mebibytes: 1, on: 1))
        #expect(try lab.sentFrames().filter { $0.stream == 1 }.map { $0.number(at: 0) } == [2 << 20])
        #expect(exchanges.allSatisfy { !$0.hasFailed })
        _ = try lab.channel.finish(acceptAlreadyClosed: true)
    }

    @Test func `a stream that ends before its window is returned fails no other`() throws {
        let lab = try HTTP2ConnectionLab()
        let (first, second) = (lab.request(), lab.request())
        lab.setWritable(false)
        try lab.receive(.headers([(":status", "200")], on: 1))
        try lab.receive(body(mebibytes: 2, on: 1))
        try lab.receive(.data([1], on: 1, ends: true))
        #expect(first.hasEnd)
        lab.setWritable(true)
        #expect(!second.hasFailed)
        #expect(!lab.connection.isClosed)
        try lab.respond(on: 3)
        #expect(second.hasEnd)
        // A violation still ends the connection.
        let third = lab.request()
        try lab.receive(.windowUpdate(0))
        #expect(third.hasFailed)
        #expect(lab.connection.isClosed)
        _ = try lab.channel.finish(acceptAlreadyClosed: true)
    }

    @Test func `a request whose head waits for its body is resent after GOAWAY`() throws {
        let lab = try HTTP2ConnectionLab()
        let (first, second) = (lab.request(), lab.begin())
        try lab.receive(.goAway(1))
        #expect(second.isUnprocessed)
        lab.connection.send(.body(.byteBuffer(ByteBuffer(bytes: [1]))), for: second, flushes: true)
        lab.channel.embeddedEventLoop.run()
        #expect(!first.hasFailed)
        try lab.respond(on: 1)
        #expect(first.hasEnd)
        #expect(try lab.sentFrames().filter { $0.kind == Kind.headers }.map(\.stream) == [1])
        _ = try lab.channel.finish(acceptAlreadyClosed: true)
    }

    @Test func `a malformed response fails its request only, also while nothing can be written`() throws {
        let lab = try HTTP2ConnectionLab()
        let (first, second) = (lab.request(), lab.request())
        lab.setWritable(false)
        try lab.receive(.headers([(":status", "200"), ("connection", "close")], on: 1))
        #expect(!second.hasFailed)
        #expect(!lab.connection.isClosed)
        lab.setWritable(true)
        #expect(first.hasFailed)
        #expect(try lab.sentFrames().filter { $0.kind == Kind.reset }.map(\.stream) == [1])
        try lab.respond(on: 3)
        #expect(second.hasEnd)
        _ = try lab.channel.finish(acceptAlreadyClosed: true)
    }

    @Test func `each of several malformed responses fails its request, also one that was cancelled meanwhile`() throws {
        let lab = try HTTP2ConnectionLab()
        let (first, second, third, fourth) = (lab.request(), lab.request(), lab.request(), lab.request())
        lab.setWritable(false)
        for stream: UInt32 in [1, 3, 5] {
            try lab.receive(.headers([(":status", "200"), ("connection", "close")], on: stream))
        }
        lab.connection.cancel(first)
        lab.setWritable(true)
        #expect(!first.hasFailed && second.hasFailed && third.hasFailed && !fourth.hasFailed)
        // An error from then on is that of its own stream.
        let fifth = lab.request()
        try lab.receive(.headers([(":status", "200"), ("connection", "close")], on: 7))
        #expect(fourth.hasFailed && !fifth.hasFailed && !lab.connection.isClosed)
        try lab.respond(on: 9)
        #expect(fifth.hasEnd)
        _ = try lab.channel.finish(acceptAlreadyClosed: true)
    }

    @Test func `a request whose head waits for the kernel is resent after GOAWAY`() throws {
        let lab = try HTTP2ConnectionLab()
        let first = lab.request()
        lab.setWritable(false)
        let second = lab.request()
        try lab.receive(.goAway(0x7FFF_FFFF))
        #expect(second.isUnprocessed)
        lab.setWritable(true)
        #expect(!first.hasFailed)
        try lab.respond(on: 1)
        #expect(first.hasEnd)
        #expect(try lab.sentFrames().filter { $0.kind == Kind.headers }.map(\.stream) == [1])
        _ = try lab.channel.finish(acceptAlreadyClosed: true)
    }

    @Test func `a request whose head waits for the kernel is not lost with its connection`() throws {
        let lab = try HTTP2ConnectionLab()
        let first = lab.request()
        lab.setWritable(false)
        let (second, third) = (lab.request(), lab.begin())
        _ = try lab.channel.finish(acceptAlreadyClosed: true)
        #expect(first.hasFailed && !first.isUnprocessed)
        #expect(second.isUnprocessed)
        #expect(third.isUnprocessed)
    }

    @Test func `a request whose head waits when the stream numbers run out is resent on another connection`() throws {
        let numbers: [UInt32] = [0x7FFF_FFFD, 0x7FFF_FFFF]
        let lab = try HTTP2ConnectionLab(firstStream: Int(numbers[0]))
        let waiting = lab.begin()
        let first = lab.request()
        #expect(!waiting.hasFailed && lab.connection.capacity > 0)
        let last = lab.request()
        #expect(waiting.isUnprocessed)
        #expect(lab.connection.capacity == 0 && !lab.connection.isClosed)
        lab.connection.send(.body(.byteBuffer(ByteBuffer(bytes: [1]))), for: waiting, flushes: true)
        lab.channel.embeddedEventLoop.run()
        for number in numbers { try lab.respond(on: number) }
        #expect(first.hasEnd && last.hasEnd)
        #expect(lab.connection.isClosed)
        #expect(try lab.sentFrames().filter { $0.kind == Kind.headers }.map(\.stream) == numbers)
        _ = try lab.channel.finish(acceptAlreadyClosed: true)
    }

    @Test(arguments: [false, true])
    func `a response that ends before its request is sent frees the stream's place`(isPaused: Bool) throws {
        let lab = try HTTP2ConnectionLab()
        let capacity = lab.connection.capacity
        let exchange = lab.begin()
        // More than the server's window of 65,535 bytes.
        let body = ByteBuffer(repeating: 1, count: 100_000)
        lab.connection.send(.body(.byteBuffer(body)), for: exchange, flushes: false)
        lab.connection.send(.end(nil), for: exchange, flushes: true)
        lab.channel.embeddedEventLoop.run()
        if isPaused { lab.connection.setReading(false, for: exchange) }
        try lab.respond(on: 1)
        #expect(exchange.hasEnd == !isPaused)
        lab.connection.setReading(true, for: exchange)
        lab.channel.embeddedEventLoop.run()
        #expect(exchange.hasEnd)
        #expect(lab.connection.capacity == capacity)
        #expect(try lab.sentFrames().last == .reset(8, on: 1))
        _ = try lab.channel.finish(acceptAlreadyClosed: true)
    }

    @Test func `a response that ends after its request is sent needs no reset`() throws {
        let lab = try HTTP2ConnectionLab()
        let capacity = lab.connection.capacity
        let exchange = lab.request()
        try lab.respond(on: 1)
        #expect(exchange.hasEnd)
        #expect(lab.connection.capacity == capacity)
        #expect(try lab.sentFrames().filter { $0.kind == Kind.reset } == [])
        _ = try lab.channel.finish(acceptAlreadyClosed: true)
    }

    @Test func `a complete response that is held for its reader is not lost with the path`() throws {
        let lab = try HTTP2ConnectionLab()
        let (first, second) = (lab.request(), lab.request())
        lab.connection.setReading(false, for: first)
        try lab.respond(on: 1)
        lab.connection.pathWasLost(.addressGone, until: nil)
        #expect(!first.hasFailed)
        #expect(second.hasFailed)
        lab.connection.setReading(true, for: first)
        #expect(first.receivedBytes == 1)
        #expect(first.hasEnd)
        _ = try lab.channel.finish(acceptAlreadyClosed: true)
    }

    @Test func `small pieces of a held response are joined`() throws {
        let lab = try HTTP2ConnectionLab()
        let stream = HTTP2Stream(StandInExchange(lab.connection), window: 1 << 20)
        stream.isReading = false
        stream.hold(.head(.init(version: .http1_1, status: .ok)))
        for index in 0..<1000 { stream.hold(.body(ByteBuffer(bytes: [UInt8(index % 256)]))) }
        stream.hold(.body(ByteBuffer(repeating: 1, count: 4096)))
        stream.hold(.end(nil))
        #expect(stream.held?.parts.count == 4)
        #expect(stream.heldBytes == 5096)
        guard case .head? = stream.takeHeldPart(), case .body(let joined)? = stream.takeHeldPart() else {
            Issue.record("the parts are in another order")
            return
        }
        #expect(Array(joined.readableBytesView) == (0..<1000).map { UInt8($0 % 256) })
        #expect(stream.heldBytes == 4096)
        _ = try lab.channel.finish(acceptAlreadyClosed: true)
    }

    // MARK: Liveness

    @Test func `a connection whose exchange timed out starts no other one before a PING is acknowledged`() throws {
        let lab = try HTTP2ConnectionLab()
        let (first, second) = (lab.request(), lab.request())
        let capacity = lab.connection.capacity
        lab.connection.checkLiveness()
        lab.connection.cancel(first)
        lab.channel.embeddedEventLoop.run()
        let ping = try #require(try lab.sentFrames().first { $0.kind == Kind.ping })
        #expect(lab.connection.capacity == 0 && !lab.connection.start(StandInExchange(lab.connection)))
        // Another byte shows that the connection works, but not that it works in time.
        try lab.respond(on: 3)
        #expect(second.hasEnd && lab.connection.capacity == 0)
        lab.connection.deadlinePassed(.read, at: .now())
        #expect(!lab.connection.isClosed)
        try lab.receive(.init(Kind.ping, flags: 1, ping.payload))
        #expect(lab.connection.capacity == capacity + 2)
        #expect(!lab.request().hasFailed)
        _ = try lab.channel.finish(acceptAlreadyClosed: true)
    }

    @Test func `a connection that stays silent after a PING is closed with its exchanges`() throws {
        let lab = try HTTP2ConnectionLab()
        let (first, second) = (lab.request(), lab.request())
        lab.connection.checkLiveness()
        lab.connection.cancel(first)
        lab.connection.deadlinePassed(.read, at: .now() + .hours(1))
        #expect(second.hasFailed && !second.isUnprocessed && lab.connection.isClosed)
        _ = try lab.channel.finish(acceptAlreadyClosed: true)
    }

    @Test func `requests that are cancelled after a second of silence send one PING`() throws {
        let lab = try HTTP2ConnectionLab()
        let exchanges = (0..<3).map { _ in lab.request() }
        let capacity = lab.connection.capacity
        let now = NIODeadline.now() + .seconds(1)
        for exchange in exchanges {
            lab.connection.checkLiveness(beforeCancelling: exchange, at: now)
            lab.connection.cancel(exchange)
        }
        lab.channel.embeddedEventLoop.run()
        #expect(lab.connection.capacity == 0 && !lab.connection.isClosed)
        let pings = try lab.sentFrames().filter { $0.kind == Kind.ping }
        #expect(pings.count == 1)
        let ping = try #require(pings.first)
        try lab.receive(.init(Kind.ping, flags: 1, ping.payload))
        #expect(lab.connection.capacity == capacity + 3)
        _ = try lab.channel.finish(acceptAlreadyClosed: true)
    }

    @Test func `requests that are cancelled early send no PING`() throws {
        let lab = try HTTP2ConnectionLab()
        let sent = NIODeadline.now()
        for _ in 0..<1000 {
            let exchange = lab.request()
            exchange.lastActivity = sent
            lab.connection.checkLiveness(beforeCancelling: exchange, at: sent + .milliseconds(900))
            lab.connection.cancel(exchange)
        }
        lab.channel.embeddedEventLoop.run()
        #expect(lab.connection.capacity > 0)
        #expect(try lab.sentFrames().filter { $0.kind == Kind.ping } == [])
        _ = try lab.channel.finish(acceptAlreadyClosed: true)
    }

    @Test func `requests that are cancelled early, one after the other, have a silent connection checked`() throws {
        let lab = try HTTP2ConnectionLab()
        let sent = NIODeadline.now()
        for delay: Int64 in [0, 400, 800] {
            #expect(lab.connection.capacity > 0)
            let exchange = lab.request()
            exchange.lastActivity = sent + .milliseconds(delay)
            lab.connection.checkLiveness(beforeCancelling: exchange, at: sent + .milliseconds(delay + 300))
            lab.connection.cancel(exchange)
        }
        #expect(lab.connection.capacity == 0)
        _ = try lab.channel.finish(acceptAlreadyClosed: true)
    }

    @Test func `requests that are cancelled early, with a pause between them, send no PING`() throws {
        let lab = try HTTP2ConnectionLab()
        let sent = NIODeadline.now()
        for second: Int64 in [0, 10, 20] {
            let exchange = lab.request()
            exchange.lastActivity = sent + .seconds(second)
            lab.connection.checkLiveness(beforeCancelling: exchange, at: sent + .seconds(second) + .milliseconds(100))
            lab.connection.cancel(exchange)
        }
        #expect(lab.connection.capacity > 0)
        _ = try lab.channel.finish(acceptAlreadyClosed: true)
    }

    @Test func `a connection is not checked for a cancelled request after it has received another response`() throws {
        let lab = try HTTP2ConnectionLab()
        let (first, second) = (lab.request(), lab.request())
        first.lastActivity = NIODeadline.now() - .seconds(10)
        try lab.respond(on: 3)
        #expect(second.hasEnd)
        lab.connection.checkLiveness(beforeCancelling: first, at: lab.connection.lastByte + .milliseconds(900))
        #expect(lab.connection.capacity > 0)
        lab.connection.checkLiveness(beforeCancelling: first, at: lab.connection.lastByte + .seconds(1))
        #expect(lab.connection.capacity == 0)
        _ = try lab.channel.finish(acceptAlreadyClosed: true)
    }

    @Test func `a connection is not checked for a cancelled request that was not sent or is not read`() throws {
        let lab = try HTTP2ConnectionLab()
        let (unread, unsent) = (lab.request(), lab.begin())
        lab.connection.setReading(false, for: unread)
        for exchange in [unread, unsent] {
            lab.connection.checkLiveness(beforeCancelling: exchange, at: .now() + .hours(1))
        }
        #expect(lab.connection.capacity > 0)
        _ = try lab.channel.finish(acceptAlreadyClosed: true)
    }
}
