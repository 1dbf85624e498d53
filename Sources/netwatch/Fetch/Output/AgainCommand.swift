import NetworkClient

/// The command by which a download goes on, without the secrets that stood in it.
enum AgainCommand {
    /// The words as they were given, but a password is left out, which is asked for then, and the value of a field that
    /// may be one is `...`.
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
                words.append(word)
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

        func hidden(_ value: String) -> String {
            switch self {
            case .user: return String(value.prefix { $0 != ":" })
            case .field:
                guard let field = try? FieldArgument.parse(value), HeadText.isSecret(field) else { return value }
                return "\(field.name.rawName): ..."
            case .proxy:
                guard let end = value.lastIndex(of: "@") else { return value }
                let start = value.firstRange(of: "://")?.upperBound ?? value.startIndex
                guard start <= end else { return value }
                let user = value[start..<end]
                guard let colon = user.firstIndex(of: ":") else { return value }
                return value[..<colon] + ":..." + value[end...]
            }
        }
    }
}
