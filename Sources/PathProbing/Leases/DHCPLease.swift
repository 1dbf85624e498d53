package import ReachabilityCore
package import ValidationCore

/// A DHCP lease, as far as it concerns captive portals (RFC 8910, 2.1).
package struct DHCPLease: Sendable, Hashable {
    /// The leased address.
    package var address: IPAddress
    /// The end in seconds since 1970; nil if it never ends.
    package var end: Int64?
    /// The content of option 114: the URI of the portal's API; nil without that option.
    package var portalURL: String?

    /// Creates a lease.
    package init(address: IPAddress, end: Int64?, portalURL: String?) {
        self.address = address
        self.end = end
        self.portalURL = portalURL
    }

    /// The maximum number of bytes of a file that is parsed.
    package static let maximumLength = 65_536
    /// The code of the option.
    static let portalOption: UInt8 = 114

    /// Returns the URI of the portal's API, if the lease is valid and of the path.
    ///
    /// Files of leases outlive the programs that write them, and interface indexes are reused. So the lease's address must be
    /// the path's own.
    ///
    /// - Parameters:
    ///   - path: The current path.
    ///   - now: The current time in seconds since 1970.
    /// - Returns: An `https` URL, which is not checked otherwise; nil if there is none.
    package func portalURL(of path: ValidationPath, at now: Int64) -> String? {
        guard path.networks.contains(.init(address, length: 32)), end.map({ $0 > now }) ?? true else { return nil }
        return portalURL.flatMap { PortalURL.isUsable($0) ? $0 : nil }
    }

    /// Returns the end of a lease that began at one time and lasts for a number of seconds; the largest number is for ever
    /// (RFC 2131, 3.3).
    static func end(after start: Int64, _ seconds: Int64?) -> Int64? {
        guard let seconds, seconds >= 0, seconds < UInt32.max else { return nil }
        let (sum, overflows) = start.addingReportingOverflow(seconds)
        return overflows ? nil : sum
    }
}

extension DHCPLease {
    /// Decodes a lease of systemd-networkd (249 to 257).
    ///
    /// The option is in the state of the link since 254 (`CAPTIVE_PORTAL`), the rest in the lease.
    ///
    /// - Parameters:
    ///   - lease: The content of `/run/systemd/netif/leases/INDEX`.
    ///   - state: The content of `/run/systemd/netif/links/INDEX`.
    ///   - start: When the lease was written, in seconds since 1970.
    package init?(networkd lease: [UInt8], state: [UInt8], from start: Int64) {
        let lease = AssignmentFile(lease)
        guard let address = lease["ADDRESS"].flatMap({ IPAddress($0) }), address.family == .ipv4 else { return nil }
        let end = Self.end(after: start, lease["LIFETIME"].flatMap { Int64($0) })
        self.init(address: address, end: end, portalURL: AssignmentFile(state)["CAPTIVE_PORTAL"])
    }

    /// Decodes a lease of NetworkManager (1.42): the group `dhcp4` of its state of a device.
    ///
    /// It has the option as `default_url` from the client `dhclient`; the internal client of 1.42 drops it.
    ///
    /// - Parameter state: The content of `/run/NetworkManager/devices/INDEX`.
    package init?(networkManager state: [UInt8]) {
        let group = AssignmentFile(state, group: "dhcp4")
        func value(_ name: String) -> String? { group["dhcp4.\(name)"] ?? group[name] }
        guard let address = value("ip_address").flatMap({ IPAddress($0) }), address.family == .ipv4 else { return nil }
        let portalURL = value("default_url") ?? value("captive_portal")
        self.init(address: address, end: value("expiry").flatMap { Int64($0) }, portalURL: portalURL)
    }
}

/// A file with lines such as `NAME=value`, and perhaps groups of them: `[group]` (`g_key_file`(3)).
private struct AssignmentFile {
    private var values: [Substring: Substring] = [:]

    /// Parses the lines of a group, or of the whole file if nil; the first of several values counts.
    init(_ bytes: [UInt8], group: String? = nil) {
        guard bytes.count <= DHCPLease.maximumLength else { return }
        var isInGroup = group == nil
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            if line.hasPrefix("["), let group {
                isInGroup = line == "[\(group)]"
            } else if isInGroup, !line.hasPrefix("#"), let sign = line.firstIndex(of: "=") {
                let name = line[..<sign]
                if values[name] == nil { values[name] = line[line.index(after: sign)...] }
            }
        }
    }

    subscript(name: String) -> String? { values[name[...]].map(String.init) }
}
