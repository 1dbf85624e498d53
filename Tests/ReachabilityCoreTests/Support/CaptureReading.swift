import ReachabilityCore

/// The records of a capture, up to its end or its first fault.
struct CaptureReading {
    var records: [CaptureRecord] = []
    var fault: CaptureError?

    /// Reads a capture; on request, it continues after a fault that allows it.
    init(_ bytes: [UInt8], goingOn: Bool = false) {
        var reader = CaptureReader()
        while true {
            do throws(CaptureError) {
                guard let record = try reader.next(bytes.span.bytes) else { return }
                records.append(record)
            } catch {
                fault = fault ?? error
                guard goingOn, error.canContinue else { return }
            }
        }
    }
}

extension CaptureRecord {
    /// The messages of the record.
    func events(in bytes: [UInt8]) throws(NetlinkDecodeError) -> [KernelEvent] {
        try decoded(Array(bytes[payload]), byteOrder, of: netlinkProtocol).map(\.event)
    }
}
