/// What a `Location` says, beside the URL itself.
public enum RedirectReference {
    /// The one value of a field that must not be there twice; nil if there is none, or there are several that differ.
    public static func single(_ values: [String]) -> String? {
        guard let first = values.first, values.allSatisfy({ $0 == first }) else { return nil }
        return first
    }

    /// The fragment of where a redirect leads: its own, else that of the URL that was asked (RFC 9110, 10.2.2).
    ///
    /// - Parameters:
    ///   - location: What the answer says.
    ///   - previous: The fragment of the URL that was asked, without `#`.
    /// - Returns: The fragment, without `#`; nil if there is none.
    public static func fragment(of location: String, after previous: String?) -> String? {
        guard let mark = location.utf8.firstIndex(of: UInt8(ascii: "#")) else { return previous }
        return String(location[location.utf8.index(after: mark)...])
    }
}
