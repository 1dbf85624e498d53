import Glibc
import HTTPLab
import NetworkLab
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ScriptedServerTests {
    @Test func `several requests on one connection are read and answered, by length and chunked`() async throws {
        let server = try ScriptedServer(always: [.forever([.readRequest, .response("ok")])])
        let client = try RawClient(port: server.port)
        try client.send("POST /a HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcGET /b HTTP/1.1\r\n\r\n")
        try client.send("PUT /c HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n2;x=y\r\nde\r\n1\r\nf\r\n0\r\n\r\n")
        let response = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        var seen = ""
        while seen.utf8.count < 3 * response.utf8.count { seen += try client.read() }
        #expect(seen == response + response + response)
        let records = try await server.wait(for: "three requests") { $0.first?.requests.count == 3 }
        #expect(records[0].requests.map { String(decoding: $0.body, as: UTF8.self) } == ["abc", "", "def"])
        #expect(records[0].requests[1].head == "GET /b HTTP/1.1\r\n\r\n")
        #expect(records[0].text.hasPrefix("POST /a") && records[0].text.hasSuffix("0\r\n\r\n"))
        #expect(records[0].end == nil)
    }

    @Test func `each connection has a script of its own`() throws {
        let server = try ScriptedServer { [.send("connection \($0)")] }
        #expect(try RawClient(port: server.port).readToEnd() == "connection 0")
        #expect(try RawClient(port: server.port).readToEnd() == "connection 1")
    }

    @Test func `pieces leave as they are told, and a pause lasts until its latch is opened`() async throws {
        let latch = try ServerLatch()
        let server = try ScriptedServer(always: [.send("a"), .await(latch), .drip(Array("bcd".utf8), every: .zero)])
        let client = try RawClient(port: server.port)
        #expect(try client.read() == "a")
        #expect(server.connections.first?.end == nil)
        latch.open()
        #expect(try client.readToEnd() == "bcd")
        #expect(try await server.waitForEnds()[0].end == .closedHere)
    }

    @Test func `a reset is seen as one, and a half-close lets the client go on`() async throws {
        let reset = try ScriptedServer(always: [.readHead, .reset])
        let client = try RawClient(port: reset.port)
        try client.send("GET / HTTP/1.1\r\n\r\n")
        #expect(throws: LabError("recv", errno: ECONNRESET)) { try client.read() }

        let half = try ScriptedServer(always: [.halfClose, .readToEnd])
        let other = try RawClient(port: half.port)
        #expect(try other.readToEnd() == "")
        try other.send("more")
        shutdown(other.descriptor, Int32(SHUT_WR))
        let record = try await half.waitForEnds()[0]
        #expect(record.text == "more")
        #expect(record.clientEnd == .closedByClient && record.end == .closedByClient)
    }

    @Test func `a server that holds sees the client's end without reading`() async throws {
        let server = try ScriptedServer(always: [.hold])
        var client: RawClient? = try RawClient(port: server.port)
        try client?.send("unread")
        client = nil
        let record = try await server.waitForEnds()[0]
        #expect(record.received == [])
        #expect(record.clientEnd == .closedByClient)
    }

    @Test func `a client's reset is told from its close`() async throws {
        let server = try ScriptedServer(always: [.readToEnd])
        var client: RawClient? = try RawClient(port: server.port)
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(client?.descriptor ?? -1, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        client = nil
        #expect(try await server.waitForEnds()[0].end == .resetByClient)
    }

    @Test func `a server that does not read fills the client's way`() async throws {
        let server = try ScriptedServer(receiveBuffer: 4096, always: [.hold])
        let client = try RawClient(port: server.port)
        let bytes = [UInt8](repeating: 0, count: 16 << 20)
        var sent = 0
        while case let count = send(client.descriptor, bytes, bytes.count, Int32(MSG_DONTWAIT)), count > 0 {
            sent += count
        }
        #expect(errno == EAGAIN)
        #expect(sent < bytes.count)
    }

    @Test func `a server that never accepts lets connects wait once its backlog is full`() throws {
        let server = try ScriptedServer(backlog: 0, accepting: 0) { _ in [] }
        let first = try RawClient(port: server.port)
        let second = try systemCall("socket") {
            socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        }
        defer { close(second) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = server.port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let code = withUnsafeBytes(of: &address) { bytes in
            connect(second, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
        #expect(code == -1 && errno == EINPROGRESS)
        var request = pollfd(fd: second, events: Int16(POLLOUT), revents: 0)
        // On loopback the handshake is over when connect returns, or waits for a retransmission.
        #expect(poll(&request, 1, 0) == 0)
        withExtendedLifetime(first) {}
    }

    @Test func `a relay carries both ways, and cuts where it is told`() throws {
        let origin = try ScriptedServer(always: [.readHead, .response("0123456789")])
        let whole = try ScriptedServer(always: [.relay(toPort: origin.port, cutAfter: nil)])
        let cut = try ScriptedServer(always: [.relay(toPort: origin.port, cutAfter: 20)])
        for (port, response) in [
            (whole.port, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789"),
            (cut.port, "HTTP/1.1 200 OK\r\nCon"),
        ] {
            let client = try RawClient(port: port)
            try client.send("GET / HTTP/1.1\r\n\r\n")
            #expect(try client.readToEnd() == response)
        }
    }

    @Test func `a stop ends every connection and frees the port`() async throws {
        // An address on which no other test listens, so that the port stays free.
        let server = try ScriptedServer(on: .ipv4(127, 77, 0, 4), always: [.hold])
        let client = try RawClient(port: server.port, octets: [127, 77, 0, 4])
        try await server.wait(for: "the connection") { $0.count == 1 }
        try await server.stop()
        #expect(server.connections[0].end == .stopped)
        #expect(try client.readToEnd() == "")
        #expect(throws: LabError("connect", errno: ECONNREFUSED)) {
            try RawClient(port: server.port, octets: [127, 77, 0, 4])
        }
    }

    /// As in a child process that another test starts, between fork(2) and execve(2).
    @Test func `a stop frees the port while the listening descriptor has a copy`() async throws {
        let server = try ScriptedServer(on: .ipv4(127, 77, 0, 5), always: [.hold])
        let copy = try #require(Self.copyOfDescriptor(listeningOn: [127, 77, 0, 5], server.port))
        defer { close(copy) }
        try await server.stop()
        #expect(throws: LabError("connect", errno: ECONNREFUSED)) {
            try RawClient(port: server.port, octets: [127, 77, 0, 5])
        }
    }

    private static func copyOfDescriptor(listeningOn octets: [UInt8], _ port: UInt16) -> Int32? {
        for number in Int32(3)..<20_000 {
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let found = withUnsafeMutableBytes(of: &address) { bytes in
                bytes.withMemoryRebound(to: sockaddr.self) { getsockname(number, $0.baseAddress, &length) }
            }
            guard found == 0, address.sin_family == sa_family_t(AF_INET), address.sin_port == port.bigEndian else {
                continue
            }
            guard withUnsafeBytes(of: address.sin_addr, { Array($0) }) == octets else { continue }
            var isListening: Int32 = 0
            var size = socklen_t(MemoryLayout<Int32>.size)
            getsockopt(number, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &size)
            if isListening != 0 { return fcntl(number, F_DUPFD_CLOEXEC, 0) }
        }
        return nil
    }

    @Test func `it listens on IPv6, at a path, and in a network namespace`() async throws {
        let six = try ScriptedServer(on: .ipv6, always: [.send("six")])
        #expect(try RawClient(port: six.port, family: AF_INET6).readToEnd() == "six")
        let folder = try LabFolder()
        let path = "\(folder.path)/socket"
        var unix: ScriptedServer? = try ScriptedServer(on: .unix(path), always: [.send("path")])
        #expect(try RawClient(port: 0, family: AF_UNIX, path: path).readToEnd() == "path")
        try await unix?.stop()
        unix = nil
        #expect(access(path, F_OK) == -1)
        let lab = try LabNamespace()
        let inside = try ScriptedServer(in: lab, always: [.send("inside")])
        #expect(try lab.run { try RawClient(port: inside.port).readToEnd() } == "inside")
    }

    @Test func `what does not come in time is an error that says what was seen`() async throws {
        let server = try ScriptedServer(always: [])
        let error = await #expect(throws: LabError.self) { try await server.waitForEnds(within: .milliseconds(10)) }
        #expect(error?.errno == ETIMEDOUT)
        #expect(error?.operation == "wait for 1 ended connections")
    }
}
