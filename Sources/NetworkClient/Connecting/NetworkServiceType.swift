import Glibc
import NIOCore

/// A type of traffic: how routers and the queues of this machine treat the packets of a connection.
///
/// The types correspond to those of `URLRequest.NetworkServiceType`, with the code points that RFC 4594 recommends.
/// Networks are free to ignore or to clear them; on Wi-Fi, the upper three bits select the access category.
public struct NetworkServiceType: Sendable, Hashable {
    /// The code point for the packets (DSCP, RFC 2474): 0 to 63.
    ///
    /// It is set as `IP_TOS` (ip(7)) or `IPV6_TCLASS` (ipv6(7)).
    public let codePoint: UInt8
    /// The priority in the queues of this machine: 0 to 6, 0 being the normal one.
    ///
    /// It is set as `SO_PRIORITY` (socket(7)); tc-prio(8) says which queue it selects.
    public let queuePriority: Int32

    /// Creates a type.
    ///
    /// - Parameters:
    ///   - codePoint: The code point: 0 to 63.
    ///   - queuePriority: The priority in the queues of this machine: 0 to 6.
    /// - Throws: ``HTTPError/Code/invalidConfiguration`` for another value.
    public init(codePoint: UInt8, queuePriority: Int32 = 0) throws(HTTPError) {
        guard codePoint < 64 else { throw Self.invalid("the code point \(codePoint)", "a DSCP of 0 to 63") }
        guard 0...6 ~= queuePriority else {
            throw Self.invalid("the queue priority \(queuePriority)", "0 to 6: higher ones are for the system")
        }
        self.init(codePoint, queuePriority)
    }

    private init(_ codePoint: UInt8, _ queuePriority: Int32) {
        self.codePoint = codePoint
        self.queuePriority = queuePriority
    }

    private static func invalid(_ value: String, _ expected: String) -> HTTPError {
        .init(.invalidConfiguration, processing: .neverSent, reason: "\(value) is no service type: give \(expected)")
    }

    /// Traffic without a special treatment, also where the session has another type.
    public static let standard = Self(0, 0)
    /// Traffic that may be slower than all other: backups, updates (CS1).
    public static let background = Self(8, 2)
    /// Responses that a user waits for (AF21).
    public static let responsiveData = Self(18, 6)
    /// Audio and video that is buffered before it is played (AF31).
    public static let avStreaming = Self(26, 4)
    /// Live video (AF41).
    public static let video = Self(34, 4)
    /// The control of calls (CS5).
    public static let callSignaling = Self(40, 6)
    /// Live speech (EF).
    public static let voice = Self(46, 6)
}

extension NetworkServiceType {
    /// Sets the options of a TCP socket that is not connected yet.
    ///
    /// - Throws: ``HTTPError/Code/invalidConfiguration`` if the kernel rejects one.
    func apply(to channel: any Channel) throws {
        guard let options = channel.syncOptions else { return }
        do {
            let trafficClass = ChannelOptions.Types.SocketOption.Value(codePoint) << 2
            if try options.getOption(.socketOption(.domain)) == AF_INET6 {
                let option = ChannelOptions.Types.SocketOption(level: .ipv6, name: .trafficClass)
                try options.setOption(option, value: trafficClass)
            } else {
                try options.setOption(.ipOption(.typeOfService), value: trafficClass)
            }
            // After the other option, which sets a priority too (ip(7)).
            try options.setOption(.socketOption(.priority), value: .init(queuePriority))
        } catch {
            let reason = "the kernel rejects the service type with code point \(codePoint): \(error)"
            throw HTTPError(.invalidConfiguration, processing: .neverSent, reason: reason, cause: error)
        }
    }
}

extension NIOBSDSocket.Option {
    /// SO_DOMAIN: the socket's address family; socket(7).
    fileprivate static let domain = Self(rawValue: SO_DOMAIN)
    /// SO_PRIORITY; socket(7).
    fileprivate static let priority = Self(rawValue: SO_PRIORITY)
    /// IP_TOS; ip(7).
    fileprivate static let typeOfService = Self(rawValue: IP_TOS)
    /// IPV6_TCLASS; ipv6(7).
    fileprivate static let trafficClass = Self(rawValue: IPV6_TCLASS)
}
