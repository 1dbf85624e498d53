import NIOCore
import NIOHTTP1
import NetworkClientCore

extension HTTPSession {
    /// Downloads a file, which appears whole or not at all, and goes on where an earlier download of it broke off.
    ///
    /// ```swift
    /// let request = session.download("firmware.bin", to: "/var/lib/device/firmware.bin")
    /// let file = try await request.file()
    /// ```
    ///
    /// Until the file is whole, what has come is in a part beside it, with a record of its version: whether the request was
    /// paused, has failed, was cancelled, or its process killed, the next one asks for the rest only (`Range`, `If-Range`).
    /// Parts of two versions are never mixed: where the server can't say for certain that the file is the same, it comes
    /// anew. `docs/downloads.md` has the rules.
    ///
    /// - Parameters:
    ///   - reference: The URL, or a reference that is resolved against the session's base URL.
    ///   - path: The file's path; what a link leads to is replaced, the link stays. A device or a pipe is written as it is.
    ///   - parameters: What goes into the query.
    ///   - headers: Fields that replace the session's of the same name; not `Range` and `If-Range`.
    ///   - options: What the download does otherwise.
    /// - Returns: The request; ``RequestHandle/file()`` awaits the file.
    @discardableResult
    public func download(
        _ reference: String,
        to path: String,
        parameters: ParameterValue? = nil,
        headers: HTTPFields = [:],
        options: DownloadOptions = .init()
    ) -> RequestHandle {
        var request = options.request
        request.destination = .receiver { (handle) throws(HTTPError) in try FileReceiver(handle, to: path, options) }
        return self.request(.get, reference, parameters: parameters, headers: headers, options: request)
    }
}

extension RequestHandle {
    /// The file that the answer's body went to.
    ///
    /// - Returns: The file.
    /// - Throws: ``HTTPError``: as ``response()``, or ``HTTPError/Code/unacceptableStatus`` with the answer's head and the
    ///   beginning of its body, if it was none of success: then there is no new file.
    public func file() async throws(HTTPError) -> DownloadedFile {
        let response = try await response()
        if let file = response.file { return file }
        let status = response.head.status
        var error = HTTPError(
            .unacceptableStatus,
            .init(status: status.code),
            (200...299).contains(status.code)
                ? "the answer (\(status)) brought no file" : "the server answered \(status), and no file"
        )
        error.request = request.description
        error.response = response.head
        error.body = Array(response.buffer.readableBytesView.prefix(HTTPError.keptBody))
        throw error
    }
}

extension RequestOptions {
    /// Where the answer's body goes instead of into memory; nil for memory.
    ///
    /// With it, ``maximumBodySize`` bounds the body only if it is set here.
    public var output: BodyOutput? {
        get { if case .output(let output) = destination { output } else { nil } }
        set { destination = newValue.map { .output($0) } ?? .memory }
    }
}

extension FileReceiver {
    /// Takes a download.
    convenience init(_ handle: RequestHandle, to path: String, _ options: DownloadOptions) throws(HTTPError) {
        for name in ["Range", "If-Range"] where handle.request.head.headers.contains(name: name) {
            let reason = "a download asks for parts by itself: leave \(name) out of its fields"
            throw .init(.invalidConfiguration, .neverSent, reason)
        }
        let file = PartialFile.Plan(
            partPath: options.partPath,
            existing: options.existingFile,
            isSynced: options.isSynced
        )
        let sink = PlacedFile(path, file, of: handle.request.askedURL)
        self.init(.init(path: path, traits: .init(), wantsIdentity: true), sink, handle)
    }

    /// Takes the body of any request; nil for one whose answer has none.
    static func taking(_ output: BodyOutput, of handle: RequestHandle) -> FileReceiver? {
        handle.request.head.method == .HEAD ? nil : FileReceiver(handle, output)
    }

    private convenience init(_ handle: RequestHandle, _ output: BodyOutput) {
        let head = handle.request.head
        let asksForParts = head.method == .GET && !head.headers.contains(name: "Range")
        let traits = DownloadLife.Traits(asksForParts: asksForParts, takesAnySuccess: true)
        switch output.place {
        case .descriptor(let number):
            let plan = Plan(path: nil, traits: traits, wantsIdentity: false)
            self.init(plan, DirectFile(.descriptor(number)), handle)
        case .file(let path, let existing, let isSynced):
            let file = PartialFile.Plan(isContinuable: false, existing: existing, isSynced: isSynced)
            let sink = PlacedFile(path, file, of: handle.request.askedURL)
            self.init(.init(path: path, traits: traits, wantsIdentity: false), sink, handle)
        }
    }

    private convenience init(_ plan: Plan, _ sink: any FileSink, _ handle: RequestHandle) {
        self.init(plan, sink, host: handle.request.endpoint.text, loop: handle.core.loop)
    }
}
