package import Reachability

/// Reads `NAME|PATH|PID`, as `--netns` takes it.
package enum NamespaceArgument {
    /// Reads a namespace: what has a slash is a path, what has only digits a process, the rest a name.
    ///
    /// - Throws: ``ArgumentError`` that says what was wrong and how to write it.
    package static func parse(_ text: String) throws(ArgumentError) -> NetworkNamespace {
        guard let namespace = NetworkNamespace(text) else { throw .init("no namespace has that name; \(howTo)") }
        return namespace
    }

    /// How to name one.
    package static let howTo =
        "give a name that 'ip netns list' shows, a path such as /proc/1234/ns/net, or a process id"
}
