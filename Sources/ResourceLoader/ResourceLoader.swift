import Locking
public import NetworkClient
import ResourceLoaderCore

/// Loads and decodes resources such as images, each once for all who need it, and keeps them in memory.
///
/// ```swift
/// let loader = ResourceLoader(session: session) { response in try Thumbnail(response.bytes) }
/// let thumbnail = try await loader.value(for: "pictures/7.jpg")
/// ```
/// Requests for the same URL and header fields that are under way at the same time are one request. A caller that cancels leaves
/// it to the others; the last one cancels it. All members can be used from any thread.
public final class ResourceLoader<Value: Sendable>: Sendable {
    /// Decodes a response, in a task of its own.
    public typealias Decode = @Sendable (DataResponse) throws -> Value
    /// Returns the size of a value in memory, in bytes.
    public typealias Size = @Sendable (Value, DataResponse) -> Int

    private let session: HTTPSession
    private let options: ResourceLoaderOptions
    private let decode: Decode
    private let size: Size
    private let state: Lock<State>
    private let pressure: MemoryPressure?

    private struct State: Sendable {
        var queue: LoadQueue<ResourceKey>
        var cache: LoadCache<ResourceKey, Value>
        var completions: [Int: @Sendable (Result<Value, HTTPError>) -> Void] = [:]
        var requests: [Int: DataRequest] = [:]
        /// The loads that were cancelled before their request was made.
        var cancelled: Set<Int> = []
    }

    /// Creates a loader.
    ///
    /// - Parameters:
    ///   - session: The session that sends its requests.
    ///   - options: The limits and the order of its loads, and the limits of its memory.
    ///   - size: Returns the size of a value in memory, in bytes; by default that of the response's body.
    ///   - decode: Decodes a response with an acceptable status. An error that it throws fails the load with
    ///     `responseSerializationFailed`.
    public init(
        session: HTTPSession,
        options: ResourceLoaderOptions = .init(),
        size: @escaping Size = { _, response in response.bytes.count },
        decode: @escaping Decode
    ) {
        self.session = session
        self.options = options
        self.size = size
        self.decode = decode
        let queue = LoadQueue<ResourceKey>(order: options.order.core, limit: options.maximumActiveLoads)
        let cache = LoadCache<ResourceKey, Value>(
            limit: options.memoryLimit,
            preferredSize: options.preferredMemorySize
        )
        state = .init(State(queue: queue, cache: cache))
        pressure = options.purgesUnderMemoryPressure ? .init() : nil
        pressure?.start { [weak self] in self?.purge() }
    }

    deinit { pressure?.stop() }

    /// The reason why memory pressure is not detected; nil if it is.
    public var memoryPressureFailure: String? {
        pressure.map(\.failure) ?? "it is switched off in the options"
    }

    /// Loads a resource, and calls a closure with its value or the error.
    ///
    /// - Parameters:
    ///   - reference: The URL, or a reference that is resolved against the session's base URL.
    ///   - headers: Header fields; equal references with other fields are other resources.
    ///   - priority: The priority among waiting loads; of a shared one the highest counts.
    ///   - completion: Called once: before this returns if the value is in memory, otherwise in a task; with
    ///     `cancelled` if the receipt is cancelled.
    /// - Returns: The receipt, which cancels this call.
    @discardableResult
    public func load(
        _ reference: String,
        headers: HTTPFields = [:],
        priority: RequestPriority = .normal,
        completion: @escaping @Sendable (Result<Value, HTTPError>) -> Void
    ) -> LoadReceipt {
        let key = ResourceKey(reference: reference, headers: headers)
        let (known, caller) = state.withLock { state -> (Value?, Int?) in
            if let value = state.cache.value(for: key) { return (value, nil) }
            let caller = state.queue.add(key, priority: Int(priority.rawValue))
            state.completions[caller] = completion
            return (nil, caller)
        }
        if let known { completion(.success(known)) }
        guard let caller else { return LoadReceipt {} }
        startWaiting()
        return LoadReceipt { [weak self] in self?.leave(caller) }
    }

    /// Returns the value of a resource, from memory or loaded; cancelling the task leaves the load to other callers.
    ///
    /// - Parameters:
    ///   - reference: The URL, or a reference that is resolved against the session's base URL.
    ///   - headers: Header fields; equal references with other fields are other resources.
    ///   - priority: The priority among waiting loads.
    /// - Returns: The value.
    /// - Throws: The error of the request, or `cancelled`.
    public func value(
        for reference: String,
        headers: HTTPFields = [:],
        priority: RequestPriority = .normal
    ) async throws(HTTPError) -> Value {
        let call = LoadCall<Value>()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                call.begin(continuation) {
                    self.load(reference, headers: headers, priority: priority) { call.end($0) }
                }
            }
        } onCancel: {
            call.cancel()
        }
        return try result.get()
    }

    /// Returns the value in memory; nil if there is none.
    public func cachedValue(for reference: String, headers: HTTPFields = [:]) -> Value? {
        state.withLock { $0.cache.value(for: .init(reference: reference, headers: headers)) }
    }

    /// Removes the value of a resource from memory.
    ///
    /// A request that is under way still serves its callers, but its value is not kept, and later callers do not share it.
    public func removeCachedValue(for reference: String, headers: HTTPFields = [:]) {
        let key = ResourceKey(reference: reference, headers: headers)
        state.withLock { state in
            state.cache.remove(key)
            state.queue.close(key)
        }
    }

    /// Removes all values from memory.
    ///
    /// Requests that are under way still serve their callers, but their values are not kept, and later callers do not share
    /// them.
    public func removeAllCachedValues() {
        state.withLock { state in
            state.cache.removeAll()
            state.queue.closeAll()
        }
    }

    /// The size of the values in memory, in bytes.
    public var cachedSize: Int { state.withLock { $0.cache.size } }

    /// Removes values from memory until the preferred size remains, those used longest ago first.
    public func purge() { state.withLock { $0.cache.purge() } }
}

// MARK: Loads

extension ResourceLoader {
    /// Starts waiting loads, as many as the limit allows.
    private func startWaiting() {
        while let next = state.withLock({ $0.queue.start() }) { start(next.key, next.load) }
    }

    private func start(_ key: ResourceKey, _ load: Int) {
        let request = session.get(key.reference, headers: key.headers, options: options.request)
        let isCancelled = state.withLock { state in
            state.requests[load] = request
            return state.cancelled.remove(load) != nil
        }
        if isCancelled { request.cancel() }
        Task { [self] in
            let result: Result<Value, HTTPError>
            do throws(HTTPError) {
                result = .success(try await value(of: request, key, load))
            } catch {
                result = .failure(error)
            }
            finish(key, load, result)
        }
    }

    /// Returns the value of a request whose response is acceptable, and stores it in memory unless it was removed meanwhile.
    private func value(
        of request: DataRequest,
        _ key: ResourceKey,
        _ load: Int
    ) async throws(HTTPError) -> Value {
        let response = try await request.response()
        // Checks status and media type as the session's settings say.
        _ = try await request.bytes()
        let value: Value
        do {
            value = try decode(response)
        } catch {
            let reason = "the response can't be decoded: \(error)"
            throw .init(.responseSerializationFailed, processing: .answered, reason: reason, cause: error)
        }
        let size = size(value, response)
        state.withLock { state in
            guard state.queue.isOpen(key, load) else { return }
            state.cache.store(value, size: size, for: key)
        }
        return value
    }

    private func finish(_ key: ResourceKey, _ load: Int, _ result: Result<Value, HTTPError>) {
        let completions = state.withLock { state in
            state.requests[load] = nil
            state.cancelled.remove(load)
            return state.queue.finish(key, load).compactMap { state.completions.removeValue(forKey: $0) }
        }
        startWaiting()
        for completion in completions { completion(result) }
    }

    private func leave(_ caller: Int) {
        let (completion, request) = state.withLock { state in
            let completion = state.completions.removeValue(forKey: caller)
            guard case .cancel(_, let load) = state.queue.remove(caller) else {
                return (completion, nil as DataRequest?)
            }
            let request = state.requests[load]
            if request == nil { state.cancelled.insert(load) }
            return (completion, request)
        }
        request?.cancel()
        completion?(.failure(.init(.cancelled, processing: .neverSent, reason: "the load was cancelled")))
    }
}

/// A resource: what its request depends on.
struct ResourceKey: Hashable, Sendable {
    let reference: String
    let headers: HTTPFields
}
