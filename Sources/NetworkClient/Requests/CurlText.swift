/// A request as a command for curl, to be tried in a shell.
///
/// What may be a secret is not in it: the values of fields and parameters that carry credentials, and the body, which curl
/// is told to read from its standard input.
struct CurlText {
    /// What stands for a secret.
    static let mask = "SECRET"
    private static let secretFields: Set<String> = [
        "authorization", "proxy-authorization", "cookie", "x-api-key", "x-auth-token", "idempotency-key",
    ]
    private static let secretParameters = ["token", "key", "secret", "password", "passwd", "signature", "sig", "auth"]
    /// What curl makes by itself.
    private static let implied: Set<String> = ["host", "content-length", "transfer-encoding"]

    let head: HTTPRequest
    let hasBody: Bool
    let socketPath: String?

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
            let isSecret = Self.secretFields.contains(field.name.canonicalName)
            // A field without a value is written with a semicolon; see curl(1).
            let text = field.value.isEmpty ? "\(field.name.rawName);" : "\(field.name.rawName): \(field.value)"
            words += ["--header", Self.quoted(isSecret ? "\(field.name.rawName): \(Self.mask)" : text)]
        }
        if head.headerFields[.acceptEncoding] != nil { words.append("--compressed") }
        if hasBody { words += ["--data-binary", "@-"] }
        words.append(Self.quoted(url))
        return words.joined(separator: " ")
    }

    private var url: String {
        let path = head.path ?? "/"
        let parts = path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let query =
            parts.count < 2
            ? ""
            : "?"
                + parts[1].split(separator: "&", omittingEmptySubsequences: false)
                .map(Self.masked).joined(separator: "&")
        return "\(head.scheme ?? "http")://\(head.authority ?? "")\(parts[0])\(query)"
    }

    private static func masked(_ pair: Substring) -> String {
        let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = parts[0].lowercased()
        guard parts.count == 2, secretParameters.contains(where: { name.contains($0) }) else { return String(pair) }
        return "\(parts[0])=\(mask)"
    }

    /// In single quotes, which a quote within leaves and enters again.
    static func quoted(_ text: String) -> String {
        var quoted = "'"
        for character in text {
            if character == "'" { quoted += "'\\''" } else { quoted.append(character) }
        }
        return quoted + "'"
    }
}

extension RequestHandle {
    /// The request as a command for curl(1), to be tried in a shell.
    ///
    /// Secrets are replaced by `SECRET`: the values of `Authorization`, `Cookie` and their like, and of parameters whose
    /// name speaks of a token, key or password. A body is not shown: curl reads it from its standard input.
    public var curlCommand: String {
        CurlText(head: head, hasBody: request.hasBody, socketPath: request.endpoint.socketPath).command
    }
}

extension RequestHandle: CustomStringConvertible {
    /// For logs: number, method, URL without user information and query, and where it is.
    public var description: String { "request \(id): \(request.description) (\(state))" }
}
