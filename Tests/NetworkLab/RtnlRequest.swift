package import ReachabilityCore

/// One request to the kernel: what it is called in an error, its type and flags, and its payload.
package struct RtnlRequest: Sendable {
    /// What it does, for a person to read.
    package var description: String
    /// `RTM_*`.
    package var type: UInt16
    /// `NLM_F_*`; the speaker adds `NLM_F_REQUEST` and, where it wants one, `NLM_F_ACK`.
    package var flags: NetlinkFlags
    /// The family's head and the attributes.
    package var payload: [UInt8]

    /// Makes a request of which the body appends the family's head and the attributes.
    package init(
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
