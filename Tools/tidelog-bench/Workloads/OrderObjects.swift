internal import OfflineStore
internal import Tidelog

/// The classes of the workload "orders", as the generator would write them.
enum OrderObjects {
    static let metadata = EmbeddedMetadata(String(decoding: OrderModel.metadata(), as: UTF8.self))

    static func property(_ name: String, of type: String) -> Property { metadata.property(name, of: "Shop." + type) }
}

final class CustomerObject: EntityValue {
    static let orders = ToManyProperty<CustomerObject, OrderObject>(OrderObjects.property("Orders", of: "Customer"))

    var orders: ToMany<OrderObject> {
        get { self[Self.orders] }
        _modify { yield &self[Self.orders] }
    }
}

final class OrderObject: EntityValue {
    static let id = StructuralProperty<OrderObject, Int>(OrderObjects.property("OrderID", of: "Order"))
    static let status = StructuralProperty<OrderObject, String>(OrderObjects.property("Status", of: "Order"))
    static let note = StructuralProperty<OrderObject, String>(OrderObjects.property("Note", of: "Order"))
    static let amount = StructuralProperty<OrderObject, DecimalValue>(OrderObjects.property("Amount", of: "Order"))
    static let time = StructuralProperty<OrderObject, GlobalDateTime>(OrderObjects.property("OrderedAt", of: "Order"))
    static let quantity = StructuralProperty<OrderObject, Int>(OrderObjects.property("Quantity", of: "Order"))
    static let isPriority = StructuralProperty<OrderObject, Bool>(OrderObjects.property("IsPriority", of: "Order"))
    static let customer = ToOneProperty<OrderObject, CustomerObject>(OrderObjects.property("Customer", of: "Order"))

    var customer: ToOne<CustomerObject> {
        get { self[Self.customer] }
        set { self[Self.customer] = newValue }
    }

    convenience init(_ order: Order, customer: CustomerObject) {
        self.init(OrderObjects.metadata.entityType("Shop.Order"))
        self[Self.id] = order.id
        self[Self.status] = order.status
        self[Self.note] = order.note
        self[Self.amount] = DecimalValue(order.amountText)
        self[Self.time] = GlobalDateTime(millisecondsSince1970: order.time)
        self[Self.quantity] = order.quantity
        self[Self.isPriority] = order.isPriority
        self.customer.target = customer
    }

    /// A sum over all values, so that each of them is read.
    var sum: Int {
        (self[Self.id] ?? 0) + (self[Self.status]?.utf8.count ?? 0) + (self[Self.note]?.utf8.count ?? 0)
            + (self[Self.quantity] ?? 0) + (self[Self.isPriority] == true ? 1 : 0) + (self[Self.amount] == nil ? 1 : 0)
            + (self[Self.time] == nil ? 1 : 0)
    }
}

final class OrderService: DataService, @unchecked Sendable {
    private static let classes: [String: EntityValue.Type] = [
        "Shop.Customer": CustomerObject.self, "Shop.Order": OrderObject.self,
    ]

    override var entityClasses: [String: EntityValue.Type] { Self.classes }

    /// Opens a new store that contains only the metadata.
    static func open(_ path: String, durability: StoreDurability) async throws -> OrderService {
        let provider = OfflineODataProvider(
            serviceRoot: "http://bench.test/",
            parameters: OfflineODataParameters(
                storePath: path, transport: MetadataTransport(), durability: durability))
        try await provider.open()
        return OrderService(provider: provider)
    }

    /// Opens a new store with these customers. Returns it with its state before further work.
    static func withCustomers(
        _ count: Int, _ files: StoreFiles, in directory: Directory
    ) async throws -> (OrderService, StoredWork.Start) {
        let service = try await open(files.directory, durability: .none)
        _ = try await service.putCustomers(count)
        await service.close()
        let start = try StoredWork.Start(files, in: directory)
        return (try await open(files.directory, durability: .none), start)
    }

    func close() async { if let provider = provider as? OfflineODataProvider { await provider.close() } }

    /// Stores the customers from 1 to the given number.
    func putCustomers(_ count: Int) async throws -> [CustomerObject] {
        let customers = (1...count).map { number in
            let customer = CustomerObject(OrderObjects.metadata.entityType("Shop.Customer"))
            customer["CustomerID"] = .integer(Int64(number))
            customer["Name"] = .string("Customer \(number)")
            return customer
        }
        try await box(for: CustomerObject.self).put(customers)
        return customers
    }
}
