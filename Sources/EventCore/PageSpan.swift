/// The time that the timeline of the page covers, by its name in the target (`/?span=1h`).
package enum PageSpan: String, Sendable, CaseIterable {
    /// Ten minutes.
    case tenMinutes = "10m"
    /// An hour.
    case hour = "1h"
    /// A day.
    case day = "24h"
    /// Seven days.
    case week = "7d"

    /// The length.
    package var duration: Duration {
        switch self {
        case .tenMinutes: .seconds(600)
        case .hour: .seconds(3600)
        case .day: .seconds(86_400)
        case .week: .seconds(604_800)
        }
    }
}
