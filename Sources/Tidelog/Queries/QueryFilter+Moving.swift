import ODataQuery
import OfflineStore

extension QueryFilter {
    /// Returns the condition for the target of a navigation property.
    ///
    /// With `Order.customer` the condition `Name eq 'A'` becomes `Customer/Name eq 'A'`; with `Customer.orders` the
    /// condition `Total gt 10` becomes `Orders/any(x1:x1/Total gt 10)`. Without a target, paths through the property
    /// are null, so that `Name eq null` holds.
    ///
    /// - Throws: `invalidRequest` for conditions on the store's own state of an entity, such as ``isLocal``, which
    ///   OData supports only for the entities of a query.
    func below(_ property: some PropertyReference) throws(TidelogError) -> QueryFilter {
        guard !expression.calls(CanonicalFunction.ofEntityState) else {
            throw TidelogError(
                .invalidRequest,
                "isLocal, hasPendingChanges and the other conditions on the store's state can be used only for "
                    + "the entities of a query, not for the targets of \(property.property).")
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
    /// Returns the expression for the target of the path instead of the entity itself.
    fileprivate func moved(to target: ExpressionPath) -> Expression {
        mappingPaths { path, subject in
            switch path.root {
            case .implicit where subject == .entity, .it:
                // In a condition on an item, a path without a root applies to the item.
                let root = subject == .item && target.root == .implicit ? .it : target.root
                return ExpressionPath(root: root, segments: target.segments + path.segments)
            default: return path
            }
        }
    }
}
