import Glibc
import Locking
import NetworkLab

extension ServerConnection {
    /// Reads a head, including the empty line at its end.
    package func readHead() throws {
        let head = String(decoding: try take(through: Array("\r\n\r\n".utf8)), as: UTF8.self)
        lastHead.withLock { $0 = head }
        record { $0.requests.append(.init(head: head, body: [])) }
    }

    /// Reads the body of the request whose head was read last.
    package func readBody() throws {
        if field("transfer-encoding")?.contains("chunked") == true {
            try readChunks()
        } else if let length = announcedLength {
            keep(try take(length))
        }
    }

    /// Reads and discards the body of the request whose head was read last, and counts its bytes.
    func discardBody() throws {
        let length = announcedLength ?? 0
        let early = try take(min(length, pending.withLock { $0.count })).count
        record { $0.discarded += early }
        var rest = length - early
        var buffer = [UInt8](repeating: 0, count: 262_144)
        while rest > 0 {
            let count = recv(descriptor.number, &buffer, min(buffer.count, rest), 0)
            if count == 0 { throw Ended(how: .closedByClient) }
            if count > 0 {
                rest -= count
                record { $0.discarded += count }
            } else if errno == EAGAIN {
                _ = try wait(for: Int16(POLLIN))
            } else {
                throw Ended(how: .resetByClient)
            }
        }
    }

    private var announcedLength: Int? { field("content-length").flatMap { Int($0.drop { $0 == " " }) } }

    /// The value of a field of the head that was read last.
    private func field(_ name: String) -> Substring? {
        let fields = lastHead.withLock { $0.lowercased() }.split(separator: "\r\n")
        return fields.first { $0.hasPrefix("\(name):") }?.dropFirst(name.count + 1)
    }

    private func readChunks() throws {
        while true {
            let line = try take(through: [13, 10])
            guard let size = Int(String(decoding: line.prefix { $0 != 13 && $0 != 59 }, as: UTF8.self), radix: 16)
            else {
                throw Ended(how: .closedHere)
            }
            keep(try take(size))
            _ = try take(through: [13, 10])
            if size == 0 { return }
        }
    }

    private func keep(_ bytes: [UInt8]) {
        record { $0.requests[$0.requests.count - 1].body += bytes }
    }

    /// Returns the next bytes, and reads more if necessary.
    package func take(_ count: Int) throws -> [UInt8] {
        while pending.withLock({ $0.count }) < count {
            let bytes = try receive()
            pending.withLock { $0 += bytes }
        }
        return pending.withLock { pending in
            defer { pending.removeFirst(count) }
            return Array(pending.prefix(count))
        }
    }

    /// Returns the next bytes up to and including a terminator.
    private func take(through end: [UInt8]) throws -> [UInt8] {
        while true {
            let count = pending.withLock { bytes in
                (0..<max(0, bytes.count - end.count + 1)).first { bytes[$0..<$0 + end.count].elementsEqual(end) }
            }
            if let count { return try take(count + end.count) }
            let bytes = try receive()
            pending.withLock { $0 += bytes }
        }
    }
}
