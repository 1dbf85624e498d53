import HTTPLab

@testable import NetworkClient

extension FaultTable {
    /// Silent or slow servers; each timeout has its own error.
    static let silence: [Fault] = [
        Fault("silent before the head", [.readRequest, .hold], .firstByteTimedOut, .maybeProcessed) {
            $0.limit(\.firstByte)
        },
        Fault("never reads", [.hold], .firstByteTimedOut, .maybeProcessed) { $0.limit(\.firstByte) },
        Fault(
            "silent within the head",
            [.readRequest, .head("200 OK\nContent-Le"), .hold],
            .firstByteTimedOut,
            .maybeProcessed
        ) { $0.limit(\.firstByte) },
        Fault(
            "a head that comes drop by drop",
            [.readRequest, .head("200 OK\n"), .drip(Array(repeating: 0x61, count: 100_000), every: .milliseconds(10))],
            .firstByteTimedOut,
            .maybeProcessed
        ) { $0.limit(\.firstByte) },
        Fault(
            "silent after the head",
            [.readRequest, .head("200 OK\nContent-Length: 9\n\n"), .hold],
            .readTimedOut,
            .answered
        ) { $0.limit(\.read) },
        Fault(
            "silent within the body",
            [.readRequest, .head("200 OK\nContent-Length: 9\n\nabc"), .hold],
            .readTimedOut,
            .answered
        ) { $0.limit(\.read) },
        Fault(
            "a body that comes drop by drop",
            [
                .readRequest, .head("200 OK\nContent-Length: 9999\n\n"),
                .drip(Array(repeating: 0x61, count: 9999), every: .milliseconds(10)),
            ],
            .requestTimedOut,
            .answered
        ) {
            $0.limit(\.total, .seconds(12))
            $0.limit(\.read, .seconds(60))
        },
        Fault("too slow as a whole", [.readRequest, .hold], .requestTimedOut, .maybeProcessed) {
            $0.limit(\.total, .seconds(12))
        },
        Fault("reads nothing of an upload", [.hold], .writeTimedOut, .maybeProcessed, upload: largeUpload) {
            $0.limit(\.write)
        },
        Fault(
            "stops to read an upload",
            [.readBytes(1_000_000), .hold],
            .writeTimedOut,
            .maybeProcessed,
            upload: largeUpload
        ) { $0.limit(\.write) },
    ]
}
