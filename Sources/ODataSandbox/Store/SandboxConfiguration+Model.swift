public import EDM

extension SandboxConfiguration {
    /// Creates the configuration of a service with the metadata of another service.
    ///
    /// - Parameters:
    ///   - model: The metadata, V2 or V4.
    ///   - generatedKeys: The entity sets whose integer key the service assigns; by default all sets whose key is one
    ///     integer.
    ///   - etags: The entity sets whose entities have an ETag, so that conflicts are detected.
    public init(_ model: EntityDataModel, generatedKeys: Set<String>? = nil, etags: Set<String> = []) {
        let integers: Set<PrimitiveType> = [.byte, .sbyte, .int16, .int32, .int64]
        let assigned = model.entitySets.filter { set in
            let keys = set.entityType.keyProperties
            return keys.count == 1 && keys[0].type.primitive.map(integers.contains) == true
        }
        self.init(generatedKeys: generatedKeys ?? Set(assigned.map(\.name)), etags: etags)
    }
}
