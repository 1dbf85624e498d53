/// Unguessable text, made from the system's random numbers.
enum RandomToken {
    /// 128 random bits as 32 hexadecimal digits.
    static var hexadecimal: String { words(2).map { padded(String($0, radix: 16), to: 16) }.joined() }

    /// Random words of 64 bits in digits and lower-case letters, for file names and multipart boundaries.
    static func short(words count: Int) -> String {
        words(count).map { padded(String($0, radix: 36), to: 13) }.joined(separator: "-")
    }

    private static func words(_ count: Int) -> [UInt64] { (0..<count).map { _ in .random(in: .min ... .max) } }

    private static func padded(_ digits: String, to length: Int) -> String {
        String(repeating: "0", count: length - digits.utf8.count) + digits
    }
}
