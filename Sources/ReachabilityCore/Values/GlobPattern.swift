/// Glob patterns for interface names: `*` matches any characters, `?` matches one.
enum GlobPattern {
    /// Returns whether a name matches a pattern.
    static func matches(_ pattern: String, _ name: String) -> Bool {
        matches(Array(pattern.utf8)[...], Array(name.utf8)[...])
    }

    /// Compares byte by byte; at a mismatch, the last `*` matches one more byte.
    private static func matches(_ pattern: ArraySlice<UInt8>, _ name: ArraySlice<UInt8>) -> Bool {
        var (rest, left) = (pattern, name)
        var retry: (pattern: ArraySlice<UInt8>, name: ArraySlice<UInt8>)?
        while !left.isEmpty {
            if rest.first == UInt8(ascii: "*") {
                rest = rest.dropFirst()
                retry = (rest, left)
            } else if let next = rest.first, next == left.first || next == UInt8(ascii: "?") {
                rest = rest.dropFirst()
                left = left.dropFirst()
            } else if let last = retry {
                (rest, left) = (last.pattern, last.name.dropFirst())
                retry = (rest, left)
            } else {
                return false
            }
        }
        return rest.allSatisfy { $0 == UInt8(ascii: "*") }
    }
}
