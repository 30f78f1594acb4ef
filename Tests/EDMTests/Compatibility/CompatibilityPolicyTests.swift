import EDM
import Testing

@Suite struct `Compatibility policies` {
    typealias Edit = CompatibilityDocument.Edit

    static let edits = CompatibilityDocument.current.edits

    static func incompatible(_ edits: [Edit], _ policy: CompatibilityPolicy) throws -> [ModelChange] {
        let document = CompatibilityDocument.current
        let difference = ModelDifference(from: try document.model, to: try document.model(with: edits))
        return policy.incompatibleChanges(in: difference)
    }

    private static func isRemoval(_ change: ModelChange) -> Bool { change.kind == .removed }

    @Test func `the edits cover each compatibility rule`() {
        #expect(Set(Self.edits.map(\.rule)) == Set(CompatibilityRule.allCases))
    }

    @Test(arguments: edits)
    func `the default policy refuses every change except the five compatible additions`(edit: Edit) throws {
        let rules: Set<CompatibilityRule> = [
            .propertyAdded, .typeAdded, .entitySetAdded, .operationAdded, .nullableParameterAppended,
        ]
        let incompatible = try Self.incompatible([edit], CompatibilityPolicy())
        #expect(incompatible.map(\.description) == (rules.contains(edit.rule) ? [] : [edit.line]))
        #expect(incompatible.allSatisfy { !$0.rule.isCompatible })
    }

    @Test func `a policy with open enumerations additionally accepts only new members`() throws {
        let without = try Self.incompatible(Self.edits, CompatibilityPolicy())
        let with = try Self.incompatible(Self.edits, CompatibilityPolicy(hasOpenEnumerations: true))
        #expect(with == without.filter { $0.rule != .memberAdded })
        #expect(with.count == without.count - 1)
    }

    @Test func `a policy that accepts all changes refuses only removals`() throws {
        let changes = try Self.incompatible(Self.edits, CompatibilityPolicy(canChangeAnything: true))
        #expect(changes == (try Self.incompatible(Self.edits, CompatibilityPolicy())).filter(Self.isRemoval))
        #expect(!changes.isEmpty)
    }

    @Test func `a policy that accepts all removals refuses all other incompatible changes`() throws {
        let changes = try Self.incompatible(Self.edits, CompatibilityPolicy(canRemoveAnything: true))
        #expect(changes == (try Self.incompatible(Self.edits, CompatibilityPolicy())).filter { !Self.isRemoval($0) })
        #expect(!changes.isEmpty)
    }

    @Test func `a policy accepts the removal of exactly the elements that it names`() throws {
        let removals = try Self.incompatible(Self.edits, CompatibilityPolicy(canChangeAnything: true))
        let policy = CompatibilityPolicy(canChangeAnything: true, removable: ["S.Customer/Phone", "S.E/Me"])
        let rest = try Self.incompatible(Self.edits, policy)
        #expect(Set(removals).subtracting(rest).map(\.path).sorted() == ["S.Customer/Phone", "S.E/Me"])
    }

    @Test func `permission to remove a type does not permit the removal of its properties`() throws {
        let edits = Self.edits.filter { $0.line == "Property S.Customer/Phone: removed" }
        #expect(try Self.incompatible(edits, CompatibilityPolicy(removable: ["S.Customer"])).count == 1)
    }

    @Test func `no policy accepts a change of the protocol`() throws {
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
    func `the default policy accepts new nullable parameters only after the existing ones`(
        old: [String], new: [String], refused: [String]
    ) throws {
        let difference = ModelDifference(from: try Self.action(old), to: try Self.action(new))
        #expect(CompatibilityPolicy().incompatibleChanges(in: difference).map(\.path) == refused)
    }

    @Test func `each compatibility rule has a distinct description that is a sentence`() {
        let sentences = CompatibilityRule.allCases.map(\.description)
        #expect(Set(sentences).count == sentences.count)
        #expect(sentences.allSatisfy { $0.hasSuffix(".") })
    }
}
