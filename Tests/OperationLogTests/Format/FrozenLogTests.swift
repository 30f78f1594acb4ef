import OperationLog
import Testing

/// Logs as earlier versions wrote them, which every later version must read. Never change the bytes: a change of the
/// format is a new version with a log of its own here.
@Suite struct FrozenLogTests {
    /// Version 1, zstd: two sealed segments and an open one; commits of 2, 1, 3 and 1 records, a run of two commits.
    @Test func `a log of format version 1 is read`() throws {
        let disk = SimulatedDisk(directories: ["/store", Sample.directory])
        for (first, hex) in Self.version1 { disk[Sample.segment(first)] = bytes(hex) }
        let report = try LogVerification.verify(directory: Sample.directory, fileSystem: disk)
        #expect(report.isSound && report.tail == nil && report.blocks == 4)
        #expect(report.segments.map(\.isSealed) == [true, true, false])
        #expect(try Sample.read(disk) == Sample.expected(1...7))
        let (log, recovery) = try Sample.open(disk)
        #expect(recovery.cut == nil && recovery.nextSequence == 8)
        try log.append(Sample.commit(from: 8, count: 1))
        #expect(try Sample.read(disk) == Sample.expected(1...8))
    }

    private func bytes(_ hex: String) -> [UInt8] {
        hex.split { $0.isWhitespace }.flatMap { line in
            stride(from: 0, to: line.count, by: 2).compactMap { start in
                let from = line.index(line.startIndex, offsetBy: start)
                return UInt8(line[from..<line.index(from, offsetBy: 2)], radix: 16)
            }
        }
    }

    private static let version1: [(UInt64, String)] = [
        (
            1,
            """
            544944454c4f470a01004000010000000102030405060708090a0b0c0d0e0f1001000000000000001467dea000000000
            000000000000000000000000b27909f3544c424b01010500010000000000000002000000540000005d0000001467dea0
            a9a28bde7c55b54ecd9c852a28b52ffd0050a0020007286f7065726174696f6e20313a20656365656424ac636161e0cc
            6346676164635f62416765986619630e286f7065726174696f6e20323a2067456162f8646564646258f0666764636464
            636261666365656365544c424b020004000300000000000000000000002c0000002c000000a9a28bdea9a28bdec45c8e
            b1b4ee74740200000000000000540000000000000001000000927e008e01000000010000000000000040000000000000
            00c9000000000000005891c471544c4654
            """
        ),
        (
            3,
            """
            544944454c4f470a01004000000000000102030405060708090a0b0c0d0e0f100300000000000000a9a28bde00000000
            000000000000000000000000ff6afc16544c424b010105000300000000000000010000002a00000033000000a9a28bde
            57f1427bc61cddeb1135936d28b52ffd005050010015286f7065726174696f6e20333a20646564646365fc63be46cf63
            745461679d65663fb122631a626265544c424b010104000400000000000000030000007e0000006a00000057f1427b34
            99146f8ec80681d9affa563c0300d4051c343a2066661b61aa156229d5644761656267ec6466646262746f61153a6723
            353a20612d576567626461ed65be5e616364646467f3b022c6669cfe67672a363a2058616362630cf46766b53683e962
            ea613d61636463666466e666620304080337f0a6ae544c424b020004000700000000000000000000002c0000002c0000
            003499146f3499146f0993c8265bd78b4a0600000000000000a800000000000000020000004583334401000000030000
            00000000004000000000000000350100000000000059f8ec59544c4654
            """
        ),
        (
            7,
            """
            544944454c4f470a01004000000000000102030405060708090a0b0c0d0e0f1007000000000000003499146f00000000
            0000000000000000000000003c71beb8544c424b010105000700000000000000010000002a000000330000003499146f
            e65b293adb1fea8b601e946928b52ffd005050010031286f7065726174696f6e20373a2012626666646461016267ae67
            67630a63648b66649265c71f615a62
            """
        ),
    ]
}
