import EDM

/// A small model with every kind of content that a payload can have.
enum PayloadShop {
    static func model(_ version: ODataVersion) -> EntityDataModel {
        EntityDataModel(
            version: version, schemas: [], structuredTypes: [address, town, customer, premium, order, photo],
            enumerationTypes: [
                EnumerationType(
                    name: "Shop.Mood", underlyingType: .int32, isFlags: true,
                    members: [.init(name: "Calm", value: 1), .init(name: "Loud", value: 2)])
            ],
            entitySets: [customers, orders], singletons: [])
    }

    static let address = StructuredType(
        kind: .complex, name: "Shop.Address",
        properties: [
            property("Street", .primitive(.string), in: "Shop.Address"),
            property("Zip", .primitive(.int32), in: "Shop.Address"),
        ])
    static let town = StructuredType(
        kind: .complex, name: "Shop.Town", baseType: "Shop.Address", isOpen: true,
        properties: address.properties + [property("Mayor", .primitive(.string), in: "Shop.Town")])

    static let values: [(String, TypeReference)] = [
        ("Name", TypeReference(.primitive(.string))), ("Active", TypeReference(.primitive(.boolean))),
        ("Small", TypeReference(.primitive(.byte))), ("Signed", TypeReference(.primitive(.sbyte))),
        ("Short", TypeReference(.primitive(.int16))), ("Number", TypeReference(.primitive(.int32))),
        ("Long", TypeReference(.primitive(.int64))), ("Price", TypeReference(.primitive(.decimal))),
        ("Ratio", TypeReference(.primitive(.double))), ("Weight", TypeReference(.primitive(.single))),
        ("Token", TypeReference(.primitive(.guid))), ("Data", TypeReference(.primitive(.binary))),
        ("Since", TypeReference(.primitive(.dateTime))), ("Seen", TypeReference(.primitive(.dateTimeOffset))),
        ("At", TypeReference(.primitive(.time))), ("Day", TypeReference(.primitive(.date))),
        ("Clock", TypeReference(.primitive(.timeOfDay))), ("Span", TypeReference(.primitive(.duration))),
        ("Mood", TypeReference(.enumeration(name: "Shop.Mood"))), ("Place", TypeReference(.primitive(.geographyPoint))),
        ("Address", TypeReference(.complex(name: "Shop.Address"))),
        ("Tags", TypeReference(.primitive(.string), isCollection: true)),
        ("Homes", TypeReference(.complex(name: "Shop.Address"), isCollection: true)),
        ("Face", TypeReference(.primitive(.stream))),
    ]

    static let customerID = property("CustomerID", .primitive(.int32), in: "Shop.Customer")
    static let ordersOfCustomer = Property(
        name: "Orders", type: TypeReference(.entity(name: "Shop.Order"), isCollection: true),
        navigation: navigation("Shop.Order", .many), declaringType: "Shop.Customer")
    static let customer = StructuredType(
        kind: .entity, name: "Shop.Customer",
        properties: [customerID]
            + values.map { Property(name: $0.0, type: $0.1, declaringType: "Shop.Customer") },
        navigationProperties: [ordersOfCustomer], keyProperties: [customerID])
    static let premium = StructuredType(
        kind: .entity, name: "Shop.Premium", baseType: "Shop.Customer", isOpen: true,
        properties: customer.properties + [property("Rank", .primitive(.int32), in: "Shop.Premium")],
        navigationProperties: customer.navigationProperties, keyProperties: [customerID])

    static let customerOfOrder = Property(
        name: "Customer", type: TypeReference(.entity(name: "Shop.Customer")),
        navigation: navigation("Shop.Customer", .zeroOrOne), declaringType: "Shop.Order")
    static let orderKey = [
        property("Region", .primitive(.string), in: "Shop.Order"),
        property("OrderID", .primitive(.int64), in: "Shop.Order"),
    ]
    static let order = StructuredType(
        kind: .entity, name: "Shop.Order",
        properties: orderKey + [property("Note", .primitive(.string), in: "Shop.Order")],
        navigationProperties: [customerOfOrder], keyProperties: orderKey)
    static let photo = StructuredType(kind: .entity, name: "Shop.Photo", hasStream: true, properties: [])

    static let customers = EntitySet(name: "Customers", entityType: customer, bindings: ["Orders": "Orders"])
    static let orders = EntitySet(name: "Orders", entityType: order, bindings: ["Customer": "Customers"])

    private static func property(_ name: String, _ kind: TypeReference.ReferencedType, in type: String) -> Property {
        Property(name: name, type: TypeReference(kind), declaringType: type)
    }

    private static func navigation(_ target: String, _ multiplicity: Multiplicity) -> Navigation {
        Navigation(
            targetType: target, multiplicity: multiplicity, sourceMultiplicity: .many, partner: nil,
            relationship: Relationship(name: "R", isForward: true))
    }
}
