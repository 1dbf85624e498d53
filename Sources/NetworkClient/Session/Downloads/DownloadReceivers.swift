import Locking
import NIOCore
import NIOHTTP1
import NetworkClientCore

/// The receivers of responses that are written to files; nil for a request whose response has no body.
extension BodyReceiver where Self == FileReceiver {
    /// Creates the receiver of a download to a path, which continues an earlier one if the request can.
    static func taking(
        _ path: String,
        _ options: DownloadOptions,
        of handle: RequestHandle
    ) throws(HTTPError) -> FileReceiver? {
        for name in ["Range", "If-Range"] where handle.request.head.headers.contains(name: name) {
            let reason = "a download sets \(name) itself: leave it out of the fields"
            throw .init(.invalidConfiguration, processing: .neverSent, reason: reason)
        }
        guard handle.request.isPlainGet else {
            let output = BodyOutput.file(path, existing: options.existingFile, isSynced: options.isSynced)
            return taking(output, of: handle)
        }
        let file = PartialFile.Plan(
            partPath: options.partPath,
            existing: options.existingFile,
            isSynced: options.isSynced
        )
        let sink = PlacedFile(path, file, of: handle.request.url)
        return .init(.init(path: path, traits: .init(), wantsIdentity: true), sink, of: handle)
    }

    /// Creates the receiver of any response's body.
    static func taking(_ output: BodyOutput, of handle: RequestHandle) -> FileReceiver? {
        guard handle.request.head.method != .HEAD else { return nil }
        let traits = handle.request.traitsOfResponse
        switch output.place {
        case .descriptor(let number):
            let plan = FileReceiver.Plan(path: nil, traits: traits, wantsIdentity: false)
            return .init(plan, DirectFile(.descriptor(number)), of: handle)
        case .file(let path, let existing, let isSynced):
            let file = PartialFile.Plan(isContinuable: false, existing: existing, isSynced: isSynced)
            let sink = PlacedFile(path, file, of: handle.request.url)
            return .init(.init(path: path, traits: traits, wantsIdentity: false), sink, of: handle)
        }
    }

    /// Creates the receiver of a body whose file is chosen when the head of the response has been received.
    static func choosing(
        _ choose: @escaping ChosenFile.Choice,
        _ options: DownloadOptions = .init(),
        of handle: RequestHandle
    ) -> FileReceiver? {
        guard handle.request.head.method != .HEAD else { return nil }
        let file = PartialFile.Plan(
            isContinuable: false,
            existing: options.existingFile,
            isSynced: options.isSynced
        )
        let chosen = ChosenFile(file, choose)
        let traits = handle.request.traitsOfResponse
        return .init(.init(path: nil, chosen: chosen, traits: traits, wantsIdentity: false), chosen, of: handle)
    }
}

extension BodyReceiver where Self == DecidedReceiver {
    /// Creates the receiver of a data request that may become a download.
    static func deciding(
        _ decide: @escaping @Sendable (HTTPResponse, String) -> String?,
        of handle: RequestHandle
    ) -> DecidedReceiver? {
        let decision = DecidedReceiver.Decision()
        let file: FileReceiver? = .choosing({ _, _ in decision.path ?? "" }, of: handle)
        return file.map { .init($0, decision, handle, decide: decide) }
    }
}

/// The receiver of a data request: it leaves the body in memory, or has a file receive it.
final class DecidedReceiver: BodyReceiver {
    private let receiver: FileReceiver
    private let decision: Decision
    /// The request, which retains this receiver.
    private unowned let handle: RequestHandle
    private let decide: (HTTPResponse, String) -> String?
    private var hasDecided = false

    /// The path of the file; nil for memory.
    final class Decision: Sendable {
        private let chosen = Lock<String?>(nil)

        var path: String? {
            get { chosen.withLock { $0 } }
            set { chosen.withLock { $0 = newValue } }
        }
    }

    init(
        _ receiver: FileReceiver,
        _ decision: Decision,
        _ handle: RequestHandle,
        decide: @escaping (HTTPResponse, String) -> String?
    ) {
        self.receiver = receiver
        self.decision = decision
        self.handle = handle
        self.decide = decide
    }

    var canStartAgain: Bool { receiver.canStartAgain }
    var continuesByRange: Bool { receiver.continuesByRange }
    var file: DownloadedFile? { receiver.file }
    var progress: BodyProgress? { receiver.progress }

    func open() -> EventLoopFuture<Void>? { receiver.open() }
    func willSend(_ head: inout HTTPRequestHead) { receiver.willSend(&head) }

    func begin(_ head: HTTPResponseHead) throws(HTTPError) -> Reception {
        if !hasDecided, (200...299).contains(head.status.code) {
            hasDecided = true
            let response = HTTPResponse(head)
            decision.path = decide(response, response.suggestedFileName(at: handle.current.url))
        }
        return decision.path == nil ? .memory : try receiver.begin(head)
    }

    func receive(_ bytes: ByteBuffer) throws(HTTPError) -> EventLoopFuture<Void>? { try receiver.receive(bytes) }
    func end() -> EventLoopFuture<Void>? { receiver.end() }
    func abandon() { receiver.abandon() }
    func close() -> EventLoopFuture<Void>? { receiver.close() }
}

extension RequestOptions {
    /// The destination of the response's body.
    var bodyDestination: ResponseDestination {
        guard case .memory = destination, let becomesDownload else { return destination }
        return .receiver { .deciding(becomesDownload, of: $0) }
    }
}

extension PreparedRequest {
    /// Whether its response depends on the URL only: it may be continued by another request.
    fileprivate var isPlainGet: Bool { head.method == .GET && !hasBody }

    /// The capabilities of a download of any successful response.
    fileprivate var traitsOfResponse: DownloadState.Traits {
        .init(asksForParts: isPlainGet && !head.headers.contains(name: "Range"), takesAnySuccess: true)
    }
}
