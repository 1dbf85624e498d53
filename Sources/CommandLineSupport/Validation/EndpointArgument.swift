import NetwatchCore
import ReachabilityCore
package import ValidationCore

/// Reads a server to ask, as `--validate` takes it.
///
/// The expectations of the server's response may follow a `#`, and are never sent:
///
/// | text | question | after `#` |
/// |---|---|---|
/// | `http://HOST/PATH`, `https://…` | `GET` | `status=204`, the default, or `body=TEXT` |
/// | `tls://HOST:PORT` | a TLS handshake; port 443 by default | `pin=sha256/BASE64`, or several with commas |
/// | `tcp://HOST:PORT` | a TCP connection | |
/// | `dns://SERVER/NAME`, `dns:NAME` | a DNS query | `nxdomain`, or `address=192.0.2.7`, or several |
package enum EndpointArgument {
    /// Reads an endpoint.
    ///
    /// - Throws: ``ArgumentError`` that says what was wrong and how to write it.
    package static func parse(_ text: String) throws(ArgumentError) -> ValidationEndpoint {
        guard text.utf8.count <= maximumLength else { throw .init("it is longer than \(maximumLength) bytes") }
        let parts = text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        guard let colon = parts[0].firstIndex(of: ":") else { throw .init("the scheme is missing; \(howTo)") }
        let rest = parts[0][parts[0].index(after: colon)...]
        let expectation = try Expectation(parts.count > 1 ? parts[1] : nil)
        switch parts[0][..<colon].lowercased() {
        case "http", "https": return try http(String(parts[0]), expectation)
        case "tls": return try tls(rest, expectation)
        case "tcp": return try tcp(rest, expectation)
        case "dns": return try dns(rest, expectation)
        case let scheme: throw .init("'\(scheme.escapedForTerminal)' is no scheme for it; \(howTo)")
        }
    }

    /// The maximum length in bytes.
    private static let maximumLength = 2048

    private static let howTo =
        "write http://HOST/PATH, https://HOST/PATH, tls://HOST:443, tcp://HOST:PORT or dns://SERVER/NAME"

    // MARK: Kinds

    private static func http(_ url: String, _ expectation: Expectation) throws(ArgumentError) -> ValidationEndpoint {
        let endpoint: ValidationEndpoint?
        switch expectation.name {
        case nil: endpoint = .http(url)
        case "status": endpoint = .http(url, expecting: .status(try expectation.status()))
        case "body": endpoint = .http(url, expecting: .body(try expectation.text()))
        default: throw expectation.misplaced("status=204 or body=TEXT")
        }
        guard let endpoint else { throw .init("it is no usable URL; write http://HOST/PATH without user information") }
        return endpoint
    }

    private static func tls(_ rest: Substring, _ expectation: Expectation) throws(ArgumentError) -> ValidationEndpoint {
        let (host, port) = try authority(rest)
        switch expectation.name {
        case nil: return .tls(host, port: port ?? 443)
        case "pin": return .tls(host, port: port ?? 443, pins: try expectation.list())
        default: throw expectation.misplaced("pin=sha256/BASE64")
        }
    }

    private static func tcp(_ rest: Substring, _ expectation: Expectation) throws(ArgumentError) -> ValidationEndpoint {
        guard expectation.name == nil else { throw expectation.misplaced("nothing") }
        let (host, port) = try authority(rest)
        guard let port else { throw .init("the port is missing; write tcp://HOST:PORT") }
        return .tcp(host, port: port)
    }

    private static func dns(_ rest: Substring, _ expectation: Expectation) throws(ArgumentError) -> ValidationEndpoint {
        let (server, name) = try nameServer(rest)
        guard !name.isEmpty, name.utf8.count <= 253, !name.contains(where: { "/ :@".contains($0) }) else {
            throw .init("the name to ask for is missing, or none; write dns://SERVER/NAME, or dns:NAME")
        }
        switch expectation.name {
        case nil: return .dns(String(name), server: server)
        case "nxdomain": return .dns(String(name), server: server, expecting: .nameError)
        case "address":
            return .dns(String(name), server: server, expecting: .addresses(try expectation.addresses()))
        default: throw expectation.misplaced("nxdomain or address=192.0.2.7")
        }
    }

    // MARK: Parts

    /// Splits `SERVER/NAME`, without a server the name alone.
    private static func nameServer(_ rest: Substring) throws(ArgumentError) -> (IPAddress?, Substring) {
        guard rest.hasPrefix("//") else { return (nil, rest) }
        let parts = rest.dropFirst(2).split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { throw .init("the name to ask for is missing; write dns://SERVER/NAME") }
        if parts[0].isEmpty { return (nil, parts[1]) }
        guard let address = IPAddress(unbracketed(parts[0])) else {
            throw .init("'\(parts[0].escapedForTerminal)' is no address of a name server; write dns://192.0.2.53/NAME")
        }
        return (address, parts[1])
    }

    /// Reads `//HOST:PORT`.
    private static func authority(_ rest: Substring) throws(ArgumentError) -> (String, Int?) {
        guard rest.hasPrefix("//") else { throw .init("'//' is missing after the scheme; \(howTo)") }
        let text = rest.dropFirst(2).hasSuffix("/") ? rest.dropFirst(2).dropLast() : rest.dropFirst(2)
        let isBracketed = text.hasPrefix("[") && text.contains("]")
        let host = isBracketed ? text.prefix { $0 != "]" } + "]" : text.prefix { $0 != ":" }
        let isName = host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } && !host.contains { "/@?".contains($0) }
        guard isName, !host.isEmpty, !isBracketed || IPAddress(unbracketed(host)) != nil else {
            throw .init("the host is missing, or none; write a name, 192.0.2.7 or [2001:db8::7]")
        }
        let port = text.dropFirst(host.count)
        guard !port.isEmpty else { return (unbracketed(host), nil) }
        guard port.hasPrefix(":"), let number = UInt16(port.dropFirst()), number > 0 else {
            throw .init("the port is none; write a number from 1 to 65535 after the ':'")
        }
        return (unbracketed(host), Int(number))
    }

    private static func unbracketed(_ host: some StringProtocol) -> String {
        host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : String(host)
    }
}

/// An expectation of a server's response: `NAME=VALUE`, or a name alone.
private struct Expectation {
    let name: String?
    private let value: Substring?

    init(_ text: Substring?) throws(ArgumentError) {
        guard let text else {
            (name, value) = (nil, nil)
            return
        }
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard !parts[0].isEmpty else { throw .init("nothing follows the '#'; leave it out") }
        name = String(parts[0])
        value = parts.count > 1 ? parts[1] : nil
    }

    /// The error for an expectation that the kind of server does not have.
    func misplaced(_ possible: String) -> ArgumentError {
        .init("'\((name ?? "").escapedForTerminal)' can't be expected of this server; write \(possible) after the '#'")
    }

    func text() throws(ArgumentError) -> String {
        guard let value, !value.isEmpty else { throw .init("the value of '\(name ?? "")' is missing") }
        return String(value)
    }

    func status() throws(ArgumentError) -> Int {
        guard let status = Int(try text()), 100...599 ~= status else { throw .init("the status is none; write 204") }
        return status
    }

    func list() throws(ArgumentError) -> [String] { try text().split(separator: ",").map(String.init) }

    func addresses() throws(ArgumentError) -> Set<IPAddress> {
        let texts = try list()
        let addresses = texts.compactMap { IPAddress($0) }
        guard addresses.count == texts.count, addresses.allSatisfy({ $0.family == .ipv4 }) else {
            throw .init("an address is none of IPv4; write address=192.0.2.7,192.0.2.8")
        }
        return Set(addresses)
    }
}
