import ArgumentParser
import CommandLineSupport
import NetworkClient

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
    /// What redirects are followed: none unless that was asked for, as with curl.
    var policy: RedirectPolicy {
        if let maxRedirs { return .follow(limit: Int(min(maxRedirs, 10_000))) }
        return follows ? .follow() : .refuse
    }
}
