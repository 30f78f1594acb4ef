import EDM
import ODataSandbox
import Testing

@Suite struct ShopTests {
    @Test func `the state prints entities, values and links from both ends`() throws {
        #expect(
            try Sandbox.shop().stateText(of: ["Persons", "IDCards", "Visits"]) == """
                Persons(1) {PersonID: 1, Name: 'Irène'}
                  IDCard: IDCards(1)
                Persons(2) {PersonID: 2, Name: 'Marie'}
                IDCards(1) {IDCardID: 1, Number: 'X-1001', PersonID: 1}
                  Person: Persons(1)
                IDCards(2) {IDCardID: 2, Number: 'X-1002', PersonID: null}
                Visits(11111111-2222-3333-4444-555555555555) {VisitID: 11111111-2222-3333-4444-555555555555, \
                Subject: 'First visit', Start: 2024-05-06T07:08:09Z, Duration: PT1H30M, Mood: Busy}

                """)
    }

    @Test func `the seed contains every relationship with and without links`() throws {
        #expect(
            try Sandbox.shop().stateText(
                of: ["Customers", "Orders", "Owners", "Cities", "Fathers", "Suppliers", "Products"], values: false)
                    == """
                    Customers(1)
                      Orders: Orders(1), Orders(2)
                    Customers(2)
                      Orders: Orders(3)
                    Customers(3)
                    Orders(1)
                      Customer: Customers(1)
                    Orders(2)
                      Customer: Customers(1)
                    Orders(3)
                      Customer: Customers(2)
                    Orders(4)
                    Owners(1)
                      Car: Cars(1)
                    Owners(2)
                      Car: Cars(2)
                    Cities(1)
                      Mayor: Mayors(1)
                    Cities(2)
                      Mayor: Mayors(2)
                    Cities(3)
                    Fathers(1)
                      Children: Children(1), Children(2)
                    Fathers(2)
                      Children: Children(3)
                    Fathers(3)
                    Suppliers(1)
                      Products: Products(1), Products(2)
                    Suppliers(2)
                      Products: Products(1)
                    Products(1)
                      Suppliers: Suppliers(1), Suppliers(2)
                    Products(2)
                      Suppliers: Suppliers(1)
                    Products(3)

                    """)
    }

    @Test func `a shop without a seed has empty sets`() throws {
        #expect(try Sandbox.shop(seeded: false).stateText().isEmpty)
    }
}
