public import EDM
public import ODataWire
public import Views

extension LocalStore {
    /// Executes the query and explains its execution: the SQLite statements, their query plans, and the parts that are
    /// evaluated in memory, with the reasons. The explanation contains tables and columns, but no values of the query
    /// or of entities.
    ///
    /// Cost: that of the query.
    public func explain(_ url: String) throws(TidelogError) -> QueryExplanation { try explain(.url(url)) }

    public func explain(path: ResourcePath, options: QueryOptions) throws(TidelogError) -> QueryExplanation {
        try explain(.set(path, options))
    }

    public func explain(
        _ address: EntityAddress, _ property: Property, _ options: QueryOptions
    ) throws(TidelogError) -> QueryExplanation { try explain(.related(address, property, options)) }

    private func explain(_ request: LiveQuery.Request) throws(TidelogError) -> QueryExplanation {
        try read { state throws in try views.explaining { try self.answer(request).entities.count } }
    }
}
