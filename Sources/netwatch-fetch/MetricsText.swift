import NetwatchCore
import NetworkClient

/// The figures that `--metrics` prints, as far as the request got.
struct MetricsText {
    /// How the connection was made, if there was one.
    var connection: ConnectMetrics?
    /// Whether it had served another request before.
    var isReused = false
    /// The response's status, if one came.
    var status: Int?
    /// From handing over the request until the response's head.
    var firstByte: Duration?
    /// From the start to the end.
    var total: Duration?
    /// Bytes of body that were sent, if that is known.
    var sent: Int?
    /// Bytes of body as they came, compressed or not.
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

    /// All figures as a JSON object; what is not known is null.
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

    /// The connection, if this request had it made.
    private var made: ConnectMetrics? { isReused ? nil : connection }

    private static func string(_ text: String) -> String { "\"\(text.escapedForJSONAndTerminal)\"" }
}

extension MetricsText {
    /// The figures of an answered request.
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
