import EDM
import ODataWire
import Operations

extension Sequence {
    /// Returns the smallest part of a failing run that still fails with the same words. Removes steps and operations
    /// one after the other.
    func shrunk(_ steps: [Step], _ dialect: Dialect) -> (steps: [Step], violations: [String]) {
        var best = (steps: steps, violations: (try? repeated(steps, dialect).violations) ?? [])
        guard let first = best.violations.first else { return best }
        let words = Self.words(first)
        var shouldContinue = true
        while shouldContinue {
            shouldContinue = false
            for candidate in Self.smaller(best.steps) {
                guard let violations = try? repeated(candidate, dialect).violations, let first = violations.first,
                    Self.words(first) == words
                else { continue }
                best = (candidate, violations)
                shouldContinue = true
                break
            }
        }
        return best
    }

    private static func words(_ violation: String) -> String { violation.filter { !$0.isNumber && $0 != "\'" } }

    private static func smaller(_ steps: [Step]) -> [[Step]] {
        var found: [[Step]] = []
        for index in steps.indices {
            var shorter = steps
            shorter.remove(at: index)
            found.append(shorter)
            guard case .perform(let actions) = steps[index], actions.count > 1 else { continue }
            for action in actions.indices {
                var fewer = actions
                fewer.remove(at: action)
                var smaller = steps
                smaller[index] = .perform(fewer)
                found.append(smaller)
            }
        }
        return found
    }

    // MARK: Text

    static func text(_ step: Step) -> String {
        switch step {
        case .synchronize: "upload and download"
        case .other(let request): "\(request.method) \(request.url) \(String(decoding: request.body, as: UTF8.self))"
        case .perform(let actions): actions.map(text).joined(separator: " + ")
        }
    }

    private static func text(_ action: Operation.Action) -> String {
        switch action {
        case .create(let creation, let parent):
            "create \(text(creation))" + (parent.map { " in \($0.entity)/\($0.navigation)" } ?? "")
        case .update(let id, let changes, let bindings): "update \(id) \(text(changes)) \(text(bindings))"
        case .delete(let id): "delete \(id)"
        case .createLink(let link): "link \(link.from)/\(link.navigation) \(link.to)"
        case .updateLink(let link): "relink \(link.from)/\(link.navigation) \(link.to)"
        case .deleteLink(let link): "unlink \(link.from)/\(link.navigation) \(link.to)"
        }
    }

    private static func text(_ creation: Creation) -> String {
        let inline = creation.inline.map { level in
            " {\(level.navigation): \(level.entities.map(text).joined(separator: ", "))}"
        }
        return
            "\(creation.set)(\(creation.entity)) \(text(creation.values)) \(text(creation.bindings))\(inline.joined())"
    }

    private static func text(_ values: PropertyValues) -> String {
        "[" + values.map { "\($0.name)=\($0.value)" }.joined(separator: " ") + "]"
    }

    private static func text(_ bindings: [Binding]) -> String {
        bindings.map { "\($0.navigation)→\($0.targets)" }.joined(separator: " ")
    }
}
