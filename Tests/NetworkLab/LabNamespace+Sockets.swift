import Glibc

extension LabNamespace {
    /// SIOCGSKNS (linux/sockios.h): the network namespace of a socket, as a descriptor.
    private static let namespaceOfSocket: UInt = 0x894C

    /// The number of sockets of this namespace that the process has open, the namespace's own (``rtnl``) included.
    ///
    /// Sockets of other tests do not count, since they are in other namespaces.
    package func openSockets() throws -> Int {
        guard let folder = opendir("/proc/self/fd") else { throw LabError("open /proc/self/fd", errno: errno) }
        defer { closedir(folder) }
        let own = try Self.identity(of: descriptorNumber)
        var count = 0
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            // A descriptor that is no socket, or was closed meanwhile, has no namespace.
            guard let number = Int32(name), case let found = ioctl(number, Self.namespaceOfSocket), found >= 0 else {
                continue
            }
            let namespace = OwnedDescriptor(found)
            if try Self.identity(of: namespace.number) == own { count += 1 }
        }
        return count
    }

    /// The identity of a namespace; namespaces(7).
    private static func identity(of descriptor: Int32) throws(LabError) -> [UInt64] {
        var status = stat()
        try systemCall("fstat") { fstat(descriptor, &status) }
        return [UInt64(status.st_dev), UInt64(status.st_ino)]
    }
}
