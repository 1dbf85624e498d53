import CommandLineSupport
import Testing

@testable import netwatch

@Suite struct DurationArgumentTests {
    @Test(arguments: [
        ("250ms", Duration.milliseconds(250)), ("1.5s", .milliseconds(1500)), ("2m", .seconds(120)),
        ("1h", .seconds(3600)), ("0s", .zero), ("0.000001s", .microseconds(1)), ("0.000001ms", .nanoseconds(1)),
        ("1.999999h", .nanoseconds(7_199_996_400_000)), ("007s", .seconds(7)), ("8760h", .seconds(31_536_000)),
        ("31536000s", .seconds(31_536_000)), ("0.5m", .seconds(30)), ("0.1s", .milliseconds(100)),
    ])
    func `a duration is parsed exactly`(text: String, duration: Duration) throws {
        #expect(try DurationArgument.parse(text) == duration)
    }

    @Test(arguments: [
        ("", "it is empty"), ("5", "the unit is missing"), ("5.", "the unit is missing"), ("-5s", "negative"),
        (".5s", "'.5' is not a number"), ("1.2.3s", "'1.2.3' is not a number"), ("5.s", "'5.' is not a number"),
        ("s", "does not begin with a number"), ("soon", "does not begin with a number"), (".s", "begin with a number"),
        ("5 s", "' s' is not a unit"), ("5sec", "'sec' is not a unit"), ("5S", "'S' is not a unit"),
        ("5s ", "'s ' is not a unit"), ("1e3s", "'e3s' is not a unit"), ("0x5s", "'x5s' is not a unit"),
        ("+5s", "does not begin with a number"), ("٣s", "does not begin with a number"), ("5\u{1B}[2J", "'\\u{1b}[2J'"),
        ("1.0000001s", "more than six decimal places"), ("8760.000001h", "too long"), ("8761h", "too long"),
        ("31536000.000001s", "too long"), ("9223372036854775807h", "too long"), ("99999999999999999999s", "too long"),
        ("9223372036854775808ms", "too long"), ("9300000000000s", "too long"), ("nan", "begin with a number"),
        ("inf", "begin with a number"), ("5s\n", "is not a unit"),
    ])
    func `an invalid duration is refused with the expected form`(text: String, words: String) throws {
        let error = try #require(throws: ArgumentError.self) { try DurationArgument.parse(text) }
        #expect(error.description.contains(words))
        #expect(error.description.contains("1.5s") || error.description.contains("8760h"))
        #expect(!error.description.contains("\n"))
    }
}
