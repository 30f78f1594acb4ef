/// All navigation properties of a document with their partners.
///
/// V2 and V3 declare the relationship and direction of a property; V4 names the partner on one side or both. Both
/// become pairs, from which ``Navigation`` is built independently of the version.
struct NavigationTable {
    struct Entry {
        let owner: String
        let name: String
        let element: MarkupElement
        let target: TypeReference
        let multiplicity: Multiplicity
        /// V2 and V3 only.
        let association: Association?
        let fromRole: String
        let toRole: String
        /// The constraints of a V4 property whose source is the dependent.
        let constraints: [ReferentialConstraint]
        /// The partner path as declared in V4.
        let declaredPartner: String?

        /// The association and direction. For an association that was not read, the target contains only its name.
        var walk: AssociationDirection? {
            guard !fromRole.isEmpty else { return nil }
            return AssociationDirection(
                association: association?.name ?? target.name, fromRole: fromRole, toRole: toRole)
        }
    }

    private(set) var entries: [Entry] = []
    /// The index of each entry's partner.
    private var partners: [Int: Int] = [:]
    private var positions: [ObjectIdentifier: Int] = [:]
    private var walks: [Direction: [Int]] = [:]
    private var owners: [Owner: Int] = [:]
    private let index: SchemaIndex

    init(index: SchemaIndex) throws(CSDLError) {
        self.index = index
        let reader = NavigationReader(index: index)
        for declaration in index.structuredTypes {
            for element in declaration.element.children("NavigationProperty") {
                let entry = try index.log.salvage(element) { () throws(CSDLError) in
                    try reader.read(element, of: declaration.name)
                }
                guard let entry else { continue }
                positions[ObjectIdentifier(element)] = entries.count
                entries.append(entry)
            }
        }
        pairAssociations()
        try pairPartners()
    }

    // MARK: Pairing

    private struct Owner: Hashable {
        let type: String
        let direction: Direction
    }

    private struct Direction: Hashable {
        let association: String
        let role: String
    }

    /// Returns the navigation properties that follow an association from the given role.
    func walks(_ association: String, from role: String) -> [Entry] {
        (walks[Direction(association: association, role: role)] ?? []).map { entries[$0] }
    }

    private mutating func pairAssociations() {
        for (position, entry) in entries.enumerated() {
            guard let association = entry.association else { continue }
            let direction = Direction(association: association.name, role: entry.fromRole)
            walks[direction, default: []].append(position)
            let owner = Owner(type: entry.owner, direction: direction)
            if owners[owner] == nil { owners[owner] = position }
        }
        for (position, entry) in entries.enumerated() {
            guard let association = entry.association else { continue }
            let back = Direction(association: association.name, role: entry.toRole)
            partners[position] = nearest(to: entry.target.name, back) ?? walks[back]?.first
        }
        pairOneWayAssociations()
    }

    /// Pairs associations with the same referential constraint.
    ///
    /// The same dependent properties refer to the same principal in one relationship only. Some services declare one
    /// association per direction; without this step, a link would be visible from one end only.
    private mutating func pairOneWayAssociations() {
        var ends: [SharedConstraint: (dependent: [Int], principal: [Int])] = [:]
        for (position, entry) in entries.enumerated() where partners[position] == nil {
            guard let association = entry.association, let constraint = association.constraint,
                let dependent = association.end(constraint.dependentRole),
                let principal = association.end(constraint.principalRole), !constraint.pairs.isEmpty
            else { continue }
            let shared = SharedConstraint(
                dependent: dependent.type, principal: principal.type, pairs: Set(constraint.pairs))
            if entry.fromRole == constraint.dependentRole {
                ends[shared, default: ([], [])].dependent.append(position)
            } else {
                ends[shared, default: ([], [])].principal.append(position)
            }
        }
        for case (let dependent, let principal) in ends.values where dependent.count == 1 && principal.count == 1 {
            partners[dependent[0]] = principal[0]
            partners[principal[0]] = dependent[0]
        }
    }

    private struct SharedConstraint: Hashable {
        let dependent: String
        let principal: String
        let pairs: Set<ReferentialConstraint>
    }

    /// Returns the navigation property in that direction that the type declares or inherits.
    private func nearest(to type: String, _ direction: Direction) -> Int? {
        var next: String? = type
        while let current = next {
            if let position = owners[Owner(type: current, direction: direction)] { return position }
            next = index.types[current]?.base
        }
        return nil
    }

    /// Pairs properties that name each other first, then those named by one side only.
    private mutating func pairPartners() throws(CSDLError) {
        var claims: [(position: Int, partner: Int)] = []
        for (position, entry) in entries.enumerated() {
            guard let path = entry.declaredPartner else { continue }
            do throws(CSDLError) {
                if let partner = try partner(path, of: entry) { claims.append((position, partner)) }
            } catch {
                try index.log.tolerate(error, at: entry.element, leavingOut: "Partner")
            }
        }
        let claimed = Dictionary(claims.map { ($0.position, $0.partner) }, uniquingKeysWith: { first, _ in first })
        for (position, partner) in claims where claimed[partner] == position {
            partners[position] = partner
        }
        for (position, partner) in claims
        where partners[position] == nil && partners[partner] == nil && entries[partner].declaredPartner == nil {
            partners[position] = partner
            partners[partner] = position
        }
    }

    /// Returns the partner that an entry names, or `nil` if it is in a document that was not read.
    private func partner(_ path: String, of entry: Entry) throws(CSDLError) -> Int? {
        switch index.walk(path.trimmed, from: entry.target.name, at: entry.element) {
        case .beyond: return nil
        case .missing(let segment, let type):
            throw CSDLError(
                .invalidPartner,
                "The partner \"\(path)\" of \"\(entry.owner)/\(entry.name)\" does not exist: \"\(type)\" has no "
                    + "\"\(segment)\".", at: entry.element)
        case .found(let element):
            guard let position = positions[ObjectIdentifier(element)] else {
                throw CSDLError(
                    .invalidPartner,
                    "The partner \"\(path)\" of \"\(entry.owner)/\(entry.name)\" is not a navigation property.",
                    at: entry.element)
            }
            let back = entries[position].target.name
            guard isEntity(entry.owner) == false || index.areCompatible(back, entry.owner) else {
                throw CSDLError(
                    .invalidPartner,
                    "The partner \"\(path)\" of \"\(entry.owner)/\(entry.name)\" leads to \"\(back)\" instead of back.",
                    at: entry.element)
            }
            return position
        }
    }

    private func isEntity(_ type: String) -> Bool { index.types[type]?.kind == .entity }

    // MARK: The result

    /// Returns the type of the property, a collection for an end with multiplicity `*`.
    func target(of element: MarkupElement) -> TypeReference? {
        positions[ObjectIdentifier(element)].map { entries[$0].target }
    }

    /// Returns the navigation attributes of the element, including its partner.
    func navigation(of element: MarkupElement) throws(CSDLError) -> Navigation? {
        guard let position = positions[ObjectIdentifier(element)] else { return nil }
        let entry = entries[position]
        let partner = partners[position].map { entries[$0] }
        let containsTarget = try element.boolean("ContainsTarget", default: false)
        if let association = entry.association {
            return legacy(entry, association, partner: partner, containsTarget: containsTarget)
        }
        return Navigation(
            targetType: entry.target.name, multiplicity: entry.multiplicity,
            sourceMultiplicity: partner?.multiplicity ?? .many,
            partner: partner.map { entry.declaredPartner ?? $0.name },
            constraints: entry.constraints, inverseConstraints: partner?.constraints ?? [],
            containsTarget: containsTarget, onDelete: element.firstChild("OnDelete")?["Action"],
            relationship: relationship(entry, partner), walk: entry.walk)
    }

    private func legacy(
        _ entry: Entry, _ association: Association, partner: Entry?, containsTarget: Bool
    ) -> Navigation {
        let source = association.end(entry.fromRole)
        let constraint = association.constraint
        let sourceDepends = constraint?.dependentRole == entry.fromRole
        // Services are inaccurate about the number of dependents if the principal has no navigation property: they
        // declare 1 although there are many. V4 cannot express it.
        let isOneWay = partner == nil && sourceDepends
        let sourceMultiplicity =
            partner.map { $0.association == association ? source?.multiplicity ?? .many : $0.multiplicity }
            ?? (isOneWay ? .many : source?.multiplicity ?? .many)
        return Navigation(
            targetType: entry.target.name, multiplicity: entry.multiplicity,
            sourceMultiplicity: sourceMultiplicity, partner: partner?.name,
            constraints: sourceDepends ? constraint?.pairs ?? [] : [],
            inverseConstraints: sourceDepends ? [] : constraint?.pairs ?? [],
            containsTarget: containsTarget, onDelete: source?.onDelete,
            relationship: relationship(entry, association, partner), walk: entry.walk)
    }

    /// Returns the association's relationship. If two associations are one relationship, the name that sorts first
    /// identifies it.
    private func relationship(_ entry: Entry, _ association: Association, _ partner: Entry?) -> Relationship {
        if let partner, let other = partner.association,
            other.name.utf8.lexicographicallyPrecedes(association.name.utf8)
        {
            return Relationship(name: other.name, isForward: other.first.role != partner.fromRole)
        }
        return Relationship(name: association.name, isForward: association.first.role == entry.fromRole)
    }

    /// Returns the relationship of two partners: the one that sorts first in UTF-8 determines its name and direction.
    private func relationship(_ entry: Entry, _ partner: Entry?) -> Relationship {
        let own = "\(entry.owner)/\(entry.name)"
        guard let partner else { return Relationship(name: own, isForward: true) }
        let other = "\(partner.owner)/\(partner.name)"
        let isForward = !other.utf8.lexicographicallyPrecedes(own.utf8)
        return Relationship(name: isForward ? own : other, isForward: isForward)
    }
}
