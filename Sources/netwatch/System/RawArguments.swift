import Glibc

/// The command line byte for byte: Swift's strings are UTF-8 and mend what is not.
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

    /// The bytes of an option's value, as its own word or behind `=`.
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
