public import ReachabilityCore

/// One request to the kernel: what it is called in an error, its type and flags, and its payload.
public struct RtnlRequest: Sendable {
    /// What it does, for a person to read.
    public var description: String
    /// `RTM_*`.
    public var type: UInt16
    /// `NLM_F_*`; the speaker adds `NLM_F_REQUEST` and, where it wants one, `NLM_F_ACK`.
    public var flags: NetlinkFlags
    /// The family's head and the attributes.
    public var payload: [UInt8]

    /// Makes a request of which the body appends the family's head and the attributes.
    public init(
        _ description: String,
        type: UInt16,
        flags: NetlinkFlags = [],
        _ body: (inout NetlinkMessageBuilder) -> Void
    ) {
        self.description = description
        self.type = type
        self.flags = flags
        var builder = NetlinkMessageBuilder(type: type)
        body(&builder)
        payload = Array(builder.build().dropFirst(NetlinkHeader.size))
    }
}
