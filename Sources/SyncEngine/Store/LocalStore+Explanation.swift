public import EDM
public import ODataWire
public import Views

extension LocalStore {
    /// Answers the query and tells how: which statements SQLite was asked, by which ways it answers them, and what was left to
    /// memory, and why. No value of the query or of an entity is in it, but what the SQL names: tables and columns.
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
