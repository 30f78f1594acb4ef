import EDM
import OfflineStore
import OperationLog
import Operations
import SyncCore
import TestSupport
import Testing

@testable import LogInspection

/// Conditions on states with different metadata, and on states with lost records.
struct ConditionsOverChangesTests {
    private func flips(_ condition: String, _ shop: ShopLog, from first: UInt64 = 1) async throws -> [String] {
        var flips: [String] = []
        _ = try await shop.store.watch(StateCondition(condition), from: .sequence(first), through: .sequence(.max)) {
            flips.append("\($0.sequence) \($0.holds)" + ($0.isRestored ? " restored" : ""))
            return true
        }
        return flips
    }

    private func bisect(_ condition: String, _ shop: ShopLog) async throws -> BisectReport {
        try await shop.store.bisect(good: .sequence(1), bad: .sequence(.max), when: StateCondition(condition))
    }

    // MARK: Metadata

    /// Returns a log with records 6 to 9: an edit, metadata without the edited property, the former metadata, and
    /// another edit.
    private func shopWithChangingMetadata() throws -> ShopLog {
        let shop = try ShopLog()
        let former = try #require(try shop.service())
        let text = String(decoding: former.metadata, as: UTF8.self)
        let without = text.replacing(#"<Property Name="City" Type="Edm.String"/>"#, with: "")
        try shop.append(
            update(1, ["City": .string("Bonn")]),
            .serviceInstalled(ServiceDescription(root: former.root, metadata: Array(without.utf8))),
            .serviceInstalled(former), update(2, ["City": .string("Bonn")]))
        return shop
    }

    @Test func `a condition on a property that the metadata lack does not hold, and earlier results are reported`()
        async throws
    {
        let shop = try shopWithChangingMetadata()
        let found = try await flips("Customers?$filter=City eq 'Bonn'", shop)
        #expect(found.first == "6 true")
        #expect(found.contains("7 false"))
        let last = try await shop.store.lastFlip(
            StateCondition("Customers?$filter=City eq 'Bonn'"), from: .sequence(1), before: .sequence(7))
        #expect(last.flip?.sequence == 7)
        for distance in [2, 8_000] as [UInt64] {
            var options = LocalStoreOptions()
            options.checkpointDistance = distance
            options.memoryFoldDistance = 0
            let store = InspectedStore(directory: shop.log.directory.path, options: options)
            let report = try await store.bisect(
                good: .sequence(1), bad: .sequence(6), when: StateCondition("Customers?$filter=City eq 'Bonn'"))
            #expect(report.outcome == .found(6))
            // Over both changes of the metadata.
            let later = try await store.bisect(
                good: .sequence(6), bad: .sequence(9),
                when: StateCondition("Customers?$filter=City eq 'Bonn' and ID eq 2"))
            #expect(later.outcome == .found(9))
        }
    }

    /// The ways to fold the records of a trial: in the views, in memory with and without checkpoints, and both.
    private static var ways: [LocalStoreOptions] {
        var views = LocalStoreOptions()
        views.foldsHistoryInViews = true
        let distances: [(memory: UInt64, checkpoint: UInt64)] = [(0, 2), (0, 5), (0, 8_000), (4, 2)]
        return [views, LocalStoreOptions()]
            + distances.map { distance in
                var options = LocalStoreOptions()
                options.memoryFoldDistance = distance.memory
                options.checkpointDistance = distance.checkpoint
                return options
            }
    }

    /// The first trial is through record 10 and is rolled back; the next ones continue from a checkpoint, which is at
    /// record 5 if the distance is low.
    @Test(arguments: [3, 5, 6, 7, 9] as [UInt64], [4, 6, 7, 8, 10, 15] as [UInt64])
    func `a bisection finds the same record in each way of folding if the metadata change before it or after it`(
        _ metadata: UInt64, _ change: UInt64
    ) async throws {
        if metadata == change { return }
        let service = try #require(try ShopLog().service())
        let text = String(decoding: service.metadata, as: UTF8.self)
        let city = #"<Property Name="City" Type="Edm.String"/>"#
        let changed = text.replacing(city, with: city + #"<Property Name="Street" Type="Edm.String"/>"#)
        let log = try SampleLog()
        try log.append(.serviceInstalled(service), .entitiesRead([ShopLog.customer(1, "Ada", "Rome")]))
        for sequence in 3...20 as ClosedRange<UInt64> {
            switch sequence {
            case metadata:
                try log.append(
                    .serviceInstalled(ServiceDescription(root: service.root, metadata: Array(changed.utf8))))
            case change: try log.append(update(1, ["City": .string("Bonn")]))
            default: try log.append(update(1, ["Name": .string("Ada \(sequence)")]))
            }
        }
        var evaluations: [[BisectReport.Evaluation]] = []
        for options in Self.ways {
            let report = try await InspectedStore(directory: log.directory.path, options: options).bisect(
                good: .sequence(1), bad: .sequence(20), when: StateCondition("Customers?$filter=City eq 'Bonn'"))
            #expect(report.outcome == .found(change), "\(options.memoryFoldDistance), \(options.checkpointDistance)")
            evaluations.append(report.evaluations)
        }
        #expect(Set(evaluations).count == 1)
    }

    @Test func `a condition on a name that no metadata contain is an error`() async throws {
        let shop = try shopWithChangingMetadata()
        for condition in ["Customers?$filter=Ctiy eq 'Bonn'", "Customrs"] {
            await #expect(throws: TidelogError.self, "\(condition)") { try await flips(condition, shop) }
            await #expect(throws: TidelogError.self, "\(condition)") { try await bisect(condition, shop) }
            await #expect(throws: TidelogError.self, "\(condition)") {
                try await shop.store.lastFlip(
                    StateCondition(condition), from: .sequence(1), before: .sequence(.max))
            }
        }
    }

    @Test func `an alternative history without the first metadata is refused`() async throws {
        let shop = try shopWithChangingMetadata()
        var alteration = WhatIfChanges()
        alteration.skipped = [1]
        await #expect { try await shop.store.altered(alteration, through: .sequence(.max)) } throws: {
            ($0 as? TidelogError)?.message.contains("Record 1 contains the metadata of the store") == true
        }
        alteration.skipped = [7]
        _ = try await shop.store.altered(alteration, through: .sequence(.max))
    }

    // MARK: Lost records

    /// Returns a log whose record 6, an update of a customer, is lost. The snapshot after record 7 contains the update,
    /// and record 8 reverts it.
    private func shopWithLoss() throws -> ShopLog {
        let shop = try ShopLog()
        let (eve, note) = (update(1, ["Name": .string("Eve")]), update(2, ["City": .string("Kiel")]))
        try shop.append(.lost, note)
        try shop.writeSnapshot(replacing: [6: eve])
        try shop.append(update(1, ["Name": .string("Ada")]))
        return shop
    }

    @Test func `a watch continues with the snapshot's content of lost records`() async throws {
        let shop = try shopWithLoss()
        #expect(try await flips("Customers?$filter=Name eq 'Eve'", shop) == ["7 true restored", "8 false"])
        #expect(try await flips("Customers?$filter=Name eq 'Eve'", shop, from: 7) == ["8 false"])
    }

    @Test func `a bisect attributes the content of a snapshot to no record`() async throws {
        let shop = try shopWithLoss()
        let report = try await shop.store.bisect(
            good: .sequence(5), bad: .sequence(7), when: StateCondition("Customers?$filter=Name eq 'Eve'"))
        #expect(report.outcome == .found(7))
        #expect(report.isRestored)
        #expect(report.entry == nil)
        let blamed = try await shop.store.bisect(
            good: .sequence(5), bad: .sequence(7), when: StateCondition("Customers?$filter=City eq 'Kiel'"))
        #expect(blamed.outcome == .found(7))
        #expect(!blamed.isRestored)
        #expect(blamed.entry?.sequence == 7)
    }
}
