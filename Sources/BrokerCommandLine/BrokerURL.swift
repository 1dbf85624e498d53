package import CommandLineSupport
import NetwatchCore
import ReachabilityCore

/// The URL of a broker: `mqtts://HOST[:PORT]`, or `mqtt://` without TLS.
package struct BrokerURL: Hashable, Sendable {
    package let isSecure: Bool
    /// The name or address, without brackets.
    package let host: String
    package let port: Int

    /// Whether the broker is on this machine.
    package var isLoopback: Bool { host == "localhost" || IPAddress(host)?.isLoopback == true }

    /// Reads a URL.
    ///
    /// - Throws: ``ArgumentError`` that says what was wrong and how to write it.
    package init(parsing text: String) throws(ArgumentError) {
        guard let scheme = ["mqtts://", "mqtt://"].first(where: text.hasPrefix) else {
            throw .init("it does not begin with mqtts:// or mqtt://; \(Self.howTo)")
        }
        isSecure = scheme == "mqtts://"
        var rest = text.dropFirst(scheme.count)
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        guard !rest.contains("@") else {
            throw .init("a user and a password can be seen in the list of processes; use --user and --password-file")
        }
        guard !rest.contains("/"), !rest.contains("?") else { throw .init("a broker has no path; \(Self.howTo)") }
        (host, port) = try Self.split(rest, isSecure ? 8883 : 1883)
    }

    private static let howTo = "write mqtts://broker.example or mqtts://broker.example:8883"

    private static func split(_ text: Substring, _ usualPort: Int) throws(ArgumentError) -> (String, Int) {
        let isBracketed = text.hasPrefix("[")
        let end = isBracketed ? text.firstIndex(of: "]").map { text.index(after: $0) } : text.firstIndex(of: ":")
        let name = text[..<(end ?? text.endIndex)]
        let host = isBracketed ? String(name.dropFirst().dropLast()) : String(name)
        let isName = !host.isEmpty && host.utf8.count < 254 && !host.contains { $0.isWhitespace || $0 == "\0" }
        guard isBracketed ? IPAddress(host) != nil : isName else {
            throw .init("the broker's name is missing; \(howTo)")
        }
        let rest = text[name.endIndex...]
        guard !rest.isEmpty else { return (host, usualPort) }
        guard rest.hasPrefix(":"), let port = UInt16(rest.dropFirst()), port > 0 else {
            throw .init("'\(String(rest.dropFirst()).escapedForTerminal)' is no port; \(howTo)")
        }
        return (host, Int(port))
    }
}

/// Reads parts of topics.
package enum TopicArgument {
    /// The largest size in bytes, which leaves room for further levels.
    private static let maximumSize = 200

    /// Reads one level of a topic.
    ///
    /// - Throws: ``ArgumentError`` that says what was wrong and how to write it.
    package static func parse(_ text: String) throws(ArgumentError) -> String {
        guard !text.contains("/") else { throw .init("it has a slash; write one name such as site-3") }
        return try parseLevels(text)
    }

    /// Reads one or more levels of a topic.
    ///
    /// - Throws: ``ArgumentError`` that says what was wrong and how to write it.
    package static func parseLevels(_ text: String) throws(ArgumentError) -> String {
        guard !text.isEmpty, !text.hasPrefix("/"), !text.hasSuffix("/") else {
            throw .init("it is empty or has an empty level; write a name such as site-3")
        }
        guard text.utf8.count <= maximumSize else {
            throw .init("it has more than \(maximumSize) bytes; write a shorter name such as site-3")
        }
        let isAllowed = { (byte: UInt8) in byte > 0x20 && byte != 0x7F && !"+#".utf8.contains(byte) }
        guard text.utf8.allSatisfy(isAllowed) else {
            throw .init("a topic can't have '+', '#', spaces and control characters; write a name such as site-3")
        }
        guard !text.hasPrefix("$") else { throw .init("topics with '$' are the broker's own; write another name") }
        return text
    }
}
