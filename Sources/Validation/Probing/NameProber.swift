import Glibc
import LinuxSystem
import PathProbing
import ReachabilityCore
import ValidationCore

/// Sends DNS queries with sockets that are bound to an interface, which the system's resolver does not do.
struct NameProber: Sendable {
    private let threads = ThreadPool(name: "netwatch-names")

    /// The time after which a query is repeated, as in resolv.conf(5), but shorter.
    private static let repetition = Duration.seconds(1)

    /// Asks for the addresses of a name.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - family: The addresses' family; IPv4 by default.
    ///   - server: The name server; nil for those in `/etc/resolv.conf`, one after the other.
    ///   - interface: The interface to bind to.
    ///   - timeout: The time limit, after which the thread that waits is released.
    ///   - port: The servers' port.
    /// - Returns: The answer, or why there is none.
    func ask(
        for name: String,
        _ family: AddressFamily = .ipv4,
        server: IPAddress?,
        through interface: InterfaceIndex,
        within timeout: Duration,
        port: UInt16 = 53
    ) async -> ProbeOutcome {
        guard let message = NameMessage(name, family, id: .random(in: 0 ... .max)) else {
            return .unusable("'\(name)' is no name")
        }
        return await withUnsafeContinuation { continuation in
            threads.enqueue {
                let addresses = server.map { [$0] } ?? Self.systemServers(through: interface)
                let servers = addresses.map { NameServerAddress($0, port: port) }
                let outcome = Self.ask(servers, message, interface, until: SystemClock.now.advanced(by: timeout))
                continuation.resume(returning: Self.result(outcome, isOwnServer: server != nil))
            }
        }
    }

    /// Returns the result: where the system's servers don't answer, the trouble is theirs, unless the path leads to none.
    private static func result(_ outcome: ProbeOutcome?, isOwnServer: Bool) -> ProbeOutcome {
        guard let outcome else { return .failed(isOwnServer ? .timedOut : .nameServer) }
        return outcome == .failed(.refused) && !isOwnServer ? .failed(.nameServer) : outcome
    }

    /// Asks servers in turn until one answers or the time is up; blocks the calling thread.
    ///
    /// - Returns: The answer, or the failure that all servers have in common; nil if one was silent, or they differ.
    private static func ask(
        _ servers: [NameServerAddress],
        _ message: NameMessage,
        _ interface: InterfaceIndex,
        until deadline: Instant
    ) -> ProbeOutcome? {
        var failures = [ProbeOutcome?](repeating: nil, count: servers.count)
        while SystemClock.now < deadline {
            for (position, server) in servers.enumerated() where SystemClock.now < deadline {
                let limit = min(SystemClock.now.advanced(by: repetition), deadline)
                let outcome = exchange(message, with: server, interface, until: limit)
                if case .nameAnswer? = outcome { return outcome }
                failures[position] = outcome ?? failures[position]
            }
        }
        return Set(failures).count == 1 ? failures[0] : nil
    }

    /// Sends the query once and waits for the reply; returns nil if there is none in time.
    private static func exchange(
        _ message: NameMessage,
        with server: NameServerAddress,
        _ interface: InterfaceIndex,
        until deadline: Instant
    ) -> ProbeOutcome? {
        do throws(SystemError) {
            let socket = try open(to: server, through: interface)
            _ = try retryingOnInterrupt("send") { Int32(send(socket.number, message.query, message.query.count, 0)) }
            return try receive(message, socket.number, until: deadline)
        } catch {
            // The next attempt is due when this one would have ended.
            while SystemClock.now < deadline { _ = poll(nil, 0, deadline.pollTimeout) }
            return error.code == ECONNREFUSED ? .failed(.refused) : .failed(.unreachable)
        }
    }

    private static func open(
        to server: NameServerAddress,
        through interface: InterfaceIndex
    ) throws(SystemError) -> Descriptor {
        let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let socket = try Descriptor("socket") { Glibc.socket(Int32(server.address.family.rawValue), type, 0) }
        // A server on this machine, such as systemd-resolved, can't be reached through another interface.
        if !server.address.isLoopback { try bind(socket.number, to: interface) }
        _ = try retryingOnInterrupt("connect") { server.connect(socket.number) }
        return socket
    }

    private static func bind(_ socket: Int32, to interface: InterfaceIndex) throws(SystemError) {
        var index = interface
        let size = socklen_t(MemoryLayout.size(ofValue: index))
        _ = try retryingOnInterrupt("SO_BINDTOIFINDEX") {
            setsockopt(socket, SOL_SOCKET, bindToInterface, &index, size)
        }
    }

    /// `SO_BINDTOIFINDEX` (`asm-generic/socket.h`).
    private static let bindToInterface: Int32 = 62

    /// Receives datagrams until one is the reply; nil if there is none in time.
    ///
    /// After the deadline, a datagram that has arrived is still read: the thread may not have run for as long.
    static func receive(
        _ message: NameMessage,
        _ socket: Int32,
        until deadline: Instant
    ) throws(SystemError) -> ProbeOutcome? {
        var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        var buffer = [UInt8](repeating: 0, count: 1232)
        repeat {
            guard poll(&entry, 1, deadline.pollTimeout) > 0 else { continue }
            let count = recv(socket, &buffer, buffer.count, 0)
            // The kernel drops a datagram with a wrong checksum only when it is read: recv(2) finds none then.
            guard count >= 0 || errno == EAGAIN || errno == EINTR else { throw .last }
            if let answer = message.reply(in: Array(buffer.prefix(max(count, 0)))) { return answer }
        } while SystemClock.now < deadline
        return nil
    }

    /// The name servers of `/etc/resolv.conf` (resolv.conf(5)); without any, this machine's.
    private static func systemServers(through interface: InterfaceIndex) -> [IPAddress] {
        let servers = servers(in: text(of: "/etc/resolv.conf"), through: interface)
        return servers.isEmpty ? [IPAddress(ipv4: 0x7F00_0001)] : Array(servers.prefix(3))
    }

    /// Returns the name servers in the text of resolv.conf(5), but for those in the zone of another interface.
    static func servers(in text: String, through interface: InterfaceIndex) -> [IPAddress] {
        text.split(separator: "\n").compactMap { line -> IPAddress? in
            let words = line.split { $0 == " " || $0 == "\t" }
            guard words.count > 1, words[0] == "nameserver" else { return nil }
            // A link-local address may have a zone, `fe80::1%eth0` (RFC 4007, 11); the socket is bound to that interface.
            let parts = words[1].split(separator: "%", maxSplits: 1).map(String.init)
            guard parts.count < 2 || isZone(parts[1], of: interface) else { return nil }
            return parts.first.flatMap { IPAddress($0) }
        }
    }

    /// Whether a zone, the name or the number of an interface, is that of an interface (if_nametoindex(3)).
    private static func isZone(_ zone: String, of interface: InterfaceIndex) -> Bool {
        zone == "\(interface)" || if_nametoindex(zone) == UInt32(bitPattern: interface)
    }

    private static func text(of path: String) -> String {
        guard let file = fopen(path, "re") else { return "" }
        defer { fclose(file) }
        var buffer = [UInt8](repeating: 0, count: 16_384)
        let count = fread(&buffer, 1, buffer.count, file)
        return String(decoding: buffer.prefix(count), as: UTF8.self)
    }
}

/// Where a name server listens.
private struct NameServerAddress {
    let address: IPAddress
    private let port: UInt16

    init(_ address: IPAddress, port: UInt16) {
        self.address = address
        self.port = port.bigEndian
    }

    /// Connects a socket of the address's family: connect(2).
    func connect(_ socket: Int32) -> Int32 {
        switch address.family {
        case .ipv4:
            var place = sockaddr_in()
            place.sin_family = sa_family_t(AF_INET)
            place.sin_port = port
            place.sin_addr.s_addr = address.ipv4Value.bigEndian
            return Self.connect(socket, place)
        case .ipv6:
            var place = sockaddr_in6()
            place.sin6_family = sa_family_t(AF_INET6)
            place.sin6_port = port
            withUnsafeMutableBytes(of: &place.sin6_addr) { bytes in
                for position in 0..<16 {
                    bytes[position] = UInt8(truncatingIfNeeded: address.bits >> UInt128(120 - 8 * position))
                }
            }
            return Self.connect(socket, place)
        }
    }

    private static func connect<Place>(_ socket: Int32, _ place: Place) -> Int32 {
        withUnsafeBytes(of: place) { bytes in
            Glibc.connect(socket, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(bytes.count))
        }
    }
}
