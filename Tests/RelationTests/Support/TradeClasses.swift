import Tidelog

// Written by hand, with relations before, between and after the values: no order is required.

private func property(_ name: String, _ type: String) -> Property {
    TradeMetadata.embedded.property(name, of: "Trade." + type)
}

private func type(_ name: String) -> EntityType { TradeMetadata.embedded.entityType("Trade." + name) }

final class Customer: EntityValue {
    static let id = StructuralProperty<Customer, Int>(property("ID", "Customer"))
    static let ownedOrders = ToManyProperty<Customer, Order>(property("OwnedOrders", "Customer"))
    static let name = StructuralProperty<Customer, String>(property("Name", "Customer"))

    convenience init(_ name: String) {
        self.init(type("Customer"))
        self.name = name
    }

    /// A property with the name of a member of `Identifiable`.
    var id: Int? {
        get { self[Customer.id] }
        set { self[Customer.id] = newValue }
    }
    var ownedOrders: ToMany<Order> {
        get { self[Customer.ownedOrders] }
        _modify { yield &self[Customer.ownedOrders] }
    }
    var name: String? {
        get { self[Customer.name] }
        set { self[Customer.name] = newValue }
    }
    /// The metadata contain no property for this direction.
    var received: ToMany<Order> { backlinks(Order.recipient) }
}

final class Order: EntityValue {
    static let owner = ToOneProperty<Order, Customer>(property("Owner", "Order"))
    static let total = StructuralProperty<Order, DecimalValue>(property("Total", "Order"))
    static let recipient = ToOneProperty<Order, Customer>(property("Recipient", "Order"))

    convenience init(_ total: Int = 0, owner: Customer? = nil) {
        self.init(type("Order"))
        self.total = DecimalValue(Int64(total))
        if let owner { self.owner.target = owner }
    }

    var owner: ToOne<Customer> {
        get { self[Order.owner] }
        set { self[Order.owner] = newValue }
    }
    var recipient: ToOne<Customer> {
        get { self[Order.recipient] }
        set { self[Order.recipient] = newValue }
    }
    var total: DecimalValue? {
        get { self[Order.total] }
        set { self[Order.total] = newValue }
    }
}

final class Visit: EntityValue {
    static let customer = ToOneProperty<Visit, Customer>(property("Customer", "Visit"))
    static let customerID = StructuralProperty<Visit, Int>(property("CustomerID", "Visit"))

    convenience init() { self.init(type("Visit")) }

    var customer: ToOne<Customer> {
        get { self[Visit.customer] }
        set { self[Visit.customer] = newValue }
    }
    var customerID: Int? {
        get { self[Visit.customerID] }
        set { self[Visit.customerID] = newValue }
    }
}

final class Teacher: EntityValue {
    static let name = StructuralProperty<Teacher, String>(property("Name", "Teacher"))
    static let students = ToManyProperty<Teacher, Student>(property("Students", "Teacher"))

    convenience init(_ name: String) {
        self.init(type("Teacher"))
        self[Teacher.name] = name
    }
    var students: ToMany<Student> {
        get { self[Teacher.students] }
        _modify { yield &self[Teacher.students] }
    }
}

final class Student: EntityValue {
    static let name = StructuralProperty<Student, String>(property("Name", "Student"))
    static let teachers = ToManyProperty<Student, Teacher>(property("Teachers", "Student"))
    static let friends = ToManyProperty<Student, Student>(property("Friends", "Student"))

    convenience init(_ name: String) {
        self.init(type("Student"))
        self[Student.name] = name
    }
    var name: String? { self[Student.name] }
    var teachers: ToMany<Teacher> {
        get { self[Student.teachers] }
        _modify { yield &self[Student.teachers] }
    }
    var friends: ToMany<Student> {
        get { self[Student.friends] }
        _modify { yield &self[Student.friends] }
    }
}

class Person: EntityValue {
    static let name = StructuralProperty<Person, String>(property("Name", "Person"))
    static let passport = ToOneProperty<Person, Passport>(property("Passport", "Person"))
    static let manager = ToOneProperty<Person, Person>(property("Manager", "Person"))
    static let reports = ToManyProperty<Person, Person>(property("Reports", "Person"))
    static let spouse = ToOneProperty<Person, Person>(property("Spouse", "Person"))

    convenience init(_ name: String) {
        self.init(type("Person"))
        self[Person.name] = name
    }
    var passport: ToOne<Passport> {
        get { self[Person.passport] }
        set { self[Person.passport] = newValue }
    }
    var manager: ToOne<Person> {
        get { self[Person.manager] }
        set { self[Person.manager] = newValue }
    }
    var reports: ToMany<Person> {
        get { self[Person.reports] }
        _modify { yield &self[Person.reports] }
    }
    var spouse: ToOne<Person> {
        get { self[Person.spouse] }
        set { self[Person.spouse] = newValue }
    }
}

final class Employee: Person {
    convenience init(employee name: String) {
        self.init(type("Employee"))
        self[Person.name] = name
    }
}

final class Passport: EntityValue {
    static let number = StructuralProperty<Passport, String>(property("Number", "Passport"))
    static let holder = ToOneProperty<Passport, Person>(property("Holder", "Passport"))

    convenience init(_ number: String) {
        self.init(type("Passport"))
        self[Passport.number] = number
    }
    var holder: ToOne<Person> {
        get { self[Passport.holder] }
        set { self[Passport.holder] = newValue }
    }
}

final class TradeService: DataService, @unchecked Sendable {
    override var entityClasses: [String: EntityValue.Type] {
        [
            "Trade.Customer": Customer.self, "Trade.Order": Order.self, "Trade.Visit": Visit.self,
            "Trade.Teacher": Teacher.self, "Trade.Student": Student.self, "Trade.Person": Person.self,
            "Trade.Employee": Employee.self, "Trade.Passport": Passport.self,
        ]
    }
}
