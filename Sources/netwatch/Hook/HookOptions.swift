import ArgumentParser
import CommandLineSupport
import Glibc

/// The options of the hook.
struct HookOptions: ParsableArguments {
    /// The default timeout of a hook.
    private static let standardLimit = Duration.seconds(30)

    @Option(
        parsing: .unconditional,
        help: .init(
            """
            Run in /bin/sh at start and on each change; JSON on stdin, NETWATCH_STATUS, NETWATCH_PREVIOUS and \
            NETWATCH_INTERFACE set.
            """,
            valueName: "command"
        )
    )
    var exec: String?

    @Option(
        name: .customLong("exec-timeout"),
        parsing: .unconditional,
        help: .init("Terminate it, with all that it started, after this (default: 30s).", valueName: "duration"),
        transform: DurationArgument.parse
    )
    var limit: Duration?

    func validate() throws {
        if let exec, exec.utf8.allSatisfy({ $0 == UInt8(ascii: " ") }) {
            throw ValidationError(
                "The command of --exec is empty; write one, as in --exec 'logger \"$NETWATCH_STATUS\"'"
            )
        }
        guard let limit else { return }
        guard exec != nil else { throw ValidationError("--exec-timeout needs --exec; give both or neither") }
        guard limit > .zero else { throw ValidationError("--exec-timeout must be longer than 0; write such as 30s") }
    }

    /// The hook, if there is one.
    var hook: Hook? {
        exec.map { command in
            let bytes = RawArguments.own.value(of: "--exec", reading: command) ?? Array(command.utf8)
            return .init(command: command, bytes: bytes, limit: limit ?? Self.standardLimit)
        }
    }
}

/// The command line byte for byte: Swift's strings are UTF-8 and replace invalid bytes.
struct RawArguments {
    private let words: [[UInt8]]

    init(_ words: [[UInt8]]) { self.words = words }

    /// Those of this process.
    static var own: Self {
        .init(
            (0..<Int(CommandLine.argc)).compactMap { position in
                CommandLine.unsafeArgv[position].map { word in
                    Array(UnsafeRawBufferPointer(start: word, count: strlen(word)))
                }
            }
        )
    }

    /// The bytes of an option's value, as a separate word or after `=`.
    ///
    /// - Parameters:
    ///   - option: Its name, with the hyphens.
    ///   - text: The value as the argument parser gave it.
    /// - Returns: The bytes of the last such value; nil if there is none.
    func value(of option: String, reading text: String) -> [UInt8]? {
        let (name, prefix) = (Array(option.utf8), Array((option + "=").utf8))
        for position in words.indices.reversed() {
            let word = words[position]
            if position > 0, words[position - 1] == name, Self.text(word) == text { return word }
            let value = Array(word.dropFirst(prefix.count))
            if word.starts(with: prefix), Self.text(value) == text { return value }
        }
        return nil
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
