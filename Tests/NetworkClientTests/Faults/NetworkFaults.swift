import Glibc
import HTTPLab
import NetworkClientCore
import NetworkLab
import ReachabilityCore
import Testing

@testable import NetworkClient

/// A row of the kernel's refusals: the layout of the network, and the error of a request.
struct NetworkFault: Sendable, CustomTestStringConvertible {
    let name: String
    let url: String
    let code: HTTPError.Code
    let errno: Int32
    var binding = LocalBinding.unbound
    /// Lays the network out; there is `lo`, and `wan0` with 192.0.2.2/24 and fd00::2/64, whose neighbours don't
    /// respond.
    var arrange: @Sendable (LabNamespace) throws -> Void = { _ in }

    var testDescription: String { name }

    init(
        _ name: String,
        _ url: String,
        _ code: HTTPError.Code,
        errno: Int32,
        binding: LocalBinding = .unbound,
        arrange: @escaping @Sendable (LabNamespace) throws -> Void = { _ in }
    ) {
        self.name = name
        self.url = url
        self.code = code
        self.errno = errno
        self.binding = binding
        self.arrange = arrange
    }

    private static let documented = "http://198.51.100.7/"

    private static func route(_ type: RouteType) -> @Sendable (LabNamespace) throws -> Void {
        { lab in
            var route = RouteMessage(destination: .all(.ipv4))
            route.type = type
            try lab.rtnl.route(.add, route)
        }
    }

    static let table: [NetworkFault] = [
        .init("nobody listens", "http://127.0.0.1:9/", .connectionRefused, errno: ECONNREFUSED),
        .init("nobody listens, IPv6", "http://[::1]:9/", .connectionRefused, errno: ECONNREFUSED),
        .init("no route", documented, .networkUnreachable, errno: ENETUNREACH),
        .init("no route, IPv6", "http://[2001:db8::1]/", .networkUnreachable, errno: ENETUNREACH),
        .init("a throw route", documented, .networkUnreachable, errno: ENETUNREACH, arrange: route(.throw)),
        .init("an unreachable route", documented, .hostUnreachable, errno: EHOSTUNREACH, arrange: route(.unreachable)),
        .init("a prohibit route", documented, .prohibited, errno: EACCES, arrange: route(.prohibit)),
        .init("a blackhole route", documented, .blackholed, errno: EINVAL, arrange: route(.blackhole)),
        .init("a neighbour that does not respond", "http://192.0.2.9/", .hostUnreachable, errno: EHOSTUNREACH),
        .init("a neighbour that does not respond, IPv6", "http://[fd00::9]/", .hostUnreachable, errno: EHOSTUNREACH),
        .init(
            "a source address that is not there",
            "http://192.0.2.9/",
            .addressNotAvailable,
            errno: EADDRNOTAVAIL,
            binding: .address("192.0.2.77")
        ),
        .init(
            "a source address of the other family",
            "http://192.0.2.9/",
            .addressNotAvailable,
            errno: EADDRNOTAVAIL,
            binding: .address("fd00::2")
        ),
        .init(
            "an interface that is not there",
            "http://192.0.2.9/",
            .interfaceNotFound,
            errno: ENODEV,
            binding: .interface("nope0")
        ),
        .init(
            "an interface's index that is not there",
            "http://192.0.2.9/",
            .interfaceNotFound,
            errno: ENODEV,
            binding: .interfaceIndex(999)
        ),
        .init(
            "an interface without route",
            documented,
            .networkUnreachable,
            errno: ENETUNREACH,
            binding: .interface("wan0")
        ) { try $0.rtnl.setDown("wan0") },
    ]
}
