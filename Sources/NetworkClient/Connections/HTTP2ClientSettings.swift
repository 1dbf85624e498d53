import NIOCore
import NIOHTTP2

/// The settings and limits of the client's HTTP/2 connections to one endpoint.
struct HTTP2ClientSettings {
    /// The server, for messages.
    let host: String
    /// Whether the connection uses TLS.
    let isSecure: Bool
    /// The maximum size of a response's head in bytes.
    let maximumHeadSize: Int
    /// The number of the first stream.
    var firstStream = 1
    /// The maximum time without a byte after a PING frame.
    var maximumSilence = FixedLimits().silence
    /// The minimum time without a byte after which the connection is checked if a request is cancelled.
    var silenceBeforeCancellation = FixedLimits().silenceBeforeCancellation
    /// The number of bytes of a response that the server may send before its reader takes them.
    ///
    /// It is as much as the kernel buffers for a connection by default (tcp_rmem in tcp(7)).
    let streamWindow = 4 << 20

    /// The number of bytes that the server may send on all streams together before they are received.
    static let connectionWindow = 16 << 20
    /// The connection's window before it is changed (RFC 9113, 6.9.2).
    static let initialConnectionWindow = 65_535
    /// The number of streams that a server allows before it says so (RFC 9113, 6.5.2, recommends no fewer).
    static let assumedStreamLimit = 100
    /// The maximum number of streams that are used of those that a server allows.
    static let maximumStreamLimit = 10_000
    /// The number of bytes of a request that wait for the server's window or the kernel, from which no more are taken.
    static let maximumUnwrittenBytes = 131_072
    /// The number of streams that were reset and for which frames may still arrive.
    private static let rememberedResets = 4_096
    /// The maximum number of RST_STREAM frames in 10 seconds: a server that sends more keeps the client busy.
    private static let maximumResets = 2_000

    /// Makes the handler for the frames of one connection.
    func makeHandler() -> NIOHTTP2Handler {
        var connection = NIOHTTP2Handler.ConnectionConfiguration()
        connection.initialSettings = [
            HTTP2Setting(parameter: .enablePush, value: 0),
            HTTP2Setting(parameter: .maxConcurrentStreams, value: 0),
            HTTP2Setting(parameter: .initialWindowSize, value: streamWindow),
            HTTP2Setting(parameter: .maxHeaderListSize, value: largestDecodedHead),
        ]
        connection.maximumSequentialContinuationFrames = largestDecodedHead / 16_384 + 4
        connection.maximumSequentialEmptyDataFrames = 16
        connection.maximumRecentlyResetStreams = Self.rememberedResets
        var stream = NIOHTTP2Handler.StreamConfiguration()
        stream.streamResetFrameRateLimit.maximumCount = Self.maximumResets
        stream.streamResetFrameRateLimit.windowLength = .seconds(10)
        return NIOHTTP2Handler(mode: .client, connectionConfiguration: connection, streamConfiguration: stream)
    }

    /// The size from which a head ends the connection.
    ///
    /// A head that exceeds the limit by less fails only its request, since what follows it can still be decoded.
    private var largestDecodedHead: Int { min(maximumHeadSize, 1 << 28) * 2 + 16_384 }
}
