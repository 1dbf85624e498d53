/// Where `IFLA_INFO_DATA` of a kind of tunnel says where it leads (`if_tunnel.h`, `if_link.h`).
struct TunnelForm {
    /// The attributes of the remote address; of those that a message has, the one that is set counts.
    let remotes: [UInt16]
    /// The attribute of the interface below, where the kernel does not tell it by `IFLA_LINK`.
    var lower: UInt16?

    /// The form of a kind; nil for one that has none, or leads to no single place.
    init?(_ kind: String) {
        switch kind {
        // IFLA_GRE_REMOTE
        case "gre", "gretap", "erspan", "ip6gre", "ip6gretap", "ip6erspan": remotes = [7]
        // IFLA_IPTUN_REMOTE
        case "ipip", "sit", "ip6tnl": remotes = [3]
        // IFLA_VTI_REMOTE
        case "vti", "vti6": remotes = [5]
        // IFLA_VXLAN_GROUP, IFLA_VXLAN_GROUP6; IFLA_VXLAN_LINK
        case "vxlan":
            remotes = [2, 16]
            lower = 3
        // IFLA_GENEVE_REMOTE, IFLA_GENEVE_REMOTE6
        case "geneve": remotes = [2, 7]
        default: return nil
        }
    }

    /// The attribute in which an address of a family goes.
    func remote(_ family: AddressFamily) -> UInt16 {
        family == .ipv4 ? remotes[0] : remotes[remotes.count - 1]
    }
}
