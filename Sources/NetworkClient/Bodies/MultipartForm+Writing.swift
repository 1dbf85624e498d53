public import HTTPSerialization
import NIOPosix

extension MultipartForm {
    /// Writes the form to a file, as it would be sent, and gives it as a body that can be sent again.
    ///
    /// So a form with streams that can be read once can be sent as often as it takes. The file appears whole or not at
    /// all, in place of one that is there; it stays until the caller removes it.
    ///
    /// - Parameter path: Where it is written.
    /// - Returns: The file as a body, with the form's content type.
    /// - Throws: ``HTTPError``: ``HTTPError/Code/fileFailed`` if the file can't be written, else as a request with the form
    ///   would.
    public func write(to path: String) async throws(HTTPError) -> RequestBody {
        let content = try RequestBody.multipart(self).content.get()
        guard let makeSource = content.makeSource else { return .none }
        let source = try makeSource()
        let file = try FileWriter(path)
        do {
            try await source.read(on: MultiThreadedEventLoopGroup.singleton.next()) { piece in
                try await NIOThreadPool.singleton.runIfActive { try file.write(piece) }
            }
            try file.finish()
        } catch {
            // Now, and not when the thread that wrote last has let go of it.
            file.abandon()
            throw .unavailableBody(error, .neverSent)
        }
        return .file(path, contentType: content.contentType)
    }
}
