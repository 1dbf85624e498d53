import ArgumentParser

/// What `netwatch fetch` prints, and where.
struct FetchOutputOptions: ParsableArguments {
    @Option(
        name: [.customShort("o", allowingJoined: true), .customLong("output")],
        parsing: .unconditional,
        help: .init(
            "Write the body to this file, which appears when it is whole; '-' for stdout, even to a terminal.",
            valueName: "file"
        ),
        completion: .file()
    )
    var file: String?

    @Flag(name: [.customShort("i"), .customLong("include")], help: "Print the answer's head before its body.")
    var includesHead = false

    @Flag(
        name: [.customShort("f"), .long],
        help: "If the status is 400 or above, print no body and exit with 22."
    )
    var fail = false

    @Flag(help: "If the status is 400 or above, print the body all the same and exit with 22.")
    var failWithBody = false

    @Flag(
        name: [.customShort("v"), .customLong("verbose")],
        help: "Tell on stderr what happens, and the heads without secrets."
    )
    var isVerbose = false

    @Flag(help: "Tell on stderr how long each stage took, and how much was sent and received.")
    var metrics = false

    @Flag(help: "The same as a line of JSON, in seconds and bytes.")
    var metricsJson = false

    func validate() throws {
        guard file != "" else { throw ValidationError("The file's name is empty; name one, or '-' for stdout") }
        guard !fail || !failWithBody else {
            throw ValidationError("--fail prints no body, --fail-with-body does; give one of them")
        }
        guard !metrics || !metricsJson else {
            throw ValidationError("--metrics and --metrics-json tell the same; give one of them")
        }
    }
}
