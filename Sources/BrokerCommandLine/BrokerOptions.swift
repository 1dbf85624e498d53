package import ArgumentParser
package import CommandLineSupport
import Glibc
import LinuxSystem
package import MQTTClient
package import MQTTCore
import NetwatchCore
package import NetworkClient
import ReachabilityCore

/// How the broker is connected to.
package struct BrokerOptions: ParsableArguments {
    @Option(parsing: .unconditional, help: .init("The user for the broker.", valueName: "name"))
    package var user: String?

    @Option(
        parsing: .unconditional,
        help: .init("Read the password from this file, or from $CREDENTIALS_DIRECTORY/FILE.", valueName: "file"),
        completion: .file()
    )
    package var passwordFile: String?

    @Option(
        parsing: .unconditional,
        help: .init("Trust only the root certificates in this file (PEM or DER).", valueName: "file"),
        completion: .file()
    )
    package var cacert: String?

    @Option(
        parsing: .unconditional,
        help: .init("Use this client certificate.", valueName: "file"),
        completion: .file()
    )
    package var cert: String?

    @Option(
        parsing: .unconditional,
        help: .init("Use this key for --cert, if it is in another file.", valueName: "file"),
        completion: .file()
    )
    package var key: String?

    @Option(
        parsing: .unconditionalSingleValue,
        help: .init(
            "Require this key, or that of a certificate file, in the broker's chain. Repeatable.",
            valueName: "sha256//base64|file"
        ),
        completion: .file()
    )
    package var pin: [String] = []

    @Option(
        name: .customLong("interface"),
        parsing: .unconditional,
        help: .init("Use only this interface, or this source address.", valueName: "name|address"),
        completion: .shellCommand("ls /sys/class/net"),
        transform: BindingArgument.parse
    )
    package var binding: LocalBinding = .unbound

    @Option(
        parsing: .unconditional,
        help: .init("How long the connection may be silent; the broker may demand less.", valueName: "duration"),
        transform: KeepAliveArgument.parse
    )
    package var keepalive = KeepAliveArgument(seconds: 60)

    @Option(
        parsing: .unconditional,
        help: .init("The version of MQTT (default: 5, or 3.1.1 if the broker does not have it).", valueName: "5|3.1.1"),
        transform: VersionArgument.parse
    )
    package var mqttVersion: MQTTVersion?

    package init() {}

    /// Checks that the options fit together.
    package func check(_ broker: BrokerURL) throws {
        let usesTLS = cacert != nil || cert != nil || !pin.isEmpty
        if usesTLS, !broker.isSecure { throw ValidationError("--cacert, --cert and --pin are about TLS; use mqtts://") }
        if key != nil, cert == nil { throw ValidationError("--key is of no use without --cert; give both") }
        if passwordFile != nil, user == nil { throw ValidationError("--password-file needs a user; add --user") }
    }

    /// Returns the parameters of a client without identity.
    package func client(of broker: BrokerURL) throws(ToolError) -> MQTTClient.Configuration {
        var session = MQTTSession.Configuration(clientID: "")
        session.userName = user
        session.password = try passwordFile.map { (path) throws(ToolError) in try PasswordFile.read(path) }
        session.keepAlive = keepalive.seconds
        // The broker keeps the session as long as it waits with the will, and longer.
        session.sessionExpiry = 3600
        let connector: StreamConnector
        do throws(HTTPError) { connector = try .init(tls: broker.isSecure ? try tls() : nil) } catch {
            throw .init(error.reason.escapedForTerminal, exit: .usage)
        }
        var client = MQTTClient.Configuration(
            host: broker.host,
            port: broker.port,
            connector: connector,
            session: session
        )
        client.version = mqttVersion
        return client
    }

    private func tls() throws(HTTPError) -> TLSOptions {
        var options = TLSOptions()
        for text in pin {
            options.policy.pins += text.hasPrefix("sha256/") ? [try Pin(text)] : try Pin.pins(inFile: text)
        }
        if !pin.isEmpty { options.policy.mode = .publicKey }
        if let cacert { options.roots = try .only(file: cacert) }
        if let cert { options.clientIdentity = try .init(certificateFile: cert, keyFile: key ?? cert) }
        return options
    }
}

/// Reads the value of `--interface`.
enum BindingArgument {
    /// Reads an interface's name or a source address.
    ///
    /// - Throws: ``ArgumentError`` that says what was wrong and how to write it.
    static func parse(_ text: String) throws(ArgumentError) -> LocalBinding {
        if let address = IPAddress(text) { return .address(address.description) }
        // IFNAMSIZ, and the characters that the kernel rejects (dev_valid_name in net/core/dev.c).
        let isName = (1...15).contains(text.utf8.count) && !text.contains { "/: ".contains($0) || $0.isWhitespace }
        guard isName else { throw .init("it is neither an interface nor an address; write wwan0 or 192.0.2.2") }
        return .interface(text)
    }
}

/// The value of `--keepalive`.
package struct KeepAliveArgument: Hashable, Sendable {
    package let seconds: UInt16

    /// Reads a duration of 5 s to 18 h, in whole seconds.
    ///
    /// - Throws: ``ArgumentError`` that says what was wrong and how to write it.
    static func parse(_ text: String) throws(ArgumentError) -> Self {
        let seconds = try DurationArgument.parse(text).components.seconds
        guard (5...65_535).contains(seconds) else { throw .init("it is not between 5s and 18h; write 60s or 5m") }
        return .init(seconds: UInt16(seconds))
    }
}

extension KeepAliveArgument: CustomStringConvertible {
    package var description: String { "\(seconds)s" }
}

/// Reads the value of `--mqtt-version`.
enum VersionArgument {
    /// Reads a version.
    ///
    /// - Throws: ``ArgumentError`` that says which there are.
    static func parse(_ text: String) throws(ArgumentError) -> MQTTVersion {
        switch text {
        case "5", "5.0": return .v5
        case "3.1.1": return .v311
        default: throw .init("it is no version of MQTT; write 5 or 3.1.1")
        }
    }
}

/// Reads a password.
enum PasswordFile {
    /// Reads the first line of a file; a name without a slash is that of a credential of systemd, if there is one.
    static func read(_ path: String) throws(ToolError) -> [UInt8] {
        let folder = getenv("CREDENTIALS_DIRECTORY").map { String(cString: $0) }
        let credential = folder.flatMap { path.contains("/") ? nil : "\($0)/\(path)" }
        let file = credential.flatMap { access($0, R_OK) == 0 ? $0 : nil } ?? path
        do throws(SystemError) {
            let line = try FileContents.read(file, atMost: 1 << 16).prefix { $0 != UInt8(ascii: "\n") }
            return line.last == UInt8(ascii: "\r") ? line.dropLast() : Array(line)
        } catch {
            throw .init("cannot read the password file '\(file.escapedForTerminal)': \(error)", exit: .usage)
        }
    }
}
