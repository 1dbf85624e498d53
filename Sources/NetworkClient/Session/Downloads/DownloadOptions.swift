/// The options of a download to a file.
public struct DownloadOptions: Sendable {
    /// The settings of its request, which replace those of the session.
    ///
    /// ``RequestOptions/maximumBodySize`` is the maximum size of the file; nil for no limit.
    public var request: RequestOptions
    /// The handling of an existing file; it is replaced by default.
    public var existingFile: ExistingFile
    /// The path of the partial file until the download is complete; nil, the default, for the file's path with `.part`
    /// appended.
    ///
    /// It must be on the file system of the file. Only a GET request without a body to a given path uses it. A record of the version is stored next to it, with `.info` appended.
    public var partPath: String?
    /// Whether the file and its directory are flushed to disk before the request finishes (fsync(2)); true by default.
    ///
    /// The file then survives a power failure. Without it, large downloads finish earlier.
    public var isSynced: Bool

    /// Creates options; the properties describe the parameters.
    public init(
        request: RequestOptions = .init(),
        existingFile: ExistingFile = .replace,
        partPath: String? = nil,
        isSynced: Bool = true
    ) {
        self.request = request
        self.existingFile = existingFile
        self.partPath = partPath
        self.isSynced = isSynced
    }
}

/// The destination of a response's body, in place of memory.
///
/// The bodies of 2xx responses are written to it, decompressed; those of other responses are kept in memory, for the
/// error.
public struct BodyOutput: Sendable {
    enum Place: Sendable {
        case file(String, ExistingFile, isSynced: Bool)
        case descriptor(Int32)
    }

    let place: Place

    /// A file, which appears complete or not at all; a device or a pipe is written directly.
    ///
    /// - Parameters:
    ///   - path: Its path; if it is a symbolic link, the target of the link is replaced.
    ///   - existing: The handling of an existing file.
    ///   - isSynced: Whether the file and its directory are flushed to disk before the request finishes (fsync(2)).
    /// - Returns: The output.
    public static func file(_ path: String, existing: ExistingFile = .replace, isSynced: Bool = true) -> Self {
        .init(place: .file(path, existing, isSynced: isSynced))
    }

    /// A file descriptor, written at its current position.
    ///
    /// It is duplicated before the first attempt (F_DUPFD_CLOEXEC, fcntl(2)): keep it open until then. The library does
    /// not close it. Written bytes can't be taken back: after that, the request is retried only if it can continue
    /// after those bytes.
    ///
    /// - Parameter number: The descriptor.
    /// - Returns: The output.
    public static func descriptor(_ number: Int32) -> Self { .init(place: .descriptor(number)) }
}
