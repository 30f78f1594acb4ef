extension Combination {
    static let fathersAndChildren = Combination(
        row: "CM-04", multiplicities: "1 – *",
        first: End(set: "Fathers", navigation: "Children", label: "Name"),
        second: End(set: "Children", navigation: "Father", label: "Name", constraint: "FatherID"),
        links: "1-1 1-2 2-3 3-",
        rule: """
            Every child has a father from its creation on. A child can be moved, through its own end or by adding it \
            to another father's children, but not unlinked. A father with children can only be deleted together with \
            them, or after they have moved.
            """,
        cells: create + separate + move + delete,
        meaningless: [
            Meaningless([.replaceLinks], end: father, aim: .create, why: alreadyLinked),
            Meaningless(
                [.replaceLinks], end: child, why: "The property is single-valued: `updateLink` replaces the target."),
            Meaningless([.createLink, .updateLink, .bindBeforeUpdate], aim: .create, why: alreadyLinked),
            Meaningless([.setAndUpdate], end: child, aim: .create, why: alreadyLinked),
            Meaningless([.bindBeforeCreate], end: father, aim: .create, why: alreadyLinked),
            Meaningless([.createRelatedEntity], end: child, aim: .create, why: alreadyLinked),
            Meaningless(
                [.bindBeforeCreate], end: child, aim: .move, why: "A father can have any number of children."),
            Meaningless(
                [.createRelatedEntity], end: father, aim: .move, why: "A father can have any number of children."),
            Meaningless(
                [.constraintOnCreate], end: child, aim: .move, why: "A father can have any number of children."),
            Meaningless(
                [.constraintOnCreate, .constraintOnUpdate], end: father,
                why: "`FatherID`, the foreign key, is a property of children."),
            Meaningless([.constraintOnUpdate], end: child, aim: .create, why: alreadyLinked),
            Meaningless(
                [.plainCreate], end: father, why: "A father needs no children, so creation alone is always allowed."),
        ])

    private static let (father, child) = ("Fathers/Children", "Children/Father")
    private static let name = Wanted.Member.text("Name", "new")
    private static let alreadyLinked = "An existing child has a father: linking means moving."

    private static let create: [Cell] = [
        .allowed(
            .bindBeforeCreate, child, .create, .create("Children(c)", bind: ["Father": "Fathers(3)"]),
            "1-1 1-2 2-3 3-c",
            .post("Children", name, .bind("Father", "Fathers(3)"))),
        .allowed(
            .createRelatedEntity, father, .create, .createRelated("Children(c)", in: "Fathers(3)/Children"),
            "1-1 1-2 2-3 3-c",
            .post("Fathers(3)/Children", name)),
        .allowed(
            .deepInsert, father, .create, .create("Fathers(f)", set: ["Children": ["Children(c)", "Children(d)"]]),
            "1-1 1-2 2-3 3- f-c f-d",
            .post("Fathers", name), .post("$1/Children", name), .post("$1/Children", name)),
        .allowed(
            .deepInsert, child, .create, .create("Children(c)", set: ["Father": ["Fathers(f)"]]),
            "1-1 1-2 2-3 3- f-c",
            .post("Children", name, .inline("Father", [name]))),
        .allowed(
            .setAndUpdate, father, .create, .update("Fathers(3)", set: ["Children": ["Children(c)"]]),
            "1-1 1-2 2-3 3-c",
            .post("Fathers(3)/Children", name)),
        .allowed(
            .constraintOnCreate, child, .create, .create("Children(c)", ["FatherID": 3]), "1-1 1-2 2-3 3-c",
            .post("Children", name, .value("FatherID", 3))),
        .allowed(
            .contentID, father, .create,
            .changeSet([
                .create("Fathers(f)"), .createRelated("Children(c)", in: "Fathers(f)/Children"),
                .createRelated("Children(d)", in: "Fathers(f)/Children"),
            ]), "1-1 1-2 2-3 3- f-c f-d",
            .post("Fathers", name), .post("$1/Children", name), .post("$1/Children", name)),
        .allowed(
            .contentID, father, .create,
            .changeSet([
                .create("Fathers(f)"), .create("Children(c)"), .createLink("Fathers(f)/Children", "Children(c)"),
            ]), "1-1 1-2 2-3 3- f-c",
            .post("Fathers", name), .post("Children", name), .addLink("$1/Children", "$2")
        )
        .inV2([[.post("Fathers", name), .post("$1/Children", name)]]),
        .allowed(
            .contentID, child, .create,
            .changeSet([.create("Fathers(f)"), .create("Children(c)", bind: ["Father": "Fathers(f)"])]),
            "1-1 1-2 2-3 3- f-c",
            .post("Fathers", name), .post("Children", name, .bind("Father", "$1"))
        )
        .inV2([[.post("Fathers", name), .post("$1/Children", name)]]),
        .refused(
            .contentID, child, .create, .changeSet([.create("Fathers(f)"), .create("Children(c)")]), "mandatoryEnd",
            "new Children(", "Children/Father", "multiplicity 1", advice: "bind", "Fathers"),
        .refused(
            .plainCreate, child, .create, .create("Children(c)"), "mandatoryEnd", "new Children(", "Children/Father",
            "multiplicity 1", advice: "bind", "Fathers"),
    ]

    private static let separate: [Cell] = [
        .allowed(
            .separateCalls, father, .create,
            .calls([.create("Fathers(f)"), .createRelated("Children(c)", in: "Fathers(f)/Children")]),
            "1-1 1-2 2-3 3- f-c",
            .post("Fathers", name), .post("$1/Children", name)),
        .allowed(
            .separateCalls, child, .create,
            .calls([.create("Fathers(f)"), .create("Children(c)", bind: ["Father": "Fathers(f)"])]),
            "1-1 1-2 2-3 3- f-c",
            .post("Fathers", name), .post("Children", name, .bind("Father", "$1"))
        )
        .inV2([[.post("Fathers", name), .post("$1/Children", name)]]),
    ]

    private static let move: [Cell] = [
        .allowed(
            .replaceLinks, father, .move, .replaceLinks("Fathers(3)/Children", ["Children(1)"]), "1-2 2-3 3-1",
            .addLink("Fathers(3)/Children", "Children(1)")),
        .allowed(
            .createLink, father, .move, .createLink("Fathers(3)/Children", "Children(1)"), "1-2 2-3 3-1",
            .addLink("Fathers(3)/Children", "Children(1)")),
        .allowed(
            .createLink, child, .move, .createLink("Children(1)/Father", "Fathers(3)"), "1-2 2-3 3-1",
            .setLink("Children(1)/Father", "Fathers(3)")),
        .refused(
            .updateLink, father, .move, .updateLink("Fathers(3)/Children", "Children(1)"), "wrongNavigationKind",
            "Children", "collection", advice: "createLink"),
        .allowed(
            .updateLink, child, .move, .updateLink("Children(1)/Father", "Fathers(2)"), "1-2 2-1 2-3 3-",
            .setLink("Children(1)/Father", "Fathers(2)")),
        .allowed(
            .bindBeforeCreate, father, .move, .create("Fathers(f)", bind: ["Children": "Children(1)"]),
            "1-2 2-3 3- f-1",
            .post("Fathers", name, .bindAll("Children", ["Children(1)"]))),
        .allowed(
            .bindBeforeUpdate, father, .move, .update("Fathers(3)", bind: ["Children": "Children(1)"]), "1-2 2-3 3-1",
            .change("Fathers(3)", .bindAll("Children", ["Children(1)"]))),
        .allowed(
            .bindBeforeUpdate, father, .move,
            .update("Fathers(3)", bind: ["Children": "Children(1)", "Children": "Children(3)"]), "1-2 2- 3-1 3-3",
            .change("Fathers(3)", .bindAll("Children", ["Children(1)", "Children(3)"]))),
        .allowed(
            .bindBeforeUpdate, child, .move, .update("Children(1)", bind: ["Father": "Fathers(3)"]), "1-2 2-3 3-1",
            .change("Children(1)", .bind("Father", "Fathers(3)"))),
        .allowed(
            .createRelatedEntity, child, .move, .createRelated("Fathers(f)", in: "Children(1)/Father"),
            "1-2 2-3 3- f-1",
            .post("Fathers", name, .bindAll("Children", ["Children(1)"]))),
        .allowed(
            .setAndUpdate, father, .move, .update("Fathers(3)", set: ["Children": ["Children(1)"]]), "1-2 2-3 3-1",
            .change("Fathers(3)", .bindAll("Children", ["Children(1)"]))),
        .allowed(
            .setAndUpdate, child, .move, .update("Children(1)", set: ["Father": ["Fathers(3)"]]), "1-2 2-3 3-1",
            .change("Children(1)", .bind("Father", "Fathers(3)"))),
        .allowed(
            .setAndUpdate, child, .move, .update("Children(1)", set: ["Father": ["Fathers(f)"]]), "1-2 2-3 3- f-1",
            .post("Fathers", name, .bindAll("Children", ["Children(1)"]))),
        .allowed(
            .constraintOnUpdate, child, .move, .update("Children(1)", ["FatherID": 3]), "1-2 2-3 3-1",
            .change("Children(1)", .value("FatherID", 3))),
        .allowed(
            .contentID, child, .move,
            .changeSet([
                .updateLink("Children(1)/Father", "Fathers(2)"), .updateLink("Children(3)/Father", "Fathers(1)"),
            ]),
            "1-2 1-3 2-1 3-",
            .setLink("Children(1)/Father", "Fathers(2)"), .setLink("Children(3)/Father", "Fathers(1)")),
        .allowed(
            .contentID, father, .move,
            .changeSet([
                .createLink("Fathers(3)/Children", "Children(1)"), .createLink("Fathers(3)/Children", "Children(2)"),
                .delete("Fathers(1)"),
            ]), "2-3 3-1 3-2",
            .addLink("Fathers(3)/Children", "Children(1)"), .addLink("Fathers(3)/Children", "Children(2)"),
            .delete("Fathers(1)")),
    ]

    private static let delete: [Cell] = [
        .refused(
            .replaceLinks, father, .delete, .replaceLinks("Fathers(1)/Children", ["Children(2)"]), "mandatoryEnd",
            "Children(1)", "Children/Father", advice: "Children(1)", "another"),
        .refused(
            .deleteLink, father, .delete, .deleteLink("Fathers(1)/Children", "Children(1)"), "mandatoryEnd",
            "Children(1)", "Children/Father", "multiplicity 1", advice: "Children(1)", "another"),
        .refused(
            .deleteLink, father, .delete, .deleteLink("Fathers(1)/Children"), "wrongNavigationKind", "Children",
            "collection"),
        .refused(
            .deleteLink, child, .delete, .deleteLink("Children(1)/Father", "Fathers(1)"), "mandatoryEnd",
            "Children(1)", "Children/Father", advice: "Children(1)", "another"),
        .refused(
            .deleteLink, child, .delete, .deleteLink("Children(1)/Father"), "mandatoryEnd", "Children(1)",
            "Children/Father", advice: "Children(1)", "another"),
        // The property is not nullable.
        .refused(
            .constraintOnUpdate, child, .delete, .update("Children(1)", ["FatherID": nil]), "typeMismatch",
            "Children/FatherID"),
        .refused(
            .deleteEntity, father, .delete, .delete("Fathers(1)"), "mandatoryEnd", "Children(1) and Children(2)",
            "Children/Father", "Fathers(1)",
            advice: "Add the delete of Children(1) and Children(2) to the same change set"),
        .allowed(.deleteEntity, father, .delete, .delete("Fathers(3)"), "1-1 1-2 2-3", .delete("Fathers(3)")),
        .allowed(.deleteEntity, child, .delete, .delete("Children(1)"), "1-2 2-3 3-", .delete("Children(1)")),
        .allowed(
            .contentID, father, .delete,
            .changeSet([.delete("Fathers(1)"), .delete("Children(1)"), .delete("Children(2)")]), "2-3 3-",
            .delete("Fathers(1)"), .delete("Children(1)"), .delete("Children(2)")),
        .refused(
            .contentID, father, .delete, .changeSet([.delete("Fathers(1)"), .delete("Children(1)")]), "mandatoryEnd",
            "Children(2)", "Children/Father", "Fathers(1)",
            advice: "Add the delete of Children(2) to the same change set"),
        .allowed(
            .contentID, child, .delete,
            .changeSet([.delete("Children(2)"), .updateLink("Children(1)/Father", "Fathers(3)"), .delete("Fathers(1)")]
            ),
            "2-3 3-1",
            .delete("Children(2)"), .setLink("Children(1)/Father", "Fathers(3)"), .delete("Fathers(1)")),
    ]
}
