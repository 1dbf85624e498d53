import Glibc
import HTTPLab

@testable import NetworkClient

/// The faults of servers after connecting.
enum FaultTable {
    /// Lost connections.
    static let losses: [Fault] = [
        Fault("closed at once", [.close], .connectionLost, .maybeProcessed),
        Fault("closed before the head", [.readRequest, .close], .connectionLost, .maybeProcessed),
        Fault("closed within the head", [.readRequest, .head("200 OK\nContent-Le")], .connectionLost, .maybeProcessed),
        Fault("half-closed before the head", [.readRequest, .halfClose, .readToEnd], .connectionLost, .maybeProcessed),
        Fault("reset before the head", [.readRequest, .reset], .connectionLost, .maybeProcessed, errno: ECONNRESET),
        Fault(
            "reset within the head",
            [.readRequest, .head("200 OK\nContent-Le"), .reset],
            .connectionLost,
            .maybeProcessed,
            errno: ECONNRESET
        ),
        Fault(
            "reset after the head",
            [.readRequest, .head("200 OK\nContent-Length: 9\n\n"), .reset],
            .bodyTruncated,
            .answered,
            errno: ECONNRESET
        ),
        Fault(
            "reset within a body without length",
            [.readRequest, .head("200 OK\nConnection: close\n\nabc"), .reset],
            .bodyTruncated,
            .answered,
            errno: ECONNRESET
        ),
        Fault(
            "closed within a body",
            [.readRequest, .head("200 OK\nContent-Length: 9\n\nabc")],
            .bodyTruncated,
            .answered
        ),
        Fault(
            "closed within a chunk",
            [.readRequest, .head("200 OK\nTransfer-Encoding: chunked\n\n9\nabc")],
            .bodyTruncated,
            .answered
        ),
        Fault(
            "closed before the last chunk",
            [.readRequest, .head("200 OK\nTransfer-Encoding: chunked\n\n3\nabc\n")],
            .bodyTruncated,
            .answered
        ),
        Fault(
            "closed within an upload",
            [.readHead, .reset],
            .connectionLost,
            .maybeProcessed,
            upload: largeUpload
        ),
    ]

    /// More than the kernel's buffers hold.
    static let largeUpload = RequestBody.bytes([UInt8](repeating: 0x61, count: 16 << 20))
}
