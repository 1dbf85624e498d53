import Glibc

extension MonitorError: CustomStringConvertible {
    /// What failed, on what, and what can be done about it, in one line.
    public var description: String {
        switch code {
        case .namespaceNotFound: "there is no network namespace at \(subject) (\(reason))"
        case .notANamespace: "\(subject) is not a network namespace; ip netns list shows those with names"
        case .namespaceNotPermitted: "not permitted to enter the network namespace \(subject); this needs CAP_SYS_ADMIN"
        case .netlinkFailed: "netlink failed in \(subject): \(reason)"
        case .noResources: "\(subject) failed: \(reason)"
        case .notRunning: "the monitor is not running"
        }
    }

    /// strerror(3) of the errno, and its number.
    private var reason: String {
        var text = [CChar](repeating: 0, count: 128)
        guard strerror_r(errno, &text, text.count) == 0 else { return "errno \(errno)" }
        let bytes = text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
        return "\(String(decoding: bytes, as: UTF8.self)), errno \(errno)"
    }

    /// A netlink call's failure.
    init(_ error: NetlinkError) {
        self.init(.netlinkFailed, errno: error.errno, "\(error.call)")
    }
}
