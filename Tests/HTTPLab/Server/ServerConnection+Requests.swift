import Glibc
import Locking

extension ServerConnection {
    /// Reads up to and with the empty line that ends a head.
    public func readHead() throws {
        let head = String(decoding: try take(through: Array("\r\n\r\n".utf8)), as: UTF8.self)
        lastHead.withLock { $0 = head }
        record { $0.requests.append(.init(head: head, body: [])) }
    }

    /// Reads the body of the request whose head was read last.
    public func readBody() throws {
        let fields = lastHead.withLock { $0.lowercased() }.split(separator: "\r\n")
        func value(_ name: String) -> Substring? {
            fields.first { $0.hasPrefix("\(name):") }?.dropFirst(name.count + 1)
        }
        if value("transfer-encoding")?.contains("chunked") == true {
            try readChunks()
        } else if let length = value("content-length").flatMap({ Int($0.drop { $0 == " " }) }) {
            keep(try take(length))
        }
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

    /// Takes so many of the bytes that were or will be read.
    func take(_ count: Int) throws -> [UInt8] {
        while pending.withLock({ $0.count }) < count {
            let bytes = try receive()
            pending.withLock { $0 += bytes }
        }
        return pending.withLock { pending in
            defer { pending.removeFirst(count) }
            return Array(pending.prefix(count))
        }
    }

    /// Takes bytes up to and with an end.
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
