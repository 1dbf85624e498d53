package import ReachabilityCore

/// One request to the kernel: its description for errors, its type and flags, and its payload.
package struct RtnlRequest: Sendable {
    /// A description of its effect.
    package var description: String
    /// `RTM_*`.
    package var type: UInt16
    /// `NLM_F_*`; ``Rtnl`` adds `NLM_F_REQUEST` and, where it needs one, `NLM_F_ACK`.
    package var flags: NetlinkFlags
    /// The family's header and the attributes.
    package var payload: [UInt8]

    /// Makes a request; the body appends the family's header and the attributes.
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
