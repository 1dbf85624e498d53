import NIOCore
import NIOHTTP2

/// The frames that an HTTP/2 connection sends, and the end of its channel.
///
/// Frames that are written in the same read, or the same turn of the event loop, share a packet. Confined to the
/// connection's event loop.
final class HTTP2Output {
    private let loop: any EventLoop
    private var context: ChannelHandlerContext?
    /// Whether frames were written that are not flushed yet.
    private var isFlushDue = false
    /// Whether the channel is being read: frames that are written meanwhile are flushed at the end of the read.
    var isInRead = false
    /// Whether the channel is closed, or about to be.
    private(set) var isClosed = false

    init(on loop: any EventLoop) { self.loop = loop }

    /// The channel; nil before the connection is in one, and after the end of the channel.
    var channel: (any Channel)? { context?.channel }

    /// Sets the place of the connection in the channel's pipeline; nil once it is removed.
    func attach(to context: ChannelHandlerContext?) { self.context = context }

    /// Writes a frame, which is flushed soon.
    func write(_ frame: HTTP2Frame, _ promise: EventLoopPromise<Void>? = nil) {
        guard let context else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        context.write(NIOAny(frame), promise: promise)
        guard !isFlushDue else { return }
        isFlushDue = true
        if !isInRead { loop.assumeIsolated().execute { [self] in flush() } }
    }

    /// Flushes the frames that were written.
    func flush() {
        guard isFlushDue else { return }
        isFlushDue = false
        context?.flush()
    }

    /// Closes the channel.
    ///
    /// - Parameters:
    ///   - inOrder: Whether nothing is in progress.
    ///   - restoration: The return of the path, until which the channel is not closed; nil if the path is not lost.
    func close(inOrder: Bool, after restoration: EventLoopFuture<Void>?) {
        isClosed = true
        guard let restoration, context?.channel.isActive == true else {
            context?.shut(inOrder: inOrder)
            return
        }
        try? context?.channel.syncOptions?.setOption(.autoRead, value: false)
        restoration.assumeIsolated().whenComplete { [self] _ in context?.shut(inOrder: inOrder) }
    }
}
