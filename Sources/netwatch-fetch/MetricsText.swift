import NetwatchCore
import NetworkClient

/// The figures that `--metrics` prints, as far as the request got.
struct MetricsText {
    /// The metrics of the connection, if there was one.
    var connection: ConnectMetrics?
    /// Whether the connection had served another request before.
    var isReused = false
    /// The response's status, if one came.
    var status: Int?
    /// The time from sending the request until the response's head.
    var firstByte: Duration?
    /// The time from start to end.
    var total: Duration?
    /// The number of body bytes that were sent; nil if it is not known.
    var sent: Int?
    /// The number of body bytes that were received, as transferred.
    var received = 0

    /// A line for each figure.
    var lines: [String] {
        let times = [
            ("resolve", made?.resolve), ("connect", made?.connect), ("tls", made?.tls), ("first byte", firstByte),
            ("total", total),
        ]
        let rows =
            times.map { ($0, $1.map(QuantityText.milliseconds)) } + [
                ("sent", sent.map { "\($0) bytes" }), ("received", "\(received) bytes"),
                ("address", connection?.remoteAddress?.escapedForTerminal), ("reused", isReused ? "yes" : "no"),
            ]
        return rows.map { name, value in
            name + String(repeating: " ", count: 12 - name.count) + (value ?? "-")
        }
    }

    /// All figures as a JSON object; unknown ones are null.
    var json: String {
        let times = [
            ("resolve", made?.resolve), ("connect", made?.connect), ("tls", made?.tls), ("firstByte", firstByte),
            ("total", total),
        ]
        let members =
            [("v", "1"), ("status", status.map { "\($0)" })] + times.map { ($0, $1.map(QuantityText.seconds)) } + [
                ("sent", sent.map { "\($0)" }), ("received", "\(received)"),
                ("address", connection?.remoteAddress.map(Self.string)),
                ("tlsVersion", connection?.tlsVersion.map(Self.string)), ("reused", isReused ? "true" : "false"),
            ]
        return "{" + members.map { "\"\($0)\":\($1 ?? "null")" }.joined(separator: ",") + "}"
    }

    /// The metrics of the connection, if it was opened for this request.
    private var made: ConnectMetrics? { isReused ? nil : connection }

    private static func string(_ text: String) -> String { "\"\(text.escapedForJSONAndTerminal)\"" }
}

extension MetricsText {
    /// Creates the figures of a request with a response.
    init(_ response: DataResponse, _ connection: ConnectMetrics?) {
        let metrics = response.metrics
        self.init(
            connection: connection,
            isReused: metrics.isReused,
            status: response.status,
            firstByte: metrics.firstByte,
            total: metrics.total,
            sent: metrics.bodyBytesSent,
            received: metrics.bodyBytesReceived
        )
    }
}
