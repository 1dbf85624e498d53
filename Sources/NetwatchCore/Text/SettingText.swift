public import ReachabilityCore

/// Names of settings, as sysctl(8) has them.
public enum SettingText {
    /// `net.ipv4.conf.eth0.ignore_routes_with_linkdown`, as a word for a shell.
    ///
    /// A dot in an interface's name is written as a slash, as dots separate the parts.
    public static func linkDown(_ name: String, _ family: AddressFamily) -> String {
        let interface = String(name.map { $0 == "." ? "/" : $0 }).shellWord
        return "net.\(family == .ipv4 ? "ipv4" : "ipv6").conf.\(interface).ignore_routes_with_linkdown"
    }
}
