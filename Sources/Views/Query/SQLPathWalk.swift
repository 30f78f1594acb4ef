import EDM
import ODataQuery

/// A path through to-one navigation properties, from the inside out.
struct SQLPathWalk {
    var scope: any SQLScope
    /// The table of the last entity on the path.
    var table = ""
    /// The sources of the entities on the path.
    var sources: [SQLText] = []
    /// The properties of the current entity that the path has named so far.
    var names: [String] = []
    /// The collection at the end of the path.
    var collection: SQLNavigation?

    /// Returns `text`, which refers to the last entity, from the perspective of the first; `missing` if there is no
    /// last entity.
    func wrap(_ text: SQLText, missing: String? = nil) -> SQLText {
        guard !sources.isEmpty else { return text }
        var text = text
        for source in sources.reversed() { text = "(SELECT " + text + " FROM " + source + " LIMIT 1)" }
        return missing.map { "COALESCE(" + text + ", \($0))" } ?? text
    }

    /// Follows a property.
    ///
    /// - Parameter table: The name of the table, if the property is a navigation property.
    mutating func step(_ name: String, table: String) throws(EvaluationError) {
        guard collection == nil else { throw .notInSQL("A property of a collection") }
        if names.isEmpty, let navigation = scope.navigation(name, alias: table) {
            self.table = table
            if navigation.isCollection {
                collection = navigation
            } else {
                sources.append(navigation.source)
                scope = navigation.scope
            }
        } else {
            names.append(name)
        }
    }
}
