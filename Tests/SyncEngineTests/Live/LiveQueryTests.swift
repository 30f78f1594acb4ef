import EDM
import Operations
import SyncCore
import TestSupport
import Testing
@testable import OfflineStore

/// Results of live queries, and the changes that cause them. If a result does not arrive, the test runs into its time
/// limit.
@Suite(.timeLimit(.minutes(10)))
struct LiveQueryTests {
    private func names(_ result: LiveResult?) -> [String] {
        result?.answer.entities.compactMap { entity -> String? in
            if case .string(let name)? = entity.values["Name"] { name } else { nil }
        } ?? []
    }

    @Test(arguments: Dialect.allCases)
    func `the first result arrives at once, with all entities inserted`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        var results = shop.store.observe("Customers?$orderby=Name").makeAsyncIterator()
        let first = try #require(try await results.next())
        #expect(first.answer == (try await shop.store.query("Customers?$orderby=Name")))
        #expect(first.difference.inserted.map(\.index) == Array(first.answer.entities.indices))
        #expect(first.causes.isEmpty)
    }

    @Test func `a local change leads to a new result with its difference and cause`() async throws {
        let shop = try await Shop(.v4)
        var results = shop.store.observe("Customers?$orderby=Name").makeAsyncIterator()
        let first = try #require(try await results.next())
        let link = try await shop.create("Customers", ["Name": .string("Aaa")])
        let second = try #require(try await results.next())
        #expect(names(second).first == "Aaa")
        #expect(second.causes == [.localEdit])
        #expect(second.difference.inserted.map(\.index) == [0])
        #expect(second.difference.moved.isEmpty)
        #expect(
            second.difference.applied(to: first.answer.entities) { second.answer.entities[$0] }
                == second.answer.entities)
        try await shop.perform(update(link, ["Name": .string("Zzz")]))
        let third = try #require(try await results.next())
        let last = third.answer.entities.count - 1
        #expect(third.difference.moved.map(\.to) == [last])
        #expect(third.difference.changed.map(\.to) == [last])
        try await shop.perform(.delete(.link(link)))
        let fourth = try #require(try await results.next())
        #expect(fourth.difference.removed.map(\.index) == [last])
    }

    @Test func `a change in an unrelated set causes no evaluation`() async throws {
        let shop = try await Shop(.v4)
        var results = shop.store.observe("Customers").makeAsyncIterator()
        _ = try await results.next()
        #expect(!results.observer.isDueNow)
        try await shop.perform(update("Cities(1)", ["Name": .string("Elsewhere")]))
        #expect(!results.observer.isDueNow)
        try await shop.perform(update("Customers(1)", ["Name": .string("Else")]))
        #expect(results.observer.isDueNow)
    }

    @Test func `the result of a query for the last download changes with the next download`() async throws {
        let shop = try await Shop(.v4)
        var results = shop.store.observe("Customers?$filter=sap.upsertedlastdownload()").makeAsyncIterator()
        var others = shop.store.observe("Customers").makeAsyncIterator()
        #expect(try await results.next()?.answer.entities.isEmpty == false)
        _ = try await others.next()
        try await shop.store.record([
            .downloadStarted([QueryStart(query: "Customers", mode: .restarted)])
        ])
        #expect(results.observer.isDueNow)
        #expect(!others.observer.isDueNow)
    }

    @Test func `a change that does not affect the result is not reported`() async throws {
        let shop = try await Shop(.v4)
        var results = shop.store.observe("Customers?$filter=Name eq 'One'&$select=Name").makeAsyncIterator()
        #expect(names(try await results.next()).isEmpty)
        try await shop.create("Customers", ["Name": .string("Two")])
        try await shop.create("Customers", ["Name": .string("One")])
        #expect(names(try await results.next()) == ["One"])
    }

    @Test(arguments: [
        ("Customers(1)?$expand=Orders", true), ("Orders?$filter=Customer/Name eq 'Renamed'", false),
        ("Orders(1)/Customer", false),
    ])
    func `sets that are expanded, filtered by or traversed cause new results`(
        _ query: String, _ changesOrder: Bool
    ) async throws {
        let shop = try await Shop(.v4)
        try await shop.perform(.updateLink(from: .link("Orders(1)"), navigation: "Customer", to: .link("Customers(1)")))
        var results = shop.store.observe(query).makeAsyncIterator()
        _ = try await results.next()
        try await shop.perform(
            changesOrder
                ? update("Orders(1)", ["Note": .string("changed")])
                : update("Customers(1)", ["Name": .string("Renamed")]))
        #expect(try await results.next()?.causes == [.localEdit])
    }

    @Test func `a new link is a change of its target`() async throws {
        let shop = try await Shop(.v4)
        let customer = try await shop.create("Customers", ["Name": .string("New")])
        var results = shop.store.observe("\(customer)/Orders").makeAsyncIterator()
        #expect(try await results.next()?.answer.entities.isEmpty == true)
        try await shop.create("Orders", ["Note": .null], bind: [bind("Customer", customer)])
        #expect(try await results.next()?.difference.inserted.count == 1)
    }

    @Test func `an upload reports the assigned key of an entity`() async throws {
        let shop = try await Shop(.v4)
        let link = try await shop.create("Customers", ["Name": .string("Aaa")])
        var results = shop.store.observe("Customers?$filter=Name eq 'Aaa'").makeAsyncIterator()
        #expect(try await results.next()?.answer.entities.map(\.readLink) == [link])
        try await shop.push()
        var last: LiveResult?
        var causes: Set<ChangeCause> = []
        while last?.answer.entities.first?.state != .clean, let next = try await results.next() {
            causes.formUnion(next.causes)
            #expect(next.difference.changed.count == 1)
            last = next
        }
        #expect(causes.isSuperset(of: [.upload, .keyAssignment]))
        #expect(last?.answer.entities.first?.readLink != link)
    }

    @Test func `a rejection changes the state of the entity`() async throws {
        let shop = try await Shop(.v4)
        try await shop.perform(update("Customers(1)", ["Name": .string("Aaa")]))
        var results = shop.store.observe("Customers(1)").makeAsyncIterator()
        #expect(try await results.next()?.answer.entities.first?.state == .pending)
        let sequence = try #require(try await shop.store.queue.pendingOperations().first?.sequence)
        let batch = try await shop.store.nextBatch
        let plan = try await shop.store.uploads.plan()
        try await shop.store.record([.batchPrepared(plan.prepared(as: batch))])
        let refusal = Refusal(status: 400, code: "No", message: "No.", method: "PATCH", url: "Customers(1)")
        try await shop.store.record([
            .batchAnswered(
                BatchAnswered(batch: batch, outcomes: [.init(operation: sequence, result: .rejected(refusal))]))
        ])
        let refused = try #require(try await results.next())
        #expect(refused.answer.entities.first?.state == .error)
        #expect(refused.causes == [.upload])
    }

    @Test func `downloads and undos are reported as causes`() async throws {
        let shop = try await Shop(.v4)
        var results = shop.store.observe("Customers?$orderby=Name").makeAsyncIterator()
        _ = try await results.next()
        _ = shop.transport.direct(
            "PATCH", "/v4/Customers(1)", #"{"Name":"Said by others"}"#)
        try await shop.pull()
        #expect(try await results.next()?.causes == [.download])
        try await shop.perform(update("Customers(1)", ["Name": .string("Mine")]))
        #expect(try await results.next()?.causes == [.localEdit])
        _ = try await shop.store.queue.undo(.everything)
        let undone = try #require(try await results.next())
        #expect(undone.causes == [.undo])
        #expect(names(undone).contains("Said by others"))
    }

    @Test func `a slow reader receives the newest result with all causes`() async throws {
        let shop = try await Shop(.v4)
        var results = shop.store.observe("Customers?$orderby=Name").makeAsyncIterator()
        let first = try #require(try await results.next())
        for number in 0..<20 { try await shop.create("Customers", ["Name": .string("Aaa\(number)")]) }
        _ = try await shop.store.queue.undo(.operations([await shop.store.nextSequence - 1]))
        let second = try #require(try await results.next())
        #expect(second.difference.inserted.count == 19)
        #expect(second.answer.entities.count == first.answer.entities.count + 19)
        #expect(second.causes == [.localEdit, .undo])
        #expect(!results.observer.isDueNow)
    }

    @Test func `an entity that does not exist yet is reported when it is created`() async throws {
        let shop = try await Shop(.v4)
        let known = try await shop.create("Customers", ["Name": .string("A")])
        try await shop.perform(.delete(.link(known)))
        var results = shop.store.observe(known).makeAsyncIterator()
        #expect(try await results.next()?.answer.entities.isEmpty == true)
        _ = try await shop.store.queue.undo(.operations([await shop.store.nextSequence - 1]))
        #expect(try await results.next()?.answer.entities.count == 1)
    }

    @Test func `the error archive can be observed like a set`() async throws {
        let shop = try await Shop(.v4)
        var results = shop.store.observe("RequestQueue").makeAsyncIterator()
        #expect(try await results.next()?.answer.entities.isEmpty == true)
        try await shop.create("Customers", ["Name": .string("A")])
        #expect(try await results.next()?.answer.entities.count == 1)
    }

    @Test func `changed metadata are a cause, and report no false difference`() async throws {
        let shop = try await Shop(.v4)
        var results = shop.store.observe("Customers").makeAsyncIterator()
        _ = try await results.next()
        let service = try #require(try await shop.store.service)
        try await shop.store.record([.serviceInstalled(service)])
        #expect(results.observer.isDueNow)
        try await shop.create("Customers", ["Name": .string("A")])
        #expect(try await results.next()?.causes == [.metadata, .localEdit])
    }

    @Test func `closing the store ends the sequence`() async throws {
        let shop = try await Shop(.v4)
        var results = shop.store.observe("Customers").makeAsyncIterator()
        _ = try await results.next()
        await shop.store.close()
        #expect(try await results.next() == nil)
        var late = shop.store.observe("Customers").makeAsyncIterator()
        #expect(try await late.next() == nil)
    }

    @Test func `cancelling the reader's task ends the sequence`() async throws {
        let shop = try await Shop(.v4)
        let query = shop.store.observe("Customers")
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        let reader = Task {
            var count = 0
            for try await _ in query {
                count += 1
                start.yield()
            }
            return count
        }
        for await _ in started { break }
        reader.cancel()
        #expect(try await reader.value == 1)
        #expect(shop.store.observers.isEmpty)
    }

    @Test func `a query that cannot be evaluated throws and ends the sequence`() async throws {
        let shop = try await Shop(.v4)
        var results = shop.store.observe("Nowhere").makeAsyncIterator()
        await #expect(throws: TidelogError.self) { _ = try await results.next() }
        #expect(try await results.next() == nil)
    }

    @Test func `an observer without readers is released`() async throws {
        let shop = try await Shop(.v4)
        do {
            var results = shop.store.observe("Customers").makeAsyncIterator()
            _ = try await results.next()
            #expect(!shop.store.observers.isEmpty)
        }
        #expect(shop.store.observers.isEmpty)
        try await shop.create("Customers", ["Name": .string("A")])
    }
}
