/// What a download does otherwise than others.
public struct DownloadOptions: Sendable {
    /// What its request does otherwise than its session.
    ///
    /// ``RequestOptions/maximumBodySize`` is the file's size at most; without it, a file may have any size.
    public var request: RequestOptions
    /// What becomes of a file that is there already.
    public var existingFile: ExistingFile
    /// Where the part is kept until the file is whole; nil for beside the file, with `.part` at the end of its name.
    ///
    /// It must be in a folder of the same file system. A record with `.info` at the end of its name is beside it.
    public var partPath: String?
    /// Whether the file and its folder are on the disk before the request ends (fsync(2)).
    ///
    /// A power failure a moment later then takes nothing away. Without, the end of a large download comes earlier.
    public var isSynced: Bool

    /// Makes options.
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

/// Where an answer's body goes instead of into memory.
///
/// Answers of success (2xx) go there, decompressed; all others stay in memory, where serializers find them.
public struct BodyOutput: Sendable {
    enum Place: Sendable {
        case file(String, ExistingFile, isSynced: Bool)
        case descriptor(Int32)
    }

    let place: Place

    /// A file, which is there whole or not at all; a device or a pipe is written as it is.
    ///
    /// - Parameters:
    ///   - path: Its path; what a link leads to is replaced, the link stays.
    ///   - existing: What becomes of a file that is there already.
    ///   - isSynced: Whether the file and its folder are on the disk before the request ends (fsync(2)).
    /// - Returns: The output.
    public static func file(_ path: String, existing: ExistingFile = .replace, isSynced: Bool = true) -> Self {
        .init(place: .file(path, existing, isSynced: isSynced))
    }

    /// A descriptor, from where it stands; it stays open, and may be closed as soon as the request has begun to be sent.
    ///
    /// What was written is not taken back: after that, the request is not sent again but to go on behind it.
    ///
    /// - Parameter number: The descriptor.
    /// - Returns: The output.
    public static func descriptor(_ number: Int32) -> Self { .init(place: .descriptor(number)) }
}
