extension Combination {
    static let ownersAndCars = Combination(
        row: "CM-03", multiplicities: "1 – 1",
        first: End(set: "Owners", navigation: "Car", label: "Name"),
        second: End(set: "Cars", navigation: "Owner", label: "Model", constraint: "OwnerID"),
        links: "1-1 2-2",
        rule: """
            Neither end ever lacks a partner. Both are created together, by a deep insert or in one change set; both \
            are deleted together; and links change only as an exchange, in one change set. The metadata allow \
            `OwnerID` to be null, but the multiplicity decides.
            """,
        cells: create + move + delete,
        meaningless: [
            Meaningless([.replaceLinks], why: "Both ends are single-valued: `updateLink` replaces the target."),
            Meaningless(
                [.createLink, .updateLink, .bindBeforeUpdate, .setAndUpdate], aim: .create,
                why: "An existing entity has a partner: linking means moving."),
            Meaningless([.constraintOnUpdate], end: car, aim: .create, why: "An existing car has an owner."),
            Meaningless(
                [.bindBeforeCreate, .createRelatedEntity], aim: .move,
                why: "As for a creation: an existing entity has a partner, which would be replaced."),
            Meaningless([.separateCalls], why: "The first call would be refused: see createEntity alone."),
            Meaningless(
                [.constraintOnCreate], end: car, aim: .move,
                why: "As for a creation: every owner has a car, which would be replaced."),
            Meaningless(
                [.constraintOnCreate, .constraintOnUpdate], end: owner,
                why: "`OwnerID`, the foreign key, is a property of cars."),
        ])

    private static let (owner, car) = ("Owners/Car", "Cars/Owner")
    private static let (name, model) = (Wanted.Member.text("Name", "new"), Wanted.Member.text("Model", "new"))

    private static func half(_ technique: Technique, _ end: String, _ aim: Aim, _ call: Call, pushesOut: String) -> Cell
    {
        let place = pushesOut.hasPrefix("Cars") ? "Cars/Owner" : "Owners/Car"
        return .refused(
            technique, end, aim, call, "mandatoryEnd", pushesOut, place, "multiplicity 1",
            advice: pushesOut, "another", "same change set")
    }

    private static let create: [Cell] = [
        .refused(
            .plainCreate, owner, .create, .create("Owners(o)"), "mandatoryEnd", "new Owners(", "Owners/Car",
            "multiplicity 1", advice: "Cars", "change set"),
        .refused(
            .plainCreate, car, .create, .create("Cars(c)"), "mandatoryEnd", "new Cars(", "Cars/Owner",
            "multiplicity 1", advice: "Owners", "change set"),
        // Every existing entity has a partner, which would be left without one.
        half(.bindBeforeCreate, owner, .create, .create("Owners(o)", bind: ["Car": "Cars(1)"]), pushesOut: "Owners(1)"),
        half(.bindBeforeCreate, car, .create, .create("Cars(c)", bind: ["Owner": "Owners(1)"]), pushesOut: "Cars(1)"),
        half(
            .createRelatedEntity, owner, .create, .createRelated("Cars(c)", in: "Owners(1)/Car"), pushesOut: "Cars(1)"),
        half(
            .createRelatedEntity, car, .create, .createRelated("Owners(o)", in: "Cars(1)/Owner"),
            pushesOut: "Owners(1)"),
        half(.constraintOnCreate, car, .create, .create("Cars(c)", ["OwnerID": 1]), pushesOut: "Cars(1)"),
        .allowed(
            .deepInsert, owner, .create, .create("Owners(o)", set: ["Car": ["Cars(c)"]]), "1-1 2-2 o-c",
            .post("Owners", name, .inline("Car", [model]))),
        .allowed(
            .deepInsert, car, .create, .create("Cars(c)", set: ["Owner": ["Owners(o)"]]), "1-1 2-2 o-c",
            .post("Cars", model, .inline("Owner", [name]))),
        .allowed(
            .contentID, owner, .create,
            .changeSet([.create("Owners(o)"), .create("Cars(c)"), .createLink("Owners(o)/Car", "Cars(c)")]),
            "1-1 2-2 o-c",
            .post("Owners", name), .post("Cars", model), .setLink("$1/Car", "$2")
        )
        .inV2([[.post("Cars", model, .inline("Owner", [name]))]]),
        .allowed(
            .contentID, owner, .create,
            .changeSet([.create("Owners(o)"), .createRelated("Cars(c)", in: "Owners(o)/Car")]), "1-1 2-2 o-c",
            .post("Owners", name), .post("Cars", model, .bind("Owner", "$1"))
        )
        .inV2([[.post("Owners", name, .inline("Car", [model]))]]),
        .allowed(
            .contentID, car, .create,
            .changeSet([.create("Owners(o)"), .create("Cars(c)", bind: ["Owner": "Owners(o)"])]), "1-1 2-2 o-c",
            .post("Owners", name), .post("Cars", model, .bind("Owner", "$1"))
        )
        .inV2([[.post("Cars", model, .inline("Owner", [name]))]]),
        .allowed(
            .contentID, car, .create,
            .changeSet([.create("Cars(c)"), .create("Owners(o)"), .updateLink("Cars(c)/Owner", "Owners(o)")]),
            "1-1 2-2 o-c",
            .post("Cars", model), .post("Owners", name), .setLink("$1/Owner", "$2")
        )
        .inV2([[.post("Owners", name, .inline("Car", [model]))]]),
        .refused(
            .contentID, car, .create, .changeSet([.create("Owners(o)"), .create("Cars(c)")]), "mandatoryEnd",
            "new Owners(", "Owners/Car", "multiplicity 1", advice: "Cars", "change set"),
    ]

    private static let move: [Cell] = [
        half(.createLink, owner, .move, .createLink("Owners(1)/Car", "Cars(2)"), pushesOut: "Cars(1)"),
        half(.createLink, car, .move, .createLink("Cars(1)/Owner", "Owners(2)"), pushesOut: "Owners(1)"),
        half(.updateLink, owner, .move, .updateLink("Owners(1)/Car", "Cars(2)"), pushesOut: "Cars(1)"),
        half(.updateLink, car, .move, .updateLink("Cars(1)/Owner", "Owners(2)"), pushesOut: "Owners(1)"),
        half(
            .bindBeforeUpdate, owner, .move, .update("Owners(1)", bind: ["Car": "Cars(2)"]), pushesOut: "Cars(1)"),
        half(
            .bindBeforeUpdate, car, .move, .update("Cars(1)", bind: ["Owner": "Owners(2)"]), pushesOut: "Owners(1)"),
        half(.setAndUpdate, owner, .move, .update("Owners(1)", set: ["Car": ["Cars(2)"]]), pushesOut: "Cars(1)"),
        half(.setAndUpdate, car, .move, .update("Cars(1)", set: ["Owner": ["Owners(2)"]]), pushesOut: "Owners(1)"),
        half(.setAndUpdate, car, .move, .update("Cars(1)", set: ["Owner": ["Owners(o)"]]), pushesOut: "Owners(1)"),
        half(.constraintOnUpdate, car, .move, .update("Cars(1)", ["OwnerID": 2]), pushesOut: "Owners(1)"),
        .allowed(
            .contentID, car, .move,
            .changeSet([.updateLink("Cars(1)/Owner", "Owners(2)"), .updateLink("Cars(2)/Owner", "Owners(1)")]),
            "1-2 2-1",
            .setLink("Cars(1)/Owner", "Owners(2)"), .setLink("Cars(2)/Owner", "Owners(1)")),
        .allowed(
            .contentID, owner, .move,
            .changeSet([.createLink("Owners(1)/Car", "Cars(2)"), .createLink("Owners(2)/Car", "Cars(1)")]), "1-2 2-1",
            .setLink("Owners(1)/Car", "Cars(2)"), .setLink("Owners(2)/Car", "Cars(1)")),
        .allowed(
            .contentID, car, .move,
            .changeSet([.update("Cars(1)", bind: ["Owner": "Owners(2)"]), .update("Cars(2)", ["OwnerID": 1])]),
            "1-2 2-1",
            .change("Cars(1)", .bind("Owner", "Owners(2)")), .change("Cars(2)", .value("OwnerID", 1))),
        // The new partner of one entity is created, and the old partner is deleted.
        .allowed(
            .contentID, car, .move,
            .changeSet([.createRelated("Owners(o)", in: "Cars(1)/Owner"), .delete("Owners(1)")]), "2-2 o-1",
            .post("Owners", name, .bind("Car", "Cars(1)")), .delete("Owners(1)")),
        half(
            .contentID, owner, .move,
            .changeSet([.updateLink("Owners(1)/Car", "Cars(2)"), .delete("Owners(2)")]), pushesOut: "Cars(1)"),
    ]

    private static let delete: [Cell] = [
        .refused(
            .deleteLink, owner, .delete, .deleteLink("Owners(1)/Car", "Cars(1)"), "mandatoryEnd", "multiplicity 1",
            advice: "another"),
        .refused(.deleteLink, owner, .delete, .deleteLink("Owners(1)/Car"), "mandatoryEnd", advice: "another"),
        .refused(
            .deleteLink, car, .delete, .deleteLink("Cars(1)/Owner", "Owners(1)"), "mandatoryEnd", advice: "another"),
        .refused(.deleteLink, car, .delete, .deleteLink("Cars(1)/Owner"), "mandatoryEnd", advice: "another"),
        .refused(
            .constraintOnUpdate, car, .delete, .update("Cars(1)", ["OwnerID": nil]), "mandatoryEnd", "multiplicity 1",
            advice: "another"),
        .refused(
            .deleteEntity, owner, .delete, .delete("Owners(1)"), "mandatoryEnd", "Cars(1)", "Cars/Owner", "Owners(1)",
            advice: "Add the delete of Cars(1) to the same change set"),
        .refused(
            .deleteEntity, car, .delete, .delete("Cars(1)"), "mandatoryEnd", "Owners(1)", "Owners/Car", "Cars(1)",
            advice: "Add the delete of Owners(1) to the same change set"),
        .allowed(
            .contentID, owner, .delete, .changeSet([.delete("Owners(1)"), .delete("Cars(1)")]), "2-2",
            .delete("Owners(1)"), .delete("Cars(1)")),
        .allowed(
            .contentID, car, .delete, .changeSet([.delete("Cars(1)"), .delete("Owners(1)")]), "2-2",
            .delete("Cars(1)"), .delete("Owners(1)")),
        // The sample of the guide to relationships, which contradicts the guide's text.
        .refused(
            .contentID, car, .delete,
            .changeSet([.deleteLink("Cars(1)/Owner", "Owners(1)"), .deleteLink("Cars(2)/Owner", "Owners(2)")]),
            "mandatoryEnd", "multiplicity 1", advice: "another"),
    ]
}
