/// Finds what differs between two trees of elements, in one pass over both.
struct ElementComparison {
    /// A difference with what its rule asks for.
    struct Finding {
        let path: String
        let element: ModelElementKind
        let kind: ModelChange.Kind
        /// Of what was removed or changed the old element, of what was added the new one.
        let subject: ModelElement
        /// Of an added parameter: whether it is one of an action and no older parameter stands behind it.
        var isAppendedToAction = false

        var isNullable: Bool { subject.aspects[.nullability] == "true" }
    }

    private(set) var findings: [Finding] = []
    /// The paths of everything that is new, what is in an added element included.
    private(set) var added: Set<String> = []
    /// The paths of everything that is gone, what was in a removed element included.
    private(set) var removed: Set<String> = []

    init(_ old: [ModelElement], _ new: [ModelElement]) {
        compare(old, new, in: nil)
    }

    private struct Parent {
        let path: String
        let kind: ModelElementKind

        var isAction: Bool { kind == .action || kind == .actionImport }
    }

    private mutating func compare(_ old: [ModelElement], _ new: [ModelElement], in parent: Parent?) {
        let matching = ElementMatching(old, new)
        let behind = Self.behind(matching, new)
        for named in matching.added {
            let path = Self.path(named.name, parent)
            Self.insert(path, of: named.element, into: &added)
            findings.append(
                Finding(
                    path: path, element: named.element.kind, kind: .added, subject: named.element,
                    isAppendedToAction: parent?.isAction == true && behind.contains(named.name)))
        }
        for named in matching.removed {
            let path = Self.path(named.name, parent)
            Self.insert(path, of: named.element, into: &removed)
            findings.append(
                Finding(path: path, element: named.element.kind, kind: .removed, subject: named.element))
        }
        for (old, new) in matching.common { compare(old.element, new.element, path: Self.path(old.name, parent)) }
    }

    private mutating func compare(_ old: ModelElement, _ new: ModelElement, path: String) {
        func change(_ aspect: ModelAspect, _ before: String?, _ after: String?) -> Finding {
            Finding(path: path, element: old.kind, kind: .changed(aspect, from: before, to: after), subject: old)
        }
        // What an entity type says cannot be compared with what a complex type says.
        guard old.kind == new.kind else {
            findings.append(change(.elementKind, old.kind.rawValue, new.kind.rawValue))
            return
        }
        if old.aspects != new.aspects {
            for aspect in ModelAspect.allCases where old.aspects[aspect] != new.aspects[aspect] {
                findings.append(change(aspect, old.aspects[aspect], new.aspects[aspect]))
            }
        }
        let (before, after) = Self.commonParameters(old, new)
        if before != after {
            findings.append(change(.parameterOrder, before.joined(separator: ", "), after.joined(separator: ", ")))
        }
        compare(old.children, new.children, in: Parent(path: path, kind: old.kind))
    }

    // MARK: Parameters, the only elements whose order says something

    /// The names of the parameters behind the last one that is not new.
    private static func behind(_ matching: ElementMatching, _ new: [ModelElement]) -> Set<String> {
        guard matching.added.contains(where: { $0.element.kind == .parameter }) else { return [] }
        let known = Set(matching.common.map(\.new.element.name))
        return Set(new.filter { $0.kind == .parameter }.reversed().prefix { !known.contains($0.name) }.map(\.name))
    }

    /// The parameters that there are before and after, in both orders.
    private static func commonParameters(_ old: ModelElement, _ new: ModelElement) -> ([String], [String]) {
        guard old.children.contains(where: { $0.kind == .parameter }) else { return ([], []) }
        let before = old.children.filter { $0.kind == .parameter }.map(\.name)
        let after = new.children.filter { $0.kind == .parameter }.map(\.name)
        let common = Set(before).intersection(after)
        return (before.filter(common.contains), after.filter(common.contains))
    }

    // MARK: Paths

    private static func path(_ name: String, _ parent: Parent?) -> String { parent.map { "\($0.path)/\(name)" } ?? name }

    private static func insert(_ path: String, of element: ModelElement, into paths: inout Set<String>) {
        paths.insert(path)
        for child in element.children { insert("\(path)/\(child.name)", of: child, into: &paths) }
    }
}
