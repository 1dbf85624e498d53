/// A classic BPF program that the kernel runs over each message before it copies it to a socket.
///
/// `Documentation/networking/filter.rst`. It needs no privilege, and runs at the expense of whoever causes the message.
struct SocketFilter: Equatable {
    /// The program.
    var instructions: [Instruction] = []

    /// `struct sock_filter`.
    struct Instruction: Equatable {
        var code: UInt16
        var jt: UInt8 = 0
        var jf: UInt8 = 0
        var k: UInt32
    }

    /// `BPF_MAXINSNS`.
    static let longest = 4_096

    /// Appends one instruction or several.
    mutating func append(_ added: Instruction...) { instructions += added }
}

extension SocketFilter.Instruction {
    /// `ldb [offset]`.
    static func loadByte(_ offset: UInt32) -> Self { .init(code: 0x30, k: offset) }
    /// `ldh [offset]`, in network order.
    static func loadHalf(_ offset: UInt32) -> Self { .init(code: 0x28, k: offset) }
    /// `ld [offset]`, in network order.
    static func loadWord(_ offset: UInt32) -> Self { .init(code: 0x20, k: offset) }
    /// `ld [x + offset]`, in network order.
    static func loadWordIndexed(_ offset: UInt32) -> Self { .init(code: 0x40, k: offset) }
    /// `ld #value`.
    static func loadConstant(_ value: UInt32) -> Self { .init(code: 0x00, k: value) }
    /// `ldx #value`.
    static func loadIndex(_ value: UInt32) -> Self { .init(code: 0x01, k: value) }
    /// `ld M[slot]`.
    static func loadMemory(_ slot: UInt32) -> Self { .init(code: 0x60, k: slot) }
    /// `st M[slot]`.
    static func store(_ slot: UInt32) -> Self { .init(code: 0x02, k: slot) }
    /// `tax`.
    static let toIndex = Self(code: 0x07, k: 0)
    /// `sub x`.
    static let subtractIndex = Self(code: 0x1c, k: 0)
    /// `rsh x`.
    static let shiftRightByIndex = Self(code: 0x7c, k: 0)
    /// `xor #value`.
    static func exclusiveOr(_ value: UInt32) -> Self { .init(code: 0xa4, k: value) }
    /// `jeq #value, jt, jf`: how many instructions to pass over in each case.
    static func ifEqual(_ value: UInt32, _ jt: UInt8, else jf: UInt8) -> Self {
        .init(code: 0x15, jt: jt, jf: jf, k: value)
    }
    /// `jgt #value, jt, jf`, without sign.
    static func ifGreater(_ value: UInt32, _ jt: UInt8, else jf: UInt8) -> Self {
        .init(code: 0x25, jt: jt, jf: jf, k: value)
    }
    /// `ja count`: passes over instructions.
    static func skip(_ count: Int) -> Self { .init(code: 0x05, k: UInt32(clamping: count)) }
    /// `ret #-1`: the whole message is copied.
    static let accept = Self(code: 0x06, k: .max)
    /// `ret #0`: the socket never sees the message.
    static let drop = Self(code: 0x06, k: 0)
    /// `ld #nla`: from the offset in A, the offset of the attribute of the type in X; 0 if there is none.
    ///
    /// `SKF_AD_OFF + SKF_AD_NLATTR`.
    static let findAttribute = Self(code: 0x20, k: UInt32(bitPattern: -0x1000 + 12))
}
