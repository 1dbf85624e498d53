import Glibc
import HTTPLab
import NIOCore
import NIOSSL
import NetworkLab

@testable import NetworkClient

/// Both sides of a connection on which a handshake is tried.
struct TLSTrialConnection: Sendable {
    let client: TLSTrialClient
    let server: any Channel
    let record: Observed<TLSServerRecord>

    /// Two connected stream sockets; see socketpair(2).
    static func socketPair() throws -> (near: Int32, far: Int32) {
        var pair: [Int32] = [0, 0]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &pair) == 0 else { throw LabError("socketpair", errno: errno) }
        return (pair[0], pair[1])
    }
}

/// A server's record of a client.
struct TLSServerRecord: Sendable {
    /// The request's bytes, decrypted.
    var request: [UInt8] = []
    /// The number of certificates that the client has sent.
    var clientCertificates = 0
    /// The received bytes, still encrypted.
    var wire: [UInt8] = []

    /// The received TLS records, by content type and length (RFC 8446, section 5.1).
    var records: [(type: UInt8, length: Int)] {
        var records: [(type: UInt8, length: Int)] = []
        var rest = wire[...]
        while rest.count >= 5 {
            let header = Array(rest.prefix(5))
            let length = Int(header[3]) << 8 | Int(header[4])
            records.append((header[0], length))
            rest = rest.dropFirst(5 + length)
        }
        return records
    }

    /// Whether the client has sent nothing but its hello and an alert, in the clear or encrypted.
    ///
    /// An encrypted alert has 2 bytes, its content type, and 16 that authenticate it; a record of type 20 is the one
    /// byte of TLS 1.3's compatibility mode.
    var hasOnlyHelloAndAlert: Bool {
        guard records.first?.type == 22 else { return false }
        return records.dropFirst().allSatisfy { record in
            switch record.type {
            case 20: record.length == 1
            case 21: true
            case 23: record.length <= 19
            default: false
            }
        }
    }
}
