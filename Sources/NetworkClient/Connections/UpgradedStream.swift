package import NIOCore

/// The bytes of both directions after a response that opens another protocol: those of a channel (101; RFC 9110, 15.2.2), or
/// those of a stream of an HTTP/2 connection (RFC 8441).
///
/// Confined to its event loop.
package protocol UpgradedStream: AnyObject {
    /// The channel that it has to itself; nil if it shares the channel of an HTTP/2 connection, which follows its own path.
    var channel: (any Channel)? { get }
    /// Whether more bytes are accepted now.
    var isWritable: Bool { get }

    /// Sets the receiver, which is called after ``resume()``.
    func start(_ receiver: any UpgradedStreamReceiver) throws

    /// Passes what was received after the response, and begins to read.
    func resume()

    /// Stops or resumes reading.
    func setReading(_ isReading: Bool)

    /// Sends bytes; the promise is fulfilled when the kernel has accepted them.
    func write(_ bytes: ByteBuffer, _ promise: EventLoopPromise<Void>?)

    /// Ends the direction to the server, if the other one can stay open: nothing else is written.
    func finishOutput()

    /// Checks whether the connection that it shares still works, because the other side is silent; without effect, the default,
    /// if it shares none.
    func checkLiveness()

    /// Closes both directions.
    ///
    /// - Parameter inOrder: Whether nothing is in progress.
    func close(inOrder: Bool)
}

extension UpgradedStream {
    package func checkLiveness() {}
}

/// The receiver of an upgraded stream's bytes; confined to the stream's event loop.
package protocol UpgradedStreamReceiver: AnyObject {
    /// Called with received bytes.
    func receive(_ bytes: ByteBuffer)

    /// Called when more bytes are accepted.
    func streamIsWritable()

    /// Called when the stream has ended, or was lost because of an error.
    func streamEnded(_ cause: (any Error)?)

    /// Called when the path of a shared channel is lost, after which nothing further is received.
    ///
    /// - Parameters:
    ///   - loss: The loss.
    ///   - restoration: The return of a path, before which the stream must not be closed; nil for none.
    func pathWasLost(_ loss: PathLoss, until restoration: EventLoopFuture<Void>?)
}

/// A channel that an HTTP/1.1 connection has released; its last handler.
final class UpgradedChannel: ChannelInboundHandler, UpgradedStream {
    typealias InboundIn = ByteBuffer

    private let released: any Channel
    private var forward: (() -> Void)?
    private var context: ChannelHandlerContext?
    private var receiver: (any UpgradedStreamReceiver)?

    /// Creates the stream of a channel.
    ///
    /// - Parameters:
    ///   - channel: The channel, with the handlers for TLS and the proxy.
    ///   - forward: Forwards the bytes that were received after the response; called when the handler is in place.
    init(_ channel: any Channel, forward: @escaping () -> Void) { (released, self.forward) = (channel, forward) }

    var channel: (any Channel)? { released }

    var isWritable: Bool { released.isWritable && released.isActive }

    func start(_ receiver: any UpgradedStreamReceiver) throws {
        self.receiver = receiver
        try released.pipeline.syncOperations.addHandler(self)
    }

    func resume() {
        setReading(true)
        forward.take()?()
    }

    func setReading(_ isReading: Bool) { try? released.syncOptions?.setOption(.autoRead, value: isReading) }

    func write(_ bytes: ByteBuffer, _ promise: EventLoopPromise<Void>?) {
        released.writeAndFlush(bytes, promise: promise)
    }

    func finishOutput() {}

    func close(inOrder: Bool) { context?.shut(inOrder: inOrder) }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { (self.context, receiver) = (nil, nil) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { receiver?.receive(unwrapInboundIn(data)) }

    func channelInactive(context: ChannelHandlerContext) {
        receiver?.streamEnded(nil)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        receiver?.streamEnded(error)
        context.shut(inOrder: false)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        receiver?.streamIsWritable()
        context.fireChannelWritabilityChanged()
    }
}
