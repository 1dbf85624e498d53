import NetwatchCore

/// Why a file of the service's configuration cannot be used.
struct ConfigurationError: Error, Hashable, CustomStringConvertible {
    /// The member, the problem, and how to write it.
    let description: String

    init(_ description: String) { self.description = description }

    /// Throws if an object has members that are not known, such as misspelled ones.
    static func check(_ members: [String: JSONText], known: Set<String>) throws(Self) {
        let unknown = Set(members.keys).subtracting(known).sorted()
        guard let first = unknown.first else { return }
        throw .init("\(first): there is no such member; the members are \(known.sorted().joined(separator: ", "))")
    }
}
