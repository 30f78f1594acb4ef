internal import EDM

extension Sandbox {
    /// Creates the Shop, a sample service with a few entities of each set.
    ///
    /// It contains the six combinations of multiplicities, generated and client keys, ETags on Orders, photos, complex
    /// values and collections.
    ///
    /// - Throws: An error if the metadata or the entities of the sample are invalid; none is expected, because they are
    ///   part of the module.
    public static func shop(seeded: Bool = true) throws -> Sandbox {
        var sandbox = try Sandbox(
            v4Metadata: Array(ShopMetadata.v4.utf8), v2Metadata: Array(ShopMetadata.v2.utf8),
            configuration: SandboxConfiguration(
                generatedKeys: [
                    "Customers", "Orders", "Owners", "Cars", "Cities", "Mayors", "Fathers", "Children", "Persons",
                    "IDCards", "Suppliers", "Products", "Photos",
                ],
                etags: ["Orders"]))
        sandbox.operations = ShopOperations.all
        if seeded {
            try sandbox.transact { transaction throws(SandboxError) in try ShopSeed(transaction).plant(&transaction) }
        }
        return sandbox
    }
}

/// The initial data of every Shop.
private struct ShopSeed {
    private let model: EntityDataModel

    init(_ transaction: Transaction) { model = transaction.schema.model }

    func plant(_ shop: inout Transaction) throws(SandboxError) {
        try plantCustomers(&shop)
        try plantPairs(&shop)
        try plantFamilies(&shop)
        try plantProducts(&shop)
        try plantOthers(&shop)
    }

    private func plantCustomers(_ shop: inout Transaction) throws(SandboxError) {
        let address = ComplexValue(properties: [
            "Street": .string("Rue du Port 5"), "City": .string("Genève"), "Zip": .string("1204"),
        ])
        let ada = try add(
            &shop, "Customers",
            [
                "Name": .string("Ada Lovelace"), "Address": .complex(address),
                "Tags": .collection([.string("vip"), .string("math")]), "Rating": decimal("4.75"),
                "Since": date("2019-03-01"),
            ])
        let grace = try add(
            &shop, "Customers",
            ["Name": .string("Grace Hopper"), "Rating": decimal("5.00"), "Since": date("2020-12-09")])
        try add(&shop, "Customers", ["Name": .string("O'Neil & Söhne")])
        let orders: [(note: String, amount: String, quantity: Int64, total: Int64, at: String, customer: RowID?)] = [
            ("engine parts", "1200.5000", 3, 3601, "2024-01-15T09:30:00Z", ada),
            ("punched cards", "0.1250", 10000, 1250, "2024-02-29T23:59:59.1234567Z", ada),
            ("nanoseconds", "11.8000", 1, 9_007_199_254_740_993, "2024-03-10T08:00:00+02:00", grace),
            ("without a customer", "99.9900", 2, 200, "2024-04-01T12:00:00Z", nil),
        ]
        for order in orders {
            let row = try add(
                &shop, "Orders",
                [
                    "Note": .string(order.note), "Amount": decimal(order.amount), "Quantity": .integer(order.quantity),
                    "Total": .integer(order.total), "PlacedAt": moment(order.at),
                ])
            if let customer = order.customer { try link(&shop, row, "Customer", customer) }
        }
    }

    /// Inserts relationships 1 – 1, 1 – 0..1 and 0..1 – 0..1.
    private func plantPairs(_ shop: inout Transaction) throws(SandboxError) {
        for (owner, model) in [("Bertha", "Motorwagen"), ("Clärenore", "Adler Standard 6")] {
            let car = try add(&shop, "Cars", ["Model": .string(model)])
            try link(&shop, car, "Owner", try add(&shop, "Owners", ["Name": .string(owner)]))
        }
        for (city, mayor) in [("Springfield", "Quimby"), ("Gotham", "Hill"), ("Ghost Town", nil)] {
            let row = try add(&shop, "Cities", ["Name": .string(city)])
            if let mayor { try link(&shop, try add(&shop, "Mayors", ["Name": .string(mayor)]), "City", row) }
        }
        for (person, card) in [("Irène", "X-1001"), ("Marie", nil)] {
            let row = try add(&shop, "Persons", ["Name": .string(person)])
            if let card { try link(&shop, try add(&shop, "IDCards", ["Number": .string(card)]), "Person", row) }
        }
        try add(&shop, "IDCards", ["Number": .string("X-1002")])
    }

    private func plantFamilies(_ shop: inout Transaction) throws(SandboxError) {
        for (father, children) in [("Johann", ["Carl", "Wilhelm"]), ("Leopold", ["Wolfgang"]), ("Childless", [])] {
            let row = try add(&shop, "Fathers", ["Name": .string(father)])
            for child in children {
                try link(&shop, try add(&shop, "Children", ["Name": .string(child)]), "Father", row)
            }
        }
    }

    private func plantProducts(_ shop: inout Transaction) throws(SandboxError) {
        let acme = try add(&shop, "Suppliers", ["Name": .string("Acme")])
        let globex = try add(&shop, "Suppliers", ["Name": .string("Globex")])
        let products: [(name: String, price: String, suppliers: [RowID])] = [
            ("Anvil", "49.90", [acme, globex]), ("Rocket", "1999.00", [acme]), ("Nothing yet", "0.00", []),
        ]
        for product in products {
            let row = try add(&shop, "Products", ["Name": .string(product.name), "Price": decimal(product.price)])
            for supplier in product.suppliers { try link(&shop, row, "Suppliers", supplier) }
        }
    }

    private func plantOthers(_ shop: inout Transaction) throws(SandboxError) {
        try add(
            &shop, "Visits",
            [
                "VisitID": .guid(GuidValue(high: 0x1111_1111_2222_3333, low: 0x4444_5555_5555_5555)),
                "Subject": .string("First visit"), "Start": moment("2024-05-06T07:08:09Z"),
                "Duration": DayTimeDuration("PT1H30M").map(Value.duration) ?? .null, "Mood": .enumeration("Busy"),
            ])
        for (currency, day, amount) in [("EUR", 1, "1.0000"), ("EUR", 2, "1.0125"), ("CHF", 1, "0.9480")] {
            try add(
                &shop, "Prices",
                ["Currency": .string(currency), "Day": .integer(Int64(day)), "Amount": decimal(amount)])
        }
        // The smallest possible GIF.
        let pixel: [UInt8] = [
            0x47, 0x49, 0x46, 0x38, 0x39, 0x61, 1, 0, 1, 0, 0, 0, 0, 0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 0, 0x3B,
        ]
        guard let photos = model.findEntitySet("Photos") else { return }
        _ = try shop.insert(
            into: photos, values: ["Caption": .string("pixel"), "ContentType": .string("image/gif")],
            media: Row.Media(contentType: "image/gif", bytes: pixel))
    }

    @discardableResult
    private func add(
        _ shop: inout Transaction, _ set: String, _ values: PropertyValues
    ) throws(SandboxError) -> RowID {
        guard let set = model.findEntitySet(set) else { throw Transaction.gone }
        return try shop.insert(into: set, values: values)
    }

    private func link(
        _ shop: inout Transaction, _ source: RowID, _ navigation: String, _ target: RowID
    ) throws(SandboxError) {
        guard let property = shop.entityType(of: source)?.findProperty(navigation) else { throw Transaction.gone }
        try shop.link(source, property, to: target)
    }

    private func decimal(_ text: String) -> Value { DecimalValue(text).map(Value.decimal) ?? .null }
    private func date(_ text: String) -> Value { LocalDate(text).map(Value.date) ?? .null }
    private func moment(_ text: String) -> Value { GlobalDateTime(text).map(Value.dateTimeOffset) ?? .null }
}
