import EDM
import Testing

/// The parts of a navigation, which its copies share.
struct NavigationTests {
    private static func navigation(
        targetType: String = "S.Order", multiplicity: Multiplicity = .many,
        sourceMultiplicity: Multiplicity = .zeroOrOne, partner: String? = "Customer",
        constraints: [ReferentialConstraint] = [], inverseConstraints: [ReferentialConstraint] = [],
        containsTarget: Bool = false, onDelete: String? = nil, relationship: String = "S.Customer/Orders",
        walk: AssociationDirection? = nil
    ) -> Navigation {
        Navigation(
            targetType: targetType, multiplicity: multiplicity, sourceMultiplicity: sourceMultiplicity,
            partner: partner, constraints: constraints, inverseConstraints: inverseConstraints,
            containsTarget: containsTarget, onDelete: onDelete,
            relationship: Relationship(name: relationship, isForward: true), walk: walk)
    }

    /// Navigations that differ from the default in one part each.
    private static let variants: [String: Navigation] = {
        let constraint = ReferentialConstraint(dependent: "CustomerID", principal: "ID")
        return [
            "targetType": navigation(targetType: "S.Item"),
            "multiplicity": navigation(multiplicity: .one),
            "sourceMultiplicity": navigation(sourceMultiplicity: .one),
            "partner": navigation(partner: nil),
            "constraints": navigation(constraints: [constraint]),
            "inverseConstraints": navigation(inverseConstraints: [constraint]),
            "containsTarget": navigation(containsTarget: true),
            "onDelete": navigation(onDelete: "Cascade"),
            "relationship": navigation(relationship: "S.Customer/Items"),
            "walk": navigation(walk: AssociationDirection(association: "S.A", fromRole: "C", toRole: "O")),
        ]
    }()

    @Test func `navigations with the same parts are equal`() {
        let (a, b) = (Self.navigation(), Self.navigation())
        #expect(a == b && a.hashValue == b.hashValue && String(describing: a) == String(describing: b))
    }

    @Test func `navigations that differ in one part are not equal and have different descriptions`() {
        let all = [Self.navigation()] + Self.variants.values
        #expect(Set(all).count == 11)
        #expect(Set(all.map { String(describing: $0) }).count == 11)
        #expect(Set(all.map { String(describing: Optional($0)) }).count == 11)
    }

    @Test func `the description has all parts by name`() {
        let labels = Mirror(reflecting: Self.navigation()).children.compactMap(\.label)
        #expect(Set(labels) == Set(Self.variants.keys) && labels.count == Self.variants.count)
        #expect(String(describing: Self.navigation()).hasPrefix("Navigation(targetType: \"S.Order\", multiplicity: "))
    }
}
