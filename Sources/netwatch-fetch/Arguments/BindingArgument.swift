import CommandLineSupport
import NetworkClient
import ReachabilityCore

/// Reads `NAME|ADDRESS`, as `--interface` takes it.
enum BindingArgument {
    /// Reads an interface's name or a source address.
    ///
    /// - Throws: ``ArgumentError`` that says what was wrong and how to write it.
    static func parse(_ text: String) throws(ArgumentError) -> LocalBinding {
        if let address = IPAddress(text) { return .address(address.description) }
        // IFNAMSIZ, and what the kernel lets no name contain (dev_valid_name in net/core/dev.c).
        let isName = (1...15).contains(text.utf8.count) && !text.contains { "/: ".contains($0) || $0.isWhitespace }
        guard isName else { throw .init("it is neither an interface nor an address; write wwan0 or 192.0.2.2") }
        return .interface(text)
    }
}
