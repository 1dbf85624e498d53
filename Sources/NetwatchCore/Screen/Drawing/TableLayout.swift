/// Shares a line's columns among a table's: those that matter less are left out where it is narrow.
struct TableLayout<Field: Hashable>: Sendable where Field: Sendable {
    /// What a column would like.
    struct Wish {
        /// Which column.
        var field: Field
        /// The lower, the longer it stays.
        var rank: Int
        /// The least width that makes sense.
        var least: Int
        /// The width at which nothing is cut.
        var ideal: Int
        /// Whether it takes only what the others leave, as a picture that may have any width.
        var isElastic = false
    }

    /// The columns that have a place, in the order of the wishes, with their widths.
    let columns: [(field: Field, width: Int)]
    /// The space between two.
    let gap: Int

    /// Shares the width.
    ///
    /// - Parameters:
    ///   - wishes: From the left.
    ///   - width: How much there is.
    init(_ wishes: [Wish], width: Int) {
        let gap = width >= 100 ? 2 : 1
        var widths: [Field: Int] = [:]
        var rest = width + gap
        let byRank = wishes.enumerated().sorted { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }
            .map(\.element)
        for wish in byRank where wish.least + gap <= rest {
            widths[wish.field] = wish.least
            rest -= wish.least + gap
        }
        for wish in byRank.filter({ !$0.isElastic }) + byRank.filter(\.isElastic) {
            guard let width = widths[wish.field] else { continue }
            let more = min(max(wish.ideal - width, 0), max(rest, 0))
            widths[wish.field] = width + more
            rest -= more
        }
        columns = wishes.compactMap { wish in widths[wish.field].map { (wish.field, $0) } }
        self.gap = gap
    }
}
