import NIOCore
import NetworkClientCore

extension ResponseBody {
    private var loop: any EventLoop { handle.core.loop }

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
        let writer = SinkWriter(output.sink, loop: loop)
        do {
            _ = try await cancellable { writer.open() }
            let size = try await write(to: writer)
            try await cancellable { writer.finish() }
            await close(writer)
            return .init(path: output.path, size: size, resumedFrom: 0)
        } catch {
            await close(writer)
            throw .bodyWriteFailed(error)
        }
    }

    /// Writes all pieces; returns the number of their bytes.
    private func write(to writer: SinkWriter) async throws -> Int64 {
        var size: Int64 = 0
        for try await piece in self {
            size += Int64(piece.readableBytes)
            try await cancellable { [loop] in
                do throws(HTTPError) {
                    return try writer.write(piece) ?? loop.makeSucceededVoidFuture()
                } catch {
                    return loop.makeFailedFuture(error)
                }
            }
        }
        return size
    }

    private func close(_ writer: SinkWriter) async {
        try? await loop.flatSubmit { [loop] in writer.close(isKept: false) ?? loop.makeSucceededVoidFuture() }.get()
    }

    /// Waits for the writer, which may depend on another process; cancelling the task ends the wait and the request.
    private func cancellable<Value: Sendable>(
        _ begin: @escaping @Sendable () -> EventLoopFuture<Value>
    ) async throws -> Value {
        let ended = loop.makePromise(of: Value.self)
        loop.execute { begin().cascade(to: ended) }
        return try await withTaskCancellationHandler {
            try await ended.futureResult.get()
        } onCancel: {
            handle.cancel()
            // Of two results, the first counts.
            ended.fail(HTTPError(.cancelled, processing: .answered, reason: "the request was cancelled"))
        }
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
