import NetworkClient
import NetworkClientCore

extension Timeouts {
    /// For tests of something else than time: longer than any machine is busy, shorter than anybody waits.
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
    /// The defaults with limits that nobody reaches.
    static let lasting = Self(timeouts: .lasting)
}
