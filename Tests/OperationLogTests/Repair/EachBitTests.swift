import DiskSimulation
import SeededRandom
import Testing

@testable import OperationLog

/// The repair of each changed bit. Takes long, so it is not in ``MendingTests``.
@Suite struct EachBitTests {
    @Test(arguments: MendingTests.keys)
    func `any single changed bit is corrected, and the log has exactly its original records`(
        _ keys: [LogKey]
    ) throws {
        let whole = try MendingTests.log(keys)
        let start = Int(UInt64.testSeed() % 7)
        var bits = 0
        for path in MendingTests.files(whole) {
            for bit in stride(from: start, to: whole[path].count * 8, by: 7) {
                let disk = whole.copy()
                disk[path][bit / 8] ^= 1 << UInt8(bit % 8)
                let mended = CorrectedBit(path: path, offset: UInt64(bit / 8), bit: UInt8(bit % 8))
                if let objection = try MendingTests.objection(to: disk, keys, mended: [mended]) {
                    Issue.record("start \(start), \(path), bit \(bit): \(objection)")
                }
                bits += 1
            }
        }
        print("bits put right: \(bits), start \(start)")
        #expect(bits > 1000)
    }
}
