import Glibc
import PathProbing
import ReachabilityCore
import ValidationCore

/// The files in which DHCP clients keep their leases, read for the URI of a captive portal's API (RFC 8910).
///
/// They are private to their programs, which may change them: what can't be decoded is no lease.
struct LeaseFiles: Sendable {
    /// The folder in whose place the file system's root is in tests.
    private let root: String

    /// The maximum number of files of a folder that are read.
    private static let maximumFiles = 64
    /// The folders of ISC's dhclient: Debian's, Fedora's, and that of NetworkManager, which may use it.
    private static let foldersOfDhclient = ["/var/lib/dhcp", "/var/lib/dhclient", "/var/lib/NetworkManager"]
    /// The folders of dhcpcd, since version 9 and before.
    private static let foldersOfDhcpcd = ["/var/lib/dhcpcd", "/var/lib/dhcpcd5"]

    /// Reads files below a folder; below `/` by default.
    init(root: String = "") { self.root = root }

    /// Returns the URI of the portal's API that a valid lease of the path names; blocks while files are read.
    ///
    /// - Parameters:
    ///   - path: The path.
    ///   - now: The time in seconds since 1970.
    /// - Returns: An `https` URL; nil if there is none.
    func portalURL(of path: ValidationPath, at now: Int64) -> String? {
        let sources = [networkd, networkManager, dhclient, dhcpcd]
        return sources.lazy.flatMap { $0(path) }.compactMap { $0.portalURL(of: path, at: now) }.first
    }

    private func networkd(_ path: ValidationPath) -> [DHCPLease] {
        let folder = "/run/systemd/netif"
        guard let lease = read("\(folder)/leases/\(path.interface)"),
            let state = read("\(folder)/links/\(path.interface)")
        else { return [] }
        return [DHCPLease(networkd: lease.bytes, state: state.bytes, from: lease.modified)].compactMap(\.self)
    }

    private func networkManager(_ path: ValidationPath) -> [DHCPLease] {
        let state = read("/run/NetworkManager/devices/\(path.interface)")
        return [state.flatMap { DHCPLease(networkManager: $0.bytes) }].compactMap(\.self)
    }

    private func dhclient(_ path: ValidationPath) -> [DHCPLease] {
        let files = Self.foldersOfDhclient.flatMap { folder in
            names(in: folder) { $0.hasPrefix("dhclient") && ($0.hasSuffix(".leases") || $0.hasSuffix(".lease")) }
                .map { "\(folder)/\($0)" }
        }
        return files.compactMap { read($0) }.compactMap { DHCPLease(dhclient: $0.bytes, interface: path.name) }
    }

    /// The file's name is that of the interface; with Wi-Fi, the network's name follows.
    private func dhcpcd(_ path: ValidationPath) -> [DHCPLease] {
        let files = Self.foldersOfDhcpcd.flatMap { folder in
            names(in: folder) { name in
                name == "\(path.name).lease" || (name.hasPrefix("\(path.name)-") && name.hasSuffix(".lease"))
            }.map { "\(folder)/\($0)" }
        }
        return files.compactMap { read($0) }.compactMap { DHCPLease(message: $0.bytes, from: $0.modified) }
    }

    // MARK: Files

    /// Returns the names of files in a folder that are wanted, at most as many as are read.
    private func names(in folder: String, where isWanted: (String) -> Bool) -> [String] {
        guard let directory = opendir(root + folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while names.count < Self.maximumFiles, let entry = Glibc.readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if isWanted(name) { names.append(name) }
        }
        return names.sorted()
    }

    /// Reads the end of a regular file, and when it was modified, in seconds since 1970.
    ///
    /// A pipe or a device in its place is not waited for.
    private func read(_ path: String) -> (bytes: [UInt8], modified: Int64)? {
        let number = open(root + path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard number >= 0 else { return nil }
        defer { close(number) }
        var status = stat()
        guard fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        let limit = DHCPLease.maximumLength
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = pread(number, &bytes, limit, max(0, status.st_size - off_t(limit)))
        guard count > 0 else { return nil }
        return (Array(bytes.prefix(count)), Int64(status.st_mtim.tv_sec))
    }
}
