import EDM
import ODataWire
import OfflineStore
import Operations
import SyncCore
import Testing

@testable import LogInspection

/// A response applies only to the requests that were sent.
struct DroppedResponseTests {
    private func report(_ shop: ShopLog, skipping sequence: SequenceNumber) async throws -> WhatIfReport {
        var alteration = WhatIfChanges()
        alteration.skipped = [sequence]
        return try await shop.store.altered(alteration, through: .sequence(.max))
    }

    private func pending(_ report: WhatIfReport) async throws -> [SequenceNumber] {
        try await report.altered.store.queue.pendingOperations().map(\.sequence)
    }

    @Test func `a batch that is not sent has no response`() async throws {
        let shop = try ShopLog()
        try shop.append(
            update(1, ["Name": .string("Eve")]), prepared(1, 6), answered(1, (6, .confirmed(images: []))))
        let report = try await report(shop, skipping: 7)
        #expect(try await pending(report) == [6])
        #expect(report.droppedAnswers == [DroppedResponses(sequence: 8, operations: [6])])
        #expect(report.standings.map(\.altered) == ["pending"])
        #expect(report.alteredPlan.count == 1)
    }

    @Test func `an operation that stays undone is in no batch`() async throws {
        let shop = try ShopLog()
        try shop.append(
            update(1, ["Name": .string("Eve")]), .operationsUndone([6]), .operationsRedone([6]), prepared(1, 6),
            answered(1, (6, .confirmed(images: []))))
        let report = try await report(shop, skipping: 8)
        #expect(try await pending(report) == [])
        #expect(try await report.altered.store.history.isUndone(6))
        #expect(report.withoutPlace.map(\.sequence) == [9])
        #expect(report.droppedAnswers == [DroppedResponses(sequence: 10, operations: [6])])
    }

    @Test func `the response to another change set of the batch is kept`() async throws {
        let shop = try ShopLog()
        try shop.append(
            update(1, ["Name": .string("Eve")]), update(2, ["Name": .string("Zoe")]), prepared(1, 6, 7),
            answered(1, (6, .confirmed(images: [])), (7, .confirmed(images: []))))
        let report = try await report(shop, skipping: 6)
        #expect(try await pending(report) == [])
        #expect(report.droppedAnswers == [])
    }

    @Test func `the response to a change set with other operations is dropped`() async throws {
        let shop = try ShopLog()
        let changeSet = [6, 7].map { BatchPrepared.Request(contentID: "\($0)", operation: $0) }
        try shop.append(
            update(1, ["Name": .string("Eve")]), update(2, ["Name": .string("Zoe")]),
            .batchPrepared(BatchPrepared(batch: 1, changeSets: [changeSet])),
            answered(1, (6, .rejected(refusal("no"))), (7, .notProcessed)))
        let report = try await report(shop, skipping: 6)
        #expect(report.droppedAnswers == [DroppedResponses(sequence: 9, operations: [7])])
        #expect(report.standings.map(\.altered) == ["inFlight"])
    }

    @Test func `a response that the alteration specifies is used for any requests`() async throws {
        let shop = try ShopLog()
        let changeSet = [6, 7].map { BatchPrepared.Request(contentID: "\($0)", operation: $0) }
        try shop.append(
            update(1, ["Name": .string("Eve")]), update(2, ["Name": .string("Zoe")]),
            .batchPrepared(BatchPrepared(batch: 1, changeSets: [changeSet])),
            answered(1, (6, .rejected(refusal("no"))), (7, .notProcessed)))
        var alteration = WhatIfChanges()
        alteration.skipped = [6]
        alteration.answers = [7: .init(status: 412)]
        let report = try await shop.store.altered(alteration, through: .sequence(.max))
        #expect(report.droppedAnswers == [])
        #expect(report.standings.map(\.altered) == ["rejected"])
    }
}
