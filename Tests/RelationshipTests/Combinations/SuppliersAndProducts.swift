extension Combination {
    static let suppliersAndProducts = Combination(
        row: "CM-06", multiplicities: "* – *",
        first: End(set: "Suppliers", navigation: "Products", label: "Name"),
        second: End(set: "Products", navigation: "Suppliers", label: "Name"),
        links: "1-1 1-2 2-1 -3",
        rule: """
            Everything is allowed, and no partner is replaced. A link that already exists can be made again without \
            effect. There is no single-valued end, so `updateLink` does not apply, and `deleteLink` must name the \
            other entity. A move is a removal and a new link.
            """,
        cells: create + separate + move + delete,
        meaningless: [
            Meaningless(
                [
                    .createLink, .bindBeforeCreate, .bindBeforeUpdate, .createRelatedEntity, .setAndUpdate,
                ], aim: .move, why: "Both ends can have any number of links: a new link replaces none."),
            Meaningless([.updateLink], aim: .create, why: "As for a move: always refused."),
            Meaningless(
                [.constraintOnCreate, .constraintOnUpdate], why: "A * – * relationship has no referential constraint."),
            Meaningless([.plainCreate], why: "Neither end is mandatory, so creation alone is always allowed."),
        ])

    private static let (supplier, product) = ("Suppliers/Products", "Products/Suppliers")
    private static let name = Wanted.Member.text("Name", "new")

    private static let create: [Cell] = [
        .allowed(
            .replaceLinks, supplier, .create, .replaceLinks("Suppliers(2)/Products", ["Products(1)", "Products(3)"]),
            "1-1 1-2 2-1 2-3",
            .addLink("Suppliers(2)/Products", "Products(3)")),
        .allowed(
            .replaceLinks, product, .create, .replaceLinks("Products(3)/Suppliers", ["Suppliers(2)"]),
            "1-1 1-2 2-1 2-3",
            .addLink("Products(3)/Suppliers", "Suppliers(2)")),
        .allowed(
            .createLink, supplier, .create, .createLink("Suppliers(2)/Products", "Products(3)"), "1-1 1-2 2-1 2-3",
            .addLink("Suppliers(2)/Products", "Products(3)")),
        .allowed(
            .createLink, supplier, .create, .createLink("Suppliers(1)/Products", "Products(1)"), "1-1 1-2 2-1 -3",
            .addLink("Suppliers(1)/Products", "Products(1)")),
        .allowed(
            .createLink, product, .create, .createLink("Products(3)/Suppliers", "Suppliers(2)"), "1-1 1-2 2-1 2-3",
            .addLink("Products(3)/Suppliers", "Suppliers(2)")),
        .allowed(
            .bindBeforeCreate, supplier, .create,
            .create("Suppliers(s)", bind: ["Products": "Products(1)", "Products": "Products(3)"]),
            "1-1 1-2 2-1 s-1 s-3",
            .post("Suppliers", name, .bindAll("Products", ["Products(1)", "Products(3)"]))),
        .allowed(
            .bindBeforeCreate, product, .create, .create("Products(p)", bind: ["Suppliers": "Suppliers(2)"]),
            "1-1 1-2 2-1 2-p -3",
            .post("Products", name, .bindAll("Suppliers", ["Suppliers(2)"]))),
        .allowed(
            .bindBeforeUpdate, supplier, .create, .update("Suppliers(2)", bind: ["Products": "Products(3)"]),
            "1-1 1-2 2-1 2-3",
            .change("Suppliers(2)", .bindAll("Products", ["Products(3)"]))),
        .allowed(
            .bindBeforeUpdate, product, .create, .update("Products(3)", bind: ["Suppliers": "Suppliers(2)"]),
            "1-1 1-2 2-1 2-3",
            .change("Products(3)", .bindAll("Suppliers", ["Suppliers(2)"]))),
        .allowed(
            .createRelatedEntity, supplier, .create, .createRelated("Products(p)", in: "Suppliers(2)/Products"),
            "1-1 1-2 2-1 2-p -3",
            .post("Suppliers(2)/Products", name)),
        .allowed(
            .createRelatedEntity, product, .create, .createRelated("Suppliers(s)", in: "Products(3)/Suppliers"),
            "1-1 1-2 2-1 s-3",
            .post("Products(3)/Suppliers", name)),
        .allowed(
            .deepInsert, supplier, .create, .create("Suppliers(s)", set: ["Products": ["Products(p)"]]),
            "1-1 1-2 2-1 s-p -3",
            .post("Suppliers", name), .post("$1/Products", name)),
        .allowed(
            .deepInsert, product, .create,
            .create("Products(p)", set: ["Suppliers": ["Suppliers(s)", "Suppliers(t)"]]),
            "1-1 1-2 2-1 s-p t-p -3",
            .post("Products", name), .post("$1/Suppliers", name), .post("$1/Suppliers", name)),
        .allowed(
            .setAndUpdate, supplier, .create, .update("Suppliers(2)", set: ["Products": ["Products(3)"]]),
            "1-1 1-2 2-1 2-3",
            .change("Suppliers(2)", .bindAll("Products", ["Products(3)"]))),
        .allowed(
            .setAndUpdate, product, .create, .update("Products(3)", set: ["Suppliers": ["Suppliers(s)"]]),
            "1-1 1-2 2-1 s-3",
            .post("Products(3)/Suppliers", name)),
        .allowed(
            .contentID, supplier, .create,
            .changeSet([
                .create("Suppliers(s)"), .create("Products(p)"), .createLink("Suppliers(s)/Products", "Products(p)"),
            ]), "1-1 1-2 2-1 s-p -3",
            .post("Suppliers", name), .post("Products", name), .addLink("$1/Products", "$2")
        )
        .inV2([[.post("Suppliers", name), .post("$1/Products", name)]]),
        .allowed(
            .contentID, product, .create,
            .changeSet([
                .create("Products(p)"), .createRelated("Suppliers(s)", in: "Products(p)/Suppliers"),
                .createLink("Products(p)/Suppliers", "Suppliers(1)"),
            ]), "1-1 1-2 1-p 2-1 s-p -3",
            .post("Products", name), .post("$1/Suppliers", name), .addLink("$1/Suppliers", "Suppliers(1)")),
    ]

    private static let separate: [Cell] = [
        .allowed(
            .separateCalls, supplier, .create,
            .calls([
                .create("Suppliers(s)"), .create("Products(p)"), .createLink("Suppliers(s)/Products", "Products(p)"),
            ]),
            "1-1 1-2 2-1 s-p -3",
            .post("Suppliers", name), .post("Products", name), .addLink("$1/Products", "$2")
        )
        .inV2(
            [[.post("Suppliers", name)], [.post("Products", name)]],
            [[.addLink("Suppliers(3)/Products", "Products(4)")]]),
        .allowed(
            .separateCalls, product, .create,
            .calls([.create("Products(p)"), .createRelated("Suppliers(s)", in: "Products(p)/Suppliers")]),
            "1-1 1-2 2-1 s-p -3",
            .post("Products", name), .post("$1/Suppliers", name)),
    ]

    private static let move: [Cell] = [
        .allowed(
            .replaceLinks, supplier, .move, .replaceLinks("Suppliers(2)/Products", ["Products(2)"]), "1-1 1-2 2-2 -3",
            .removeLink("Suppliers(2)/Products", "Products(1)"), .addLink("Suppliers(2)/Products", "Products(2)")),
        .allowed(
            .replaceLinks, product, .move, .replaceLinks("Products(2)/Suppliers", ["Suppliers(2)"]), "1-1 2-1 2-2 -3",
            .removeLink("Products(2)/Suppliers", "Suppliers(1)"), .addLink("Products(2)/Suppliers", "Suppliers(2)")),
        .refused(
            .updateLink, supplier, .move, .updateLink("Suppliers(2)/Products", "Products(2)"), "wrongNavigationKind",
            "Products", "collection", advice: "createLink and deleteLink"),
        .refused(
            .updateLink, product, .move, .updateLink("Products(2)/Suppliers", "Suppliers(2)"), "wrongNavigationKind",
            "Suppliers", "collection", advice: "createLink and deleteLink"),
        .allowed(
            .contentID, supplier, .move,
            .changeSet([
                .deleteLink("Suppliers(2)/Products", "Products(1)"),
                .createLink("Suppliers(2)/Products", "Products(2)"),
            ]), "1-1 1-2 2-2 -3",
            .removeLink("Suppliers(2)/Products", "Products(1)"), .addLink("Suppliers(2)/Products", "Products(2)")),
        .allowed(
            .contentID, product, .move,
            .changeSet([
                .deleteLink("Products(2)/Suppliers", "Suppliers(1)"),
                .createLink("Products(2)/Suppliers", "Suppliers(2)"),
            ]), "1-1 2-1 2-2 -3",
            .removeLink("Products(2)/Suppliers", "Suppliers(1)"), .addLink("Products(2)/Suppliers", "Suppliers(2)")),
    ]

    private static let delete: [Cell] = [
        .allowed(
            .replaceLinks, supplier, .delete, .replaceLinks("Suppliers(1)/Products", []), "1- 2-1 -2 -3",
            .removeLink("Suppliers(1)/Products", "Products(1)"), .removeLink("Suppliers(1)/Products", "Products(2)")),
        .allowed(
            .replaceLinks, product, .delete, .replaceLinks("Products(1)/Suppliers", ["Suppliers(1)"]), "1-1 1-2 2- -3",
            .removeLink("Products(1)/Suppliers", "Suppliers(2)")),
        .allowed(
            .deleteLink, supplier, .delete, .deleteLink("Suppliers(1)/Products", "Products(1)"), "1-2 2-1 -3",
            .removeLink("Suppliers(1)/Products", "Products(1)")),
        .allowed(
            .deleteLink, product, .delete, .deleteLink("Products(1)/Suppliers", "Suppliers(2)"), "1-1 1-2 2- -3",
            .removeLink("Products(1)/Suppliers", "Suppliers(2)")),
        .refused(
            .deleteLink, supplier, .delete, .deleteLink("Suppliers(1)/Products"), "wrongNavigationKind", "Products",
            "collection", advice: "other entity"),
        .refused(
            .deleteLink, product, .delete, .deleteLink("Products(1)/Suppliers"), "wrongNavigationKind", "Suppliers",
            "collection", advice: "other entity"),
        .refused(
            .deleteLink, supplier, .delete, .deleteLink("Suppliers(2)/Products", "Products(2)"), "linkNotFound",
            "Suppliers(2)", "Products(2)"),
        .allowed(
            .deleteEntity, supplier, .delete, .delete("Suppliers(1)"), "2-1 -2 -3", .delete("Suppliers(1)")),
        .allowed(
            .deleteEntity, product, .delete, .delete("Products(1)"), "1-2 2- -3", .delete("Products(1)")),
        .allowed(
            .contentID, supplier, .delete, .changeSet([.delete("Suppliers(1)"), .delete("Products(1)")]), "2- -2 -3",
            .delete("Suppliers(1)"), .delete("Products(1)")),
        .allowed(
            .contentID, product, .delete,
            .changeSet([
                .deleteLink("Products(1)/Suppliers", "Suppliers(1)"),
                .deleteLink("Products(1)/Suppliers", "Suppliers(2)"),
            ]), "1-2 2- -1 -3",
            .removeLink("Products(1)/Suppliers", "Suppliers(1)"), .removeLink("Products(1)/Suppliers", "Suppliers(2)")),
    ]
}
