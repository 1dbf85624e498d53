/// An interface through which a requirement leaves no way, and why.
public struct RuledOutInterface: Sendable, Hashable {
    /// The interface.
    public var interface: NetworkInterface
    /// What speaks against it.
    public var reason: Reason

    /// Sets both.
    public init(_ interface: NetworkInterface, _ reason: Reason) {
        self.interface = interface
        self.reason = reason
    }
}
