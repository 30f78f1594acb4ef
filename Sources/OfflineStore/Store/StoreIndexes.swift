import EDM
import Operations
import SyncCore
import Views

/// Indexes of the views: those declared by the app, and those derived from the defining queries.
struct StoreIndexes {
    let core: StoreCore

    /// Creates and drops indexes to match the current declarations. Cost: none if they match, otherwise one pass over
    /// the set for each new index. Declared indexes that do not fit the metadata are skipped.
    func arrange() throws(TidelogError) {
        guard core.hasModel else { return }
        let model = try core.model
        let declared = core.options.indexes
        _ = try core.read { state throws in
            let asked = try state.bookkeeping.queries().flatMap { QueryIndexes.of($0.query.query, model: model) }
            return try core.views.arrange(declared + asked)
        }
    }

    /// Checks the declared indexes. Does nothing before metadata are installed.
    ///
    /// - Throws: `invalidRequest` if a declared index refers to a missing element.
    func check() throws(TidelogError) {
        guard core.hasModel else { return }
        for index in core.options.indexes { try check(index, try core.model) }
    }

    /// Returns whether the required indexes may change with the record. Changed metadata recreate tables.
    static func areAffected(by body: Record.Body) -> Bool {
        switch body {
        case .serviceInstalled, .definingQueryAdded, .definingQueryRemoved: true
        default: false
        }
    }

    private func check(_ index: EntityIndex, _ model: EntityDataModel) throws(TidelogError) {
        let sets = index.sets(in: model)
        guard !sets.isEmpty else { throw Self.unknown(index, "There is no entity set or type \(index.name)") }
        guard !index.terms.isEmpty else { throw Self.unknown(index, "It has no properties") }
        for term in index.terms {
            let isThere = sets.allSatisfy { set in
                model.entityTypes(derivedFrom: set.entityType).contains { has($0, term.path, model) }
            }
            let path = term.path.joined(separator: "/")
            guard isThere else { throw Self.unknown(index, "\(index.name) has no single primitive property \(path)") }
        }
    }

    private func has(_ type: EntityType, _ path: [String], _ model: EntityDataModel) -> Bool {
        var property = path.first.flatMap { type.findProperty($0) }
        for name in path.dropFirst() {
            guard case .complex(let complex)? = property?.type.kind else { return false }
            property = model.findComplexType(complex)?.properties.first { $0.name == name }
        }
        guard let property, !property.isCollection else { return false }
        switch property.type.kind {
        case .primitive, .typeDefinition, .enumeration: return true
        case .complex, .entity, .unresolved: return false
        }
    }

    private static func unknown(_ index: EntityIndex, _ why: String) -> TidelogError {
        TidelogError(
            .invalidRequest, "An index over \(index) cannot be created: \(why).",
            recovery: "Correct the declared indexes; the metadata lists the properties.")
    }
}
