import Glibc
import HTTPLab
import NetworkLab
import Testing

@testable import NetworkClient

/// TLS failures other than certificates.
@Suite(.timeLimit(.minutes(10)))
struct TLSFaultTests {
    private static let handshakes: [Fault] = [
        Fault("silent within the handshake", [.readBytes(1), .hold], .tlsTimedOut, .neverSent) { $0.limit(\.tls) },
        Fault("a handshake that comes drop by drop", drops, .tlsTimedOut, .neverSent) { $0.limit(\.tls) },
        Fault("too slow as a whole", [.readBytes(1), .hold], .requestTimedOut, .neverSent) { $0.limit(\.total) },
        Fault("closed within the handshake", [.readBytes(1), .close], .connectionLost, .neverSent),
        Fault("reset within the handshake", [.readBytes(1), .reset], .connectionLost, .neverSent, errno: ECONNRESET),
        Fault("a server without TLS", [.readBytes(1), .send("HTTP/1.1 400 No\r\n\r\n")], .tlsFailed, .neverSent),
    ]

    /// A record header that announces more bytes than are sent.
    private static let drops: [ServerStep] = [
        .readBytes(1), .sendBytes([0x16, 0x03, 0x03, 0x10, 0x00]),
        .drip([UInt8](repeating: 2, count: 4096), every: .milliseconds(10)),
    ]

    @Test(arguments: handshakes)
    func `a handshake that fails`(fault: Fault) async throws {
        try await FaultLab.run { faults in
            let server = try ScriptedServer(in: faults.lab, always: fault.script)
            var configuration = HTTPConfiguration.lasting
            fault.configure(&configuration)
            let session = try faults.session(configuration)
            let error = await #expect(throws: HTTPError.self) {
                _ = try await session.post("https://127.0.0.1:\(server.port)/", parameters: ["a": "b"]).response()
            }
            #expect(error?.code == fault.code, "\(error.debugDescription)")
            #expect(error?.processing == fault.processing)
            if let errno = fault.errno { #expect(error?.errno == errno) }
            try await faults.end(session)
            try await server.waitForEnds()
            try await server.stop()
        }
    }

    /// The number of bytes from nginx that pass; its handshake takes 1 to 5 thousand of them, its file 200 thousand.
    private static let cuts: [Fault] = [
        Fault("cut within the handshake", [.cut(after: 100)], .connectionLost, .neverSent),
        Fault("cut within the body", [.cut(after: 50_000)], .bodyTruncated, .answered),
        Fault("cut before the body's last bytes", [.cut(after: 200_500)], .bodyTruncated, .answered),
        Fault("silent within the handshake", [.cut(after: 100), .hold], .tlsTimedOut, .neverSent) { $0.limit(\.tls) },
        Fault("silent within the body", [.cut(after: 50_000), .hold], .readTimedOut, .answered) { $0.limit(\.read) },
        Fault("reset within the body", [.cut(after: 50_000), .reset], .bodyTruncated, .answered),
    ]

    @Test(.enabled(if: Nginx.isInstalled, Comment(rawValue: Nginx.advice)), arguments: cuts)
    func `an encrypted response that does not end`(fault: Fault) async throws {
        try await FaultLab.run { faults in
            let authority = try CertificateAuthority()
            let nginx = try Nginx(certifiedBy: authority, in: faults.lab)
            try nginx.files.write("large", [UInt8](repeating: 0x61, count: 200_000))
            let server = try ScriptedServer(in: faults.lab) { _ in
                fault.script.map { step in
                    if case .relay(_, let limit) = step {
                        .relay(toPort: nginx.securePort, cutAfter: limit)
                    } else {
                        step
                    }
                }
            }
            var configuration = HTTPConfiguration(timeouts: .lasting, tls: try .trusting(authority))
            fault.configure(&configuration)
            let session = try faults.session(configuration)
            let error = await #expect(throws: HTTPError.self) {
                _ = try await session.get("https://127.0.0.1:\(server.port)/large").response()
            }
            #expect(error?.code == fault.code, "\(error.debugDescription)")
            #expect(error?.processing == fault.processing)
            try await faults.end(session)
            try await server.waitForEnds()
            try await server.stop()
            try nginx.stop()
        }
    }
}

extension ServerStep {
    /// Relays a number of bytes from the test's server.
    fileprivate static func cut(after count: Int) -> ServerStep { .relay(toPort: 0, cutAfter: count) }
}
