import NetworkClient
import NetworkClientCore

extension Timeouts {
    /// For tests that do not depend on time: longer than any machine is busy, shorter than anyone waits.
    static let lasting = Self(
        resolve: .seconds(300),
        connect: .seconds(300),
        tls: .seconds(300),
        firstByte: .seconds(300),
        read: .seconds(300),
        write: .seconds(300)
    )
}

extension HTTPConfiguration {
    /// The defaults with timeouts that are never reached.
    static let lasting = Self(timeouts: .lasting)
}
