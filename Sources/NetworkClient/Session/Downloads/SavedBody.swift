import NIOCore
import NetworkClientCore

extension ResponseBody {
    /// Writes the rest of the body to a file or a descriptor: a stream becomes a download.
    ///
    /// ```swift
    /// let response = try await session.stream(.get, "reports/latest").response()
    /// let file = try await response.body.save(to: .file("/var/spool/reports/\(response.suggestedFileName)"))
    /// ```
    ///
    /// The body is received only as fast as it is written. A file appears complete or not at all.
    ///
    /// - Parameter output: The file or the descriptor.
    /// - Returns: The file.
    /// - Throws: The request's ``HTTPError`` if the response is incomplete, or ``HTTPError/Code/fileFailed``. Cancelling
    ///   the task cancels the request.
    public func save(to output: BodyOutput) async throws(HTTPError) -> DownloadedFile {
        let loop = loop
        let writer = SinkWriter(output.sink, loop: loop)
        do {
            _ = try await loop.flatSubmit { writer.open() }.get()
            let size = try await write(to: writer, on: loop)
            try await loop.flatSubmit { writer.finish() }.get()
            await Self.close(writer, on: loop)
            return .init(path: output.path, size: size, resumedFrom: 0)
        } catch {
            await Self.close(writer, on: loop)
            throw .bodyWriteFailed(error)
        }
    }

    /// Writes all pieces; returns the number of their bytes.
    private func write(to writer: SinkWriter, on loop: any EventLoop) async throws -> Int64 {
        var size: Int64 = 0
        for try await piece in self {
            size += Int64(piece.readableBytes)
            try await loop.flatSubmit {
                do throws(HTTPError) {
                    return try writer.write(piece) ?? loop.makeSucceededVoidFuture()
                } catch {
                    return loop.makeFailedFuture(error)
                }
            }
            .get()
        }
        return size
    }

    private static func close(_ writer: SinkWriter, on loop: any EventLoop) async {
        try? await loop.flatSubmit { writer.close(isKept: false) ?? loop.makeSucceededVoidFuture() }.get()
    }
}

extension BodyOutput {
    /// The path, as it was given; nil for a descriptor.
    fileprivate var path: String? {
        if case .file(let path, _, _) = place { path } else { nil }
    }

    /// A sink for a body that no other request continues.
    fileprivate var sink: any FileSink {
        switch place {
        case .descriptor(let number): DirectFile(.descriptor(number))
        case .file(let path, let existing, let isSynced):
            PlacedFile(path, .init(isContinuable: false, existing: existing, isSynced: isSynced), of: .nowhere)
        }
    }
}
