import ODataWire
import SyncEngine

extension QueryFilter {
    /// The condition said of what a navigation property leads to: with `Order.customer` the condition `Name eq 'A'` becomes
    /// `Customer/Name eq 'A'`, with `Customer.orders` the condition `Total gt 10` becomes `Orders/any(x1:x1/Total gt 10)`.
    ///
    /// Where the property leads to nothing the paths behind it are null, as always: `Name eq null` then holds. Throws
    /// `invalidRequest` for conditions on what the store knows of an entity, such as ``isLocal``: OData can ask that of the
    /// entity of a query only.
    func below(_ property: some PropertyReference) throws(TidelogError) -> QueryFilter {
        guard !expression.calls([.isLocal, .hasPendingChanges, .isInErrorState, .upsertedLastDownload]) else {
            throw TidelogError(
                .invalidRequest,
                "What only the store knows (isLocal, hasPendingChanges, isInErrorState, upsertedLastDownload) can be asked "
                    + "of the entities of a query, not of what \(property.property) leads to.")
        }
        let target = QueryPath(ExpressionPath(segments: []), nil).path(property).expressionPath
        guard property.property.isCollection else { return QueryFilter(expression: expression.moved(to: target)) }
        let lambda = ExpressionPath.Lambda.binding { variable in
            expression.moved(to: ExpressionPath(root: variable, segments: []))
        }
        return QueryFilter(
            expression: .path(ExpressionPath(root: target.root, segments: target.segments + [.any(lambda)])))
    }
}

extension Expression {
    /// The expression about what the path leads to instead of about the entity itself.
    fileprivate func moved(to target: ExpressionPath) -> Expression {
        mappingPaths { path, subject in
            switch path.root {
            case .implicit where subject == .entity, .it:
                // Within the condition on an item a path without a root would be the item's.
                let root = subject == .item && target.root == .implicit ? .it : target.root
                return ExpressionPath(root: root, segments: target.segments + path.segments)
            default: return path
            }
        }
    }
}
