/// Where `IFLA_INFO_DATA` of a kind of tunnel says how its own packets are routed (`if_tunnel.h`, `if_link.h`).
struct TunnelForm {
    /// The attributes of the remote address; of those that a message has, the one that is set counts.
    let remotes: [UInt16]
    /// The attributes of the source address; none for a kind whose source the kernel always selects.
    var sources: [UInt16] = []
    /// The attribute of the TOS field.
    var tos: UInt16?
    /// The attribute of the packets' mark.
    var mark: UInt16?
    /// The attribute of the interface below, where the kernel does not tell it by `IFLA_LINK`.
    var lower: UInt16?

    /// The form of a kind; nil for one that has none, or leads to no single place.
    init?(_ kind: String) {
        switch kind {
        // IFLA_GRE_REMOTE, IFLA_GRE_LOCAL, IFLA_GRE_TOS, IFLA_GRE_FWMARK
        case "gre", "gretap", "erspan", "ip6gre", "ip6gretap", "ip6erspan":
            (remotes, sources, tos, mark) = ([7], [6], 9, 20)
        // IFLA_IPTUN_REMOTE, IFLA_IPTUN_LOCAL, IFLA_IPTUN_TOS, IFLA_IPTUN_FWMARK
        case "ipip", "sit", "ip6tnl": (remotes, sources, tos, mark) = ([3], [2], 5, 20)
        // IFLA_VTI_REMOTE, IFLA_VTI_LOCAL, IFLA_VTI_FWMARK
        case "vti", "vti6": (remotes, sources, mark) = ([5], [4], 6)
        // IFLA_VXLAN_GROUP, IFLA_VXLAN_GROUP6; IFLA_VXLAN_LOCAL, IFLA_VXLAN_LOCAL6; IFLA_VXLAN_TOS; IFLA_VXLAN_LINK
        case "vxlan": (remotes, sources, tos, lower) = ([2, 16], [4, 17], 6, 3)
        // IFLA_GENEVE_REMOTE, IFLA_GENEVE_REMOTE6; IFLA_GENEVE_TOS
        case "geneve": (remotes, tos) = ([2, 7], 4)
        default: return nil
        }
    }

    /// The attribute in which a remote address of a family goes.
    func remote(_ family: AddressFamily) -> UInt16 {
        family == .ipv4 ? remotes[0] : remotes[remotes.count - 1]
    }

    /// The attribute in which a source address of a family goes; nil if the kind has none.
    func source(_ family: AddressFamily) -> UInt16? { family == .ipv4 ? sources.first : sources.last }
}
