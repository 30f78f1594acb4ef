import EDM
import ODataWire
import SyncCore

/// Rewrites a change set for a service that does not support every reference to an entity that the same change set
/// creates.
///
/// The result has the same effect and is still one change set: a link is named from its other end, becomes a part of the
/// creation of one of its ends, or the creation of one entity contains the other. References without such a form remain.
/// MS-ODATA permits references in URLs only (2.2.7.6.1.1); V4 leaves bodies open (OData 4.01 Part 1, 11.7.4).
package struct OnlineReferenceForms {
    let model: EntityDataModel
    let service: ServiceOptions

    /// - Parameter service: capabilities that are resolved for the version.
    package init(model: EntityDataModel, service: ServiceOptions) {
        self.model = model
        self.service = service
    }

    private var supportsURLs: Bool { service.supportsBatch && service.contentIDReferences != .none }

    package func rewritten(_ steps: [OnlineStep]) -> [OnlineStep] {
        guard service.contentIDReferences != .urlsAndBodies || !service.supportsBatch, steps.count > 1 else {
            return steps
        }
        var steps = withoutLinksToNew(steps)
        if supportsURLs {
            for index in steps.indices { createInCollection(&steps[index]) }
        } else {
            for index in steps.indices.reversed() where steps.indices.contains(index) { nest(index, &steps) }
        }
        return steps
    }

    // MARK: Links

    private func withoutLinksToNew(_ steps: [OnlineStep]) -> [OnlineStep] {
        var result: [OnlineStep] = []
        for step in steps {
            guard case .link(let from, let navigation, let to) = step.modification.action, to.contentID != nil else {
                result.append(step)
                continue
            }
            let partner = model.partner(of: navigation)
            if from.contentID == nil, supportsURLs, let partner {
                var turned = step
                turned.modification.action = .link(from: to, navigation: partner, to: from)
                result.append(turned)
            } else if let place = Self.later(from, to, in: result), bind(from, navigation, partner, to, &result[place])
            {
                // The creation includes the link.
            } else {
                result.append(step)
            }
        }
        return result
    }

    /// Returns the position of the last creation of one of two entities.
    private static func later(
        _ one: ResourceReference, _ other: ResourceReference, in steps: [OnlineStep]
    ) -> Int? {
        steps.lastIndex { step in
            let created = ResourceReference.contentID(step.contentID)
            return step.creation != nil && (created == one || created == other)
        }
    }

    /// Adds a link to the creation of one of its ends. Returns `false` if that is not possible.
    private func bind(
        _ from: ResourceReference, _ navigation: Property, _ partner: Property?, _ to: ResourceReference,
        _ step: inout OnlineStep
    ) -> Bool {
        guard service.supportsBind || !supportsURLs, var body = step.createdBody, step.modification.stream == nil else {
            return false
        }
        let isSource = from == .contentID(step.contentID)
        guard let property = isSource ? navigation : partner else { return false }
        if case .createRelated(_, let used, _) = step.modification.action, model.partner(of: used) == property {
            return false
        }
        let target = isSource ? to : from
        if let index = body.bindings.firstIndex(where: { $0.navigation == property }) {
            guard property.isCollection else { return false }
            body.bindings[index].targets.append(target)
        } else {
            body.bindings.append(EntityBody.Binding(navigation: property, targets: [target]))
        }
        step.createdBody = body
        return true
    }

    // MARK: Bindings

    /// Creates an entity that is bound to a new one in the collection of that one, so that the URL contains the
    /// reference.
    private func createInCollection(_ step: inout OnlineStep) {
        guard case .create(_, var body) = step.modification.action else { return }
        for (index, binding) in body.bindings.enumerated() {
            guard binding.targets.count == 1, let owner = binding.targets.first, case .contentID = owner,
                let partner = model.partner(of: binding.navigation), partner.isCollection
            else { continue }
            body.bindings.remove(at: index)
            step.modification.action = .createRelated(in: owner, navigation: partner, body)
            return
        }
    }

    // MARK: Nesting

    /// Moves the creation of an entity into that of an entity to which it is bound, or in whose collection it is
    /// created.
    private func nest(_ index: Int, _ steps: inout [OnlineStep]) {
        guard let creation = steps[index].creation, steps[index].modification.stream == nil else { return }
        let own = ResourceReference.contentID(steps[index].contentID)
        guard !steps.enumerated().contains(where: { $0 != index && $1.refersTo(own) }) else { return }
        switch steps[index].modification.action {
        case .createRelated(let owner, let navigation, let body):
            guard let place = Self.later(owner, owner, in: steps), place != index else { return }
            add(body, creation, below: navigation, index, to: place, &steps)
        case .create(_, var body):
            for (number, binding) in body.bindings.enumerated() {
                guard binding.targets.count == 1, let target = binding.targets.first, case .contentID = target,
                    let partner = model.partner(of: binding.navigation),
                    let place = Self.later(target, target, in: steps), place != index,
                    partner.isCollection
                        || steps[place].createdBody?.inline.contains(where: { $0.navigation == partner }) == false
                else { continue }
                body.bindings.remove(at: number)
                return add(body, creation, below: partner, index, to: place, &steps)
            }
        case .update, .delete, .link, .unlink, .invoke: return
        }
    }

    private func add(
        _ body: EntityBody, _ creation: OnlineCreation, below navigation: Property, _ index: Int, to place: Int,
        _ steps: inout [OnlineStep]
    ) {
        var body = body
        body.declaredType = navigation.navigation.flatMap { model.findEntityType($0.targetType) }
        if navigation.isCollection, service.deepInsertToMany == .contentID, !model.version.isLegacy {
            body.contentID = String(creation.draft)
        }
        steps[place].nest(body, creation, below: navigation)
        steps.remove(at: index)
    }
}

extension OnlineStep {
    fileprivate func refersTo(_ reference: ResourceReference) -> Bool {
        let action = modification.action
        return action.urlReference == reference || action.bodyReferences.contains(reference)
    }
}
