import NIOCore

/// Keeps a network that changes all the time from asking name servers all the time: ten at once, then ten a second.
struct LookUpAllowance {
    private var count = Self.most
    private var refilled = NIODeadline.now()

    private static let most = 10

    mutating func take(at now: NIODeadline) -> Bool {
        let elapsed = (now - refilled).nanoseconds / 100_000_000
        if elapsed > 0 {
            count = min(Self.most, count + Int(min(elapsed, Int64(Self.most))))
            refilled = now
        }
        guard count > 0 else { return false }
        count -= 1
        return true
    }
}
