import EDM
import Operations
import Testing

@testable import SyncCore

struct CleanRowCacheTests {
    /// A backing that counts its reads. Entities with odd numbers do not exist.
    private final class Backing {
        var reads = 0
        var (etag, editLink): (String?, String?) = (nil, nil)

        func row(_ id: EntityID) -> EntityRow? {
            reads += 1
            guard id.rawValue.isMultiple(of: 2) else { return nil }
            return EntityRow(
                id: id, set: "Orders", type: "Shop.Order", values: [:], etag: etag, editLink: editLink,
                origin: .service)
        }
    }

    private let backing = Backing()

    private func row(_ number: UInt64, in cache: inout CleanRowCache) throws -> EntityRow? {
        let id = EntityID(rawValue: number)
        return try cache.row(id) { () throws(StateError) in backing.row(id) }
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `a row, or its absence, is read once`(_ number: UInt64) throws {
        var cache = CleanRowCache()
        let first = try row(number, in: &cache)
        #expect(try row(number, in: &cache) == first)
        #expect((first == nil) == (number == 1) && backing.reads == 1)
    }

    @Test func `the set and type of a row are known while it is cached`() throws {
        var cache = CleanRowCache()
        for number in [1, 2] as [UInt64] { _ = try row(number, in: &cache) }
        #expect(cache.content(of: EntityID(rawValue: 2))?.kind.set == "Orders")
        #expect(cache.content(of: EntityID(rawValue: 2))?.kind.type == "Shop.Order")
        #expect(cache.content(of: EntityID(rawValue: 1)) == nil && cache.content(of: EntityID(rawValue: 4)) == nil)
        cache.remove([EntityID(rawValue: 2)])
        #expect(cache.content(of: EntityID(rawValue: 2)) == nil)
    }

    @Test func `an evicted row is read again, and no row is confused with another`() throws {
        var cache = CleanRowCache(capacity: 2_000)
        for number in 1...40 as ClosedRange<UInt64> {
            #expect(try row(number, in: &cache)?.id.rawValue == (number.isMultiple(of: 2) ? number : nil))
        }
        #expect(backing.reads == 40)
        #expect(try row(40, in: &cache)?.id.rawValue == 40 && backing.reads == 40)
        #expect(try row(2, in: &cache)?.id.rawValue == 2 && backing.reads == 41)
    }

    @Test func `a removed row is read again, and the others are not`() throws {
        var cache = CleanRowCache()
        for number in 1...40 as ClosedRange<UInt64> { _ = try row(number, in: &cache) }
        cache.remove([2, 3, 99].map { EntityID(rawValue: $0) })
        for number in 1...40 as ClosedRange<UInt64> {
            #expect(try row(number, in: &cache)?.id.rawValue == (number.isMultiple(of: 2) ? number : nil))
        }
        #expect(backing.reads == 42)
    }

    @Test func `a row larger than an eighth of the capacity is not cached`() throws {
        var cache = CleanRowCache(capacity: 2_000)
        backing.etag = String(repeating: "e", count: 100)
        for _ in 1...2 { #expect(try row(2, in: &cache)?.etag == backing.etag) }
        #expect(backing.reads == 2 && cache.size == 0 && cache.rows.isEmpty)
        backing.etag = "e"
        for _ in 1...2 { #expect(try row(4, in: &cache)?.etag == "e") }
        #expect(backing.reads == 3 && cache.rows.count == 1)
    }

    @Test func `the ETag and the editLink count as parts of the size`() throws {
        var (plain, named) = (CleanRowCache(), CleanRowCache())
        _ = try row(2, in: &plain)
        (backing.etag, backing.editLink) = ("12345", "abc")
        _ = try row(2, in: &named)
        #expect(named.size == plain.size + 8)
    }

    @Test func `the size of removed rows no longer counts`() throws {
        var cache = CleanRowCache()
        for number in 1...10 as ClosedRange<UInt64> { _ = try row(number, in: &cache) }
        let size = cache.size
        cache.remove([1, 2, 99].map { EntityID(rawValue: $0) })
        #expect(cache.size == size / 10 * 8)
        cache.remove((1...10).map { EntityID(rawValue: $0) })
        #expect(cache.size == 0)
    }

    @Test(arguments: [(UInt64(10), true), (5_000, false)])
    func `the memory of few rows is kept, and that of many rows is released`(_ count: UInt64, _ isKept: Bool) throws {
        var cache = CleanRowCache()
        for number in 1...count { _ = try row(number, in: &cache) }
        cache.removeAll()
        #expect(cache.rows.isEmpty && cache.size == 0)
        #expect((cache.rows.values.capacity > 0) == isKept)
        for number in 1...count { _ = try row(number, in: &cache) }
        cache.remove((1...count).map { EntityID(rawValue: $0) })
        cache.removeAll()
        #expect((cache.rows.values.capacity > 0) == isKept, "also if the rows were removed before")
    }

    @Test func `everything is read again after the cache was discarded`() throws {
        var cache = CleanRowCache()
        for _ in 1...2 {
            _ = try row(2, in: &cache)
            cache.removeAll()
        }
        #expect(backing.reads == 2)
    }
}
