import Glibc
import LinuxSystem
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
    ///   - server: The name server; nil for those in `/etc/resolv.conf`, one after the other.
    ///   - interface: The interface to bind to.
    ///   - timeout: The time limit, after which the thread that waits is released.
    /// - Returns: The answer, or why there is none.
    func ask(
        for name: String,
        server: IPAddress?,
        through interface: InterfaceIndex,
        within timeout: Duration
    ) async -> ProbeOutcome {
        guard let message = NameMessage(name, id: .random(in: 0 ... .max)) else {
            return .unusable("'\(name)' is no name")
        }
        return await withUnsafeContinuation { continuation in
            threads.enqueue {
                let servers = server.map { [$0] } ?? Self.systemServers()
                let outcome = Self.ask(servers, message, interface, until: SystemClock.now.advanced(by: timeout))
                continuation.resume(returning: outcome ?? .failed(server == nil ? .nameServer : .timedOut))
            }
        }
    }

    /// Asks servers in turn until one answers or the time is up; blocks the calling thread.
    private static func ask(
        _ servers: [IPAddress],
        _ message: NameMessage,
        _ interface: InterfaceIndex,
        until deadline: Instant
    ) -> ProbeOutcome? {
        var failure: ProbeOutcome?
        while !servers.isEmpty {
            for server in servers {
                let now = SystemClock.now
                guard now < deadline else { return failure }
                let limit = min(now.advanced(by: repetition), deadline)
                switch exchange(message, with: server, interface, until: limit) {
                case .nameAnswer(let code, let addresses): return .nameAnswer(code: code, addresses: addresses)
                case let other?: failure = other
                case nil: break
                }
            }
        }
        return failure
    }

    /// Sends the query once and waits for the reply; returns nil if there is none in time.
    private static func exchange(
        _ message: NameMessage,
        with server: IPAddress,
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

    private static func open(to server: IPAddress, through interface: InterfaceIndex) throws(SystemError) -> Descriptor
    {
        let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let socket = try Descriptor("socket") { Glibc.socket(Int32(server.family.rawValue), type, 0) }
        var index = interface
        let size = socklen_t(MemoryLayout.size(ofValue: index))
        _ = try retryingOnInterrupt("SO_BINDTOIFINDEX") {
            setsockopt(socket.number, SOL_SOCKET, bindToInterface, &index, size)
        }
        _ = try retryingOnInterrupt("connect") { connect(socket.number, to: server) }
        return socket
    }

    /// `SO_BINDTOIFINDEX` (`asm-generic/socket.h`).
    private static let bindToInterface: Int32 = 62
    /// The port of name servers.
    private static let port = UInt16(53).bigEndian

    private static func connect(_ socket: Int32, to server: IPAddress) -> Int32 {
        switch server.family {
        case .ipv4:
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port
            address.sin_addr.s_addr = server.ipv4Value.bigEndian
            return connect(socket, address)
        case .ipv6:
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port
            withUnsafeMutableBytes(of: &address.sin6_addr) { bytes in
                for position in 0..<16 {
                    bytes[position] = UInt8(truncatingIfNeeded: server.bits >> UInt128(120 - 8 * position))
                }
            }
            return connect(socket, address)
        }
    }

    private static func connect<Address>(_ socket: Int32, _ address: Address) -> Int32 {
        withUnsafeBytes(of: address) { bytes in
            Glibc.connect(socket, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(bytes.count))
        }
    }

    /// Receives datagrams until one is the reply.
    private static func receive(
        _ message: NameMessage,
        _ socket: Int32,
        until deadline: Instant
    ) throws(SystemError) -> ProbeOutcome? {
        var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        var buffer = [UInt8](repeating: 0, count: 1232)
        while SystemClock.now < deadline {
            guard poll(&entry, 1, deadline.pollTimeout) > 0 else { continue }
            let count = try retryingOnInterrupt("recv") { Int32(recv(socket, &buffer, buffer.count, 0)) }
            if let answer = message.reply(in: Array(buffer.prefix(Int(count)))) { return answer }
        }
        return nil
    }

    /// The name servers of `/etc/resolv.conf` (resolv.conf(5)); without any, this machine's.
    private static func systemServers() -> [IPAddress] {
        let lines = text(of: "/etc/resolv.conf").split(separator: "\n")
        let servers = lines.compactMap { line -> IPAddress? in
            let words = line.split { $0 == " " || $0 == "\t" }
            return words.count > 1 && words[0] == "nameserver" ? IPAddress(String(words[1])) : nil
        }
        return servers.isEmpty ? [IPAddress(ipv4: 0x7F00_0001)] : Array(servers.prefix(3))
    }

    private static func text(of path: String) -> String {
        guard let file = fopen(path, "re") else { return "" }
        defer { fclose(file) }
        var buffer = [UInt8](repeating: 0, count: 16_384)
        return String(decoding: buffer.prefix(fread(&buffer, 1, buffer.count, file)), as: UTF8.self)
    }
}
