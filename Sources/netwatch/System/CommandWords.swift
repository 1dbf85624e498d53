/// A command and its arguments as this process was given them, byte for byte.
///
/// Swift's strings are UTF-8 and would mend what is not; the names of files need not be.
struct CommandWords {
    /// The words, without a null pointer behind them; they live as long as the process.
    let pointers: [UnsafeMutablePointer<CChar>?]
    /// The command itself, for messages and for finding it.
    let name: String

    /// Takes the last words of the command line.
    ///
    /// - Parameter words: The same words as the argument parser gave them; not empty.
    init(last words: [String]) {
        let first = max(0, Int(CommandLine.argc) - words.count)
        pointers = (first..<Int(CommandLine.argc)).map { CommandLine.unsafeArgv[$0] }
        name = words.first ?? ""
    }
}
