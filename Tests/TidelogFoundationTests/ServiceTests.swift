import Foundation
import ODataSandbox
import ShopService
import TestSupport
import Testing
import Tidelog
import TidelogFoundation

/// Values of Foundation on the way through a store to a service and back.
@Suite struct `Values of Foundation at a service` {
    private let directory = TemporaryDirectory()

    private func shop(_ version: String) async throws -> (service: ShopService, provider: OfflineODataProvider) {
        var sandbox = try Sandbox.shop()
        sandbox.origin = "http://shop.test"
        let provider = OfflineODataProvider(
            serviceRoot: "http://shop.test/\(version)/",
            parameters: OfflineODataParameters(
                storePath: directory.path, transport: SandboxTransport(sandbox), durability: .none))
        try await provider.open()
        for query in try await OfflineODataDefiningQuery.all(of: provider.model()) {
            try await provider.add(definingQuery: query)
        }
        try await provider.download()
        return (ShopService(provider: provider), provider)
    }

    @Test(arguments: ["v2", "v4"])
    func `dates, decimals and GUIDs are sent, confirmed and found`(_ version: String) async throws {
        let (service, provider) = try await shop(version)
        let placed = StructuralProperty<Order, Date>(Order.placedAt.property)
        let amount = StructuralProperty<Order, Decimal>(Order.amount.property)
        let date = Date(try #require(GlobalDateTime("2031-02-28T12:34:56.789Z")))
        let order = Order(withDefaults: false)
        order[placed] = date
        order[amount] = Decimal(string: "19.9900")
        try await service.createEntity(order)

        let uuid = UUID()
        let visit = Visit(withDefaults: false)
        visit.visitID = GuidValue(uuid)
        visit.start = GlobalDateTime(date, offsetMinutes: 330)
        visit.duration = DayTimeDuration(.seconds(5400))
        try await service.createEntity(visit)

        let report = try await provider.upload()
        #expect(report.rejected.isEmpty, "\(report.rejected)")
        try await provider.download()
        let recent = DataQuery().filter(placed >= date && placed < date.addingTimeInterval(1))
        let found = try #require(try await service.fetchOrders(matching: recent).first)
        #expect(found[placed] == date)
        #expect(found[amount] == Decimal(string: "19.99"))
        #expect(try await service.fetchOrders(matching: DataQuery().filter(placed > date)).isEmpty)
        let again = try await service.fetchVisit(visitID: GuidValue(uuid))
        #expect(again.start.map { Date($0) } == date)
        #expect(again.duration.map { Duration($0) } == .seconds(5400))
    }

    @Test func `a Date is an Edm.DateTime of V2`() async throws {
        let (service, provider) = try await shop("v2")
        let set = try service.entitySet(withName: "Customers")
        let since = try set.entityType.property(withName: "Since")
        let date = Date(try #require(GlobalDateTime("2031-02-28T00:00:00.400Z")))
        let customer = EntityValue.ofType(set.entityType)
        customer["Name"] = .string("Ada")
        since.setTypedValue(in: customer, to: date)
        try await service.createEntity(customer)
        let report = try await provider.upload()
        #expect(report.rejected.isEmpty, "\(report.rejected)")
        try await provider.download()
        let query = DataQuery().from(set).filter(since.greaterThan(date.addingTimeInterval(-1)))
        let found = try await service.executeQuery(query).requiredEntity()
        #expect(try since.dateTimeValue(from: found).description == "2031-02-28T00:00:00")
        #expect(try since.typedValue(as: Date.self, from: found).timeIntervalSince(date) < 1)
    }

    @Test(arguments: ["v2", "v4"])
    func `a date that is not finite is refused with the reason, and nothing is stored`(_ version: String) async throws {
        let (service, provider) = try await shop(version)
        let order = Order(withDefaults: false)
        order[StructuralProperty<Order, Date>(Order.placedAt.property)] = Date(timeIntervalSince1970: .infinity)
        let error = await #expect(throws: TidelogError.self) { try await service.createEntity(order) }
        #expect(error?.message.contains("is a floating point number, not Edm.DateTimeOffset") == true)
        #expect(try await provider.operationStatus().isEmpty)
    }

    @Test func `the times of pending operations are dates`() async throws {
        let (service, provider) = try await shop("v4")
        let before = Date().addingTimeInterval(-0.002)
        try await service.createEntity(Order(withDefaults: false))
        let status = try #require(try await provider.operationStatus().first)
        #expect(status.date >= before && status.date <= Date())
        #expect(status.sinceDate >= before)
        #expect(status.notBeforeDate == nil)
    }
}
