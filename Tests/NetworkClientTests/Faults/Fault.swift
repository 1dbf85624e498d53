import HTTPLab
import NetworkClientCore
import Testing

@testable import NetworkClient

/// A row of the table of faults: a server's behaviour, and the error of the request.
struct Fault: Sendable, CustomTestStringConvertible {
    let name: String
    let script: [ServerStep]
    let code: HTTPError.Code
    let processing: Processing
    /// The errno, if the kernel reports one.
    var errno: Int32?
    /// The changes to the session's default configuration.
    var configure: @Sendable (inout HTTPConfiguration) -> Void = { _ in }
    /// The request's body; empty for a GET.
    var upload: RequestBody?

    var testDescription: String { name }

    init(
        _ name: String,
        _ script: [ServerStep],
        _ code: HTTPError.Code,
        _ processing: Processing,
        errno: Int32? = nil,
        upload: RequestBody? = nil,
        configure: @escaping @Sendable (inout HTTPConfiguration) -> Void = { _ in }
    ) {
        self.name = name
        self.script = script
        self.code = code
        self.processing = processing
        self.errno = errno
        self.upload = upload
        self.configure = configure
    }
}

extension HTTPConfiguration {
    /// Sets one short timeout, for a fault that would otherwise last as long as the default.
    mutating func limit(_ stage: WritableKeyPath<Timeouts, Duration?>, _ duration: Duration = .milliseconds(150)) {
        timeouts[keyPath: stage] = duration
    }
}

extension ServerStep {
    /// A response's head, as far as it is given, with the line ends that are written as line breaks.
    static func head(_ lines: String) -> ServerStep {
        .send("HTTP/1.1 " + lines.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n"))
    }
}
