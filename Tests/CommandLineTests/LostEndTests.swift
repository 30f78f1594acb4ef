import Foundation
import TestSupport
import Testing

/// A confirmed create, in a log whose last blocks (the batch and its response) were damaged later. The create is never
/// sent again and never lost without a report.
@Suite(.timeLimit(.minutes(20))) struct LostEndTests {
    private static let hexadecimal = String(repeating: "0123456789abcdef", count: 4)

    /// Damage to the log's only segment. Blocks are counted from the end of the segment.
    struct Damage: Sendable {
        let name: String
        /// Whether a repair restores every record.
        let isMendable: Bool
        /// Returns the changed segment, given its bytes and the offsets of its blocks in reverse order, or nil to
        /// remove the segment.
        let apply: @Sendable (Data, [Int]) -> Data?
    }

    private static func flipping(_ name: String, isMendable: Bool = true, _ masks: [(block: Int, offset: Int, UInt8)])
        -> Damage
    {
        Damage(name: name, isMendable: isMendable) { bytes, blocks in
            var bytes = bytes
            for (block, offset, mask) in masks { bytes[blocks[block] + offset] ^= mask }
            return bytes
        }
    }

    private static let damages: [Damage] =
        [
            ("magic", 0), ("type", 4), ("method", 5), ("flags", 6), ("sequence number", 8), ("record count", 16),
            ("raw length", 20), ("stored length", 24), ("chain", 28), ("payload's checksum", 36), ("checksum", 40),
            ("payload", 50),
        ].map { flipping("a bit of the last block's \($0.0)", [(0, $0.1, 1)]) } + [
            flipping("a bit in each of the last two blocks", [(1, 60, 4), (0, 20, 4)]),
            flipping("several bits in each of the last two blocks", isMendable: false, [(1, 60, 0x5A), (0, 60, 0x5A)]),
            Damage(name: "the last block is missing", isMendable: false) { $0.prefix(upTo: $1[0]) },
            Damage(name: "the last two blocks are missing", isMendable: false) { $0.prefix(upTo: $1[1]) },
            Damage(name: "all blocks are missing", isMendable: false) { $0.prefix(upTo: $1[$1.count - 1]) },
            Damage(name: "a part of the last block is missing", isMendable: false) { bytes, _ in bytes.dropLast(7) },
            Damage(name: "the segment is missing", isMendable: false) { _, _ in nil },
        ]

    @Test(arguments: [nil, hexadecimal])
    func `damage at the end of a closed log exits with 2 and can be repaired`(_ key: String?) throws {
        let server = try SandboxServer()
        let whole = try Workspace()
        if let key { whole.environment["TIDELOG_KEY"] = key }
        _ = try whole.output("init", server.root(.v4), "--query", "C=Customers")
        _ = try whole.output("pull")
        _ = try whole.output("create", "Customers", #"{"Name":"Ada"}"#)
        #expect(try whole.output("push").contains("1 confirmed"))
        for damage in Self.damages {
            let workspace = try Workspace()
            workspace.environment = whole.environment
            try FileManager.default.copyItem(atPath: whole.path(".tidelog"), toPath: workspace.path(".tidelog"))
            try Self.check(damage, workspace)
        }
        // The service has the entity once.
        _ = try whole.output("pull")
        let found = try whole.output("query", "Customers?$filter=Name eq 'Ada'", "--json")
        #expect(found.components(separatedBy: #""Name":"Ada""#).count == 2, "\(found)")
    }

    private static func check(_ damage: Damage, _ workspace: Workspace) throws {
        let file = workspace.folder.appendingPathComponent(".tidelog/log/00000000000000000001.segment")
        let bytes = try Data(contentsOf: file)
        let changed = damage.apply(bytes, blocks(of: bytes))
        if let changed { try changed.write(to: file) } else { try FileManager.default.removeItem(at: file) }
        let verified = try workspace.tidelog("verify")
        #expect(verified.status == 2, "\(damage.name): \(verified)")
        let opened = try workspace.tidelog("status")
        #expect(opened.status == 2, "\(damage.name): \(opened)")
        #expect(opened.error.contains("'tidelog repair'"), "\(damage.name): \(opened)")
        #expect((try? Data(contentsOf: file)) == changed, "\(damage.name)")
        let repaired = try workspace.tidelog("repair", "--in-place")
        #expect(repaired.status == 0, "\(damage.name): \(repaired)")
        #expect(repaired.output.contains("is corrected") == damage.isMendable, "\(damage.name): \(repaired)")
        #expect(repaired.output.contains("none is lost") == damage.isMendable, "\(damage.name): \(repaired)")
        // Repair keeps the damaged file.
        let kept = workspace.folder.appendingPathComponent(".tidelog/log.damaged-1/\(file.lastPathComponent)")
        #expect((try? Data(contentsOf: kept)) == changed, "\(damage.name)")
        #expect(try workspace.tidelog("verify").status == 0, "\(damage.name)")
        let pushed = try workspace.tidelog("push")
        #expect(!pushed.output.contains("1 confirmed"), "\(damage.name): \(pushed)")
    }

    /// Returns the offsets of a segment's blocks in reverse order.
    private static func blocks(of bytes: Data) -> [Int] {
        var offset = Int(bytes[10])
        var blocks: [Int] = []
        while offset + 44 <= bytes.count {
            blocks.append(offset)
            offset += 44 + (0..<3).reduce(0) { $0 + Int(bytes[offset + 24 + $1]) << (8 * $1) }
        }
        return blocks.reversed()
    }
}
