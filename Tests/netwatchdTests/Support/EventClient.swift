import CommandLineLab
import Glibc
import NetworkLab

/// A client of the event service that reads what the server sends, line by line.
final class EventClient {
    private let descriptor: Int32
    private let reader: LineReader

    /// A response, as far as it was read.
    struct Response {
        var status: Int
        /// The fields, by their names in lower case.
        var fields: [String: String]
        var body: String
    }

    /// A server-sent event, by the names of its fields.
    typealias Event = [String: String]

    /// Connects to a Unix socket, and waits for it to exist.
    convenience init(path: String) throws {
        let deadline = ContinuousClock.now + .seconds(120)
        while true {
            do {
                self.init(try Self.connected(path))
                return
            } catch let error as LabError where error.errno == ENOENT || error.errno == ECONNREFUSED {
                guard ContinuousClock.now < deadline else { throw error }
                usleep(2_000)
            }
        }
    }

    /// Connects to a port on 127.0.0.1.
    convenience init(port: UInt16) throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        self.init(
            try withUnsafePointer(to: address) { pointer in
                try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { try Self.connected(AF_INET, $0, size) }
            }
        )
    }

    private init(_ descriptor: Int32) {
        self.descriptor = descriptor
        reader = LineReader(descriptor)
    }

    private static func connected(_ path: String) throws -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        return try withUnsafePointer(to: address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { try connected(AF_UNIX, $0, size) }
        }
    }

    private static func connected(
        _ family: Int32,
        _ address: UnsafePointer<sockaddr>,
        _ size: socklen_t
    ) throws -> Int32 {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = try systemCall("socket") { socket(family, type, 0) }
        do {
            try systemCall("connect") { connect(descriptor, address, size) }
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    /// Closes the connection.
    func end() { reader.end() }

    /// Sends text.
    ///
    /// - Returns: Whether the server took it; false if it has closed the connection.
    @discardableResult
    func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Sends a request.
    func request(_ target: String, _ fields: String..., method: String = "GET") {
        send((["\(method) \(target) HTTP/1.1", "Host: localhost"] + fields + ["", ""]).joined(separator: "\r\n"))
    }

    /// The next line; nil at the end.
    func line() throws -> String? {
        try reader.line().map { $0.hasSuffix("\r") ? String($0.dropLast()) : $0 }
    }

    /// Reads the head of a response.
    func head() throws -> Response {
        guard let first = try line() else { throw LabError("read a response", errno: ECONNRESET) }
        let parts = first.split(separator: " ")
        guard parts.count > 2, parts[0] == "HTTP/1.1", let status = Int(parts[1]) else {
            throw LabError("read a response", errno: EPROTO, detail: first)
        }
        var response = Response(status: status, fields: [:], body: "")
        while let line = try line(), !line.isEmpty {
            let field = line.split(separator: ":", maxSplits: 1)
            response.fields[field[0].lowercased()] = field[1].drop { $0 == " " }.description
        }
        return response
    }

    /// Reads a whole response, whose body consists of lines.
    func response(hasBody: Bool = true) throws -> Response {
        var response = try head()
        let length = hasBody ? response.fields["content-length"].flatMap { Int($0) } ?? 0 : 0
        while response.body.utf8.count < length, let line = try reader.line() { response.body += line + "\n" }
        return response
    }

    /// The next server-sent event, comments left out; nil at the end.
    func event() throws -> Event? {
        var event: Event = [:]
        while let line = try line() {
            if line.isEmpty, !event.isEmpty { return event }
            let field = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            if field.count == 2, !field[0].isEmpty { event[String(field[0])] = String(field[1].drop { $0 == " " }) }
        }
        return nil
    }

    /// The object of the next server-sent event.
    func object() throws -> JSONValue {
        guard let data = try event()?["data"] else { throw LabError("read an event", errno: ECONNRESET) }
        return try JSONParser.parse(data)
    }
}
