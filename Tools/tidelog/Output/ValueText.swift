internal import EDM
internal import ODataQuery

/// A single value as the result of a query.
enum ValueText {
    /// Returns the value in the format of OData 4 JSON.
    static func json(_ value: Value, _ type: TypeReference?, _ model: EntityDataModel) -> String {
        var json = JSONWriter()
        ValueJSONWriter(version: .v4, model: model).write(value, as: type, to: &json)
        return json.text
    }

    /// Returns the value as a service sends it for `$value`.
    static func raw(_ value: Value) -> String { PrimitiveLiteral.format(value, version: .v4, form: .text) }

    static func quoted(_ text: String) -> String {
        var json = JSONWriter()
        json.string(text)
        return json.text
    }
}
