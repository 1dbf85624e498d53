extension Int64 {
    /// Returns the sum, clamped to the range: one of the numbers may be any that is stored.
    package func addingClamped(_ other: Int64) -> Int64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? (other < 0 ? .min : .max) : sum
    }

    /// Returns the difference, clamped to the range: one of the numbers may be any that is stored.
    package func subtractingClamped(_ other: Int64) -> Int64 {
        let (difference, overflows) = subtractingReportingOverflow(other)
        return overflows ? (other > 0 ? .min : .max) : difference
    }
}
