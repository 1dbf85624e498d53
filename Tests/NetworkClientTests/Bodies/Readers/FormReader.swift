import Glibc
import NetworkLab

/// A third-party server parses forms, and responds with the result.
struct FormReader {
    /// A parsed part; bytes are in hexadecimal digits, since they may not be text.
    struct Part: Decodable, Hashable, Sendable {
        var name: String
        var fileName: String?
        var type: String?
        var contents: String
    }

    /// The port of 127.0.0.1 on which it listens.
    let port: UInt16
    private let process: LabProcess

    /// Starts a server, and waits until it prints its port.
    init(_ program: String, _ arguments: [String]) throws {
        process = try LabProcess("/usr/bin/env", [program] + arguments)
        let said = try process.waitForOutput { $0.contains("\n") }
        guard let number = said.split(separator: "\n").first?.split(separator: " ").last, let port = UInt16(number)
        else {
            throw LabError("read a port", errno: EPROTO, detail: said)
        }
        self.port = port
    }

    /// Whether a program runs with these arguments.
    static func can(_ program: String, _ arguments: [String]) -> Bool {
        (try? LabProcess.run("/usr/bin/env", [program] + arguments).code) == 0
    }

    static func hex(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
