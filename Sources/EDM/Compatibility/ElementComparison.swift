/// Finds the differences between two trees of elements, in one pass over both.
struct ElementComparison {
    /// A difference with the facts that its rule requires.
    struct Finding {
        let path: String
        let element: ModelElementKind
        let kind: ModelChange.Difference
        /// The old element of a removal or change, the new element of an addition.
        let subject: ModelElement
        /// For an added parameter: whether it belongs to an action and no old parameter follows it.
        var isAppendedToAction = false

        var isNullable: Bool { subject.aspects[.nullability] == "true" }
    }

    private(set) var findings: [Finding] = []
    /// The paths of all new elements, including those in added elements.
    private(set) var added: Set<String> = []
    /// The paths of all removed elements, including those in removed elements.
    private(set) var removed: Set<String> = []

    init(_ old: [ModelElement], _ new: [ModelElement]) {
        compare(old, new, in: nil)
    }

    private struct Parent {
        let path: String
        let element: ModelElement

        var isAction: Bool { element.kind == .action || element.kind == .actionImport }
    }

    private mutating func compare(_ old: [ModelElement], _ new: [ModelElement], in parent: Parent?) {
        guard !old.isEmpty || !new.isEmpty else { return }
        let matches = ElementMatching(old, new).matches
        let parameters = matches.filter { $0.old?.element.kind == .parameter && $0.new != nil }
        let lastParameter = parameters.compactMap { $0.new?.position }.max() ?? -1
        for match in matches {
            let path = parent.map { "\($0.path)/\(match.name)" } ?? match.name
            switch (match.old, match.new) {
            case (let old?, let new?): compare(old.element, new.element, path: path)
            case (let old?, nil):
                Self.insert(path, of: old.element, into: &removed)
                findings.append(Finding(path: path, element: old.element.kind, kind: .removed, subject: old.element))
            case (nil, let new?):
                Self.insert(path, of: new.element, into: &added)
                let isAppended = parent?.isAction == true && new.position > lastParameter
                findings.append(
                    Finding(
                        path: path, element: new.element.kind, kind: .added, subject: new.element,
                        isAppendedToAction: isAppended))
            case (nil, nil): break
            }
        }
        if let parent { compareOrder(of: parameters, in: parent) }
    }

    private mutating func compare(_ old: ModelElement, _ new: ModelElement, path: String) {
        // Entity types and complex types are not comparable.
        guard old.kind == new.kind else {
            change(.elementKind, old.kind.rawValue, new.kind.rawValue, of: old, path)
            return
        }
        if old.aspects != new.aspects {
            for aspect in ModelAspect.allCases where old.aspects[aspect] != new.aspects[aspect] {
                change(aspect, old.aspects[aspect], new.aspects[aspect], of: old, path)
            }
        }
        compare(old.children, new.children, in: Parent(path: path, element: old))
    }

    /// Compares the order of parameters, the only elements whose order matters: an added one must follow the old
    /// ones.
    private mutating func compareOrder(of parameters: [ElementMatching.Match], in parent: Parent) {
        func names(_ place: (ElementMatching.Match) -> ElementMatching.PositionedElement?) -> String {
            parameters.sorted { (place($0)?.position ?? 0) < (place($1)?.position ?? 0) }.map(\.name)
                .joined(separator: ", ")
        }
        let (before, after) = (names(\.old), names(\.new))
        if before != after { change(.parameterOrder, before, after, of: parent.element, parent.path) }
    }

    private mutating func change(
        _ aspect: ModelAspect, _ before: String?, _ after: String?, of element: ModelElement, _ path: String
    ) {
        let kind = ModelChange.Difference.changed(aspect, from: before, to: after)
        findings.append(Finding(path: path, element: element.kind, kind: kind, subject: element))
    }

    private static func insert(_ path: String, of element: ModelElement, into paths: inout Set<String>) {
        paths.insert(path)
        for child in element.children { insert("\(path)/\(child.name)", of: child, into: &paths) }
    }
}
