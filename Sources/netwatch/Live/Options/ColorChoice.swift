import ArgumentParser

/// When colours are used.
enum ColorChoice: String, CaseIterable, ExpressibleByArgument {
    /// On a terminal that has them, unless `NO_COLOR` is set (https://no-color.org).
    case auto
    /// Also where `NO_COLOR` is set.
    case always
    /// Not at all.
    case never

    /// Whether to use them.
    ///
    /// - Parameter noColor: The environment's `NO_COLOR`; an empty one counts as none.
    /// - Returns: Whether colours are wanted; the terminal may have none.
    func isColored(noColor: String?) -> Bool {
        switch self {
        case .auto: noColor.map(\.isEmpty) ?? true
        case .always: true
        case .never: false
        }
    }
}
