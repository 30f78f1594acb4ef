import EDM
import ODataQuery

extension EvaluationError {
    /// Returns the error for a segment that the store cannot answer.
    static func refusal(of segment: ResourcePath.Segment?) -> EvaluationError {
        let what =
            switch segment {
            case nil: "the service document"
            case .metadata: "$metadata as part of a query"
            case .batch: "$batch"
            case .entity: "$entity"
            case .crossjoin: "$crossjoin"
            case .each: "$each"
            case .query: "$query"
            case .operationImport(let found, _): "the operation \(found.name)"
            case .operation(let found, _): "the operation \(found.name)"
            case .contentID(let id): "the Content-ID reference $\(id)"
            case .unresolved(let name): "the segment \(name)"
            case .navigation(let property): "the navigation property \(property.name) of a complex value"
            case .index: "an index into a value that is not a collection"
            default: "this path"
            }
        return EvaluationError(.unsupported, "The store does not support \(what). Request it from the service.")
    }
}
