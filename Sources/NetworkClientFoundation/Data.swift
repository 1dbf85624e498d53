public import Foundation
public import NetworkClient

extension RequestBody {
    /// Makes a body of bytes in memory.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - contentType: The media type; nil for none.
    /// - Returns: The body, which can be sent again.
    public static func data(_ data: Data, contentType: String? = "application/octet-stream") -> Self {
        .bytes([UInt8](data), contentType: contentType)
    }
}

extension DataRequest {
    /// Returns the response's body as it is, if the status is one of success.
    ///
    /// - Returns: The bytes.
    /// - Throws: ``HTTPError``, as ``bytes()``.
    public func data() async throws(HTTPError) -> Data { Data(try await bytes()) }
}

extension DownloadedFile {
    /// The file's URL; nil if the body was written to a descriptor.
    public var url: URL? { path.map { URL(filePath: $0) } }
}
