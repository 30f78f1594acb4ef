import SeededRandom
import Testing

@testable import ODataWire

struct BatchFuzzTests {
    static let contentType = "multipart/mixed; boundary=b"

    static let response: [UInt8] = {
        let batch = BatchResponse(parts: [
            .changeSet([
                .init(contentID: "1", response: WireResponse(status: 201, body: Array(#"{"ID":1}"#.utf8))),
                .init(contentID: "2", response: WireResponse(status: 204, headers: ["Location": "C(1)"])),
            ]), .single(contentID: nil, WireResponse(status: 200, body: Array("two".utf8))),
        ])
        guard let bytes = try? MultipartBatchWriter().write(batch, boundary: "b", changeSetBoundary: { "c\($0)" })
        else {
            preconditionFailure("the writer refuses a batch without faults")
        }
        return bytes
    }()

    @Test(arguments: [MultipartBatchReader.Strictness.tolerant, .strict])
    func `a response truncated at any byte is never complete`(_ strictness: MultipartBatchReader.Strictness) {
        let reader = MultipartBatchReader(strictness: strictness)
        let closeDelimiter = Self.response.count - 2
        for count in 0..<closeDelimiter {
            let batch = try? reader.readResponse(Array(Self.response[..<count]), contentType: Self.contentType)
            #expect(batch?.isClosed != true, "cut at byte \(count)")
        }
    }

    @Test func `changed bytes yield a batch or an error with an offset in the body, and the matcher accepts both`() {
        let seed = UInt64.testSeed()
        var generator = SeededRandom(seed: seed)
        let request = BatchRequest(parts: [
            BatchMatcherTests.changeSet("1", "2"), BatchMatcherTests.query,
        ])
        let alphabet = Array("\r\n-:bc \t\"=;0H\u{0}".utf8) + [0xFF]
        for round in 0..<3000 {
            var bytes = Self.response
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
                case 1: bytes[place] = alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
                case 2: bytes.removeSubrange(place..<min(bytes.count, place + 1 + place % 17))
                default: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 1 + place % 23)], at: place)
                }
                if bytes.isEmpty { break }
            }
            for reader in [MultipartBatchReader(), MultipartBatchReader(strictness: .strict)] {
                do throws(BatchReadError) {
                    let batch = try reader.readResponse(bytes, contentType: Self.contentType)
                    let outcomes = BatchMatcher(request: request, response: batch).outcomes()
                    #expect(outcomes.count == 2, "seed \(seed), round \(round)")
                } catch {
                    #expect((0...bytes.count).contains(error.offset), "seed \(seed), round \(round)")
                }
                _ = try? reader.readRequest(bytes, contentType: Self.contentType)
            }
        }
    }
}
