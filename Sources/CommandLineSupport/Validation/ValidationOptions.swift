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
        transform: EndpointArgument.parse
    )
    package var endpoints: [ValidationEndpoint] = []

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

    package func validate() throws {
        guard endpoints.isEmpty else { return }
        if probesMeteredPaths { throw ValidationError("--validate-metered needs --validate; name a server to ask") }
        if rootFile != nil { throw ValidationError("--validate-cacert needs --validate; name a server to ask") }
    }
}
