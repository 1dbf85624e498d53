package import NIOCore
package import NIOHTTP1

/// A connection to a server or proxy that carries exchanges: HTTP/1.1 one at a time, other versions several.
///
/// Confined to its event loop: every member is called there.
package protocol HTTPConnection: AnyObject {
    /// The number that identifies it in its pool.
    var id: Int { get }
    /// The number of further exchanges that it can start now; 0 once it is closed or accepts no more.
    var capacity: Int { get }
    /// Whether it can carry several exchanges at a time, which end without it.
    var isMultiplexed: Bool { get }
    /// Whether it carried another exchange before the one that was started last.
    var isReused: Bool { get }
    /// Whether its server lets a stream carry another protocol, such as WebSocket (extended CONNECT; RFC 8441, 3).
    var allowsExtendedConnect: Bool { get }

    /// Returns whether it accepts more of an exchange's body now.
    func isWritable(for exchange: any HTTPExchange) -> Bool

    /// Returns the number of an exchange's bytes that the kernel has not accepted yet.
    func unwrittenBytes(of exchange: any HTTPExchange) -> Int

    /// Starts an exchange.
    ///
    /// - Returns: Whether it was started; false if the connection has been closed.
    func start(_ exchange: any HTTPExchange) -> Bool

    /// Ends an exchange that has sent nothing; the connection is free for the next one.
    func withdraw(_ exchange: any HTTPExchange)

    /// Sends the next part of an exchange's request.
    ///
    /// - Parameters:
    ///   - part: The head, a piece of the body, or the end.
    ///   - exchange: The exchange.
    ///   - flushes: Whether to flush the parts that were passed.
    ///   - promise: Fulfilled when the kernel has accepted the part. If one is passed with the end of a request, the
    ///     request counts as sent only then.
    func send(
        _ part: HTTPClientRequestPart,
        for exchange: any HTTPExchange,
        flushes: Bool,
        promise: EventLoopPromise<Void>?
    )

    /// Stops or resumes reading for an exchange; what is received meanwhile is kept for it.
    func setReading(_ isReading: Bool, for exchange: any HTTPExchange)

    /// Cancels an exchange. An HTTP/1.1 connection is closed with it.
    ///
    /// The connection calls ``HTTPExchange/connectionHasEnded()``.
    func cancel(_ exchange: any HTTPExchange)

    /// Checks whether the connection still works, because an exchange has timed out on it.
    ///
    /// It starts no exchange until then, and is lost if nothing is received. Without effect, the default, if it ends with its
    /// exchange.
    func checkLiveness()

    /// Does as ``checkLiveness()`` if nothing was received on the connection since a time.
    func checkLiveness(ifSilentSince time: NIODeadline)

    /// Does as ``checkLiveness()`` if the program cancels an exchange that has waited while nothing was received.
    ///
    /// - Parameters:
    ///   - exchange: The exchange; ``cancel(_:)`` follows.
    ///   - now: The current time.
    func checkLiveness(beforeCancelling exchange: any HTTPExchange, at now: NIODeadline)

    /// Closes the connection, with the exchanges that it carries; called once.
    func close()

    /// Releases the stream of an exchange whose response opens another protocol.
    ///
    /// The exchange is not called again. An HTTP/1.1 connection has left its pool; an HTTP/2 connection still counts the
    /// stream. What is received is kept until reading is resumed.
    ///
    /// - Returns: The stream; nil, the default, if the connection can't release it.
    func releaseStream(of exchange: any HTTPExchange) -> (any UpgradedStream)?
}

extension HTTPConnection {
    package var isMultiplexed: Bool { false }

    package var allowsExtendedConnect: Bool { false }

    package func checkLiveness() {}

    package func checkLiveness(ifSilentSince time: NIODeadline) {}

    package func checkLiveness(beforeCancelling exchange: any HTTPExchange, at now: NIODeadline) {}

    package func releaseStream(of exchange: any HTTPExchange) -> (any UpgradedStream)? { nil }

    /// Sends a part without waiting for the kernel.
    package func send(_ part: HTTPClientRequestPart, for exchange: any HTTPExchange, flushes: Bool) {
        send(part, for: exchange, flushes: flushes, promise: nil)
    }
}

/// One request and its response, as the connection that carries them sees it.
///
/// Confined to the connection's event loop.
package protocol HTTPExchange: AnyObject {
    /// Whether the request has a body.
    var hasRequestBody: Bool { get }
    /// The reaction to the loss of the connection's path.
    var pathLossPolicy: PathLossPolicy { get }
    /// The time when the last byte of the response's body was received, or the request was sent.
    var lastActivity: NIODeadline { get }

    /// Receives the next part of the response. After the end, the connection releases the exchange.
    func receive(_ part: HTTPClientResponsePart)
    /// Called when the connection accepts more of the request's body.
    func connectionIsWritable()
    /// Called when the connection was lost, or the received bytes are not HTTP.
    ///
    /// - Parameters:
    ///   - cause: The error, if there is one.
    ///   - hasResponseBegun: Whether a byte of the response has been received.
    func connectionWasLost(_ cause: (any Error)?, hasResponseBegun: Bool)
    /// Called when the exchange has failed, on a connection that may carry others.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - isUnprocessed: Whether the server has not processed the request, which can be sent again (RFC 9113, 8.7).
    func exchangeFailed(_ error: HTTPError, isUnprocessed: Bool)
    /// Called for a response that changes the protocol (101).
    func receiveSwitch(_ head: HTTPResponseHead)
    /// Called for a response that can't belong to this request.
    func receiveUnexpected()
    /// Called when the path of the connection is lost.
    func pathWasLost(_ loss: PathLoss)
    /// Called when the connection was closed, or no longer carries the exchange: nothing further is received.
    func connectionHasEnded()
}

/// The owner of connections, which starts exchanges on them.
///
/// Confined to their event loop.
package protocol HTTPConnectionOwner: AnyObject {
    /// Whether connections are closed as soon as they are idle.
    var isClosing: Bool { get }
    /// Called when an exchange has ended, and the connection can start another one.
    func connectionIsFree(_ connection: any HTTPConnection)
    /// Called when the number of exchanges changes that a connection can carry at a time.
    ///
    /// - Parameters:
    ///   - connection: The connection.
    ///   - limit: The number.
    ///   - isFinal: Whether it accepts no more exchanges, and closes itself after the last one.
    func connectionLimitChanged(_ connection: any HTTPConnection, to limit: Int, isFinal: Bool)
    /// Called when a connection's server requires HTTP/1.1 (RFC 9113, 7).
    func connectionRequiresHTTP1(_ connection: any HTTPConnection)
    /// Called when a connection is closed, or about to be.
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
