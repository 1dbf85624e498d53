/// How long each stage of a request may take; nil means without a limit of its own.
///
/// Each has an error of its own (``NetworkClientCore/Timeouts/Stage``), so that a log tells what was slow.
public struct Timeouts: Sendable, Hashable {
    /// Looking up the host's name.
    public var resolve: Duration?
    /// Connecting to one of the host's addresses, all attempts together (RFC 8305).
    public var connect: Duration?
    /// The TLS handshake.
    public var tls: Duration?
    /// From the last byte of the request to the first of the answer.
    public var firstByte: Duration?
    /// Between two reads of an answer.
    public var read: Duration?
    /// Without any byte of the request taken by the kernel while there are some to send.
    public var write: Duration?
    /// The whole request, its waits included.
    public var total: Duration?

    /// Sets each limit; the defaults are for a server on the internet.
    public init(
        resolve: Duration? = .seconds(10),
        connect: Duration? = .seconds(10),
        tls: Duration? = .seconds(10),
        firstByte: Duration? = .seconds(60),
        read: Duration? = .seconds(60),
        write: Duration? = .seconds(60),
        total: Duration? = nil
    ) {
        self.resolve = resolve
        self.connect = connect
        self.tls = tls
        self.firstByte = firstByte
        self.read = read
        self.write = write
        self.total = total
    }

    /// A stage that has a limit.
    public enum Stage: String, Sendable, Hashable, CaseIterable {
        /// Looking up the host's name.
        case resolve
        /// Connecting.
        case connect
        /// The TLS handshake.
        case tls
        /// Waiting for the first byte of the answer.
        case firstByte
        /// Between two reads.
        case read
        /// Writing.
        case write
        /// The whole request.
        case total
    }

    /// The limit of a stage.
    public subscript(stage: Stage) -> Duration? {
        switch stage {
        case .resolve: resolve
        case .connect: connect
        case .tls: tls
        case .firstByte: firstByte
        case .read: read
        case .write: write
        case .total: total
        }
    }
}
