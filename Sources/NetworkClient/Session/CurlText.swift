import NetworkClientCore

/// A request as a curl(1) command line.
///
/// It contains no secrets: the values of fields and parameters with secret names are masked, and curl reads the body
/// from its standard input.
struct CurlText {
    /// The text in place of a secret.
    static let mask = "SECRET"
    /// The fields that curl creates itself.
    private static let implied: Set<String> = ["host", "content-length", "transfer-encoding"]

    let head: HTTPRequest
    let hasBody: Bool
    let socketPath: String?
    /// The names of further fields that are secret.
    var secretFields: [String] = []

    /// The command, quoted for a POSIX shell.
    var command: String {
        var words = ["curl"]
        if head.method == .head {
            words.append("--head")
        } else if head.method != .get || hasBody {
            words += ["--request", Self.quoted(head.method.rawValue)]
        }
        if let socketPath { words += ["--unix-socket", Self.quoted(socketPath)] }
        for field in head.headerFields where !Self.implied.contains(field.name.canonicalName) {
            let name = field.name.rawName
            let value = SecretNames.shown(field: name, field.value, by: Self.mask, secretFields)
            // A field without a value is written with a semicolon; see curl(1).
            words += ["--header", Self.quoted(value.isEmpty ? "\(name);" : "\(name): \(value)")]
        }
        if head.headerFields[.acceptEncoding] != nil { words.append("--compressed") }
        if hasBody { words += ["--data-binary", "@-"] }
        words.append(Self.quoted(url))
        return words.joined(separator: " ")
    }

    private var url: String {
        "\(head.scheme ?? "http")://\(head.authority ?? "")\(SecretNames.masked(head.path ?? "/", by: Self.mask))"
    }

    /// Returns a text in single quotes, for a POSIX shell.
    static func quoted(_ text: String) -> String {
        // By scalars, as in the shell: a quote with a combining accent is a different Character.
        var quoted = String.UnicodeScalarView("'".unicodeScalars)
        for scalar in text.unicodeScalars {
            if scalar == "'" { quoted.append(contentsOf: "'\\''".unicodeScalars) } else { quoted.append(scalar) }
        }
        quoted.append("'")
        return String(quoted)
    }
}

extension RequestHandle {
    /// The request as a curl(1) command line for a POSIX shell.
    ///
    /// Secrets are replaced by `SECRET`: the values of `Authorization` and `Cookie`, of fields and parameters whose
    /// names contain words such as token, key or password, and of ``RedirectPolicy/secretFields``. A body is not
    /// included: curl reads it from its standard input.
    public final var curlCommand: String {
        CurlText(
            head: head,
            hasBody: request.hasBody,
            socketPath: request.endpoint.socketPath,
            secretFields: request.policy.redirects.secretFields
        ).command
    }
}

extension RequestHandle: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The number, the method, the URL without user information and query, and the state, for logs.
    public final var description: String { "request \(id): \(request.description) (\(state))" }

    /// The same as ``description``.
    public final var debugDescription: String { description }

    /// A mirror without children: some would be secret, others are confined to the session's event loop.
    public final var customMirror: Mirror { Mirror(self, children: []) }
}
