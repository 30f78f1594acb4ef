import EDM
import ODataSandbox
import ODataWire
import Testing

/// The six combinations of multiplicities. Each move is made with links, dependent properties and change sets.
@Suite struct CardinalityTests {
    // MARK: 0..1 – *

    @Test(arguments: Dialect.allCases)
    func `a new customer of an order replaces the former one`(_ dialect: Dialect) throws {
        for technique in 0..<4 {
            var shop = try Shop(dialect)
            let response =
                switch technique {
                case 0: shop.link("Orders(1)", "Customer", "Customers(2)")
                case 1: shop.link("Customers(2)", "Orders", "Orders(1)")
                case 2: shop.update("Orders(1)", #"{"CustomerID":2}"#)
                default: shop.update("Orders(1)", "{\(shop.bind("Customer", "Customers(2)"))}")
                }
            #expect(response.status == 204, "technique \(technique): \(response.text)")
            #expect(
                shop.links("Customers") == """
                    Customers(1)
                      Orders: Orders(2)
                    Customers(2)
                      Orders: Orders(1), Orders(3)
                    Customers(3)

                    """, "technique \(technique)")
            #expect(shop.state("Orders").hasPrefix("Orders(1) {OrderID: 1, CustomerID: 2,"))
        }
    }

    @Test(arguments: Dialect.allCases)
    func `an order may lose its customer`(_ dialect: Dialect) throws {
        for technique in 0..<3 {
            var shop = try Shop(dialect)
            let response =
                switch technique {
                case 0: shop.unlink("Orders(3)", "Customer")
                case 1: shop.unlink("Customers(2)", "Orders", "Orders(3)")
                default: shop.update("Orders(3)", #"{"CustomerID":null}"#)
                }
            #expect(response.status == 204, "technique \(technique): \(response.text)")
            #expect(shop.links("Customers").contains("Customers(2)\nCustomers(3)"))
            #expect(shop.state("Orders").contains("Orders(3) {OrderID: 3, CustomerID: null,"))
        }
    }

    @Test(arguments: Dialect.allCases)
    func `deleting a customer unlinks its orders`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        #expect(shop.delete("Customers(1)").status == 204)
        #expect(shop.links("Orders").hasPrefix("Orders(1)\nOrders(2)\nOrders(3)\n  Customer: Customers(2)\n"))
        #expect(shop.state("Orders").hasPrefix("Orders(1) {OrderID: 1, CustomerID: null,"))
    }

    // MARK: 1 – 1

    @Test(arguments: Dialect.allCases)
    func `neither entity of a mandatory one to one pair can be created, moved, unlinked or deleted alone`(
        _ dialect: Dialect
    ) throws {
        var shop = try Shop(dialect)
        let before = shop.sandbox.stateText()
        #expect(shop.send("POST", "Cars", #"{"Model":"alone"}"#).errorCode == "MandatoryEnd")
        #expect(shop.send("POST", "Owners", #"{"Name":"alone"}"#).errorCode == "MandatoryEnd")
        #expect(shop.link("Cars(1)", "Owner", "Owners(2)").status == 409)
        #expect(shop.update("Cars(1)", #"{"OwnerID":2}"#).status == 409)
        #expect(shop.unlink("Cars(1)", "Owner").status == 409)
        #expect(shop.unlink("Owners(1)", "Car").status == 409)
        #expect(shop.update("Cars(1)", #"{"OwnerID":null}"#).status == 409)
        #expect(shop.delete("Cars(1)").status == 409)
        #expect(shop.delete("Owners(1)").status == 409)
        #expect(shop.sandbox.stateText() == before)
    }

    @Test(arguments: Dialect.allCases)
    func `mandatory one to one pairs can be created, swapped and deleted in one change set`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        let swap = try shop.changeSet([
            shop.linkMessage("Cars(1)", "Owner", "Owners(2)"), shop.linkMessage("Cars(2)", "Owner", "Owners(1)"),
        ])
        #expect(swap.statuses == "[204, 204]")
        #expect(shop.links("Owners") == "Owners(1)\n  Car: Cars(2)\nOwners(2)\n  Car: Cars(1)\n")
        let create = try shop.changeSet([
            ("POST", "Owners", #"{"Name":"third"}"#), ("POST", "Cars", "{\(shop.bind("Owner", "$1"))}"),
        ])
        #expect(create.statuses == "[201, 201]")
        #expect(shop.links("Owners").hasSuffix("Owners(3)\n  Car: Cars(3)\n"))
        let delete = try shop.changeSet([("DELETE", "Cars(1)", ""), ("DELETE", "Owners(2)", "")])
        #expect(delete.statuses == "[204, 204]")
        #expect(shop.links("Owners") == "Owners(1)\n  Car: Cars(2)\nOwners(3)\n  Car: Cars(3)\n")
    }

    // MARK: 1 – 0..1

    @Test(arguments: Dialect.allCases)
    func `a mayor needs a city, and a city needs no mayor`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        #expect(shop.send("POST", "Cities", #"{"Name":"free"}"#).status == 201)
        #expect(shop.send("POST", "Mayors", #"{"Name":"homeless"}"#).errorCode == "MandatoryEnd")
        #expect(shop.send("POST", "Mayors", #"{"Name":"m","CityID":3}"#).status == 201)
        #expect(shop.unlink("Mayors(1)", "City").errorCode == "MandatoryEnd")
        #expect(shop.delete("Cities(1)").errorCode == "MandatoryEnd")
        #expect(shop.delete("Mayors(1)").status == 204)
        #expect(shop.delete("Cities(1)").status == 204)
    }

    @Test(arguments: Dialect.allCases)
    func `a mayor moves to an empty city, and displaces another mayor only if that mayor moves as well`(
        _ dialect: Dialect
    ) throws {
        var shop = try Shop(dialect)
        #expect(shop.link("Mayors(1)", "City", "Cities(2)").errorCode == "MandatoryEnd")
        #expect(shop.link("Mayors(1)", "City", "Cities(3)").status == 204)
        #expect(shop.links("Cities") == "Cities(1)\nCities(2)\n  Mayor: Mayors(2)\nCities(3)\n  Mayor: Mayors(1)\n")
        let displaced = try shop.changeSet([
            shop.linkMessage("Mayors(1)", "City", "Cities(2)"), (shop.updateMethod, "Mayors(2)", #"{"CityID":1}"#),
        ])
        #expect(displaced.statuses == "[204, 204]")
        #expect(shop.links("Mayors") == "Mayors(1)\n  City: Cities(2)\nMayors(2)\n  City: Cities(1)\n")
    }

    // MARK: 1 – *

    @Test(arguments: Dialect.allCases)
    func `a child cannot be created without a father or lose its father`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        #expect(shop.send("POST", "Children", #"{"Name":"orphan"}"#).errorCode == "MandatoryEnd")
        #expect(shop.unlink("Children(1)", "Father").errorCode == "MandatoryEnd")
        #expect(shop.unlink("Fathers(1)", "Children", "Children(1)").errorCode == "MandatoryEnd")
        #expect(shop.delete("Fathers(1)").errorCode == "MandatoryEnd")
        #expect(shop.link("Fathers(3)", "Children", "Children(1)").status == 204)
        #expect(shop.send("POST", "Fathers(3)/Children", #"{"Name":"second"}"#).status == 201)
        #expect(shop.links("Fathers").hasSuffix("Fathers(3)\n  Children: Children(1), Children(4)\n"))
        let both = try shop.changeSet([("DELETE", "Fathers(2)", ""), ("DELETE", "Children(3)", "")])
        #expect(both.statuses == "[204, 204]")
    }

    // MARK: 0..1 – 0..1

    @Test(arguments: Dialect.allCases)
    func `a new link between a card and a person unlinks both former partners`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        #expect(shop.link("Persons(2)", "IDCard", "IDCards(2)").status == 204)
        #expect(shop.link("IDCards(1)", "Person", "Persons(2)").status == 204)
        #expect(
            shop.links("Persons", "IDCards")
                == "Persons(1)\nPersons(2)\n  IDCard: IDCards(1)\nIDCards(1)\n  Person: Persons(2)\nIDCards(2)\n")
        #expect(shop.state("IDCards").contains("IDCards(2) {IDCardID: 2, Number: 'X-1002', PersonID: null}"))
        #expect(shop.delete("Persons(2)").status == 204)
        #expect(shop.links("IDCards") == "IDCards(1)\nIDCards(2)\n")
    }

    // MARK: * – *

    @Test(arguments: Dialect.allCases)
    func `suppliers and products are linked from either end, also repeatedly`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        #expect(shop.link("Suppliers(2)", "Products", "Products(2)").status == 204)
        #expect(shop.link("Products(2)", "Suppliers", "Suppliers(2)").status == 204)
        #expect(shop.links("Products").contains("Products(2)\n  Suppliers: Suppliers(1), Suppliers(2)\n"))
        #expect(shop.unlink("Products(1)", "Suppliers", "Suppliers(1)").status == 204)
        #expect(shop.unlink("Products(1)", "Suppliers", "Suppliers(1)").status == 404)
        #expect(shop.delete("Suppliers(2)").status == 204)
        #expect(shop.links("Products") == "Products(1)\nProducts(2)\n  Suppliers: Suppliers(1)\nProducts(3)\n")
    }
}
