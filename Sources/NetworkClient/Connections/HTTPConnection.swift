package import NIOCore
package import NIOHTTP1

/// A connection to a server or proxy that carries exchanges: HTTP/1.1 one at a time, other versions several.
///
/// Confined to its event loop: every member is called there.
package protocol HTTPConnection: AnyObject {
    /// The number by which its pool knows it.
    var id: Int { get }
    /// How many more exchanges it can start now; 0 once it is closed or takes no more.
    var capacity: Int { get }
    /// Whether it has carried another exchange before the one that was started last.
    var isReused: Bool { get }
    /// Whether it takes more of a request's body at once.
    var isWritable: Bool { get }
    /// How many bytes wait for the kernel.
    var unwrittenBytes: Int { get }

    /// Starts an exchange.
    ///
    /// - Returns: Whether it was started: the connection may have been closed meanwhile.
    func start(_ exchange: any HTTPExchange) -> Bool

    /// Ends an exchange of which nothing was sent; the connection is free for the next.
    func withdraw(_ exchange: any HTTPExchange)

    /// Sends the next part of an exchange's request.
    ///
    /// - Parameters:
    ///   - part: The head, a piece of the body, or the end.
    ///   - exchange: The exchange.
    ///   - flushes: Whether what was handed over is written now.
    ///   - promise: Fulfilled when the kernel has taken the part. Given with the end of a request, the request counts as
    ///     sent only then.
    func send(
        _ part: HTTPClientRequestPart,
        for exchange: any HTTPExchange,
        flushes: Bool,
        promise: EventLoopPromise<Void>?
    )

    /// Stops or resumes reading for an exchange; what comes meanwhile is kept for it.
    func setReading(_ isReading: Bool, for exchange: any HTTPExchange)

    /// Cancels an exchange; of HTTP/1.1, the connection is closed with it.
    ///
    /// The exchange is told by ``HTTPExchange/connectionHasEnded()``.
    func cancel(_ exchange: any HTTPExchange)

    /// Closes the connection, whatever it carries; once.
    func close()
}

extension HTTPConnection {
    /// Sends a part without waiting for the kernel.
    package func send(_ part: HTTPClientRequestPart, for exchange: any HTTPExchange, flushes: Bool) {
        send(part, for: exchange, flushes: flushes, promise: nil)
    }
}

/// One request and its response, as the connection sees them that carries both.
///
/// Confined to the connection's event loop.
package protocol HTTPExchange: AnyObject {
    /// Whether the request has a body.
    var hasRequestBody: Bool { get }
    /// What becomes of the exchange when the connection's path is lost.
    var pathLossPolicy: PathLossPolicy { get }
    /// When the last byte of the response's body came, or the request was sent.
    var lastActivity: NIODeadline { get }

    /// Receives the next part of the response; after the end, the connection forgets the exchange.
    func receive(_ part: HTTPClientResponsePart)
    /// The connection takes more of the request's body.
    func connectionIsWritable()
    /// The connection was lost, or what came on it is not HTTP.
    ///
    /// - Parameters:
    ///   - cause: The error, if there is one.
    ///   - hasResponseBegun: Whether a byte of the response has come.
    func connectionWasLost(_ cause: (any Error)?, hasResponseBegun: Bool)
    /// What came is no response to this request.
    func receiveUnexpected()
    /// The path of the connection is lost.
    func pathWasLost(_ loss: PathLoss)
    /// The connection was closed, or carries the exchange no more: nothing further is received.
    func connectionHasEnded()
}

/// The owner of connections, which gives them exchanges.
///
/// Confined to their event loop.
package protocol HTTPConnectionOwner: AnyObject {
    /// Whether connections are closed as soon as they are idle.
    var isClosing: Bool { get }
    /// An exchange has ended, and the connection can start another.
    func connectionIsFree(_ connection: any HTTPConnection)
    /// A connection is closed, or about to be.
    func connectionWasClosed(_ connection: any HTTPConnection, whileBusy: Bool)
}

/// Makes a connection that is open; called on the event loop to which it is confined.
package typealias ConnectionMaker = @Sendable (_ request: ConnectionRequest) throws -> any HTTPConnection

/// A connection as its pool wants it.
package struct ConnectionRequest {
    /// The number by which the pool knows it.
    package let id: Int
    /// The host of the URL.
    package let host: String
    /// The port of the URL.
    package let port: Int
    /// The pool.
    package let owner: any HTTPConnectionOwner
    /// The event loop to which the connection is confined.
    package let loop: any EventLoop
}
