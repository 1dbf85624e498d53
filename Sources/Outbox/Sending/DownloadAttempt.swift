import HTTPTypes
import NetworkClient
import OutboxCore

/// One request for the file of a download.
struct DownloadAttempt: Sendable {
    let item: StoredItem
    let target: DownloadTarget
    let lane: StoredLane
    let transactions: SendingTransactions
    let session: HTTPSession
    let withdrawal: Withdrawal
    let cost: PathCost

    /// Downloads the file, and puts it in its place.
    ///
    /// - Returns: The result; nil if nothing was requested because the item was withdrawn.
    func run(_ url: String, _ fields: HTTPFields, _ options: RequestOptions) async -> SendAttempt.Result? {
        let files = DownloadFiles(target: target)
        do {
            if try await work({ try files.finishEarlier() }) {
                return .init(attempt: .response(status: 200, retryAfter: nil, isConfirmed: true), reason: "")
            }
            try await prepare(files)
        } catch is CancellationError {
            return nil
        } catch {
            return Self.result(of: error, nil)
        }
        return await request(url, fields, options, files)
    }

    /// Runs a closure that reads a file, which may be of any size, or never end, until the sender is stopped.
    private func work<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await CancellableWait.value { try await BlockingWork.run(body) }
    }

    private func prepare(_ files: DownloadFiles) async throws {
        let boot = transactions.storage.clock.read().bootIdentifier
        let mark = try await transactions.partMark(of: item.id)
        let new = try await work { files.prepare(mark, boot: boot) }
        if let new { try await transactions.store(new, of: item.id) }
    }

    private func request(
        _ url: String,
        _ fields: HTTPFields,
        _ options: RequestOptions,
        _ files: DownloadFiles
    ) async -> SendAttempt.Result? {
        let request = session.download(url, to: target.staged, headers: fields, options: .init(request: options))
        let keeper = PartKeeper(self, files) { request.cancel() }
        let keeping = Task { await keeper.run() }
        let outcome: Result<DownloadResponse, HTTPError>
        do throws(HTTPError) {
            outcome = .success(try await request.response())
        } catch {
            outcome = .failure(error)
        }
        keeping.cancel()
        await keeping.value
        switch outcome {
        case .success(let response):
            await keeper.count(upTo: response.file.size)
            return await result(of: response, files)
        case .failure(let error):
            if error.cause is SendingTransactions.NothingToSend || withdrawal.isWithdrawn { return nil }
            await keeper.keep()
            // The part of a version that is not identified was removed.
            let received = error.metrics?.exchanges.reduce(0) { $0 + Int64($1.bodyBytesReceived) }
            await keeper.count(received ?? 0)
            return result(of: error, url)
        }
    }

    private func result(of response: DownloadResponse, _ files: DownloadFiles) async -> SendAttempt.Result {
        // 416: the part was complete already, and is the file.
        let status = response.status == 416 ? 200 : response.status
        let received = ReceivedResponse(
            status: status,
            fields: response.head.headerFields.map { ($0.name.rawName, $0.value) },
            url: response.url,
            body: [],
            mayBeFromPortal: response.mayBeFromPortal
        )
        let result = SendAttempt.Result(received, lane.options.confirmation)
        guard result.attempt.verdict == .delivered else {
            try? await BlockingWork.run { FileSystem.remove([files.target.staged]) }
            return result
        }
        do {
            try await work { try files.place() }
            return result
        } catch is CancellationError {
            let reason = "the sender was stopped before the received file was put in its place"
            return .init(attempt: .failure(.interrupted, mayBeProcessed: true), reason: reason)
        } catch {
            return Self.result(of: error, result.response)
        }
    }

    private func result(of error: HTTPError, _ url: String) -> SendAttempt.Result {
        guard error.code == .unacceptableStatus, let head = error.response else {
            return .init(attempt: .init(error), reason: "\(error)")
        }
        if (200..<300).contains(head.status.code), !error.mayBeFromPortal {
            return .init(attempt: .failure(.item, mayBeProcessed: true), reason: error.reason)
        }
        let received = ReceivedResponse(
            status: head.status.code,
            fields: head.headerFields.map { ($0.name.rawName, $0.value) },
            url: url,
            body: error.body,
            mayBeFromPortal: error.mayBeFromPortal
        )
        return .init(received, lane.options.confirmation)
    }

    /// Returns the result of an error of this machine's files.
    private static func result(of error: any Error, _ response: StoredResponse?) -> SendAttempt.Result {
        let failure = error as? DownloadFiles.Failure
        let scope: FailureScope = failure?.isOfItem == true ? .item : .destination
        return .init(
            attempt: .failure(scope, mayBeProcessed: false),
            response: response,
            reason: failure?.reason ?? "\(error)"
        )
    }
}

/// Synchronizes what a download has received, and counts it, while it is under way.
private actor PartKeeper {
    private let attempt: DownloadAttempt
    private let files: DownloadFiles
    private let cancel: @Sendable () -> Void
    /// The length of the part up to which its bytes were there before, or are counted.
    private var length: Int64
    /// The number of received bytes that are counted.
    private var counted: Int64 = 0

    init(_ attempt: DownloadAttempt, _ files: DownloadFiles, cancel: @escaping @Sendable () -> Void) {
        (self.attempt, self.files, self.cancel) = (attempt, files, cancel)
        length = files.size
    }

    /// Keeps the part every five seconds, or every second if its bytes are limited, until the task is cancelled.
    func run() async {
        let interval = Duration.seconds(attempt.lane.options.bytesPerDay == nil ? 5 : 1)
        while (try? await Task.sleep(for: interval)) != nil { await keep() }
    }

    /// Synchronizes the part, stores how much of it is on disk, and counts what was received.
    func keep() async {
        let boot = attempt.transactions.storage.clock.read().bootIdentifier
        let kept = try? await BlockingWork.run { [files] in (mark: files.synchronize(boot: boot), length: files.size) }
        guard let kept else { return }
        // There is none if the server does not identify the version, so that the part can't be continued.
        if let mark = kept.mark { try? await attempt.transactions.store(mark, of: attempt.item.id) }
        // A part without a size may be complete, and was moved.
        if kept.length > 0 { await count(upTo: kept.length) }
    }

    /// Counts the bytes by which the part has grown; one that is shorter than before was begun again.
    func count(upTo length: Int64) async {
        let grown = length >= self.length ? length - self.length : length
        self.length = length
        await count(counted + grown)
    }

    /// Counts the bytes that were received over an expensive path; cancels the request if no more are allowed.
    ///
    /// - Parameter received: The number of bytes that this attempt has received.
    func count(_ received: Int64) async {
        let grown = received - counted
        guard grown > 0 else { return }
        counted = received
        let options = attempt.lane.options
        guard options.bytesPerDay != nil, attempt.cost.isExpensive(for: options) else { return }
        let room = try? await attempt.transactions.spend(grown, attempt.lane)
        if room == 0 { cancel() }
    }
}
