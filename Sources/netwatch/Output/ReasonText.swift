import NetwatchCore
import ReachabilityCore

/// Explains reasons, and what to do about them.
enum ReasonText {
    /// A line for each reason, and one for its cure.
    ///
    /// - Parameters:
    ///   - reasons: The reasons.
    ///   - interface: What stands for `NAME` in a cure, if that is known.
    ///   - indentation: What each line begins with.
    /// - Returns: The lines.
    static func lines(_ reasons: [Reason], interface: String?, indentation: String) -> [String] {
        reasons.flatMap { reason in
            let cure = reason.cure.map { indentation + "  cure: " + filled($0, interface) }
            return [indentation + reason.rawValue + ": " + reason.meaning] + (cure.map { [$0] } ?? [])
        }
    }

    /// The cure with quotation marks instead of its document's, and with the interface's name.
    private static func filled(_ cure: String, _ interface: String?) -> String {
        let words = cure.split(separator: " ", omittingEmptySubsequences: false).map { word in
            word == "NAME" ? interface?.shellWord.escapedForTerminal ?? "NAME" : String(word)
        }
        return words.joined(separator: " ").replacing("`", with: "'")
    }
}
