internal import EDM
internal import ODataQuery
internal import ODataWire

/// Responds to delta links with the changes since an earlier state.
struct DeltaResponder {
    let view: ServiceView
    let state: SandboxState
    let options: Sandbox.Options

    /// Returns whether changes of the query's result can be tracked.
    func tracks(_ collection: Target.Collection, _ options: QueryOptions) -> Bool {
        guard self.options.deltas != nil, collection.source == nil, options.top == nil, options.skip == nil,
            options.orderBy.isEmpty
        else { return false }
        // SAP Gateway returns no delta links for queries with `$expand`.
        return view.isLegacy ? options.expand.isEmpty : options.expand.allSatisfy(\.isPlain)
    }

    /// Handles a request to a delta link.
    func response(
        to request: WireRequest, _ text: String, _ collection: Target.Collection, _ url: RequestURL,
        _ baselines: inout DeltaBaselines
    ) throws(SandboxError) -> WireResponse {
        let options = try view.options(url.ownQuery, collection.set)
        guard let deltas = self.options.deltas, var token = DeltaToken(text) else {
            throw SandboxError(400, .badRequest, "The delta token \(text) does not belong to this service.")
        }
        guard let then = baselines[token.since] else {
            throw SandboxError(deltas.refusal, .notFound, "The delta link has expired.")
        }
        let until = token.until ?? baselines.keep(state, limit: deltas.limit)
        guard let now = baselines[until], let type = view.set(collection.set.name)?.entityType else {
            throw SandboxError(deltas.refusal, .notFound, "The delta link has expired.")
        }
        let changes = DeltaChanges(
            then: DeltaChanges.ServiceState(view, then, self.options.now),
            now: DeltaChanges.ServiceState(view, now, self.options.now),
            collection: collection, options: options, form: deltas.form,
            tellsDeletions: !view.isLegacy || deltas.tellsDeletionsInV2)
        let items = try changes.items()
        let size = token.size ?? Preferences(request).maxPageSize ?? self.options.pageSize ?? max(1, items.count)
        let rest = items.dropFirst(token.offset)
        var next: String?
        if rest.count > size {
            (token.until, token.offset, token.size) = (until, token.offset + size, size)
            next = url.link(view, token)
        }
        let json = view.writer(for: request).delta(
            Array(rest.prefix(size)), nextLink: next,
            deltaLink: next == nil ? url.link(view, DeltaToken(since: until)) : nil, type: type,
            set: collection.set.name, form: deltas.form)
        return view.response(200, json: json)
    }
}
