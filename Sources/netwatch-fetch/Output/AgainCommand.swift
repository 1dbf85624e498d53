import NetworkClient

/// The command by which a download goes on, without the secrets that stood in it.
enum AgainCommand {
    /// The words as they were given, but a password is left out, which is asked for then, and the value of a field that
    /// may be one is `...`, as is a password in a URL.
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

    /// An option whose value stands in the same word: `--user=me:x`, `-ume:x`.
    private static func split(_ word: String) -> (option: String, secret: Secret, value: String)? {
        for (name, secret) in Secret.options {
            let option = name.hasPrefix("--") ? name + "=" : name
            if word != option, word.hasPrefix(option) { return (option, secret, String(word.dropFirst(option.count))) }
        }
        return nil
    }

    /// What may be secret in an option's value.
    private enum Secret {
        case user, field, proxy

        static let options: [String: Self] = [
            "-u": .user, "--user": .user, "-H": .field, "--header": .field, "-x": .proxy, "--proxy": .proxy,
        ]

        /// Of flags that stand in one word, the last may take a value: `-Lu me:x`.
        static func endingFlags(_ word: String) -> Self? {
            guard word.hasPrefix("-"), !word.hasPrefix("--"), let last = word.last else { return nil }
            return word.dropFirst().dropLast().allSatisfy { "fikLIv".contains($0) } ? options["-\(last)"] : nil
        }

        // By bytes, as what is sent is read: of characters, a colon with an accent is none.
        func hidden(_ value: String) -> String {
            switch self {
            case .user: return String(decoding: value.utf8.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self)
            case .field:
                guard let field = try? FieldArgument.parse(value), SecretNames.isSecret(field: field.name.rawName)
                else {
                    return value
                }
                return "\(field.name.rawName): ..."
            case .proxy: return Self.hiddenPassword(value.utf8[...])
            }
        }

        /// A URL without the password that stands in it.
        static func hiddenPassword(ofURL url: String) -> String {
            let bytes = url.utf8
            guard let mark = url.firstRange(of: "://") else { return url }
            let authority = bytes[mark.upperBound...].prefix { !"/?#".utf8.contains($0) }
            return hiddenPassword(bytes[..<authority.endIndex])
                + String(decoding: bytes[authority.endIndex...], as: UTF8.self)
        }

        /// The same for what has no path: what the last `@` ends is the user's.
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
