import FuzzSupport
import MQTTCore

/// Any bytes as the packets of a broker: they must not depend on how the bytes were split, and each must be the same after
/// it was encoded and decoded.
@main
enum FuzzMQTT {
    static func main() {
        Fuzzer.run { start, count in
            FuzzMQTT.run(Array(UnsafeRawBufferPointer(start: start, count: count)))
            return 0
        }
    }

    /// The first byte tells how the rest is split, the second the version and the maximum size of a packet.
    private static func run(_ input: [UInt8]) {
        guard input.count >= 2 else { return }
        let bytes = Array(input.dropFirst(2))
        let version = input[1] & 1 == 0 ? MQTTVersion.v5 : .v311
        let limit = Int(input[1] >> 1) * 16
        let whole = reading(of: Splitting(bytes, seed: 0), version, limit)
        let split = reading(of: Splitting(bytes, seed: input[0]), version, limit)
        Fuzzer.expect(split == whole, "split otherwise, it is \(split), not \(whole)")
        for packet in whole.packets { check(packet, version) }
        follow(whole.packets, version)
    }

    private struct Reading: Equatable {
        var packets: [MQTTPacket] = []
        var fault: MQTTFault?
    }

    private static func reading(of pieces: Splitting, _ version: MQTTVersion, _ limit: Int) -> Reading {
        var decoder = MQTTDecoder(version: version, maximumPacketSize: limit)
        var reading = Reading()
        do throws(MQTTFault) {
            for piece in pieces {
                decoder.append(piece)
                while let packet = try decoder.next() { reading.packets.append(packet) }
            }
        } catch {
            reading.fault = error
        }
        return reading
    }

    private static func check(_ packet: MQTTPacket, _ version: MQTTVersion) {
        do throws(MQTTFault) {
            // A refusal without properties is of MQTT 3.1.1, whatever was requested.
            var decoder = MQTTDecoder(version: version)
            decoder.append(try packet.encoded(as: version))
            let again = try decoder.next()
            Fuzzer.expect(again == packet, "\(packet) is decoded as \(String(describing: again))")
        } catch {
            Fuzzer.expect(false, "\(packet) can't be encoded and decoded: \(error)")
        }
    }

    /// The packets as those of a broker in a session, of which each message is acknowledged at most once.
    private static func follow(_ packets: [MQTTPacket], _ version: MQTTVersion) {
        var configuration = MQTTSession.Configuration(clientID: "fuzz")
        configuration.window = 3
        configuration.sessionExpiry = 60
        var session = MQTTSession(configuration)
        var acknowledged: Set<UInt64> = []
        for token in 1...5 { session.publish(.init(topic: "a", payload: [], qos: .atLeastOnce), token: UInt64(token)) }
        session.connect(version, will: nil, at: .zero)
        for packet in packets {
            do throws(MQTTFault) { try session.receive(packet, at: .zero) } catch {
                session.closed()
                session.connect(version, will: nil, at: .zero)
            }
            for sent in session.takeOutput(at: .zero) {
                Fuzzer.expect((try? sent.encoded(as: version)) != nil, "\(sent) can't be sent")
            }
            for case .acknowledged(let token, _) in session.takeEvents() {
                Fuzzer.expect(acknowledged.insert(token).inserted, "\(token) was acknowledged twice")
            }
        }
        Fuzzer.expect(session.unacknowledged + acknowledged.count == 5, "a message was lost")
    }
}
