/// One schema of a metadata document: what it declares, by name. The CSDL reader extends this with whatever the document
/// held that the resolved model does not need (terms, operations, references).
public struct Schema: Sendable {
    public let namespace: String
    public let alias: String?

    public init(namespace: String, alias: String?) {
        self.namespace = namespace
        self.alias = alias
    }
}
