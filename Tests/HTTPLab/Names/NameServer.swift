import Glibc
package import NetworkLab

/// A name server in a network namespace, at the first address of this machine's /etc/resolv.conf.
///
/// Programs and threads in the namespace, including getaddrinfo(3), query only this one.
package final class NameServer: Sendable {
    /// The reply to a query.
    package enum Reply: Sendable, Hashable {
        /// None until the server ends; then SERVFAIL.
        case silence
        /// A response code (RFC 1035, 4.1.1): 3 if the name does not exist; 0 if it exists, without an address.
        case code(UInt8)
        /// An IPv4 address for A, and no address for other types.
        case address(UInt8, UInt8, UInt8, UInt8)
    }

    /// The names that were queried, in order.
    package let questions = Observed<[String]>([])
    private let stopped: ServerLatch
    private let thread: LabThread

    /// Starts the server.
    ///
    /// - Throws: The errno if it can't listen.
    package init(in lab: LabNamespace, _ reply: @escaping @Sendable (_ name: String) -> Reply) throws {
        let address = NameServiceSetup.nameServer
        if !address.hasPrefix("127.") { try lab.rtnl.addAddress("\(address)/32", on: "lo") }
        let descriptor = try lab.run { try Self.open(address) }
        let stopped = try ServerLatch()
        let questions = questions
        thread = try LabThread { Self.serve(descriptor, until: stopped, questions, reply) }
        self.stopped = stopped
    }

    deinit { stopped.open() }

    /// Stops the server, and waits until its descriptor is closed; call it once.
    package func stop() {
        stopped.open()
        thread.join()
    }

    private static func open(_ address: String) throws(LabError) -> OwnedDescriptor {
        let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = OwnedDescriptor(try systemCall("socket") { socket(AF_INET, type, 0) })
        let octets = address.split(separator: ".").compactMap { UInt8($0) }
        guard octets.count == 4 else { throw LabError("read '\(address)' as an IPv4 address", errno: EINVAL) }
        let place = ServerAddress.ipv4(octets[0], octets[1], octets[2], octets[3])
        try systemCall("bind to \(address), port 53") {
            withSocketAddress(place.bytes(port: 53)) { bind(descriptor.number, $0, $1) }
        }
        return descriptor
    }

    private static func serve(
        _ descriptor: OwnedDescriptor,
        until stopped: ServerLatch,
        _ questions: Observed<[String]>,
        _ makeReply: @Sendable (String) -> Reply
    ) {
        defer { descriptor.close() }
        var requests = [descriptor.number, stopped.descriptor].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        var silent: [(sender: [UInt8], reply: [UInt8])] = []
        while poll(&requests, 2, -1) > 0, requests[1].revents == 0 {
            var buffer = [UInt8](repeating: 0, count: 1500)
            var sender = [UInt8](repeating: 0, count: 128)
            var length = socklen_t(sender.count)
            let count = sender.withUnsafeMutableBytes { bytes in
                let address = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
                return recvfrom(descriptor.number, &buffer, buffer.count, 0, address, &length)
            }
            guard count > 0, let query = NameQuestion(buffer.prefix(count)) else { continue }
            questions.update { $0.append(query.name) }
            let place = Array(sender.prefix(Int(length)))
            if let message = query.message(for: makeReply(query.name)) {
                send(message, to: place, on: descriptor)
            } else if let failure = query.message(for: .code(2)) {
                silent.append((place, failure))
            }
        }
        // Clients that still wait would do so for several seconds.
        for (sender, reply) in silent { send(reply, to: sender, on: descriptor) }
    }

    private static func send(_ reply: [UInt8], to place: [UInt8], on descriptor: OwnedDescriptor) {
        _ = withSocketAddress(place) { sendto(descriptor.number, reply, reply.count, 0, $0, $1) }
    }
}
