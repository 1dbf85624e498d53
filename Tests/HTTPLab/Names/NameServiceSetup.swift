import FoundationEssentials

/// The configuration of name lookups on this machine.
package enum NameServiceSetup {
    /// The first name server of /etc/resolv.conf with an IPv4 address; without one, glibc queries 127.0.0.1.
    package static let nameServer: String =
        lines(of: "/etc/resolv.conf").first { $0.first == "nameserver" && $0.last?.contains(":") == false }?.last
        ?? "127.0.0.1"

    /// Whether names are looked up only in /etc/hosts and by DNS, so that ``NameServer`` is queried.
    package static let isPlain: Bool = {
        let hosts = lines(of: "/etc/nsswitch.conf").first { $0.first == "hosts:" } ?? []
        return hosts.dropFirst().allSatisfy { ["files", "dns", "myhostname"].contains($0) }
    }()

    /// The reason for skipping a test otherwise.
    package static let advice = "names are looked up by more than /etc/hosts and DNS here (nsswitch.conf)"

    private static func lines(of path: String) -> [[String]] {
        guard let data = try? Data(contentsOf: URL(filePath: path)) else { return [] }
        return String(decoding: data, as: UTF8.self).split(separator: "\n").map { line in
            line.split { $0 == " " || $0 == "\t" }.map(String.init)
        }
    }
}
