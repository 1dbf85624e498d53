/// The entries of a netrc file (netrc(5)), which are read as curl reads them.
///
/// As in curl, names of hosts and keywords are compared without regard to case, lines that begin with `#` are comments,
/// and a token in double quotes may contain spaces and the escapes `\"`, `\\`, `\n`, `\r` and `\t`. Accounts and macros
/// are skipped.
package struct Netrc: Sendable {
    /// The credentials for a machine.
    private struct Entry {
        /// The machine's name; nil for all machines.
        let machine: String?
        var login: String?
        var password: String?

        func matches(_ host: String, user: String?) -> Bool {
            guard machine == nil || machine == host.lowercased() else { return false }
            return login != nil || password != nil ? user == nil || user == login ?? "" : false
        }
    }

    private var entries: [Entry] = []

    /// Reads a file's contents.
    ///
    /// - Parameter bytes: The contents, in UTF-8.
    /// - Throws: ``NetrcFault`` for a quoted token that does not end on its line.
    package init(_ bytes: [UInt8]) throws(NetrcFault) {
        var reader = Reader()
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (number, line) in lines.enumerated() { try reader.read(line, number: number + 1) }
        entries = reader.entries
    }

    /// Returns the credential for a host: that of the first entry for it with a password, otherwise of the first one with
    /// a login, whose password is then empty.
    ///
    /// - Parameters:
    ///   - host: The host's name or address, without brackets.
    ///   - user: The user; nil for any.
    ///   - acceptsDefault: Whether the entry for all machines counts.
    /// - Returns: The credential; nil if there is none.
    package func credential(for host: String, user: String? = nil, acceptsDefault: Bool = true) -> Credential? {
        let found = entries.filter { $0.matches(host, user: user) && (acceptsDefault || $0.machine != nil) }
        guard let entry = found.first(where: { $0.password != nil }) ?? found.first else { return nil }
        return .init(user: entry.login ?? "", password: entry.password ?? "")
    }
}

extension Netrc: CustomReflectable, CustomStringConvertible {
    /// The number of entries.
    package var description: String { "Netrc(\(entries.count) entries)" }
    /// A mirror without children: they are as secret as passwords.
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// The place of an error in a netrc file.
package struct NetrcFault: Error, Hashable, CustomStringConvertible {
    /// The number of the line, starting at 1.
    package let line: Int

    /// The line and the reason.
    package var description: String { "line \(line): a token in double quotes does not end on its line" }
}

extension Netrc {
    /// Reads a file line by line.
    private struct Reader {
        /// The meaning of the next token.
        private enum State {
            case keyword
            case machine
            case login
            case password
            case skipped
            /// In a macro, which ends with an empty line.
            case macro
        }

        private(set) var entries: [Entry] = []
        private var state = State.keyword

        mutating func read(_ line: ArraySlice<UInt8>, number: Int) throws(NetrcFault) {
            let rest = line.drop { $0.isNetrcSpace }
            if case .macro = state {
                if rest.isEmpty { state = .keyword }
                return
            }
            guard rest.first != UInt8(ascii: "#") else { return }
            guard let tokens = Self.tokens(rest) else { throw .init(line: number) }
            for token in tokens {
                take(token)
                // The rest of the line is the macro's name.
                if case .macro = state { return }
            }
        }

        private mutating func take(_ token: String) {
            defer { if case .macro = state {} else { state = Self.state(after: token, in: state) } }
            switch state {
            case .machine: entries.append(.init(machine: token.lowercased()))
            case .login where !entries.isEmpty: entries[entries.count - 1].login = token
            case .password where !entries.isEmpty: entries[entries.count - 1].password = token
            case .keyword where token.lowercased() == "default": entries.append(.init(machine: nil))
            case .keyword where token.lowercased() == "macdef": state = .macro
            default: break
            }
        }

        private static func state(after token: String, in state: State) -> State {
            guard case .keyword = state else { return .keyword }
            return switch token.lowercased() {
            case "machine": .machine
            case "login": .login
            case "password": .password
            case "account": .skipped
            default: .keyword
            }
        }

        /// Returns the tokens of a line; nil if a quoted one does not end.
        private static func tokens(_ line: ArraySlice<UInt8>) -> [String]? {
            var rest = line
            var tokens: [String] = []
            while case rest = rest.drop(while: \.isNetrcSpace), let first = rest.first {
                if first == UInt8(ascii: "\"") {
                    guard let token = quoted(&rest) else { return nil }
                    tokens.append(token)
                } else {
                    let token = rest.prefix { !$0.isNetrcSpace }
                    rest = rest[token.endIndex...]
                    tokens.append(String(decoding: token, as: UTF8.self))
                }
            }
            return tokens
        }

        /// Removes a quoted token from the beginning of a line; nil if it does not end.
        private static func quoted(_ rest: inout ArraySlice<UInt8>) -> String? {
            rest.removeFirst()
            var token: [UInt8] = []
            while let byte = rest.popFirst() {
                switch byte {
                case UInt8(ascii: "\""): return String(decoding: token, as: UTF8.self)
                case UInt8(ascii: "\\"):
                    guard let escaped = rest.popFirst() else { return nil }
                    token.append(escapes[escaped] ?? escaped)
                default: token.append(byte)
                }
            }
            return nil
        }

        private static let escapes: [UInt8: UInt8] = [
            UInt8(ascii: "n"): 0x0A, UInt8(ascii: "r"): 0x0D, UInt8(ascii: "t"): 0x09,
        ]
    }
}

extension UInt8 {
    /// Whether the byte separates tokens: a space or a control character.
    fileprivate var isNetrcSpace: Bool { self <= 0x20 }
}
