package import ArgumentParser
package import ValidationCore

/// The options of validation: which servers are asked, and how.
package struct ValidationOptions: ParsableArguments {
    @Option(
        name: .customLong("validate"),
        parsing: .unconditionalSingleValue,
        help: .init(
            """
            Ask this server of yours if the path leads to the internet: http(s)://, tls://, tcp:// or dns://. Repeatable.
            """,
            valueName: "url"
        ),
        transform: WrittenEndpoint.parse
    )
    private var servers: [WrittenEndpoint] = []

    @Flag(name: .customLong("validate-metered"), help: "Ask over metered paths, too.")
    package var probesMeteredPaths = false

    @Option(
        name: .customLong("validate-cacert"),
        parsing: .unconditional,
        help: .init("Trust only the root certificates in this file (PEM or DER).", valueName: "file"),
        completion: .file()
    )
    package var rootFile: String?

    package init() {}

    /// The servers to ask, the most important first.
    package var endpoints: [ValidationEndpoint] { servers.map(\.endpoint) }

    private var arguments: [String] {
        servers.flatMap { ["--validate", $0.text] } + (probesMeteredPaths ? ["--validate-metered"] : [])
            + (rootFile.map { ["--validate-cacert", $0] } ?? [])
    }

    /// The arguments of `netwatch-validate` for the path that other options choose; nil if validation is off.
    package func processArguments(_ common: CommonOptions) -> [String]? {
        endpoints.isEmpty ? nil : arguments + common.arguments
    }

    package func validate() throws {
        guard endpoints.isEmpty else { return }
        if probesMeteredPaths { throw ValidationError("--validate-metered needs --validate; name a server to ask") }
        if rootFile != nil { throw ValidationError("--validate-cacert needs --validate; name a server to ask") }
    }
}

/// A server to ask, and how the user wrote it.
private struct WrittenEndpoint {
    let endpoint: ValidationEndpoint
    let text: String

    /// Reads an endpoint.
    static func parse(_ text: String) throws(ArgumentError) -> Self {
        .init(endpoint: try EndpointArgument.parse(text), text: text)
    }
}
