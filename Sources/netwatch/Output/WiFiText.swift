import NetwatchCore
import ReachabilityCore

/// What radios tell, in words.
enum WiFiText {
    /// `, ssid "office" bssid 02:00:00:00:01:00 2412 MHz -54 dBm`, without what is not known.
    ///
    /// - Parameters:
    ///   - details: What a radio tells.
    ///   - isOneOfSeveral: Whether there are others, so that the interface is named.
    /// - Returns: The words, with a comma before them; nothing if nothing is known.
    static func words(_ details: WiFiDetails, isOneOfSeveral: Bool) -> String {
        var words: [String] = []
        if let bytes = details.ssidBytes { words.append("ssid " + quoted(bytes, text: details.ssid)) }
        if let bssid = details.bssid { words.append("bssid " + bssid) }
        if let frequency = details.frequency { words.append("\(frequency) MHz") }
        if let signal = details.signal { words.append("\(signal) dBm") }
        guard !words.isEmpty else { return "" }
        if isOneOfSeveral { words.insert(details.interface.name.escapedForTerminal, at: 0) }
        return ", " + words.joined(separator: " ")
    }

    /// A network's name between quotation marks; those in it, and what a terminal might obey, are escaped.
    ///
    /// Where it is not text, each byte that is not printable ASCII is written as `\xff`.
    private static func quoted(_ bytes: [UInt8], text: String?) -> String {
        let inner = text?.unicodeScalars.map(escaped).joined().escapedForTerminal ?? bytes.map(escaped).joined()
        return "\"" + inner + "\""
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        scalar == "\"" || scalar == "\\" ? "\\" + String(scalar) : String(scalar)
    }

    private static func escaped(_ byte: UInt8) -> String {
        guard !(0x20..<0x7F).contains(byte) else { return escaped(Unicode.Scalar(byte)) }
        return "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
}
