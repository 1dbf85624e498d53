import NetwatchCore

/// One line of progress, for a terminal of a width.
enum ProgressText {
    /// The line, one column shorter than the terminal, so that no terminal breaks it.
    ///
    /// Of what there is no room for, the bar goes first, then the time left, the rate, and the whole's size. Nothing is cut:
    /// half a number says something else.
    static func line(_ meter: ProgressMeter, _ direction: ProgressDirection = .received, width: Int) -> String {
        let room = max(0, width - 1)
        let parts = Parts(meter, direction)
        let cells = min(40, room - parts.whole.utf8.count - 3)
        if let share = parts.share, cells >= 5 {
            let filled = Int(share * Double(cells))
            let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: cells - filled)
            return "\(parts.percent)[\(bar)] \(parts.tail)"
        }
        return parts.candidates.first { $0.utf8.count <= room } ?? ""
    }

    /// What a line is put together from; all of it is ASCII.
    private struct Parts {
        /// How much of it there is, from 0 to 1; nil if the whole is not known.
        var share: Double?
        /// The same for people, with a space behind it; empty if it is not known.
        var percent = ""
        /// How many bytes there are.
        var count: String
        /// The same, and of how many.
        var amount: String
        /// What follows it.
        var rate: String
        var left = ""

        init(_ meter: ProgressMeter, _ direction: ProgressDirection) {
            rate = meter.rate.map { ", " + QuantityText.bytes(Int($0.rounded())) + "/s" } ?? ""
            count = QuantityText.bytes(meter.received)
            amount = count
            if let expected = meter.expected, expected > 0 {
                let share = min(1, Double(meter.received) / Double(expected))
                let digits = "\(Int(share * 100)) %"
                percent = String(repeating: " ", count: 5 - digits.utf8.count) + digits + " "
                amount += " of \(QuantityText.bytes(expected))"
                if meter.received < expected, let time = meter.timeLeft { left = ", \(QuantityText.rough(time)) left" }
                self.share = share
            }
            if direction == .sent { amount += " sent" }
        }

        var tail: String { amount + rate + left }
        var whole: String { percent + tail }
        var candidates: [String] {
            let share = percent.isEmpty ? count : String(percent.dropLast())
            return [whole, percent + amount + rate, percent + amount, percent + count, share]
        }
    }
}

/// Which way bytes go.
enum ProgressDirection: Hashable {
    /// The request's body goes to the server.
    case sent
    /// The answer's comes from it.
    case received
}
