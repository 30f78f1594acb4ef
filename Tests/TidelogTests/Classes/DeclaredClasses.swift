import Tidelog

final class LocalCustomer: EntityValue, DeclaredEntity {
    static let name = property("Name", String.self)
    static let orders = toMany("Orders", LocalOrder.self, inverse: .toOne("Customer"))
    static var members: [any PropertyReference] { [name, orders] }
    static var typeName: String { "Customer" }

    var name: String? {
        get { self[LocalCustomer.name] }
        set { self[LocalCustomer.name] = newValue }
    }
    var orders: ToMany<LocalOrder> {
        get { self[LocalCustomer.orders] }
        _modify { yield &self[LocalCustomer.orders] }
    }
}

final class LocalOrder: EntityValue, DeclaredEntity {
    static let number = property("Number", Int.self)
    static let total = property("Total", DecimalValue.self)
    static let placedAt = property("PlacedAt", GlobalDateTime.self)
    static let tags = property("Tags", [String].self)
    static let photo = property("Photo", [UInt8].self)
    static let customer = toOne("Customer", LocalCustomer.self, inverse: .toMany("Orders"))
    static let recipient = toOne("Recipient", LocalCustomer.self)
    static var members: [any PropertyReference] { [number, total, placedAt, tags, photo, customer, recipient] }
    static var typeName: String { "Order" }

    convenience init(customer: LocalCustomer?, number: Int? = nil) {
        self.init()
        self.customer.target = customer
        self.number = number
    }

    var number: Int? {
        get { self[LocalOrder.number] }
        set { self[LocalOrder.number] = newValue }
    }
    var total: DecimalValue? {
        get { self[LocalOrder.total] }
        set { self[LocalOrder.total] = newValue }
    }
    var customer: ToOne<LocalCustomer> {
        get { self[LocalOrder.customer] }
        set { self[LocalOrder.customer] = newValue }
    }
    var recipient: ToOne<LocalCustomer> {
        get { self[LocalOrder.recipient] }
        set { self[LocalOrder.recipient] = newValue }
    }
}

final class LocalStudent: EntityValue, DeclaredEntity {
    static let name = property("Name", String.self, isNullable: false)
    static let teachers = toMany("Teachers", LocalTeacher.self, inverse: .toMany("Students"))
    static var members: [any PropertyReference] { [name, teachers] }
    static var keyMembers: [any PropertyReference] { [name] }

    var teachers: ToMany<LocalTeacher> {
        get { self[LocalStudent.teachers] }
        _modify { yield &self[LocalStudent.teachers] }
    }
}

final class LocalTeacher: EntityValue, DeclaredEntity {
    static let name = property("Name", String.self)
    static let students = toMany("Students", LocalStudent.self, inverse: .toMany("Teachers"))
    static var members: [any PropertyReference] { [name, students] }

    var students: ToMany<LocalStudent> {
        get { self[LocalTeacher.students] }
        _modify { yield &self[LocalTeacher.students] }
    }
}
