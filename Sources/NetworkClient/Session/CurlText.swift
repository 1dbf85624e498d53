import NetworkClientCore

/// A request as a command for curl, to be tried in a shell.
///
/// What may be a secret is not in it: the values of fields and parameters whose names say so, and the body, which curl
/// is told to read from its standard input.
struct CurlText {
    /// What stands for a secret.
    static let mask = "SECRET"
    /// What curl makes by itself.
    private static let implied: Set<String> = ["host", "content-length", "transfer-encoding"]

    let head: HTTPRequest
    let hasBody: Bool
    let socketPath: String?
    /// Fields that the user calls secret, beside those whose names say so.
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

    /// In single quotes, which a quote within leaves and enters again.
    static func quoted(_ text: String) -> String {
        // By scalars, as the shell does it: of characters, a quote with an accent is none.
        var quoted = String.UnicodeScalarView("'".unicodeScalars)
        for scalar in text.unicodeScalars {
            if scalar == "'" { quoted.append(contentsOf: "'\\''".unicodeScalars) } else { quoted.append(scalar) }
        }
        quoted.append("'")
        return String(quoted)
    }
}

extension RequestHandle {
    /// The request as a command for curl(1), to be tried in a shell.
    ///
    /// Secrets are replaced by `SECRET`: the values of `Authorization`, `Cookie` and their like, of fields and parameters
    /// whose name speaks of a token, key or password, and of the fields that the redirect policy calls secret
    /// (``RedirectPolicy/secretFields``). A body is not shown: curl reads it from its standard input.
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
    /// For logs: number, method, URL without user information and query, and where it is.
    public final var description: String { "request \(id): \(request.description) (\(state))" }

    /// As ``description``.
    public final var debugDescription: String { description }

    /// Has no children: some hold secrets, others belong to the session's event loop.
    public final var customMirror: Mirror { Mirror(self, children: []) }
}
