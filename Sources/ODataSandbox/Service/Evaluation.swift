internal import EDM
internal import ODataWire

/// `$filter` and `$orderby` over entities as one version's clients see them.
struct Evaluation {
    let view: ServiceView
    let state: SandboxState
    let now: GlobalDateTime?

    /// The rows that pass the filter, in the order asked for; those that it leaves alike stay in theirs.
    func select(_ rows: [Row], _ options: QueryOptions) throws(SandboxError) -> [Row] {
        guard options.filter != nil || !options.orderBy.isEmpty else { return rows }
        // Until the expression evaluator is there.
        throw SandboxError(501, .notImplemented, "The sandbox cannot filter and sort yet.")
    }
}
