import NIOCore
import NetworkClientCore

/// What the bytes of an answer are written to; touched by one job of its ``SinkWriter`` at a time, away from the loop.
protocol FileSink: AnyObject {
    /// Whether what was written can be taken back.
    var isRestartable: Bool { get }
    /// Whether writing may take as long as whoever reads the other end likes.
    var mayBlock: Bool { get }

    /// Opens it; what is there already of the download.
    func open() throws(HTTPError) -> DownloadPart
    /// Forgets what was written, and notes of what the next bytes are.
    func restart(_ part: DownloadPart) throws(HTTPError)
    /// Writes what follows.
    func write(_ bytes: ByteBuffer) throws(HTTPError)
    /// All was written: the file is put in its place.
    func finish() throws(HTTPError)
    /// Lets it go; called once, whatever has happened.
    ///
    /// - Parameter isKept: Whether what was written can be continued; if not, it is removed.
    func close(isKept: Bool)
}
