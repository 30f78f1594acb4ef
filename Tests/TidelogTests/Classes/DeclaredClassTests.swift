import EDM
import ODataSandbox
import TestSupport
import Testing
import Tidelog

/// OB-01: classes that declare their metadata, in a store without a service: the samples of the ObjectBox seed.
@Suite struct DeclaredClassTests {
    private static let schema = ClassSchema(
        LocalCustomer.self, LocalOrder.self, LocalStudent.self, LocalTeacher.self)

    private static func service(_ path: String = OfflineODataParameters.inMemory) async throws -> ClassService {
        let provider = schema.store(OfflineODataParameters(storePath: path))
        try await provider.open()
        return ClassService(provider: provider, schema: schema)
    }

    @Test func `a put saves an object and the target of its to-one relation`() async throws {
        let store = try await Self.service()
        #expect(try await store.box(for: LocalCustomer.self).isEmpty)
        #expect(try await store.box(for: LocalOrder.self).isEmpty)
        let customer = LocalCustomer()
        let order = LocalOrder()
        order.customer.target = customer
        let orderID = try await store.box(for: LocalOrder.self).put(order)
        #expect(try await store.box(for: LocalCustomer.self).count == 1)
        #expect(try await store.box(for: LocalOrder.self).count == 1)
        let read = try #require(try await store.box(for: LocalOrder.self).get(orderID))
        #expect(read.customer.target?.entityID == customer.entityID)
    }

    @Test func `a relation is removed in each of the ways of the seed`() async throws {
        let store = try await Self.service()
        let box = try store.box(for: LocalOrder.self)
        let removals: [(LocalOrder) -> Void] = [
            { $0.customer.target = nil }, { $0.customer.targetID = nil }, { $0.customer = nil },
            { $0.customer = ToOne<LocalCustomer>(target: nil) },
        ]
        for remove in removals {
            let id = try await box.put(LocalOrder(customer: LocalCustomer()))
            let order = try #require(try await box.get(id))
            #expect(order.customer.hasValue)
            remove(order)
            try await box.put(order)
            #expect(try await box.get(id)?.customer.hasValue == false)
        }
    }

    @Test func `backlinks are read from the other end, and removed there`() async throws {
        let store = try await Self.service()
        let customer = LocalCustomer()
        try await store.box(for: LocalOrder.self).put([LocalOrder(customer: customer), LocalOrder(customer: customer)])
        #expect(try await store.box(for: LocalOrder.self).count == 2)
        #expect(try await store.box(for: LocalCustomer.self).count == 1)
        let read = try await store.box(for: LocalCustomer.self).all[0]
        #expect(read.orders.count == 2)
        let orders = Array(read.orders)
        orders.forEach { $0.customer = nil }
        try await store.box(for: LocalOrder.self).put(orders)
        #expect(try await store.box(for: LocalCustomer.self).all[0].orders.isEmpty)
        // Unlike in the seed, the collection can be changed too.
        let again = try await store.box(for: LocalCustomer.self).all[0]
        again.orders.append(orders[0])
        try await store.box(for: LocalCustomer.self).put(again)
        #expect(try await store.box(for: LocalCustomer.self).all[0].orders.count == 1)
    }

    @Test func `two relations to the same class are distinct`() async throws {
        let store = try await Self.service()
        let order = LocalOrder(customer: LocalCustomer())
        let recipient = LocalCustomer()
        order.recipient.target = recipient
        try await store.box(for: LocalOrder.self).put(order)
        let read = try await store.box(for: LocalOrder.self).all[0]
        #expect(read.recipient.target?.entityID == recipient.entityID)
        #expect(read.customer.target?.entityID != recipient.entityID)
        #expect(read.recipient.target?.orders.isEmpty == true)
    }

    @Test func `many-to-many relations are changed from both ends, and members are removed`() async throws {
        let store = try await Self.service()
        let (first, second) = (LocalTeacher(), LocalTeacher())
        let student = LocalStudent()
        student[LocalStudent.name] = "Ada"
        student.teachers.append(first)
        student.teachers.append(second)
        try await store.box(for: LocalStudent.self).put(student)
        #expect(try await store.box(for: LocalTeacher.self).all.map { $0.students.count } == [1, 1])
        let teacher = try await store.box(for: LocalTeacher.self).all[0]
        teacher.students.removeAll()
        try await store.box(for: LocalTeacher.self).put(teacher)
        let read = try await store.box(for: LocalStudent.self).all[0]
        #expect(read.teachers.count == 1)
        #expect(try await store.box(for: LocalStudent.self).get(KeyPredicate([("Name", .string("Ada"))])) != nil)
    }

    @Test func `typed queries, all types of values and an undo work without a service`() async throws {
        let store = try await Self.service()
        let order = LocalOrder(customer: nil, number: 7)
        order.total = DecimalValue(12)
        order[LocalOrder.tags] = ["a", "b"]
        order[LocalOrder.photo] = [1, 2, 3]
        order[LocalOrder.placedAt] = GlobalDateTime("2026-11-26T10:00:00.123456Z")
        try await store.box(for: LocalOrder.self).put([order, LocalOrder(customer: nil, number: 8)])
        let found = try await store.box(for: LocalOrder.self).query { LocalOrder.number == 7 }.find()
        #expect(found.map(\.total) == [DecimalValue(12)])
        #expect(found[0][LocalOrder.tags] == ["a", "b"] && found[0][LocalOrder.photo] == [1, 2, 3])
        #expect(found[0][LocalOrder.placedAt] == GlobalDateTime("2026-11-26T10:00:00.123456Z"))
        let provider = try #require(store.provider as? OfflineODataProvider)
        #expect(try await !provider.hasPendingUpload)
        #expect(try await provider.upload().batches == 0)
        try await provider.download()
        _ = try await provider.undoAllPendingChanges()
        #expect(try await store.box(for: LocalOrder.self).isEmpty)
    }

    @Test func `a store without a service is opened again from its directory`() async throws {
        let directory = try TemporaryDirectory()
        let first = try await Self.service(directory.path + "/store")
        let id = try await first.box(for: LocalOrder.self).put(LocalOrder(customer: LocalCustomer(), number: 1))
        try await (first.provider as? OfflineODataProvider)?.keepClientChanges()
        await (first.provider as? OfflineODataProvider)?.close()
        let second = try await Self.service(directory.path + "/store")
        let order = try #require(try await second.box(for: LocalOrder.self).get(id))
        #expect(order.number == 1 && order.customer.hasValue)
        #expect(try await (second.provider as? OfflineODataProvider)?.operationStatus().isEmpty == true)
        await (second.provider as? OfflineODataProvider)?.close()
    }

    @Test(arguments: Client.offline)
    func `declared classes are added to the store of a service`(_ client: Client) async throws {
        let shop = try await ClientOnlyShop.shop(client, Self.schema.document)
        let provider = try #require(shop.store)
        let service = ClassService(provider: provider, schema: Self.schema)
        try await service.box(for: LocalOrder.self).put(LocalOrder(customer: LocalCustomer(), number: 3))
        #expect(try await service.box(for: LocalOrder.self).all.map(\.number) == [3])
        #expect(try await shop.fetch("Orders").count > 1)
        #expect(try await provider.plannedBatches().isEmpty)
    }

    @Test func `the declared relationships equal those that the reader of the document determines`() throws {
        let model = try CSDLReader.read(
            ClientOnlyMetadata.joined(
                service: ClientOnlyMetadata.emptyService, additions: Array(Self.schema.document.utf8)))
        let classes: [any DeclaredEntity.Type] = [
            LocalCustomer.self, LocalOrder.self, LocalStudent.self, LocalTeacher.self,
        ]
        for type in classes {
            let read = try #require(model.findEntityType("App." + type.typeName))
            for member in type.members.map(\.property) {
                let other = try #require(read.findProperty(member.name))
                #expect(other.type == member.type, "\(member)")
                #expect(other.isNullable == member.isNullable, "\(member)")
                #expect(other.navigation == member.navigation, "\(member)")
                #expect(other.facets == member.facets, "\(member)")
            }
        }
    }
}
