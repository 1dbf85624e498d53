import ArgumentParser
import NetworkClient

/// The output options of `netwatch fetch`.
struct FetchOutputOptions: ParsableArguments {
    @Option(
        name: [.customShort("o", allowingJoined: true), .customLong("output")],
        parsing: .unconditional,
        help: .init(
            "Write the body to this file once it is complete; '-' for stdout, even a terminal.",
            valueName: "file"
        ),
        completion: .file()
    )
    var file: String?

    @Flag(help: "Keep and continue partial downloads.")
    var resume = false

    @Flag(name: [.customShort("i"), .customLong("include")], help: "Print the response head before the body.")
    var includesHead = false

    @Flag(
        name: [.customShort("f"), .long],
        help: "If the status is 400 or above, print no body and exit with 22."
    )
    var fail = false

    @Flag(help: "If the status is 400 or above, print the body and exit with 22.")
    var failWithBody = false

    @Flag(
        name: [.customShort("v"), .customLong("verbose")],
        help: "Print events and heads to stderr, without secrets."
    )
    var isVerbose = false

    @Flag(help: "Print the time of each stage and the bytes sent and received to stderr.")
    var metrics = false

    @Flag(help: "Print the same as a JSON line, in seconds and bytes.")
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

extension FetchOutputOptions {
    /// The download, if `--resume` is given.
    var download: FetchDownload? {
        guard resume, let file else { return nil }
        return .init(path: file, command: CommandLine.arguments)
    }

    /// Checks `--resume` against the other options.
    ///
    /// - Throws: The error for contradictory options.
    func check(_ request: FetchRequestOptions) throws {
        guard resume else { return }
        guard let file, file != "-" else {
            throw ValidationError("--resume goes on with a file, and none is named; give -o FILE")
        }
        if let body = request.bodies.first {
            throw ValidationError("--resume asks for a file, and sends none; leave out \(body), or --resume")
        }
        guard request.method == .get else {
            throw ValidationError("--resume asks by GET alone; leave out --request and --head, or --resume")
        }
        guard !includesHead else {
            throw ValidationError("--resume writes the file alone; leave out --include (-v shows the head)")
        }
        guard !failWithBody else {
            throw ValidationError("--resume writes no other body than the file; leave out --fail-with-body")
        }
        guard !request.header.contains(where: { $0.name == .range || $0.name == .ifRange }) else {
            throw ValidationError("--resume asks for parts by itself; leave out Range and If-Range")
        }
    }
}
