import NetwatchCore
package import Reachability

/// Why the text of an argument cannot be taken, and how to write it instead.
///
/// The argument parser prepends the option and its value.
package struct ArgumentError: Error, Equatable, CustomStringConvertible {
    /// The problem, without the argument itself, and how to write it.
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// Reads durations as the tool's options write them: a number and a unit, `250ms`, `1.5s`, `2m`, `1h`.
///
/// Whole and decimal numbers are read exactly, without floating point.
package enum DurationArgument {
    /// The longest duration that is taken: a year.
    ///
    /// It leaves room for the multiples and sums that a monitor makes of it in 64 bits of nanoseconds.
    package static let longest = Duration.seconds(8760 * 3600)

    /// Reads a duration.
    ///
    /// - Throws: ``ArgumentError`` that says what was wrong and how to write it.
    package static func parse(_ text: String) throws(ArgumentError) -> Duration {
        guard !text.isEmpty else { throw .init("it is empty; \(howTo)") }
        guard !text.hasPrefix("-") else { throw .init("a duration can't be negative; \(howTo)") }
        let end = text.firstIndex { !$0.isASCIIDigit && $0 != "." } ?? text.endIndex
        let number = text[..<end]
        guard number.contains(where: \.isASCIIDigit) else { throw .init("it does not begin with a number; \(howTo)") }
        let unit = try unit(text[end...])
        return try scale(number, by: unit)
    }

    /// The end of each error.
    private static let howTo = "write a number and a unit, such as 250ms, 1.5s, 2m or 1h"

    /// Nanoseconds in a unit.
    private static func unit(_ name: Substring) throws(ArgumentError) -> Int64 {
        switch name {
        case "ms": return 1_000_000
        case "s": return 1_000_000_000
        case "m": return 60 * 1_000_000_000
        case "h": return 3600 * 1_000_000_000
        case "": throw .init("the unit is missing; \(howTo)")
        default: throw .init("'\(name.escapedForTerminal)' is not a unit (ms, s, m, h); \(howTo)")
        }
    }

    /// A number of units, exactly.
    private static func scale(_ number: Substring, by unit: Int64) throws(ArgumentError) -> Duration {
        let parts = number.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, !parts.contains("") else { throw .init("'\(number)' is not a number; \(howTo)") }
        let decimals = parts.count == 2 ? parts[1] : "0"
        guard decimals.count <= 6, let numerator = Int64(decimals) else {
            throw .init("it has more than six decimal places; \(howTo)")
        }
        guard let whole = Int64(parts[0]), whole <= longest.components.seconds * 1000 else { throw tooLong }
        let (nanoseconds, overflow) = whole.multipliedReportingOverflow(by: unit)
        // At most 999,999 times an hour's nanoseconds, which 64 bits hold.
        let fraction = numerator * unit / powerOfTen(decimals.count)
        let duration = Duration.nanoseconds(nanoseconds) + .nanoseconds(fraction)
        guard !overflow, duration <= longest else { throw tooLong }
        return duration
    }

    private static let tooLong = ArgumentError("it is too long; the longest is 8760h, a year")

    private static func powerOfTen(_ exponent: Int) -> Int64 {
        (0..<exponent).reduce(1) { power, _ in power * 10 }
    }
}

/// Reads how often a command may be run again.
package enum RetriesArgument {
    /// Reads a number.
    ///
    /// - Throws: ``ArgumentError`` that says what was wrong and how to write it.
    package static func parse(_ text: String) throws(ArgumentError) -> UInt {
        guard !text.isEmpty, text.allSatisfy(\.isASCIIDigit) else {
            throw .init("it is not a number; write a whole number such as 3, or 0 for none")
        }
        guard let number = UInt(text) else { throw .init("it is too large; write a whole number such as 3") }
        return number
    }
}

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
