internal import EDM
internal import ODataQuery
internal import ODataWire

/// Creates the responses to `$all` and `$crossjoin` (OData 4.01 Part 2, sections 4.15 and 4.16).
struct MixedEntities {
    let view: ServiceView
    let state: SandboxState
    let evaluation: QueryEvaluation
    let writer: PayloadWriter

    private var representation: Representation {
        Representation(view: view, state: state, evaluation: evaluation)
    }

    /// Returns all entities of the service, each with its type and entity-id. Contained entities are omitted.
    func all() throws(SandboxError) -> [UInt8] {
        var entities: [EntityPayload] = []
        for set in view.model.entitySets + view.model.singletons where !set.isContained {
            for row in state.rows(of: set.name) {
                var entity = try representation.entity(row)
                entity.id = view.root + view.url(of: row, in: state)
                entities.append(entity)
            }
        }
        return writer.mixed(entities)
    }

    /// Returns the combinations of the entities of several sets that match the options.
    func combinations(of sets: [EntitySet], _ options: QueryOptions) throws(SandboxError) -> [UInt8] {
        var combinations: [[Row]] = [[]]
        for set in sets {
            let rows = state.rows(of: set.name)
            combinations = combinations.flatMap { start in rows.map { start + [$0] } }
        }
        let selected = try evaluation.select(combinations, options)
        let page = selected.dropFirst(Int(clamping: options.skip ?? 0)).prefix(Int(clamping: options.top ?? .max))
        let expansion = Expansion(options.expand)
        let rows = try page.map { rows throws(SandboxError) in
            try rows.map { row throws(SandboxError) -> PayloadWriter.JoinedEntity in
                let isExpanded = expansion[row.id.set] != nil
                return PayloadWriter.JoinedEntity(
                    set: row.id.set, url: view.url(of: row, in: state),
                    entity: isExpanded ? try representation.entity(row) : nil)
            }
        }
        return writer.combinations(rows, count: options.count == true ? Int64(selected.count) : nil)
    }
}
