/// How fast a body is sent at most: packets with pauses between them.
public struct Throttle: Sendable, Hashable {
    /// How many bytes are sent at once.
    public let packetSize: Int
    /// How long the pause after each packet is.
    public let delay: Duration

    /// Makes a throttle; of packets smaller than a byte and of negative pauses it makes the smallest that there are.
    ///
    /// - Parameters:
    ///   - packetSize: How many bytes are sent at once; 16 KiB, unless told otherwise.
    ///   - delay: How long the pause after each is. With 200 ms, the default, 80 KiB go in a second, which lets other
    ///     requests through a mobile link that is slow.
    public init(packetSize: Int = 16_384, delay: Duration = .milliseconds(200)) {
        self.packetSize = max(1, packetSize)
        self.delay = max(.zero, delay)
    }
}
