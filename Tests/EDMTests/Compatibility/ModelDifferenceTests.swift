import EDM
import SeededRandom
import Testing

@Suite struct `Differences of metadata documents` {
    static let documents = [CompatibilityDocument.current, CompatibilityDocument.legacy]
    static let edits = documents.flatMap { document in document.edits.map { (document, $0) } }

    @Test(arguments: edits)
    func `each change is reported once, with its rule`(
        document: CompatibilityDocument, edit: CompatibilityDocument.Edit
    ) throws {
        let difference = ModelDifference(from: try document.model, to: try document.model(with: [edit]))
        #expect(difference.changes.map(\.description) == [edit.line])
        #expect(difference.changes.map(\.rule) == [edit.rule])
    }

    @Test(arguments: edits)
    func `the difference in the opposite direction reports additions for removals`(
        document: CompatibilityDocument, edit: CompatibilityDocument.Edit
    ) throws {
        let there = ModelDifference(from: try document.model, to: try document.model(with: [edit]))
        let back = ModelDifference(from: try document.model(with: [edit]), to: try document.model)
        // The paths are not compared, because a changed overload has the path that it had before.
        #expect(back.removed.count == there.extensions.count)
        #expect(back.extensions.count == there.removed.count)
        #expect(back.changes.count == 1)
    }

    @Test(arguments: documents)
    func `each change of a random mix is reported once, regardless of the order of elements`(
        document: CompatibilityDocument
    ) throws {
        let seed = UInt64.testSeed()
        var random = SeededRandom(seed: seed)
        for _ in 0..<200 {
            let edits = document.edits.filter { _ in Bool.random(using: &random) }
            let order = document.elements.indices.shuffled(using: &random)
            let new = try document.model(with: edits.shuffled(using: &random), order: order)
            let difference = ModelDifference(from: try document.model, to: new)
            try #require(difference.changes.map(\.description).sorted() == edits.map(\.line).sorted(), "seed \(seed)")
            #expect(difference.changes == difference.changes.sorted(), "seed \(seed)")
        }
    }

    // MARK: Differences that are not changes

    @Test(arguments: [
        (#"Name="Phone" Type="Edm.String""#, #"Name="Phone" Type="Edm.String" Unicode="true""#),
        (#"Name="Phone" Type="Edm.String""#, #"Name="Phone" Type="Edm.String" Nullable="true""#),
        (#"Precision="12""#, #"Precision="12" Scale="0""#),
        (#"Name="Birth" Type="Edm.DateTimeOffset""#, #"Name="Birth" Type="Edm.DateTimeOffset" Precision="0""#),
        (#"Name="Color" Type="S.Color""#, #"Name="Color" Type="Self.Color""#),
        ("<!--customer-->", #"<Annotation Term="Core.Description" String="Somebody"/>"#),
        (#"<ComplexType Name="Loose"/>"#, #"<ComplexType Name="Loose"/><Term Name="T" Type="Edm.String"/>"#),
        (#"Name="Customer" BaseType="S.Party""#, #"Name="Customer" BaseType="S.Party" Abstract="false""#),
    ])
    func `different notations of the same declaration are not a difference`(old: String, new: String) throws {
        let document = CompatibilityDocument.current
        let edited = try document.model(with: [.init(old, new, "", .anythingElse)])
        #expect(ModelDifference(from: try document.model, to: edited).isEmpty)
    }

    @Test func `the order of the ends of an association is not a difference`() throws {
        let document = CompatibilityDocument.legacy
        let left = #"<End Role="Left" Type="S.Order" Multiplicity="0..1"/>"#
        let right = #"<End Role="Right" Type="S.Order" Multiplicity="0..1"/>"#
        let edited = try document.model(with: [.init(left + right, right + left, "", .anythingElse)])
        #expect(ModelDifference(from: try document.model, to: edited).isEmpty)
    }

    // MARK: Consequences of other changes

    @Test func `a new navigation property with partner and binding is one addition`() throws {
        let type = CSDLSource.entityType("A", "<!--a-->") + CSDLSource.entityType("B", "<!--b-->")
        let sets =
            #"<EntitySet Name="As" EntityType="S.A"/>"#
            + #"<EntitySet Name="Bs" EntityType="S.B"><!--bs--></EntitySet>"#
        let old = type.replacing("<!--a-->", with: #"<NavigationProperty Name="B" Type="S.B"/>"#)
        let new = type.replacing("<!--a-->", with: #"<NavigationProperty Name="B" Type="S.B" Partner="As"/>"#)
            .replacing("<!--b-->", with: #"<NavigationProperty Name="As" Type="Collection(S.A)" Partner="B"/>"#)
        let bound = sets.replacing("<!--bs-->", with: #"<NavigationPropertyBinding Path="As" Target="As"/>"#)
        let difference = ModelDifference(
            from: try .v4(old + #"<EntityContainer Name="E">\#(sets)</EntityContainer>"#),
            to: try .v4(new + #"<EntityContainer Name="E">\#(bound)</EntityContainer>"#))
        #expect(difference.description == "NavigationProperty S.B/As: added")
        #expect(difference.extensions == ["S.B/As", "S.E/Bs/As"])
    }

    @Test func `a new partnership of two existing properties is reported at both properties`() throws {
        let old =
            CSDLSource.entityType("A", #"<NavigationProperty Name="B" Type="S.B"/>"#)
            + CSDLSource.entityType("B", #"<NavigationProperty Name="A" Type="S.A"/>"#)
        let new = old.replacing(#"Type="S.B""#, with: #"Type="S.B" Partner="A""#)
        #expect(
            ModelDifference(from: try .v4(old), to: try .v4(new)).changes.map(\.description) == [
                "NavigationProperty S.A/B: partner is now S.B/A", "NavigationProperty S.B/A: partner is now S.A/B",
            ])
    }

    @Test func `a V2 navigation property with its association and association set is one addition or removal`() throws {
        let document = CompatibilityDocument.legacy
        let without = try document.model(with: [
            .init(
                #"<NavigationProperty Name="Next" Relationship="S.Row" FromRole="Left" ToRole="Right"/>"#, "", "",
                .propertyRemoved),
            .init(document.elements[3], "", "", .elementRemoved),
            .init(
                #"<AssociationSet Name="Rows" Association="S.Row"><End Role="Left" EntitySet="Orders"/>"#
                    + #"<End Role="Right" EntitySet="Orders"/></AssociationSet>"#, "", "", .elementRemoved),
        ])
        let removal = ModelDifference(from: try document.model, to: without)
        #expect(removal.description == "NavigationProperty S.Order/Next: removed")
        #expect(removal.removed == ["S.Order/Next", "S.Row", "S.Row/Left", "S.Row/Right", "S.E/Rows"])
        let addition = ModelDifference(from: without, to: try document.model)
        #expect(addition.description == "NavigationProperty S.Order/Next: added")
        #expect(CompatibilityPolicy().incompatibleChanges(in: addition).isEmpty)
    }

    @Test func `a flag that derived types inherit is reported at the base type only, also if they repeat it`() throws {
        func document(_ base: String, _ derived: String) throws -> EntityDataModel {
            try .v4(
                #"<ComplexType Name="A" \#(base)/><ComplexType Name="B" BaseType="S.A" \#(derived)/>"#
                    + #"<ComplexType Name="C" BaseType="S.B"/>"#)
        }
        let open = #"OpenType="true""#
        let line = "ComplexType S.A: open type changed from false to true"
        #expect(ModelDifference(from: try document("", ""), to: try document(open, "")).description == line)
        #expect(ModelDifference(from: try document("", ""), to: try document(open, open)).description == line)
        #expect(ModelDifference(from: try document(open, open), to: try document(open, "")).isEmpty)
        #expect(
            ModelDifference(from: try document("", ""), to: try document("", open)).description
                == "ComplexType S.B: open type changed from false to true")
    }

    // MARK: Paths

    @Test func `the parts of an added type are extensions, but not changes`() throws {
        let old = CSDLSource.entityType("A")
        let difference = ModelDifference(from: try .v4(old), to: try .v4(old + CSDLSource.entityType("B")))
        #expect(difference.description == "EntityType S.B: added")
        #expect(difference.extensions == ["S.B", "S.B/ID"])
        #expect(difference.removed == [])
    }

    @Test func `a different kind of element with the same name is one change`() throws {
        let old = #"<ComplexType Name="A"><Property Name="P" Type="Edm.Int32"/></ComplexType>"#
        let difference = ModelDifference(from: try .v4(old), to: try .v4(CSDLSource.entityType("A")))
        #expect(difference.description == "ComplexType S.A: kind of element changed from ComplexType to EntityType")
        #expect(difference.changes.map(\.rule) == [.anythingElse])
    }

    @Test func `removed and added overloads are reported individually`() throws {
        func functions(_ types: [String]) throws -> EntityDataModel {
            try .v4(
                types.map {
                    #"<Function Name="F"><Parameter Name="p" Type="\#($0)"/><ReturnType Type="Edm.Int32"/></Function>"#
                }.joined())
        }
        let difference = ModelDifference(
            from: try functions(["Edm.Int16", "Edm.String", "Edm.Guid"]),
            to: try functions(["Edm.Int16", "Edm.Date", "Edm.Int64"]))
        #expect(
            difference.changes.map(\.description) == [
                "Function S.F(Edm.Date): added", "Function S.F(Edm.Guid): removed", "Function S.F(Edm.Int64): added",
                "Function S.F(Edm.String): removed",
            ])
    }

    @Test func `a bound function is distinguished from an unbound one with the same parameters`() throws {
        func function(_ bound: Bool, _ result: String) -> String {
            #"<Function Name="F" IsBound="\#(bound)"><Parameter Name="p" Type="S.C"/>"#
                + #"<ReturnType Type="\#(result)"/></Function>"#
        }
        let type = #"<ComplexType Name="C"/>"#
        let old = try EntityDataModel.v4(type + function(true, "Edm.Int32") + function(false, "Edm.Date"))
        let same = try EntityDataModel.v4(type + function(false, "Edm.Date") + function(true, "Edm.Int32"))
        let other = try EntityDataModel.v4(type + function(false, "Edm.Guid") + function(true, "Edm.Int32"))
        #expect(ModelDifference(from: old, to: same).isEmpty)
        #expect(
            ModelDifference(from: old, to: other).description
                == "ReturnType S.F(S.C)#2/$ReturnType: type changed from Edm.Date to Edm.Guid")
        let bound = try EntityDataModel.v4(type + function(true, "Edm.Int32"))
        let unbound = try EntityDataModel.v4(type + function(false, "Edm.Int32"))
        #expect(
            ModelDifference(from: bound, to: unbound).description
                == "Function S.F(S.C): bound changed from true to false")
    }

    @Test func `documents with duplicate declarations are compared`() throws {
        let twice =
            #"<Action Name="F"><Parameter Name="p" Type="Edm.Int32"/><Parameter Name="p" Type="Edm.Guid"/></Action>"#
        let once = #"<Action Name="F"><Parameter Name="p" Type="Edm.Int32"/></Action>"#
        #expect(ModelDifference(from: try .v4(twice + twice), to: try .v4(twice + twice)).isEmpty)
        #expect(
            ModelDifference(from: try .v4(twice + twice), to: try .v4(once)).changes.map(\.description) == [
                "Action S.F()#2: removed", "Parameter S.F()/p#2: removed",
            ])
    }

    // MARK: Versions

    @Test func `the difference of documents of two protocols consists of the version change only`() throws {
        let difference = ModelDifference(
            from: try CompatibilityDocument.legacy.model, to: try CompatibilityDocument.current.model)
        #expect(difference.description == "Edmx edmx:Edmx: version changed from 2.0 to 4.0")
        #expect(!difference.isComplete)
        #expect(difference.extensions == [])
    }

    @Test func `the difference of two versions of one protocol contains the version change and all other changes`()
        throws
    {
        let new = CSDLSource.v4(CSDLSource.entityType("A"), version: "4.01")
        let difference = ModelDifference(from: try .v4(""), to: try CSDLReader.read(Array(new.utf8)))
        #expect(
            difference.changes.map(\.description) == [
                "EntityType S.A: added", "Edmx edmx:Edmx: version changed from 4.0 to 4.01",
            ])
        #expect(difference.isComplete)
    }
}
