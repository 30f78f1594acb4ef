import EDM
import ODataWire
import SyncCore

extension SQLiteState {
    /// What expressions see of the entities of a set that pass `$filter`, as far as some paths go, in the order of their
    /// entity IDs. Nil where a path leads to what has no column.
    ///
    /// Throws ``EvaluationError``: with `unsupported` for a filter that has to be answered in memory, with another code
    /// where it fails.
    func scopes(
        of set: EntitySet, _ paths: [[String]], _ options: QueryOptions, now: GlobalDateTime?
    ) throws -> [EvaluationScope]? {
        guard let model, let scope = EntityTableScope(set, alias: "t0", model: model, layouts: layouts) else {
            return nil
        }
        let functions = try queryFunctions(model)
        var compiler = SQLCompiler(scope, functions: functions, now: now, aliases: options.aliases)
        let condition = try compiler.condition(of: options, in: set)
        guard let projection = try RowProjection(paths, of: set.entityType, in: model, &compiler) else { return nil }
        let terms = SQLText.joined(projection.terms + [SQLText("t0.entity")], by: ", ")
        let text =
            "SELECT " + terms + " FROM \(try layout(set.name).table) AS t0 WHERE " + condition
            + " ORDER BY t0.entity"
        var found: [EvaluationScope] = []
        do {
            try connection.query(text.sql, text.values) { found.append(projection.scope($0)) }
        } catch {
            if let failure = functions.takeFailure() { throw failure }
            throw Self.stateError(error)
        }
        return found
    }
}
