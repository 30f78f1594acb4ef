import EDM
import Operations
import Testing

@testable import SyncCore

@Suite struct StateDigestTests {
    @Test(arguments: [(UInt64(0), "0000000000000000"), (0xA, "000000000000000a"), (.max, "ffffffffffffffff")])
    func `a digest is printed with sixteen digits and parsed again`(value: UInt64, text: String) {
        #expect(FNV1a.text(value) == text)
        #expect(StateDigest(value: value).description == text)
        #expect(StateDigest(text)?.value == value)
    }

    @Test func `the hash of texts depends on their boundaries, and that of a text is the hash of its bytes`() {
        func hash(_ texts: String...) -> UInt64 {
            var hash = FNV1a()
            for text in texts { hash.add(text.utf8) }
            return hash.value
        }
        #expect(hash("ab", "c") != hash("a", "bc"))
        var bytes = FNV1a()
        bytes.add(Array("ab".utf8))
        #expect(hash("ab") == bytes.value)
    }

    /// Snapshots contain the digest, so it must not change.
    @Test func `the digest of a merge base begins with its kind, and continues with its row and its links`() {
        let row = EntityRow(
            id: EntityID(rawValue: 1), set: "Orders", type: "Shop.Order", values: [:], etag: "1", editLink: nil,
            origin: .service)
        let mergeBase = MergeBase(row: row, links: [.init(relationship: "r", isFirst: true, partner: nil)])
        var (whole, parts) = (FNV1a(), FNV1a())
        whole.add(.ancestor(mergeBase))
        parts.add(UInt64(SnapshotCodec.ItemKind.ancestor.rawValue))
        parts.add(.row(mergeBase.row))
        parts.add(SnapshotCodec.encode(.ancestor(mergeBase)).payload)
        #expect(whole.value == parts.value)
    }

    /// Swift considers the names equal, and their bytes differ.
    @Test(arguments: [false, true], [false, true])
    func `a query has its own spelling after all entities of a query with an equal name were removed`(
        _ keepsDigest: Bool, _ drains: Bool
    ) throws {
        let (composed, decomposed, id) = ("\u{e9}", "e\u{301}", EntityID(rawValue: 1))
        let (state, fresh) = (WorkingSet(keepsDigest: keepsDigest), WorkingSet())
        try state.bookkeeping.cover(id, query: composed, run: 1)
        if drains {
            #expect(try state.bookkeeping.drainUncovered(query: composed, before: 2) == [id])
        } else {
            try state.bookkeeping.uncover(id, query: nil)
        }
        #expect(try StateDigest(of: state) == StateDigest(of: fresh))
        try state.bookkeeping.cover(id, query: decomposed, run: 3)
        try fresh.bookkeeping.cover(id, query: decomposed, run: 3)
        #expect(try StateDigest(of: state) == StateDigest(of: fresh))
        if keepsDigest { #expect(try state.digest == StateDigest(of: state)) }
    }
}
