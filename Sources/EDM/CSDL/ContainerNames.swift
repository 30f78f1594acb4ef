/// The relation between the entity containers of a document: the default container, and the names of sets that occur
/// in several.
struct ContainerNames {
    /// The names of entity sets in more than one container.
    let sharedSets: Set<String>
    private let others: Set<ObjectIdentifier>

    /// - Parameters:
    ///   - containers: the containers in the order of the documents.
    ///   - isLegacy: whether there may be several containers, addressed by name. V4 has only one.
    init(_ containers: [MarkupElement], isLegacy: Bool) {
        guard isLegacy, containers.count > 1 else {
            (sharedSets, others) = ([], [])
            return
        }
        let declared = containers.map { $0.anyAttribute("IsDefaultEntityContainer").flatMap { Bool(csdl: $0) } }
        // If no container is declared as the default, the first one without a declaration is used.
        let standard = declared.firstIndex(of: true) ?? declared.firstIndex { $0 == nil } ?? 0
        others = Set(
            containers.indices.filter { $0 != standard && declared[$0] != true }.map {
                ObjectIdentifier(containers[$0])
            })
        var counts: [String: Int] = [:]
        for container in containers {
            for name in Set(container.children("EntitySet").compactMap { $0["Name"] }) { counts[name, default: 0] += 1 }
        }
        sharedSets = Set(counts.filter { $0.value > 1 }.keys)
    }

    func isDefault(_ container: MarkupElement) -> Bool { !others.contains(ObjectIdentifier(container)) }
}
