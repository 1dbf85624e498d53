import ArgumentParser
import CommandLineSupport
import NetworkClient
import Reachability
import ReachabilityCore

/// The options of `netwatch fetch` for waiting for a path, for the paths that may be used, and for retries.
struct FetchWaitingOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: .init(
            "Wait for a path, this long in total.",
            valueName: "duration"
        ),
        transform: DurationArgument.parse
    )
    var wait: Duration?

    @Option(
        parsing: .unconditional,
        help: .init(
            "Retry transient failures if safe to repeat.",
            valueName: "count"
        ),
        transform: RetriesArgument.parse
    )
    var retry: UInt = 0

    @OptionGroup var required: RequirementOptions
    @OptionGroup var kinds: KindOptions
}

extension FetchWaitingOptions {
    /// Returns the monitor of the paths; nil if none is needed.
    private func monitor() throws(ToolError) -> ReachabilityMonitor? {
        guard wait != nil || required.requirement != .any else { return nil }
        var configuration = MonitorConfiguration()
        configuration.kindRules = kinds.kind
        configuration.expensiveInterfaces = kinds.expensive
        configuration.constrainedInterfaces = kinds.constrained
        return try ToolError.wrapping(try ReachabilityMonitor(configuration: configuration))
    }

    /// Sets how a session waits for a path and retries.
    ///
    /// - Throws: The error for the user if the monitor can't be created.
    func apply(to configuration: inout HTTPConfiguration) throws(ToolError) {
        configuration.gate = wait.map { .waitsForConnectivity($0) } ?? .startsImmediately
        configuration.requirement = required.requirement
        // The first attempt is not a retry.
        configuration.retry =
            retry == 0 ? .never : RetryPolicy(maximumAttempts: Int(min(retry, .init(Int.max) - 1)) + 1)
        configuration.connectivity = try monitor()
    }

    /// Checks that a requirement, which binds by itself, is not combined with `--interface`.
    ///
    /// - Throws: The error for contradictory options.
    func check(_ binding: LocalBinding) throws {
        guard required.requirement != .any, binding != .unbound else { return }
        let option = required.requirement.option
        throw ValidationError("\(option) can't be combined with --interface; leave out \(option), or --interface")
    }
}

/// Whether `netwatch fetch` follows redirects.
struct FetchRedirectOptions: ParsableArguments {
    @Flag(name: [.customShort("L"), .customLong("location")], help: "Follow redirects, up to 20.")
    var follows = false

    @Option(
        parsing: .unconditional,
        help: .init("Follow redirects, up to this many; one more is an error (47).", valueName: "number"),
        transform: RetriesArgument.parse
    )
    var maxRedirs: UInt?
}

extension FetchRedirectOptions {
    /// The redirect policy: none are followed by default, as with curl.
    var policy: RedirectPolicy {
        if let maxRedirs { return .follow(limit: Int(min(maxRedirs, 10_000))) }
        return follows ? .follow() : .refuse
    }
}
