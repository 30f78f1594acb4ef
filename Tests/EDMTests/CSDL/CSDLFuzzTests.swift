import EDM
import SeededRandom
import Testing

@Suite struct `Damaged CSDL documents` {
    static let documents = [CSDLSource.v2(`Navigation in CSDL`.legacy), CSDLSource.v4(`Navigation in CSDL`.current)]

    @Test(arguments: documents)
    func `the CSDL reader rejects each truncation of a document`(text: String) throws {
        let bytes = Array(text.utf8)
        for length in 0..<bytes.count {
            let error = try #require(throws: CSDLError.self, "\(length) bytes") {
                try CSDLReader.read(Array(bytes[..<length]))
            }
            #expect(error.line >= 1)
        }
    }

    @Test(arguments: documents)
    func `the CSDL reader never traps on randomly changed bytes`(text: String) throws {
        let seed = UInt64.testSeed()
        var random = SeededRandom(seed: seed)
        let bytes = Array(text.utf8)
        var refused = 0
        for _ in 0..<2_000 {
            var damaged = bytes
            for _ in 0...Int.random(in: 0..<4, using: &random) {
                let position = Int.random(in: 0..<damaged.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: damaged[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                case 1: damaged.remove(at: position)
                default: damaged.insert(damaged.randomElement(using: &random) ?? 0, at: position)
                }
            }
            do {
                let model = try CSDLReader.read(damaged)
                #expect(model.counts["schemas"] != nil)
            } catch {
                #expect(error.line >= 1, "seed \(seed)")
                refused += 1
            }
        }
        #expect(refused > 0)
    }
}
