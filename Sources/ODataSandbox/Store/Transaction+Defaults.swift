internal import EDM
internal import ODataQuery

extension Transaction {
    /// Returns the entities whose dependent properties receive their defaults when `id` is deleted (`OnDelete` with
    /// `SetDefault`), with these values.
    func dependentsWithDefaults(of id: RowID, _ type: EntityType) -> [(dependent: RowID, values: PropertyValues)] {
        type.navigationProperties.compactMap(\.navigation).filter { $0.onDelete == "SetDefault" }.flatMap { end in
            state.targets(of: id, through: end).map { dependent in
                var values = PropertyValues()
                for constraint in end.inverseConstraints {
                    let property = entityType(of: dependent)?.findProperty(constraint.dependent)
                    values[constraint.dependent] = property?.declaredDefault ?? .null
                }
                return (dependent: dependent, values: values)
            }
        }
    }
}
