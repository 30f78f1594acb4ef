extension Combination {
    static let citiesAndMayors = Combination(
        row: "CM-02", multiplicities: "1 – 0..1",
        first: End(set: "Cities", navigation: "Mayor", label: "Name"),
        second: End(set: "Mayors", navigation: "City", label: "Name", constraint: "CityID"),
        links: "1-1 2-2 3-",
        rule: """
            Every mayor needs a city; a city needs no mayor. A mayor can be moved, but not unlinked. A mayor who is \
            replaced by another one must get another city, or be deleted, in the same change set. A city with a mayor \
            can only be deleted together with the mayor, or after the mayor has moved.
            """,
        cells: create + separate + move + delete,
        meaningless: [
            Meaningless([.replaceLinks], why: "Both ends are single-valued: `updateLink` replaces the target."),
            Meaningless([.createLink, .updateLink, .bindBeforeUpdate], aim: .create, why: alreadyLinked),
            Meaningless([.bindBeforeCreate], end: city, aim: .create, why: alreadyLinked),
            Meaningless(
                [.createRelatedEntity, .setAndUpdate, .constraintOnUpdate], end: mayor, aim: .create, why: alreadyLinked
            ),
            Meaningless(
                [.constraintOnCreate, .constraintOnUpdate], end: city,
                why: "`CityID`, the foreign key, is a property of mayors."),
            Meaningless([.plainCreate], end: city, why: "A city needs no mayor, so creation alone is always allowed."),
        ])

    private static let (city, mayor) = ("Cities/Mayor", "Mayors/City")
    private static let alreadyLinked = "An existing mayor has a city: linking means moving."
    private static let name = Wanted.Member.text("Name", "new")

    private static let create: [Cell] = [
        .allowed(
            .bindBeforeCreate, mayor, .create, .create("Mayors(m)", bind: ["City": "Cities(3)"]), "1-1 2-2 3-m",
            .post("Mayors", name, .bind("City", "Cities(3)"))),
        .allowed(
            .createRelatedEntity, city, .create, .createRelated("Mayors(m)", in: "Cities(3)/Mayor"), "1-1 2-2 3-m",
            .post("Mayors", name, .bind("City", "Cities(3)"))),
        .allowed(
            .deepInsert, city, .create, .create("Cities(c)", set: ["Mayor": ["Mayors(m)"]]), "1-1 2-2 3- c-m",
            .post("Cities", name, .inline("Mayor", [name]))),
        .allowed(
            .deepInsert, mayor, .create, .create("Mayors(m)", set: ["City": ["Cities(c)"]]), "1-1 2-2 3- c-m",
            .post("Mayors", name, .inline("City", [name]))),
        .allowed(
            .setAndUpdate, city, .create, .update("Cities(3)", set: ["Mayor": ["Mayors(m)"]]), "1-1 2-2 3-m",
            .post("Mayors", name, .bind("City", "Cities(3)"))),
        .allowed(
            .constraintOnCreate, mayor, .create, .create("Mayors(m)", ["CityID": 3]), "1-1 2-2 3-m",
            .post("Mayors", name, .value("CityID", 3))),
        .allowed(
            .contentID, city, .create,
            .changeSet([.create("Cities(c)"), .create("Mayors(m)"), .createLink("Cities(c)/Mayor", "Mayors(m)")]),
            "1-1 2-2 3- c-m",
            .post("Cities", name), .post("Mayors", name), .setLink("$1/Mayor", "$2")
        )
        .inV2([[.post("Mayors", name, .inline("City", [name]))]]),
        .allowed(
            .contentID, city, .create,
            .changeSet([.create("Cities(c)"), .createRelated("Mayors(m)", in: "Cities(c)/Mayor")]), "1-1 2-2 3- c-m",
            .post("Cities", name), .post("Mayors", name, .bind("City", "$1"))
        )
        .inV2([[.post("Cities", name, .inline("Mayor", [name]))]]),
        .allowed(
            .contentID, mayor, .create,
            .changeSet([.create("Cities(c)"), .create("Mayors(m)", bind: ["City": "Cities(c)"])]), "1-1 2-2 3- c-m",
            .post("Cities", name), .post("Mayors", name, .bind("City", "$1"))
        )
        .inV2([[.post("Mayors", name, .inline("City", [name]))]]),
        .refused(
            .contentID, mayor, .create, .changeSet([.create("Cities(c)"), .create("Mayors(m)")]), "mandatoryEnd",
            "new Mayors(", "Mayors/City", "multiplicity 1", advice: "bind", "Cities"),
        .refused(
            .plainCreate, mayor, .create, .create("Mayors(m)"), "mandatoryEnd", "new Mayors(", "Mayors/City",
            "multiplicity 1", advice: "bind", "Cities"),
    ]

    private static let separate: [Cell] = [
        .allowed(
            .separateCalls, city, .create,
            .calls([.create("Cities(c)"), .createRelated("Mayors(m)", in: "Cities(c)/Mayor")]), "1-1 2-2 3- c-m",
            .post("Cities", name), .post("Mayors", name, .bind("City", "$1"))
        )
        .inV2([[.post("Cities", name)]], [[.post("Mayors", name, .bind("City", "Cities(4)"))]]),
        .allowed(
            .separateCalls, mayor, .create,
            .calls([.create("Cities(c)"), .create("Mayors(m)", bind: ["City": "Cities(c)"])]), "1-1 2-2 3- c-m",
            .post("Cities", name), .post("Mayors", name, .bind("City", "$1"))
        )
        .inV2([[.post("Cities", name)]], [[.post("Mayors", name, .bind("City", "Cities(4)"))]]),
    ]

    private static let move: [Cell] = [
        .allowed(
            .createLink, city, .move, .createLink("Cities(3)/Mayor", "Mayors(1)"), "1- 2-2 3-1",
            .setLink("Cities(3)/Mayor", "Mayors(1)")),
        .allowed(
            .createLink, mayor, .move, .createLink("Mayors(1)/City", "Cities(3)"), "1- 2-2 3-1",
            .setLink("Mayors(1)/City", "Cities(3)")),
        .refused(
            .createLink, city, .move, .createLink("Cities(2)/Mayor", "Mayors(1)"), "mandatoryEnd", "Mayors(2)",
            "Mayors/City", "multiplicity 1", advice: "Mayors(2)", "another", "same change set"),
        .refused(
            .createLink, mayor, .move, .createLink("Mayors(1)/City", "Cities(2)"), "mandatoryEnd", "Mayors(2)",
            "Mayors/City", "multiplicity 1", advice: "Mayors(2)", "another", "same change set"),
        .allowed(
            .updateLink, city, .move, .updateLink("Cities(3)/Mayor", "Mayors(2)"), "1-1 2- 3-2",
            .setLink("Cities(3)/Mayor", "Mayors(2)")),
        .allowed(
            .updateLink, mayor, .move, .updateLink("Mayors(2)/City", "Cities(3)"), "1-1 2- 3-2",
            .setLink("Mayors(2)/City", "Cities(3)")),
        .refused(
            .updateLink, mayor, .move, .updateLink("Mayors(2)/City", "Cities(1)"), "mandatoryEnd", "Mayors(1)",
            "Mayors/City", advice: "Mayors(1)", "another", "same change set"),
        .refused(
            .bindBeforeCreate, mayor, .move, .create("Mayors(m)", bind: ["City": "Cities(1)"]), "mandatoryEnd",
            "Mayors(1)", "Mayors/City", advice: "Mayors(1)", "another", "same change set"),
        .allowed(
            .bindBeforeCreate, city, .move, .create("Cities(c)", bind: ["Mayor": "Mayors(1)"]), "1- 2-2 3- c-1",
            .post("Cities", name, .bind("Mayor", "Mayors(1)"))),
        .allowed(
            .bindBeforeUpdate, city, .move, .update("Cities(3)", bind: ["Mayor": "Mayors(1)"]), "1- 2-2 3-1",
            .change("Cities(3)", .bind("Mayor", "Mayors(1)"))),
        .allowed(
            .bindBeforeUpdate, mayor, .move, .update("Mayors(1)", bind: ["City": "Cities(3)"]), "1- 2-2 3-1",
            .change("Mayors(1)", .bind("City", "Cities(3)"))),
        .refused(
            .bindBeforeUpdate, mayor, .move, .update("Mayors(1)", bind: ["City": "Cities(2)"]), "mandatoryEnd",
            "Mayors(2)", "Mayors/City", advice: "Mayors(2)", "another", "same change set"),
        .refused(
            .createRelatedEntity, city, .move, .createRelated("Mayors(m)", in: "Cities(1)/Mayor"), "mandatoryEnd",
            "Mayors(1)", "Mayors/City", advice: "Mayors(1)", "another", "same change set"),
        .allowed(
            .createRelatedEntity, mayor, .move, .createRelated("Cities(c)", in: "Mayors(1)/City"), "1- 2-2 3- c-1",
            .post("Cities", name, .bind("Mayor", "Mayors(1)"))),
        .allowed(
            .setAndUpdate, city, .move, .update("Cities(3)", set: ["Mayor": ["Mayors(1)"]]), "1- 2-2 3-1",
            .change("Cities(3)", .bind("Mayor", "Mayors(1)"))),
        .allowed(
            .setAndUpdate, mayor, .move, .update("Mayors(1)", set: ["City": ["Cities(3)"]]), "1- 2-2 3-1",
            .change("Mayors(1)", .bind("City", "Cities(3)"))),
        .allowed(
            .setAndUpdate, mayor, .move, .update("Mayors(1)", set: ["City": ["Cities(c)"]]), "1- 2-2 3- c-1",
            .post("Cities", name, .bind("Mayor", "Mayors(1)"))),
        .refused(
            .constraintOnCreate, mayor, .move, .create("Mayors(m)", ["CityID": 1]), "mandatoryEnd", "Mayors(1)",
            "Mayors/City", advice: "Mayors(1)", "another", "same change set"),
        .allowed(
            .constraintOnUpdate, mayor, .move, .update("Mayors(1)", ["CityID": 3]), "1- 2-2 3-1",
            .change("Mayors(1)", .value("CityID", 3))),
        .refused(
            .contentID, mayor, .move, .changeSet([.delete("Cities(3)"), .update("Mayors(1)", ["CityID": 3])]),
            "entityNotFound", "Mayors/CityID", "Cities(3)", "deleted", advice: "another entity of Cities"),
        .refused(
            .constraintOnUpdate, mayor, .move, .update("Mayors(1)", ["CityID": 2]), "mandatoryEnd", "Mayors(2)",
            "Mayors/City", advice: "Mayors(2)", "another", "same change set"),
        .allowed(
            .contentID, mayor, .move,
            .changeSet([.updateLink("Mayors(1)/City", "Cities(2)"), .updateLink("Mayors(2)/City", "Cities(1)")]),
            "1-2 2-1 3-",
            .setLink("Mayors(1)/City", "Cities(2)"), .setLink("Mayors(2)/City", "Cities(1)")),
        .allowed(
            .contentID, mayor, .move,
            .changeSet([.update("Mayors(1)", ["CityID": 2]), .update("Mayors(2)", ["CityID": 3])]), "1- 2-1 3-2",
            .change("Mayors(1)", .value("CityID", 2)), .change("Mayors(2)", .value("CityID", 3))),
        .allowed(
            .contentID, city, .move,
            .changeSet([.updateLink("Cities(2)/Mayor", "Mayors(1)"), .delete("Mayors(2)")]), "1- 2-1 3-",
            .setLink("Cities(2)/Mayor", "Mayors(1)"), .delete("Mayors(2)")),
        .allowed(
            .contentID, city, .move,
            .changeSet([
                .createRelated("Mayors(m)", in: "Cities(2)/Mayor"), .updateLink("Mayors(2)/City", "Cities(3)"),
            ]), "1-1 2-m 3-2",
            .post("Mayors", name, .bind("City", "Cities(2)")), .setLink("Mayors(2)/City", "Cities(3)")),
        .allowed(
            .contentID, mayor, .move,
            .changeSet([.create("Cities(c)"), .updateLink("Mayors(1)/City", "Cities(c)"), .delete("Cities(1)")]),
            "2-2 3- c-1",
            .post("Cities", name), .setLink("Mayors(1)/City", "$1"), .delete("Cities(1)")
        )
        .inV2([[.post("Cities", name), .setLink("$1/Mayor", "Mayors(1)"), .delete("Cities(1)")]]),
    ]

    private static let delete: [Cell] = [
        .refused(
            .deleteLink, city, .delete, .deleteLink("Cities(1)/Mayor", "Mayors(1)"), "mandatoryEnd", "Mayors(1)",
            "Mayors/City", "multiplicity 1", advice: "Mayors(1)", "another"),
        .refused(
            .deleteLink, city, .delete, .deleteLink("Cities(1)/Mayor"), "mandatoryEnd", "Mayors(1)", "Mayors/City",
            advice: "Mayors(1)", "another"),
        .refused(
            .deleteLink, mayor, .delete, .deleteLink("Mayors(1)/City", "Cities(1)"), "mandatoryEnd", "Mayors(1)",
            "Mayors/City", advice: "Mayors(1)", "another"),
        .refused(
            .deleteLink, mayor, .delete, .deleteLink("Mayors(1)/City"), "mandatoryEnd", "Mayors(1)", "Mayors/City",
            advice: "Mayors(1)", "another"),
        // The property is not nullable.
        .refused(
            .constraintOnUpdate, mayor, .delete, .update("Mayors(1)", ["CityID": nil]), "typeMismatch",
            "Mayors/CityID"),
        .refused(
            .deleteEntity, city, .delete, .delete("Cities(1)"), "mandatoryEnd", "Mayors(1)", "Mayors/City",
            "Cities(1)", advice: "delete of Mayors(1)", "same change set"),
        .allowed(.deleteEntity, city, .delete, .delete("Cities(3)"), "1-1 2-2", .delete("Cities(3)")),
        .allowed(.deleteEntity, mayor, .delete, .delete("Mayors(1)"), "1- 2-2 3-", .delete("Mayors(1)")),
        .allowed(
            .contentID, city, .delete, .changeSet([.delete("Cities(1)"), .delete("Mayors(1)")]), "2-2 3-",
            .delete("Cities(1)"), .delete("Mayors(1)")),
        .allowed(
            .contentID, mayor, .delete,
            .changeSet([.deleteLink("Mayors(1)/City"), .createLink("Cities(3)/Mayor", "Mayors(1)")]), "1- 2-2 3-1",
            .removeLink("Mayors(1)/City"), .setLink("Cities(3)/Mayor", "Mayors(1)")),
        .refused(
            .contentID, mayor, .delete,
            .changeSet([.deleteLink("Mayors(1)/City"), .deleteLink("Mayors(2)/City")]), "mandatoryEnd", "Mayors(1)",
            "Mayors/City", advice: "Mayors(1)", "another"),
    ]
}
