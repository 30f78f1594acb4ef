import FieldService
import TestSupport
import Testing
import Tidelog
import TidelogTesting

/// The sample app in `Examples/FieldService`, with a service in the test process.
@Suite(.timeLimit(.minutes(30))) struct FieldServiceTests {
    private let directory = TemporaryDirectory()

    private func open() async throws -> (TestService, FieldStore) {
        let path = #filePath.replacing(
            "Tests/ExampleTests/FieldServiceTests.swift", with: "Examples/FieldService/Sources/FieldService/Field.csdl")
        let document = try #require(TemporaryDirectory.read(path))
        let remote = try TestService(metadata: document, etags: ["WorkOrders"])
        try remote.insert(into: "Customers", ["Name": .string("Ada"), "City": .string("Geneva")])
        try remote.insert(into: "WorkOrders", ["Title": .string("Boiler"), "Status": .string("open")])
        let store = try await FieldStore(
            serviceRoot: remote.serviceRoot,
            parameters: OfflineODataParameters(storePath: directory.path, transport: remote, durability: .none))
        _ = try await store.synchronize()
        return (remote, store)
    }

    @Test func `work without a connection is sent later`() async throws {
        let (remote, store) = try await open()
        remote.isReachable = false
        try await store.addOrder("Pump", customer: "Ada")
        try await store.addPhoto([1, 2, 3], caption: "leak")
        let rows = try await store.openOrders()
        #expect(rows.map(\.title) == ["Boiler", "Pump"])
        #expect(rows.map(\.customer) == ["", "Ada"])
        #expect(rows.map(\.isPending) == [false, true])
        #expect(try await store.synchronize().problem != nil)
        remote.isReachable = true
        let summary = try await store.synchronize()
        #expect(summary.remaining == 0 && summary.rejected == 0, "\(summary)")
        #expect(remote.entities(of: "WorkOrders").map { $0["Title"] } == [.string("Boiler"), .string("Pump")])
        #expect(remote.entities(of: "Photos").map { $0["Caption"] } == [.string("leak")])
        #expect(try await store.openOrders().allSatisfy { !$0.isPending })
        await store.close()
    }

    @Test func `a rejected report is corrected`() async throws {
        let (remote, store) = try await open()
        remote.refuse(TestRejection(message: "The report is too short.", method: "PATCH"))
        let boiler = try #require(try await store.openOrders().first)
        try await store.complete(boiler, hours: "1.75", report: "ok")
        #expect(try await store.synchronize().rejected == 1)
        let rejection = try #require(try await store.rejections().first)
        #expect(rejection.message == "The report is too short.")
        try await store.correct(rejection, report: "The valve was replaced.")
        #expect(try await store.synchronize().rejected == 0)
        let order = try #require(remote.entities(of: "WorkOrders").first)
        #expect(order["Report"] == .string("The valve was replaced."))
        #expect(order["Status"] == .string("done"))
        #expect(try await store.rejections().isEmpty)
        await store.close()
    }

    @Test func `the reports of two clients are joined`() async throws {
        let (remote, store) = try await open()
        let boiler = try #require(try await store.openOrders().first)
        try await store.complete(boiler, hours: "2", report: "Mine")
        #expect(remote.send("PATCH", "WorkOrders(1)", #"{"Report":"Theirs"}"#).status < 300)
        #expect(try await store.synchronize().conflicts == 1)
        for conflict in try await store.conflicts() { try await store.merge(conflict) }
        #expect(try await store.synchronize().conflicts == 0)
        #expect(remote.entities(of: "WorkOrders").map { $0["Report"] } == [.string("Theirs\nMine")])
        await store.close()
    }

    @Test func `a change is undone before it is sent`() async throws {
        let (_, store) = try await open()
        let boiler = try #require(try await store.openOrders().first)
        try await store.complete(boiler, hours: "2", report: "Mistake")
        #expect(try await store.openOrders().isEmpty)
        try await store.undo(boiler)
        #expect(try await store.openOrders() == [boiler])
        await store.close()
    }
}
