import ReachabilityCore

/// The Wi-Fi details that are shown.
struct WiFiSign: Sendable, Hashable {
    /// The network's name, as the screen can show it; nil if there is none.
    private(set) var network: String?
    /// In dBm.
    private(set) var signal: Int?
    private var accessPoint: [UInt8]?

    init(_ details: WiFiDetails, _ words: PathWords) {
        network = details.ssidBytes.map { Self.name($0, details.ssid, words) }
        signal = details.signal
        accessPoint = details.accessPoint
    }

    /// The same, with the signal that was shown before if it differs little: it is never quite the same twice.
    func calmed(after before: Self?) -> Self {
        guard let before, let old = before.signal, let new = signal, before.network == network,
            before.accessPoint == accessPoint, abs(new - old) < Self.noticeable
        else { return self }
        return before
    }

    /// `"office" -54 dBm`, without what is not known.
    var text: String { [quoted, strength].compactMap(\.self).joined(separator: " ") }

    /// `-54 dBm "office"`, of which the end may be cut.
    var cuttable: String { [strength, quoted].compactMap(\.self).joined(separator: " ") }

    private var quoted: String? { network.map { "\"\($0)\"" } }

    private var strength: String? { signal.map { "\($0) dBm" } }

    /// Bytes that are no UTF-8 are written as `\xff`.
    private static func name(_ bytes: [UInt8], _ text: String?, _ words: PathWords) -> String {
        if let text { return words.safe(text) }
        return bytes.map { byte in
            guard !(0x20..<0x7F).contains(byte) else { return String(Unicode.Scalar(byte)) }
            return "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }

    /// In decibels.
    private static let noticeable = 3
}
