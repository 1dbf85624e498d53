import CommandLineSupport
import NetwatchCore
import NetworkClient
import NetworkClientCore

/// A file that `--resume` downloads, and the advice on continuing it if it is incomplete.
struct FetchDownload {
    /// The file's path.
    let path: String
    /// The command that this process was started with.
    let command: [String]

    /// Starts or continues the download.
    func start(
        _ url: String,
        _ request: FetchRequestOptions,
        _ headers: HTTPFields,
        maximumSize: Int?,
        _ credential: Credential?,
        in session: HTTPSession
    ) throws(ToolError) -> RequestHandle {
        let parameters = try request.tree()
        var options = DownloadOptions()
        options.request.maximumBodySize = maximumSize
        options.request.credential = credential
        return session.download(url, to: path, parameters: parameters, headers: headers, options: options)
    }

    /// Returns the error for a response without a file.
    func refusal(_ response: DataResponse) -> ToolError {
        let status = response.head.status
        let url = response.urlWithoutQuery
        let words = "GET \(url): the server responded with \(status.code) \(status.reasonPhrase), and no file"
        let advice = (300...399).contains(status.code) ? "; -L follows redirects" : ""
        return .init((words + advice).escapedForTerminal, curl: .refusedStatus)
    }

    /// Returns the error, with the command that continues the download if there is a part of it.
    func error(_ error: ToolError, of request: RequestHandle) -> ToolError {
        howToGoOn(request).map { .init("\(error.message); \($0)", exit: error.status) } ?? error
    }

    /// Prints the command that continues the download to stderr, after a signal.
    func tellHowToGoOn(_ request: RequestHandle) {
        guard let text = howToGoOn(request) else { return }
        // If stderr can't be written, the error can't be reported either.
        try? LineOutput.standardError.write("netwatch: \(text)\n")
    }

    /// Returns the advice on continuing; nil if there is no part that the same command would continue, such as one of
    /// another URL.
    private func howToGoOn(_ request: RequestHandle) -> String? {
        guard let part = request.keptPart(of: path) else { return nil }
        let kept = "\(QuantityText.bytes(Int(part.size))) are kept in '\(part.path.escapedForTerminal)'"
        return "\(kept); go on by: \(ShellText.command(ResumeCommand.words(command)))"
    }
}

/// The command that continues a download, without secrets.
enum ResumeCommand {
    /// Returns the words as they were given, except for secrets: a password is left out, so that the command prompts
    /// for it, and the value of a secret field or the password in a URL becomes `...`.
    static func words(_ given: [String]) -> [String] {
        var words: [String] = []
        var before: Secret?
        for word in given {
            if let secret = before {
                words.append(secret.hidden(word))
                before = nil
            } else if let (option, secret, value) = split(word) {
                words.append(option + secret.hidden(value))
            } else {
                before = Secret.options[word] ?? Secret.endingFlags(word)
                words.append(before == nil && word.contains("://") ? Secret.hiddenPassword(ofURL: word) : word)
            }
        }
        return words
    }

    /// Splits an option whose value is in the same word: `--user=me:x`, `-ume:x`.
    private static func split(_ word: String) -> (option: String, secret: Secret, value: String)? {
        for (name, secret) in Secret.options {
            let option = name.hasPrefix("--") ? name + "=" : name
            if word != option, word.hasPrefix(option) { return (option, secret, String(word.dropFirst(option.count))) }
        }
        return nil
    }

    /// The secret part of an option's value.
    private enum Secret {
        case user, field, proxy, cookie

        static let options: [String: Self] = [
            "-u": .user, "--user": .user, "-H": .field, "--header": .field, "-x": .proxy, "--proxy": .proxy,
            "-b": .cookie, "--cookie": .cookie,
        ]

        /// Returns the secret of the last flag in a group of flags, which may take a value: `-Lu me:x`.
        static func endingFlags(_ word: String) -> Self? {
            guard word.hasPrefix("-"), !word.hasPrefix("--"), let last = word.last else { return nil }
            return word.dropFirst().dropLast().allSatisfy { "fijkLIv".contains($0) } ? options["-\(last)"] : nil
        }

        // By bytes, as the value is parsed for sending: a colon with a combining accent is a different Character.
        func hidden(_ value: String) -> String {
            switch self {
            case .user: return String(decoding: value.utf8.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self)
            case .field:
                guard let field = try? FieldArgument.parse(value), SecretNames.isSecret(field: field.name.rawName)
                else {
                    return value
                }
                return "\(field.name.rawName): ..."
            case .cookie: return value.contains("=") ? "..." : value
            case .proxy: return Self.hiddenPassword(value.utf8[...])
            }
        }

        /// Returns a URL with its password replaced.
        static func hiddenPassword(ofURL url: String) -> String {
            let bytes = url.utf8
            guard let mark = url.firstRange(of: "://") else { return url }
            let authority = bytes[mark.upperBound...].prefix { !"/?#".utf8.contains($0) }
            return hiddenPassword(bytes[..<authority.endIndex])
                + String(decoding: bytes[authority.endIndex...], as: UTF8.self)
        }

        /// Does the same for a URL without a path: the user information ends at the last `@`.
        private static func hiddenPassword(_ bytes: Substring.UTF8View) -> String {
            let text = String(decoding: bytes, as: UTF8.self)
            guard let end = bytes.lastIndex(of: UInt8(ascii: "@")) else { return text }
            let start = Substring(bytes).firstRange(of: "://")?.upperBound ?? bytes.startIndex
            guard start <= end, let colon = bytes[start..<end].firstIndex(of: UInt8(ascii: ":")) else { return text }
            return String(decoding: bytes[..<colon], as: UTF8.self) + ":..."
                + String(decoding: bytes[end...], as: UTF8.self)
        }
    }
}

/// A command in the syntax of a shell.
enum ShellText {
    /// Returns the words, quoted where a shell (POSIX, 2.2) would interpret them.
    ///
    /// The result has no line breaks and no control characters: they are written as `$'\x1b'`, which bash, zsh, ksh and
    /// the newest POSIX support.
    static func command(_ words: [String]) -> String { words.map(quoted).joined(separator: " ") }

    static func quoted(_ word: String) -> String {
        guard !word.unicodeScalars.contains(where: \.isControl) else {
            return "$'" + word.utf8.map(escaped).joined() + "'"
        }
        if !word.isEmpty, word.utf8.allSatisfy(isPlain) { return word }
        // By bytes, as in the shell: a quote with a combining accent is a different Character.
        let parts = word.utf8.split(separator: UInt8(ascii: "'"), omittingEmptySubsequences: false)
        return "'" + parts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: #"'\''"#) + "'"
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._/:@%+=,".utf8.contains(byte)
        }
    }

    private static func escaped(_ byte: UInt8) -> String {
        switch byte {
        case UInt8(ascii: "'"), UInt8(ascii: "\\"): return "\\" + String(Unicode.Scalar(byte))
        case 0x20..<0x7F: return String(Unicode.Scalar(byte))
        default:
            let digits = String(byte, radix: 16)
            return "\\x" + (digits.utf8.count == 1 ? "0" : "") + digits
        }
    }
}

extension DataResponse {
    /// The URL for messages: a query may contain secrets.
    var urlWithoutQuery: Substring { url.prefix { $0 != "?" } }
}
