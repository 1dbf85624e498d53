/// Words for amounts of data.
enum AmountText {
    /// A rate in bytes per second to two digits, without the unit: `0`, `350`, `1.2k`, `45M`; a kilobyte has 1000 bytes.
    static func rate(_ rate: Double) -> String {
        let (number, unit) = parts(rate)
        return number + unit
    }

    /// A size to two digits: `350 B`, `1.2 kB`.
    static func size(bytes: Int) -> String {
        let (number, unit) = parts(Double(bytes))
        return "\(number) \(unit)B"
    }

    private static func parts(_ amount: Double) -> (number: String, unit: String) {
        guard amount >= 0.5 else { return ("0", "") }
        var value = min(amount, 9.9e20)
        var unit = 0
        while value >= 995, unit < units.count - 1 {
            value /= 1000
            unit += 1
        }
        if unit == 0 || value >= 9.95 { return ("\(twoDigits(value))", units[unit]) }
        let tenths = Int(value * 10 + 0.5)
        return ("\(tenths / 10).\(tenths % 10)", units[unit])
    }

    /// Of a value below 1000.
    private static func twoDigits(_ value: Double) -> Int {
        let step = value >= 99.5 ? 10 : 1
        return Int(value / Double(step) + 0.5) * step
    }

    private static let units = ["", "k", "M", "G", "T", "P", "E"]
}
