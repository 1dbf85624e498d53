/// One line of progress, for a terminal of a width.
enum ProgressText {
    /// The line, one column shorter than the terminal, so that no terminal breaks it.
    static func line(_ meter: ProgressMeter, width: Int) -> String {
        let room = max(0, width - 1)
        let rate = meter.rate.map { ", " + QuantityText.bytes(Int($0.rounded())) + "/s" } ?? ""
        guard let expected = meter.expected, expected > 0 else {
            return String((QuantityText.bytes(meter.received) + rate).prefix(room))
        }
        let part = min(1, Double(meter.received) / Double(expected))
        let percent = "\(Int(part * 100)) %"
        let head = String(repeating: " ", count: 5 - percent.count) + percent
        let left = meter.timeLeft.map { ", \(QuantityText.rough($0)) left" } ?? ""
        let tail = "\(QuantityText.bytes(meter.received)) of \(QuantityText.bytes(expected))\(rate)\(left)"
        let cells = min(40, room - head.count - tail.count - 4)
        guard cells >= 5 else { return String("\(head) \(tail)".prefix(room)) }
        let filled = Int(part * Double(cells))
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: cells - filled)
        return "\(head) [\(bar)] \(tail)"
    }
}
