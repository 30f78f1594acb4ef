import EDM
import OfflineStore
import OperationLog
import Operations
import SeededRandom
import SyncCore
import TestSupport
import Testing

@testable import LogInspection

/// A session of random calls with one operation that has a unique effect.
struct PlantedFaultTests {
    private static let metadata = """
        <?xml version="1.0" encoding="utf-8"?>
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="Shop" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="Customer"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
        <Property Name="Rating" Type="Edm.Int32"/></EntityType>
        <EntityContainer Name="Container"><EntitySet Name="Customers" EntityType="Shop.Customer"/></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    private let directory = TemporaryDirectory()
    private var inspected: InspectedStore { InspectedStore(directory: directory.path) }
    private let condition = StateCondition("Customers?$filter=Rating gt 50")

    /// Fills the store. Returns the sequence numbers of the planted operation and of the create that it depends on.
    private func fill(
        _ random: inout SeededNumbers, calls: Int, keys: [LogKey] = [], compacting: Bool = false
    ) async throws -> (fault: UInt64, creation: UInt64) {
        var options = LocalStoreOptions(snapshots: .manual)
        options.log.keys = keys
        options.log.segmentSize = 8_192
        options.log.durability = .none
        let store = try await LocalStore(StoreFiles(directory: directory.path), options: options)
        _ = try await store.record([
            .serviceInstalled(ServiceDescription(root: "http://shop/", metadata: Array(Self.metadata.utf8)))
        ])
        var alive: [(link: String, creation: UInt64)] = []
        let place = random.next(below: calls / 2) + calls / 4
        var found: (UInt64, UInt64)?
        for call in 0..<calls {
            if alive.isEmpty || random.next(below: 3) == 0 {
                let draft = EntityDraft(
                    number: 0, set: "Customers", type: "Shop.Customer",
                    values: ["Name": .string("c\(call)"), "Rating": .integer(Int64(random.next(below: 5)))])
                let result = try await store.perform([(.create(draft, in: nil), IntentOptions())], asChangeSet: false)[
                    0]
                alive.append((try #require(result.entities[0]?.readLink), try #require(result.sequence)))
                continue
            }
            let index = random.next(below: alive.count)
            let target = alive[index]
            if found == nil, call >= place {
                let change = Intent.update(
                    .link(target.link), changes: ["Rating": .integer(99)], bindings: [], inline: [])
                let result = try await store.perform([(change, IntentOptions())], asChangeSet: false)[0]
                found = (try #require(result.sequence), target.creation)
                // No later call changes this entity.
                alive.remove(at: index)
            } else if random.next(below: 5) == 0 {
                _ = try await store.perform([(.delete(.link(target.link)), IntentOptions())], asChangeSet: false)
                alive.remove(at: index)
            } else {
                let changes: PropertyValues = ["Rating": .integer(Int64(random.next(below: 5)))]
                let change = Intent.update(.link(target.link), changes: changes, bindings: [], inline: [])
                _ = try await store.perform([(change, IntentOptions())], asChangeSet: false)
            }
            if compacting, call == calls / 5 { _ = try await store.compact(keeping: .bytes(0)) }
            if random.next(below: 60) == 0 { _ = try await store.writeSnapshot() }
        }
        await store.close()
        let (fault, creation) = try #require(found)
        return (fault, creation)
    }

    @Test(arguments: 1...4)
    func `bisect, watch and minimise find the planted operation`(_ number: Int) async throws {
        let seed = UInt64.testSeed()
        var random = SeededNumbers(seed)
        let (fault, creation) = try await fill(&random, calls: 120 + random.next(below: 200))
        let report = try await inspected.bisect(good: .sequence(0), bad: .sequence(.max), when: condition)
        #expect(report.outcome == .found(fault))
        #expect(report.evaluations.count <= report.limit)
        #expect(report.entry?.sequence == fault)
        var options = LocalStoreOptions()
        options.checkpointDistance = UInt64(2 + random.next(below: 40))
        let distances = [0, UInt64(10 + random.next(below: 60)), options.memoryFoldDistance, nil]
        for distance in distances {
            options.memoryFoldDistance = distance ?? 0
            options.foldsHistoryInViews = distance == nil
            let other = try await InspectedStore(directory: directory.path, options: options).bisect(
                good: .sequence(0), bad: .sequence(.max), when: condition)
            let name: Comment =
                "in memory from \(distance.map(String.init) ?? "no") records, a checkpoint from \(options.checkpointDistance)"
            #expect(other.outcome == report.outcome, name)
            #expect(other.evaluations == report.evaluations, name)
            #expect(other.entry == report.entry, name)
        }
        var flips: [UInt64] = []
        let watched = try await inspected.watch(condition, from: .sequence(0), through: .sequence(.max)) { flip in
            flips.append(flip.sequence)
            return true
        }
        #expect(flips == [fault])
        #expect(watched.holds && !watched.heldAtFirst)
        let last = try await inspected.lastFlip(condition, from: .sequence(0), before: .sequence(.max))
        #expect(last.flip?.sequence == fault)
        let none = try await inspected.lastFlip(condition, from: .sequence(0), before: .sequence(fault - 1))
        #expect(none.flip == nil)
        let small = try await inspected.minimised(.condition(condition), to: directory.path + "/small")
        #expect(small.kept == [1, creation, fault])
        let past = try await InspectedStore(directory: directory.path + "/small").past(at: .sequence(.max))
        #expect(try await condition.holds(in: past, at: 0))
    }

    @Test func `an encrypted store is searched with its key`() async throws {
        let key = try #require(LogKey(Array(1...32)))
        var random = SeededNumbers(11)
        let (fault, creation) = try await fill(&random, calls: 100, keys: [key])
        let store = InspectedStore(directory: directory.path, keys: [key])
        let report = try await store.bisect(good: .sequence(0), bad: .sequence(.max), when: condition)
        #expect(report.outcome == .found(fault))
        let small = try await store.minimised(.condition(condition), to: directory.path + "/small")
        #expect(small.kept == [1, creation, fault])
        await #expect(throws: TidelogError.self) {
            try await inspected.bisect(good: .sequence(0), bad: .sequence(.max), when: condition)
        }
    }

    @Test func `the readable records of a damaged store are searched`() async throws {
        var random = SeededNumbers(13)
        let (fault, _) = try await fill(&random, calls: 200)
        let segments = TemporaryDirectory.files(directory.path + "/log").filter { $0.hasSuffix(".segment") }.sorted()
        let last = try #require(segments.last)
        var bytes = try #require(TemporaryDirectory.read(last))
        bytes[bytes.count - 20] ^= 0x55
        TemporaryDirectory.write(bytes, to: last)
        let report = try await inspected.bisect(good: .sequence(0), bad: .sequence(fault + 5), when: condition)
        #expect(report.outcome == .found(fault))
        var flips: [UInt64] = []
        _ = try await inspected.watch(condition, from: .sequence(0), through: .sequence(.max)) { flip in
            flips.append(flip.sequence)
            return true
        }
        #expect(flips.first == fault)
        #expect(Set(flips).count == flips.count)
    }

    @Test func `a compacted store is searched from its first record on`() async throws {
        var random = SeededNumbers(17)
        let (fault, _) = try await fill(&random, calls: 200, compacting: true)
        let first = try inspected.earliestPlace
        #expect(first != .sequence(0))
        let report = try await inspected.bisect(good: first, bad: .sequence(.max), when: condition)
        #expect(report.outcome == .found(fault))
        await #expect(throws: TidelogError.self) {
            try await inspected.minimised(.condition(condition), to: directory.path + "/small")
        }
    }

    @Test func `a search changes no file of the store`() async throws {
        var random = SeededNumbers(19)
        let (fault, _) = try await fill(&random, calls: 100)
        let files = TemporaryDirectory.files(directory.path).sorted()
        let before = files.map { TemporaryDirectory.read($0) }
        _ = try await inspected.bisect(good: .sequence(0), bad: .sequence(.max), when: condition)
        _ = try await inspected.watch(condition, from: .sequence(0), through: .sequence(.max)) { _ in true }
        var alteration = WhatIfChanges()
        alteration.skipped = [fault]
        _ = try await inspected.altered(alteration, through: .sequence(.max))
        #expect(TemporaryDirectory.files(directory.path).sorted() == files)
        #expect(files.map { TemporaryDirectory.read($0) } == before)
    }

    @Test func `without the planted operation, the condition does not hold and nothing else differs`()
        async throws
    {
        let seed = UInt64.testSeed()
        var random = SeededNumbers(seed)
        let (fault, _) = try await fill(&random, calls: 150)
        var alteration = WhatIfChanges()
        alteration.skipped = [fault]
        let report = try await inspected.altered(alteration, through: .sequence(.max))
        #expect(report.countWithoutPlace == 0)
        #expect(try await !StateCondition("Customers?$filter=Rating gt 50").holds(in: report.altered, at: 0))
        var found: [EntityDifference] = []
        let counts = try await StateDifference(
            before: report.real, after: report.altered, matching: .entityIDs
        ).run { found.append($0) }
        #expect(counts.differences == 1)
        #expect(found.first?.properties.map(\.name) == ["Rating"])
    }

    /// Creates three customers in a change set and updates the last one, as records 2 to 5.
    private func fillWithChangeSet() async throws {
        let store = try await LocalStore(StoreFiles(directory: directory.path), options: .init(snapshots: .manual))
        _ = try await store.record([
            .serviceInstalled(ServiceDescription(root: "http://shop/", metadata: Array(Self.metadata.utf8)))
        ])
        let drafts = ["a", "b", "c"].map { name in
            (Intent.create(Self.draft(name), in: nil), IntentOptions())
        }
        let results = try await store.perform(drafts, asChangeSet: true)
        #expect(results.map(\.sequence) == [2, 3, 4])
        let link = try #require(results[2].entities[0]?.readLink)
        let change = Intent.update(.link(link), changes: ["Rating": .integer(9)], bindings: [], inline: [])
        _ = try await store.perform([(change, IntentOptions())], asChangeSet: false)
        await store.close()
    }

    private static func draft(_ name: String) -> EntityDraft {
        EntityDraft(number: 0, set: "Customers", type: "Shop.Customer", values: ["Name": .string(name)])
    }

    @Test(arguments: 2...4 as ClosedRange<UInt64>)
    func `the members of a change set keep their numbers if one is skipped`(_ skipped: UInt64) async throws {
        try await fillWithChangeSet()
        var alteration = WhatIfChanges()
        alteration.skipped = [skipped]
        let report = try await inspected.altered(alteration, through: .sequence(.max))
        let left = try await report.altered.store.queue.pendingOperations()
        let expected = skipped == 4 ? [2, 3] : [2, 3, 4, 5].filter { $0 != skipped }
        #expect(left.map(\.sequence) == expected)
        #expect(left.filter { $0.sequence < 5 }.allSatisfy { $0.operation.changeSet == expected[0] })
        #expect(report.countWithoutPlace == (skipped == 4 ? 1 : 0))
        #expect(report.standings.isEmpty)
    }

    @Test func `an operation inserted into a change set follows it`() async throws {
        try await fillWithChangeSet()
        var alteration = WhatIfChanges()
        alteration.insertions = [(.create(Self.draft("in"), in: nil), IntentOptions())]
        alteration.insertionPlace = 3
        let report = try await inspected.altered(alteration, through: .sequence(.max))
        #expect(report.inserted == [5])
        let left = try await report.altered.store.queue.pendingOperations()
        #expect(left.map(\.sequence) == [2, 3, 4, 5, 6])
        #expect(left.map(\.operation.changeSet) == [2, 2, 2, nil, nil])
    }

    @Test func `an alteration without effect leads to the same state and the same batches`() async throws {
        var random = SeededNumbers(7)
        _ = try await fill(&random, calls: 80)
        var alteration = WhatIfChanges()
        // The operations are in this order already.
        alteration.order = [2, 3]
        let report = try await inspected.altered(alteration, through: .sequence(.max))
        let (real, altered) = (try await report.real.store.digest(), try await report.altered.store.digest())
        #expect(real == altered)
        #expect(report.realPlan == report.alteredPlan)
    }
}

/// A generator that returns the same numbers for the same seed.
private struct SeededNumbers {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed &* 2_862_933_555_777_941_757 &+ 3_037_000_493 }

    mutating func next(below limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(max(1, limit)))
    }
}
