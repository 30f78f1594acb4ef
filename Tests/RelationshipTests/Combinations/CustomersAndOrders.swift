extension Combination {
    static let customersAndOrders = Combination(
        row: "CM-05", multiplicities: "0..1 – *",
        first: End(set: "Customers", navigation: "Orders", label: "Name"),
        second: End(set: "Orders", navigation: "Customer", label: "Note", constraint: "CustomerID"),
        links: "1-1 1-2 2-3 3- -4",
        rule: """
            Everything is allowed. An order that already has a customer moves, whichever end the link is made from. \
            When a customer is deleted, its orders stay without a customer.
            """,
        cells: create + separate + move + delete,
        meaningless: [
            Meaningless(
                [.replaceLinks], end: order, why: "The property is single-valued: `updateLink` replaces the target."),
            Meaningless(
                [.bindBeforeCreate], end: order, aim: .move, why: "A customer can have any number of orders."),
            Meaningless(
                [.createRelatedEntity], end: customer, aim: .move, why: "A customer can have any number of orders."),
            Meaningless(
                [.constraintOnCreate], end: order, aim: .move, why: "A customer can have any number of orders."),
            Meaningless(
                [.constraintOnCreate, .constraintOnUpdate], end: customer,
                why: "`CustomerID`, the foreign key, is a property of orders."),
            Meaningless([.plainCreate], why: "Neither end is mandatory, so creation alone is always allowed."),
        ])

    private static let (customer, order) = ("Customers/Orders", "Orders/Customer")
    private static let (name, note) = (Wanted.Member.text("Name", "new"), Wanted.Member.text("Note", "new"))

    private static let create: [Cell] = [
        .allowed(
            .replaceLinks, customer, .create, .replaceLinks("Customers(3)/Orders", ["Orders(4)"]), "1-1 1-2 2-3 3-4",
            .addLink("Customers(3)/Orders", "Orders(4)")),
        .allowed(
            .createLink, customer, .create, .createLink("Customers(3)/Orders", "Orders(4)"), "1-1 1-2 2-3 3-4",
            .addLink("Customers(3)/Orders", "Orders(4)")),
        .allowed(
            .createLink, order, .create, .createLink("Orders(4)/Customer", "Customers(3)"), "1-1 1-2 2-3 3-4",
            .setLink("Orders(4)/Customer", "Customers(3)")),
        .refused(
            .updateLink, customer, .create, .updateLink("Customers(3)/Orders", "Orders(4)"), "wrongNavigationKind",
            "Orders", "collection", advice: "createLink"),
        .allowed(
            .updateLink, order, .create, .updateLink("Orders(4)/Customer", "Customers(3)"), "1-1 1-2 2-3 3-4",
            .setLink("Orders(4)/Customer", "Customers(3)")),
        .allowed(
            .bindBeforeCreate, customer, .create, .create("Customers(c)", bind: ["Orders": "Orders(4)"]),
            "1-1 1-2 2-3 3- c-4",
            .post("Customers", name, .bindAll("Orders", ["Orders(4)"]))),
        .allowed(
            .bindBeforeCreate, order, .create, .create("Orders(o)", bind: ["Customer": "Customers(3)"]),
            "1-1 1-2 2-3 3-o -4",
            .post("Orders", note, .bind("Customer", "Customers(3)"))),
        .allowed(
            .bindBeforeUpdate, customer, .create, .update("Customers(3)", bind: ["Orders": "Orders(4)"]),
            "1-1 1-2 2-3 3-4",
            .change("Customers(3)", .bindAll("Orders", ["Orders(4)"]))),
        .allowed(
            .bindBeforeUpdate, order, .create, .update("Orders(4)", bind: ["Customer": "Customers(3)"]),
            "1-1 1-2 2-3 3-4",
            .change("Orders(4)", .bind("Customer", "Customers(3)"))),
        .allowed(
            .createRelatedEntity, customer, .create, .createRelated("Orders(o)", in: "Customers(3)/Orders"),
            "1-1 1-2 2-3 3-o -4",
            .post("Customers(3)/Orders", note)),
        .allowed(
            .createRelatedEntity, order, .create, .createRelated("Customers(c)", in: "Orders(4)/Customer"),
            "1-1 1-2 2-3 3- c-4",
            .post("Customers", name, .bindAll("Orders", ["Orders(4)"]))),
        .allowed(
            .deepInsert, customer, .create, .create("Customers(c)", set: ["Orders": ["Orders(o)", "Orders(p)"]]),
            "1-1 1-2 2-3 3- c-o c-p -4",
            .post("Customers", name), .post("$1/Orders", note), .post("$1/Orders", note)),
        .allowed(
            .deepInsert, order, .create, .create("Orders(o)", set: ["Customer": ["Customers(c)"]]),
            "1-1 1-2 2-3 3- c-o -4",
            .post("Orders", note, .inline("Customer", [name]))),
        .allowed(
            .setAndUpdate, customer, .create, .update("Customers(3)", set: ["Orders": ["Orders(4)"]]),
            "1-1 1-2 2-3 3-4",
            .change("Customers(3)", .bindAll("Orders", ["Orders(4)"]))),
        .allowed(
            .setAndUpdate, order, .create, .update("Orders(4)", set: ["Customer": ["Customers(3)"]]), "1-1 1-2 2-3 3-4",
            .change("Orders(4)", .bind("Customer", "Customers(3)"))),
        .allowed(
            .setAndUpdate, order, .create, .update("Orders(4)", set: ["Customer": ["Customers(c)"]]),
            "1-1 1-2 2-3 3- c-4",
            .post("Customers", name, .bindAll("Orders", ["Orders(4)"]))),
        .allowed(
            .constraintOnCreate, order, .create, .create("Orders(o)", ["CustomerID": 3]), "1-1 1-2 2-3 3-o -4",
            .post("Orders", note, .value("CustomerID", 3))),
        .allowed(
            .constraintOnUpdate, order, .create, .update("Orders(4)", ["CustomerID": 3]), "1-1 1-2 2-3 3-4",
            .change("Orders(4)", .value("CustomerID", 3))),
        .allowed(
            .contentID, customer, .create,
            .changeSet([
                .create("Customers(c)"), .createRelated("Orders(o)", in: "Customers(c)/Orders"),
                .createRelated("Orders(p)", in: "Customers(c)/Orders"),
            ]), "1-1 1-2 2-3 3- c-o c-p -4",
            .post("Customers", name), .post("$1/Orders", note), .post("$1/Orders", note)),
        .allowed(
            .contentID, customer, .create,
            .changeSet([
                .create("Customers(c)"), .create("Orders(o)"), .createLink("Customers(c)/Orders", "Orders(o)"),
            ]), "1-1 1-2 2-3 3- c-o -4",
            .post("Customers", name), .post("Orders", note), .addLink("$1/Orders", "$2")
        )
        .inV2([[.post("Customers", name), .post("$1/Orders", note)]]),
        .allowed(
            .contentID, order, .create,
            .changeSet([
                .create("Customers(c)"), .create("Orders(o)"), .updateLink("Orders(o)/Customer", "Customers(c)"),
            ]), "1-1 1-2 2-3 3- c-o -4",
            .post("Customers", name), .post("Orders", note), .setLink("$2/Customer", "$1")
        )
        .inV2([[.post("Customers", name), .post("$1/Orders", note)]]),
        .allowed(
            .contentID, order, .create,
            .changeSet([.create("Customers(c)"), .create("Orders(o)", bind: ["Customer": "Customers(c)"])]),
            "1-1 1-2 2-3 3- c-o -4",
            .post("Customers", name), .post("Orders", note, .bind("Customer", "$1"))
        )
        .inV2([[.post("Customers", name), .post("$1/Orders", note)]]),
    ]

    private static let separate: [Cell] = [
        .allowed(
            .separateCalls, customer, .create,
            .calls([.create("Customers(c)"), .createRelated("Orders(o)", in: "Customers(c)/Orders")]),
            "1-1 1-2 2-3 3- c-o -4",
            .post("Customers", name), .post("$1/Orders", note)),
        .allowed(
            .separateCalls, order, .create,
            .calls([.create("Orders(o)"), .create("Customers(c)"), .updateLink("Orders(o)/Customer", "Customers(c)")]),
            "1-1 1-2 2-3 3- c-o -4",
            .post("Orders", note), .post("Customers", name), .setLink("$1/Customer", "$2")
        )
        .inV2(
            [[.post("Orders", note)], [.post("Customers", name)]], [[.setLink("Orders(5)/Customer", "Customers(4)")]]),
        .refused(
            .createRelatedEntity, customer, .create,
            .createRelated("Orders(o)", in: "Customers(3)/Orders", bind: ["Customer": "Customers(1)"]), "notAllowed",
            "Orders", "Customer", advice: "Omit Customer"),
    ]

    private static let move: [Cell] = [
        .allowed(
            .replaceLinks, customer, .move, .replaceLinks("Customers(1)/Orders", ["Orders(1)", "Orders(3)"]),
            "1-1 1-3 2- 3- -2 -4",
            .removeLink("Customers(1)/Orders", "Orders(2)"), .addLink("Customers(1)/Orders", "Orders(3)")),
        .allowed(
            .createLink, customer, .move, .createLink("Customers(2)/Orders", "Orders(1)"), "1-2 2-1 2-3 3- -4",
            .addLink("Customers(2)/Orders", "Orders(1)")),
        .allowed(
            .createLink, order, .move, .createLink("Orders(1)/Customer", "Customers(2)"), "1-2 2-1 2-3 3- -4",
            .setLink("Orders(1)/Customer", "Customers(2)")),
        .refused(
            .updateLink, customer, .move, .updateLink("Customers(2)/Orders", "Orders(1)"), "wrongNavigationKind",
            "Orders", "collection", advice: "createLink"),
        .allowed(
            .updateLink, order, .move, .updateLink("Orders(1)/Customer", "Customers(2)"), "1-2 2-1 2-3 3- -4",
            .setLink("Orders(1)/Customer", "Customers(2)")),
        .allowed(
            .bindBeforeCreate, customer, .move, .create("Customers(c)", bind: ["Orders": "Orders(1)"]),
            "1-2 2-3 3- c-1 -4",
            .post("Customers", name, .bindAll("Orders", ["Orders(1)"]))),
        .allowed(
            .bindBeforeUpdate, customer, .move, .update("Customers(3)", bind: ["Orders": "Orders(1)"]),
            "1-2 2-3 3-1 -4",
            .change("Customers(3)", .bindAll("Orders", ["Orders(1)"]))),
        .allowed(
            .bindBeforeUpdate, order, .move, .update("Orders(1)", bind: ["Customer": "Customers(3)"]),
            "1-2 2-3 3-1 -4",
            .change("Orders(1)", .bind("Customer", "Customers(3)"))),
        .allowed(
            .createRelatedEntity, order, .move, .createRelated("Customers(c)", in: "Orders(1)/Customer"),
            "1-2 2-3 3- c-1 -4",
            .post("Customers", name, .bindAll("Orders", ["Orders(1)"]))),
        .allowed(
            .setAndUpdate, customer, .move, .update("Customers(3)", set: ["Orders": ["Orders(1)"]]), "1-2 2-3 3-1 -4",
            .change("Customers(3)", .bindAll("Orders", ["Orders(1)"]))),
        .allowed(
            .setAndUpdate, order, .move, .update("Orders(1)", set: ["Customer": ["Customers(3)"]]), "1-2 2-3 3-1 -4",
            .change("Orders(1)", .bind("Customer", "Customers(3)"))),
        .allowed(
            .constraintOnUpdate, order, .move, .update("Orders(1)", ["CustomerID": 3]), "1-2 2-3 3-1 -4",
            .change("Orders(1)", .value("CustomerID", 3))),
        // The binding takes precedence over the constraint property. Not every V2 service supports bindings, so the
        // request for V2 contains the key.
        .allowed(
            .constraintOnUpdate, order, .move,
            .update("Orders(1)", ["CustomerID": 2], bind: ["Customer": "Customers(3)"]), "1-2 2-3 3-1 -4",
            .either(
                v2: .change("Orders(1)", .value("CustomerID", 3)),
                v4: .change("Orders(1)", .bind("Customer", "Customers(3)")))),
        .allowed(
            .contentID, order, .move,
            .changeSet([
                .updateLink("Orders(1)/Customer", "Customers(2)"), .updateLink("Orders(3)/Customer", "Customers(1)"),
            ]), "1-2 1-3 2-1 3- -4",
            .setLink("Orders(1)/Customer", "Customers(2)"), .setLink("Orders(3)/Customer", "Customers(1)")),
        .allowed(
            .contentID, customer, .move,
            .changeSet([.create("Customers(c)"), .createLink("Customers(c)/Orders", "Orders(1)")]),
            "1-2 2-3 3- c-1 -4",
            .post("Customers", name), .addLink("$1/Orders", "Orders(1)")),
    ]

    private static let delete: [Cell] = [
        .allowed(
            .replaceLinks, customer, .delete, .replaceLinks("Customers(1)/Orders", []), "1- 2-3 3- -1 -2 -4",
            .removeLink("Customers(1)/Orders", "Orders(1)"), .removeLink("Customers(1)/Orders", "Orders(2)")),
        .allowed(
            .deleteLink, customer, .delete, .deleteLink("Customers(1)/Orders", "Orders(1)"), "1-2 2-3 3- -1 -4",
            .removeLink("Customers(1)/Orders", "Orders(1)")),
        .refused(
            .deleteLink, customer, .delete, .deleteLink("Customers(1)/Orders"), "wrongNavigationKind", "Orders",
            "collection", advice: "other entity"),
        .allowed(
            .deleteLink, order, .delete, .deleteLink("Orders(1)/Customer"), "1-2 2-3 3- -1 -4",
            .removeLink("Orders(1)/Customer")),
        .allowed(
            .deleteLink, order, .delete, .deleteLink("Orders(1)/Customer", "Customers(1)"), "1-2 2-3 3- -1 -4",
            .removeLink("Orders(1)/Customer")),
        .refused(
            .deleteLink, order, .delete, .deleteLink("Orders(4)/Customer"), "linkNotFound", "Orders(4)", "Customer"),
        .refused(
            .deleteLink, customer, .delete, .deleteLink("Customers(1)/Orders", "Orders(3)"), "linkNotFound",
            "Customers(1)", "Orders(3)"),
        .allowed(
            .constraintOnUpdate, order, .delete, .update("Orders(1)", ["CustomerID": nil]), "1-2 2-3 3- -1 -4",
            .change("Orders(1)", .value("CustomerID", nil))),
        .allowed(
            .deleteEntity, customer, .delete, .delete("Customers(1)"), "2-3 3- -1 -2 -4", .delete("Customers(1)")),
        .allowed(.deleteEntity, order, .delete, .delete("Orders(1)"), "1-2 2-3 3- -4", .delete("Orders(1)")),
        .allowed(
            .contentID, customer, .delete,
            .changeSet([
                .deleteLink("Customers(1)/Orders", "Orders(1)"), .deleteLink("Customers(1)/Orders", "Orders(2)"),
            ]), "1- 2-3 3- -1 -2 -4",
            .removeLink("Customers(1)/Orders", "Orders(1)"), .removeLink("Customers(1)/Orders", "Orders(2)")),
        .allowed(
            .contentID, order, .delete, .changeSet([.delete("Orders(1)"), .delete("Customers(1)")]), "2-3 3- -2 -4",
            .delete("Orders(1)"), .delete("Customers(1)")),
    ]
}
