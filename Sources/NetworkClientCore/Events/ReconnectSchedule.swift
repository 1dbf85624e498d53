/// The delays before a client of an event stream connects again.
///
/// The first delay after a stream is the retry time, which the server may set. Each attempt that fails then adds a random
/// part of a bound that doubles (full jitter), so that clients of a server that was down do not return in step.
///
/// The retry time has a minimum of 100 ms, whatever the server sets. It doubles with each stream that ends without an event,
/// up to the default retry time, so that a server that ends each stream immediately is not flooded with requests.
package struct ReconnectSchedule: Sendable, Hashable {
    /// The retry time of streams whose server sets none.
    package static let defaultRetryTime = Duration.seconds(3)
    /// The maximum of the random part's bound, in milliseconds.
    private static let maximumBound = 60_000
    /// The minimum of the retry time after a stream with an event, in milliseconds.
    private static let minimumRetryMilliseconds = 100

    /// The number of streams since the last event.
    private var emptyStreams = 0
    /// The number of attempts that failed since the last stream.
    package private(set) var failures = 0

    /// Creates the schedule of a client that has not connected yet.
    package init() {}

    /// Records that a stream was opened.
    package mutating func opened() {
        failures = 0
        emptyStreams += 1
    }

    /// Records that an event was received.
    package mutating func receivedEvent() { emptyStreams = 0 }

    /// Records that an attempt failed.
    package mutating func failed() { failures += 1 }

    /// Returns the delay before the next attempt.
    ///
    /// - Parameters:
    ///   - retryTime: The retry time that the server has set; nil for the default.
    ///   - generator: The source of the jitter.
    /// - Returns: The delay: the retry time or its minimum, and the random part after failed attempts.
    package func delay(_ retryTime: Duration?, using generator: inout some RandomNumberGenerator) -> Duration {
        let retryTime = max(retryTime ?? Self.defaultRetryTime, minimumRetryTime)
        guard failures > 0 else { return retryTime }
        return retryTime + .milliseconds(Int.random(in: 0...bound, using: &generator))
    }

    /// The minimum of the retry time: 100 ms, 200 ms, 400 ms … 3 s.
    private var minimumRetryTime: Duration {
        let doubled = Duration.milliseconds(Self.minimumRetryMilliseconds << min(emptyStreams, 5))
        return min(doubled, Self.defaultRetryTime)
    }

    /// The upper bound of the random part in milliseconds: 1 s, 2 s, 4 s … 60 s.
    private var bound: Int { min(1_000 << min(failures - 1, 6), Self.maximumBound) }
}
