import EDM
import Testing

@Suite struct `A policy of compatibility` {
    typealias Edit = CompatibilityDocument.Edit

    static let edits = CompatibilityDocument.current.edits

    static func incompatible(_ edits: [Edit], _ policy: CompatibilityPolicy) throws -> [ModelChange] {
        let document = CompatibilityDocument.current
        let difference = ModelDifference(from: try document.model, to: try document.model(with: edits))
        return policy.incompatibleChanges(in: difference)
    }

    private static func isRemoval(_ change: ModelChange) -> Bool { change.kind == .removed }

    @Test func `is tried on each rule`() {
        #expect(Set(Self.edits.map(\.rule)) == Set(CompatibilityRule.allCases))
    }

    @Test(arguments: edits)
    func `refuses by itself whatever is not one of the five compatible additions`(edit: Edit) throws {
        let rules: Set<CompatibilityRule> = [
            .propertyAdded, .typeAdded, .entitySetAdded, .operationAdded, .nullableParameterAppended,
        ]
        let incompatible = try Self.incompatible([edit], CompatibilityPolicy())
        #expect(incompatible.map(\.description) == (rules.contains(edit.rule) ? [] : [edit.line]))
        #expect(incompatible.allSatisfy { !$0.rule.isCompatible })
    }

    @Test func `with open enumerations lets members be added, and nothing else`() throws {
        let without = try Self.incompatible(Self.edits, CompatibilityPolicy())
        let with = try Self.incompatible(Self.edits, CompatibilityPolicy(hasOpenEnumerations: true))
        #expect(with == without.filter { $0.rule != .memberAdded })
        #expect(with.count == without.count - 1)
    }

    @Test func `that lets anything change refuses removals only`() throws {
        let changes = try Self.incompatible(Self.edits, CompatibilityPolicy(canChangeAnything: true))
        #expect(changes == (try Self.incompatible(Self.edits, CompatibilityPolicy())).filter(Self.isRemoval))
        #expect(!changes.isEmpty)
    }

    @Test func `that lets anything be removed refuses the rest`() throws {
        let changes = try Self.incompatible(Self.edits, CompatibilityPolicy(canRemoveAnything: true))
        #expect(changes == (try Self.incompatible(Self.edits, CompatibilityPolicy())).filter { !Self.isRemoval($0) })
        #expect(!changes.isEmpty)
    }

    @Test func `lets go the elements that it names and no other`() throws {
        let removals = try Self.incompatible(Self.edits, CompatibilityPolicy(canChangeAnything: true))
        let policy = CompatibilityPolicy(canChangeAnything: true, removable: ["S.Customer/Phone", "S.E/Me"])
        let rest = try Self.incompatible(Self.edits, policy)
        #expect(Set(removals).subtracting(rest).map(\.path).sorted() == ["S.Customer/Phone", "S.E/Me"])
    }

    @Test func `does not let a property go because its type may`() throws {
        let edits = Self.edits.filter { $0.line == "Property S.Customer/Phone: removed" }
        #expect(try Self.incompatible(edits, CompatibilityPolicy(removable: ["S.Customer"])).count == 1)
    }

    @Test func `cannot approve of another protocol`() throws {
        let difference = ModelDifference(
            from: try CompatibilityDocument.legacy.model, to: try CompatibilityDocument.current.model)
        let policy = CompatibilityPolicy(hasOpenEnumerations: true, canChangeAnything: true, canRemoveAnything: true)
        #expect(policy.incompatibleChanges(in: difference) == difference.changes)
        #expect(difference.changes.count == 1)
    }

    // MARK: Parameters

    static func action(_ parameters: [String]) throws -> EntityDataModel {
        let text = parameters.map { #"<Parameter Name="\#($0)" Type="Edm.Int32"/>"# }.joined()
        return try .v4(#"<Action Name="A">\#(text)</Action>"#)
    }

    @Test(arguments: [
        (["a"], ["a", "b", "c"], []), ([], ["a"], []), (["a"], ["b", "a"], ["S.A()/b"]),
        (["a", "z"], ["a", "b", "z", "c"], ["S.A()/b"]),
        (["a", "b"], ["a", "c"], ["S.A()/b"]),
    ])
    func `lets nullable parameters be added behind the others only`(
        old: [String], new: [String], refused: [String]
    ) throws {
        let difference = ModelDifference(from: try Self.action(old), to: try Self.action(new))
        #expect(CompatibilityPolicy().incompatibleChanges(in: difference).map(\.path) == refused)
    }

    @Test func `gives a sentence of its own for each rule`() {
        let sentences = CompatibilityRule.allCases.map(\.description)
        #expect(Set(sentences).count == sentences.count)
        #expect(sentences.allSatisfy { $0.hasSuffix(".") })
    }
}
