extension Combination {
    static let personsAndIDCards = Combination(
        row: "CM-01", multiplicities: "0..1 – 0..1",
        first: End(set: "Persons", navigation: "IDCard", label: "Name"),
        second: End(set: "IDCards", navigation: "Person", label: "Number", constraint: "PersonID"),
        links: "1-1 2- -2",
        rule: """
            Neither end needs the other, so everything is allowed. If an end that has a partner gets another one, the \
            old partner becomes free: one request makes the new link, and the service removes the old one.
            """,
        cells: create + separate + move + delete,
        meaningless: [
            Meaningless([.replaceLinks], why: "Both ends are single-valued: `updateLink` replaces the target."),
            Meaningless(
                [.constraintOnCreate], end: "Persons/IDCard",
                why: "`PersonID`, the foreign key, is a property of ID cards."),
            Meaningless(
                [.constraintOnUpdate], end: "Persons/IDCard",
                why: "`PersonID`, the foreign key, is a property of ID cards."),
            Meaningless([.plainCreate], why: "Neither end is mandatory, so creation alone is always allowed."),
        ])

    private static let (person, card) = ("Persons/IDCard", "IDCards/Person")
    private static let (name, number) = (Wanted.Member.text("Name", "new"), Wanted.Member.text("Number", "new"))

    private static let create: [Cell] = [
        .allowed(
            .createLink, person, .create, .createLink("Persons(2)/IDCard", "IDCards(2)"), "1-1 2-2",
            .setLink("Persons(2)/IDCard", "IDCards(2)")),
        .allowed(
            .createLink, card, .create, .createLink("IDCards(2)/Person", "Persons(2)"), "1-1 2-2",
            .setLink("IDCards(2)/Person", "Persons(2)")),
        .allowed(
            .updateLink, person, .create, .updateLink("Persons(2)/IDCard", "IDCards(2)"), "1-1 2-2",
            .setLink("Persons(2)/IDCard", "IDCards(2)")),
        .allowed(
            .updateLink, card, .create, .updateLink("IDCards(2)/Person", "Persons(2)"), "1-1 2-2",
            .setLink("IDCards(2)/Person", "Persons(2)")),
        .allowed(
            .bindBeforeCreate, person, .create, .create("Persons(a)", bind: ["IDCard": "IDCards(2)"]), "1-1 2- a-2",
            .post("Persons", name, .bind("IDCard", "IDCards(2)"))),
        .allowed(
            .bindBeforeCreate, card, .create, .create("IDCards(b)", bind: ["Person": "Persons(2)"]), "1-1 2-b -2",
            .post("IDCards", number, .bind("Person", "Persons(2)"))),
        .allowed(
            .bindBeforeUpdate, person, .create, .update("Persons(2)", bind: ["IDCard": "IDCards(2)"]), "1-1 2-2",
            .change("Persons(2)", .bind("IDCard", "IDCards(2)"))),
        .allowed(
            .bindBeforeUpdate, card, .create, .update("IDCards(2)", bind: ["Person": "Persons(2)"]), "1-1 2-2",
            .change("IDCards(2)", .bind("Person", "Persons(2)"))),
        .allowed(
            .createRelatedEntity, person, .create, .createRelated("IDCards(b)", in: "Persons(2)/IDCard"), "1-1 2-b -2",
            .post("IDCards", number, .bind("Person", "Persons(2)"))),
        .allowed(
            .createRelatedEntity, card, .create, .createRelated("Persons(a)", in: "IDCards(2)/Person"), "1-1 2- a-2",
            .post("Persons", name, .bind("IDCard", "IDCards(2)"))),
        .allowed(
            .deepInsert, person, .create, .create("Persons(a)", set: ["IDCard": ["IDCards(b)"]]), "1-1 2- a-b -2",
            .post("Persons", name, .inline("IDCard", [number]))),
        .allowed(
            .deepInsert, card, .create, .create("IDCards(b)", set: ["Person": ["Persons(a)"]]), "1-1 2- a-b -2",
            .post("IDCards", number, .inline("Person", [name]))),
        .allowed(
            .setAndUpdate, person, .create, .update("Persons(2)", set: ["IDCard": ["IDCards(2)"]]), "1-1 2-2",
            .change("Persons(2)", .bind("IDCard", "IDCards(2)"))),
        .allowed(
            .setAndUpdate, card, .create, .update("IDCards(2)", set: ["Person": ["Persons(2)"]]), "1-1 2-2",
            .change("IDCards(2)", .bind("Person", "Persons(2)"))),
        .allowed(
            .setAndUpdate, person, .create, .update("Persons(2)", set: ["IDCard": ["IDCards(b)"]]), "1-1 2-b -2",
            .post("IDCards", number, .bind("Person", "Persons(2)"))),
        .allowed(
            .constraintOnCreate, card, .create, .create("IDCards(b)", ["PersonID": 2]), "1-1 2-b -2",
            .post("IDCards", number, .value("PersonID", 2))),
        .allowed(
            .constraintOnUpdate, card, .create, .update("IDCards(2)", ["PersonID": 2]), "1-1 2-2",
            .change("IDCards(2)", .value("PersonID", 2))),
        .allowed(
            .contentID, person, .create,
            .changeSet([.create("Persons(a)"), .create("IDCards(b)"), .createLink("Persons(a)/IDCard", "IDCards(b)")]),
            "1-1 2- a-b -2",
            .post("Persons", name), .post("IDCards", number), .setLink("$1/IDCard", "$2")
        )
        .inV2([[.post("IDCards", number, .inline("Person", [name]))]]),
        .allowed(
            .contentID, card, .create,
            .changeSet([.create("Persons(a)"), .createRelated("IDCards(b)", in: "Persons(a)/IDCard")]), "1-1 2- a-b -2",
            .post("Persons", name), .post("IDCards", number, .bind("Person", "$1"))
        )
        .inV2([[.post("Persons", name, .inline("IDCard", [number]))]]),
    ]

    private static let separate: [Cell] = [
        .allowed(
            .separateCalls, person, .create,
            .calls([.create("Persons(a)"), .create("IDCards(b)"), .createLink("Persons(a)/IDCard", "IDCards(b)")]),
            "1-1 2- a-b -2",
            .post("Persons", name), .post("IDCards", number), .setLink("$1/IDCard", "$2")
        )
        .inV2([[.post("Persons", name)], [.post("IDCards", number)]], [[.setLink("Persons(3)/IDCard", "IDCards(3)")]]),
        .allowed(
            .separateCalls, card, .create,
            .calls([.create("Persons(a)"), .create("IDCards(b)", bind: ["Person": "Persons(a)"])]), "1-1 2- a-b -2",
            .post("Persons", name), .post("IDCards", number, .bind("Person", "$1"))
        )
        .inV2([[.post("Persons", name)]], [[.post("IDCards", number, .bind("Person", "Persons(3)"))]]),
    ]

    private static let move: [Cell] = [
        .allowed(
            .createLink, person, .move, .createLink("Persons(1)/IDCard", "IDCards(2)"), "1-2 2- -1",
            .setLink("Persons(1)/IDCard", "IDCards(2)")),
        .allowed(
            .createLink, card, .move, .createLink("IDCards(1)/Person", "Persons(2)"), "1- 2-1 -2",
            .setLink("IDCards(1)/Person", "Persons(2)")),
        .allowed(
            .updateLink, person, .move, .updateLink("Persons(2)/IDCard", "IDCards(1)"), "1- 2-1 -2",
            .setLink("Persons(2)/IDCard", "IDCards(1)")),
        .allowed(
            .updateLink, card, .move, .updateLink("IDCards(2)/Person", "Persons(1)"), "1-2 2- -1",
            .setLink("IDCards(2)/Person", "Persons(1)")),
        .allowed(
            .bindBeforeCreate, person, .move, .create("Persons(a)", bind: ["IDCard": "IDCards(1)"]), "1- 2- a-1 -2",
            .post("Persons", name, .bind("IDCard", "IDCards(1)"))),
        .allowed(
            .bindBeforeCreate, card, .move, .create("IDCards(b)", bind: ["Person": "Persons(1)"]), "1-b 2- -1 -2",
            .post("IDCards", number, .bind("Person", "Persons(1)"))),
        .allowed(
            .bindBeforeUpdate, person, .move, .update("Persons(1)", bind: ["IDCard": "IDCards(2)"]), "1-2 2- -1",
            .change("Persons(1)", .bind("IDCard", "IDCards(2)"))),
        .allowed(
            .bindBeforeUpdate, card, .move, .update("IDCards(1)", bind: ["Person": "Persons(2)"]), "1- 2-1 -2",
            .change("IDCards(1)", .bind("Person", "Persons(2)"))),
        .allowed(
            .createRelatedEntity, person, .move, .createRelated("IDCards(b)", in: "Persons(1)/IDCard"), "1-b 2- -1 -2",
            .post("IDCards", number, .bind("Person", "Persons(1)"))),
        .allowed(
            .createRelatedEntity, card, .move, .createRelated("Persons(a)", in: "IDCards(1)/Person"), "1- 2- a-1 -2",
            .post("Persons", name, .bind("IDCard", "IDCards(1)"))),
        .allowed(
            .setAndUpdate, person, .move, .update("Persons(1)", set: ["IDCard": ["IDCards(2)"]]), "1-2 2- -1",
            .change("Persons(1)", .bind("IDCard", "IDCards(2)"))),
        .allowed(
            .setAndUpdate, card, .move, .update("IDCards(1)", set: ["Person": ["Persons(a)"]]), "1- 2- a-1 -2",
            .post("Persons", name, .bind("IDCard", "IDCards(1)"))),
        .allowed(
            .constraintOnCreate, card, .move, .create("IDCards(b)", ["PersonID": 1]), "1-b 2- -1 -2",
            .post("IDCards", number, .value("PersonID", 1))),
        .allowed(
            .constraintOnUpdate, card, .move, .update("IDCards(1)", ["PersonID": 2]), "1- 2-1 -2",
            .change("IDCards(1)", .value("PersonID", 2))),
        .allowed(
            .constraintOnUpdate, card, .move, .update("IDCards(2)", ["PersonID": 1]), "1-2 2- -1",
            .change("IDCards(2)", .value("PersonID", 1))),
        .allowed(
            .contentID, person, .move,
            .changeSet([.create("IDCards(b)"), .updateLink("Persons(1)/IDCard", "IDCards(b)")]), "1-b 2- -1 -2",
            .post("IDCards", number), .setLink("Persons(1)/IDCard", "$1")
        )
        .inV2([[.post("IDCards", number), .setLink("$1/Person", "Persons(1)")]]),
        .allowed(
            .contentID, card, .move,
            .changeSet([.create("Persons(a)"), .update("IDCards(1)", bind: ["Person": "Persons(a)"])]), "1- 2- a-1 -2",
            .post("Persons", name), .change("IDCards(1)", .bind("Person", "$1"))
        )
        .inV2([[.post("Persons", name), .setLink("$1/IDCard", "IDCards(1)")]]),
    ]

    private static let delete: [Cell] = [
        .allowed(
            .deleteLink, person, .delete, .deleteLink("Persons(1)/IDCard", "IDCards(1)"), "1- 2- -1 -2",
            .removeLink("Persons(1)/IDCard")),
        .allowed(
            .deleteLink, person, .delete, .deleteLink("Persons(1)/IDCard"), "1- 2- -1 -2",
            .removeLink("Persons(1)/IDCard")),
        .allowed(
            .deleteLink, card, .delete, .deleteLink("IDCards(1)/Person"), "1- 2- -1 -2",
            .removeLink("IDCards(1)/Person")),
        .refused(
            .deleteLink, person, .delete, .deleteLink("Persons(2)/IDCard"), "linkNotFound", "Persons(2)", "IDCard"),
        .refused(
            .deleteLink, card, .delete, .deleteLink("IDCards(1)/Person", "Persons(2)"), "linkNotFound", "IDCards(1)",
            "Persons(2)"),
        .allowed(
            .constraintOnUpdate, card, .delete, .update("IDCards(1)", ["PersonID": nil]), "1- 2- -1 -2",
            .change("IDCards(1)", .value("PersonID", nil))),
        .allowed(.deleteEntity, person, .delete, .delete("Persons(1)"), "2- -1 -2", .delete("Persons(1)")),
        .allowed(.deleteEntity, card, .delete, .delete("IDCards(1)"), "1- 2- -2", .delete("IDCards(1)")),
        .allowed(
            .contentID, person, .delete, .changeSet([.delete("Persons(1)"), .delete("IDCards(1)")]), "2- -2",
            .delete("Persons(1)"), .delete("IDCards(1)")),
        .allowed(
            .contentID, card, .delete,
            .changeSet([.deleteLink("IDCards(1)/Person"), .createLink("IDCards(1)/Person", "Persons(2)")]), "1- 2-1 -2",
            .setLink("IDCards(1)/Person", "Persons(2)")),
    ]
}
