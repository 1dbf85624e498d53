import ArgumentParser
import CommandLineSupport
import NetwatchCore
import NetworkClient

/// The trust options and the client certificate of `netwatch fetch`.
struct FetchTrustOptions: ParsableArguments {
    @Option(
        name: .customLong("pin"),
        parsing: .unconditionalSingleValue,
        help: .init(
            "Require this key, or that of a certificate file, in the server's chain. Repeatable.",
            valueName: "sha256//base64|file"
        ),
        completion: .file(),
        transform: PinArgument.parse
    )
    var pins: [PinSource] = []

    @Option(
        parsing: .unconditional,
        help: .init("Trust only the root certificates in this file (PEM or DER).", valueName: "file"),
        completion: .file()
    )
    var cacert: String?

    @Option(
        parsing: .unconditional,
        help: .init("Use this client certificate.", valueName: "file"),
        completion: .file()
    )
    var cert: String?

    @Option(
        parsing: .unconditional,
        help: .init(
            "Use this key for --cert, if it is in another file. With --later: the key of the item.",
            valueName: "file"
        ),
        completion: .file()
    )
    var key: String?

    @Flag(name: [.customShort("k"), .customLong("insecure")], help: "Accept any certificate; pins still apply.")
    var isInsecure = false

    /// Checks that `--key` has its certificate; with `--later` it is the key of the item.
    func check(isLater: Bool) throws {
        guard isLater || key == nil || cert != nil else {
            throw ValidationError("--key is of no use without --cert; give both")
        }
    }
}

extension FetchTrustOptions {
    /// Returns the session's TLS options.
    ///
    /// - Throws: The error for the user.
    func tls() throws(ToolError) -> TLSOptions {
        var options = TLSOptions(policy: isInsecure ? .insecure : .standard)
        for pin in pins { options.policy.pins += try pin.pins() }
        if !pins.isEmpty { options.policy.mode = .publicKey }
        if let cacert { options.roots = try roots(cacert) }
        if let cert { options.clientIdentity = try identity(cert) }
        return options
    }

    private func roots(_ path: String) throws(ToolError) -> TrustRoots {
        do throws(HTTPError) { return try .only(file: path) } catch {
            throw .init("no root: \(error.reason.escapedForTerminal)", curl: .badRootFile)
        }
    }

    private func identity(_ path: String) throws(ToolError) -> ClientIdentity {
        do throws(HTTPError) { return try .init(certificateFile: path, keyFile: key ?? path) } catch {
            throw .init("no client certificate: \(error.reason.escapedForTerminal)", curl: .clientCertificate)
        }
    }
}

/// The value of `--pin`: a key that a server's chain must contain.
enum PinSource: Hashable {
    /// The hash of a key.
    case pin(Pin)
    /// A file of certificates or public keys.
    case file(String)
}

/// Parses `sha256//BASE64|FILE`, the value of `--pin`.
enum PinArgument {
    /// Parses a pin; any other text is a file name.
    ///
    /// - Throws: ``ArgumentError``, which says what was wrong and how to write it.
    static func parse(_ text: String) throws(ArgumentError) -> PinSource {
        guard !text.isEmpty else { throw .init("it is empty; write sha256//BASE64, or a certificate's file") }
        guard text.hasPrefix("sha256/") else { return .file(text) }
        do throws(HTTPError) {
            return .pin(try Pin(text))
        } catch {
            throw .init("\(error.reason); an error of a pin that does not match lists the chain's")
        }
    }
}

extension PinSource {
    /// Reads the pins.
    ///
    /// - Throws: The error for the user.
    func pins() throws(ToolError) -> [Pin] {
        switch self {
        case .pin(let pin): return [pin]
        case .file(let path):
            do throws(HTTPError) {
                return try Pin.pins(inFile: path)
            } catch {
                throw .init("no pin: \(error.reason)", curl: .pinnedKeyMismatch)
            }
        }
    }
}
