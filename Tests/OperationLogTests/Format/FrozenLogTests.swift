import DiskSimulation
import OperationLog
import Testing

/// Logs written by earlier versions, which every later version must read.
///
/// Never change the bytes. A change of the format is a new version, and its log is added here.
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

    /// Version 2, zstd, commits of 2, 1, 3, 1 and 2 records in four segments. Three segments have one key: two were
    /// sealed because of their size, the third because the last segment has a different key.
    @Test func `an encrypted log of format version 2 is read`() throws {
        let disk = SimulatedDisk(directories: ["/store", Sample.directory])
        for (first, hex) in Self.version2 { disk[Sample.segment(first)] = bytes(hex) }
        let keys = [Sample.otherKey, Sample.key]
        let report = try LogVerification.verify(directory: Sample.directory, keys: keys, fileSystem: disk)
        #expect(report.isSound && report.tail == nil && report.blocks == 5)
        #expect(report.segments.map(\.isSealed) == [true, true, true, false])
        #expect(try Sample.read(disk, keys: keys) == Sample.expected(1...9))
        let (log, recovery) = try Sample.open(disk, .init(keys: keys))
        #expect(recovery.cut == nil && recovery.nextSequence == 10)
        try log.append(Sample.commit(from: 10, count: 1))
        #expect(try Sample.read(disk, keys: keys) == Sample.expected(1...10))
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

    private static let version2: [(UInt64, String)] = [
        (
            1,
            """
            544944454c4f470a02006000010000000102030405060708090a0b0c0d0e0f1001000000000000007081c4147faa8f70
            765c4277e0d52aaf187091770100000001e29526e2c23c9530b7129cdc4ed87b63ca4a4f990c40f5f6656780c37cfb39
            544c424b0101050001000000000000000200000054000000790000006a36d4fc29e64c46e92aea7649cd732311b5bcb1
            5d0eda5a835f5d3e0df2268968050d782ae72c4d3e22c228e955f6579d4eecb87b8590ca10498bd975f7d0cfdf689db8
            8c1d193bc1b2ee2fca4c7bf2588d0e0c2835abdae3b867c61b45600cce0a45fb0aeac0608896369c0b0e9a9458586185
            f10cba3964079081ee54f161a443278bc788a12e74544c424b020004000300000000000000000000002c0000002c0000
            0029942ecfeec3a0f878acd59363f8dfc00200000000000000540000000000000001000000ba2a45b501000000010000
            00000000006000000000000000050100000000000026548723544c4654
            """
        ),
        (
            3,
            """
            544944454c4f470a02006000000000000102030405060708090a0b0c0d0e0f1003000000000000003e60657b7faa8f70
            765c4277e0d52aaf1870917701000000c8776c30e875d2d885b8f9dd33462de2bbe4357f10dd45b78793c156fa03ed47
            544c424b010105000300000000000000010000002a0000004f00000084468b86319bb4dd0d8919059bca39a2b3bfef25
            ade8274a2d6885d44f988d1fbae73cc2b5f0051e40fd267d17778cc2ed56b60e181aefeb72e94e14273fe5bdc0ed8781
            2c5a4e6548daae4ff0486558650bc3534a34b7a00885128c87b5ee544c424b010104000400000000000000030000007e
            00000086000000a7868bea499ca5f2c3a55d7a4058e5eaf84fad71ffdc6a60e03228129088ed31da69bde4df8b5ae2dd
            25e7e63ed78921fb46d9ccf62eff9608d37d741a34a3ab99d912a55f3382dd4c448d3841ef40c6955365611f52e1f765
            3e751663e387e71b3715667452c56a4e3e7d80b4dbfaef33a49c8ce5442ffb4db1f6031ceebdbadbe4b97330bdd1bcdc
            965b41a6c7dad3b63c61e24ee9544c424b020004000700000000000000000000002c0000002c000000a5b9cfbac4622c
            6c02d126936de6a52b0600000000000000a800000000000000020000000283a177010000000300000000000000600000
            00000000008d010000000000002a931d00544c4654
            """
        ),
        (
            7,
            """
            544944454c4f470a02006000000000000102030405060708090a0b0c0d0e0f100700000000000000e2d156367faa8f70
            765c4277e0d52aaf1870917701000000519b75a999508e300ac6453c979a92322a578f131bf66e9e9176991381a94040
            544c424b010105000700000000000000010000002a0000004f000000b0632c71ef27ea9be1a6dd9edf15b9e5e1ffc44b
            f5db1d1cce5a7e811db3871d0a8da279c88c259b49e657b6b05c4065b669f6cc0d905de3f77d22dd5fc78f3f7069057c
            06b88ca8ca9c2716bdcd9bfab4016b23696421e00807a71cb954a5544c424b020004000800000000000000000000002c
            0000002c000000988423c153dba1dd297472315577a1a007000000000000002a0000000000000001000000fb04905101
            00000007000000000000006000000000000000db000000000000000fe35315544c4654
            """
        ),
        (
            8,
            """
            544944454c4f470a02006000000000000102030405060708090a0b0c0d0e0f1008000000000000002812443bb99c4769
            5759441565de5a106ac966370100000056cf1ca8e1de82d5f2f310f28cef8e0d17bed58928f43de2bf23c3597eb04e80
            544c424b0101050008000000000000000200000054000000790000003d5b5e91b338157071e306760c35cb51dba7f504
            700b1eb8c77a5b7017765b1ea01cf1e2aa85322ae3f9b0c6c9fc0ff61de74eb350f0abd1b184550df66ad78e3b0055cd
            0c2496ce18a7029c6769a71c8513a060733332fb27072d516579da89b225f2bbec9875e170dc437bc48f1e2425887ff4
            dc82a6ac67e1995cd985ae8283d636979b5ae7d76c
            """
        ),
    ]
}
