public import Observation
public import Tidelog

/// The entities that a query finds, kept up to date on the main actor, for views.
///
/// ```swift
/// let orders = ObservedList(try service.box(for: Order.self).query { Order.total > 100 })
/// ```
///
/// A view that reads ``entities`` is updated when the list changes. Reading begins with the initializer, in a task of its
/// own, and ends with the object. ``entities`` is empty until ``isLoaded``.
///
/// An object in the list is replaced only if its entity has changed, so unsaved changes in the other objects are kept.
@MainActor @Observable public final class ObservedList<Entity: EntityValue> {
    /// The entities in the order of the query, as last read.
    public private(set) var entities: [Entity] = []
    /// The difference of the last update from the list before; `nil` before the first update of a query.
    public private(set) var lastChange: ListDifference<EntityIdentity>?
    /// A Boolean value that indicates whether ``entities`` is a result of the current query.
    public private(set) var isLoaded = false
    /// The error that ended the updates. The last entities remain.
    public private(set) var error: TidelogError?
    /// A Boolean value that indicates whether further updates can follow. `false` after an error, after ``stop()``, and
    /// after the store was closed.
    public private(set) var isUpdating = false

    @ObservationIgnored private var task: Task<Void, Never>?

    /// Creates an empty list, which has no query before ``observe(_:)-(BoxQuery<Entity>)``.
    public init() {}

    /// Creates the list of a query, and begins to read.
    public init(_ query: BoxQuery<Entity>) { observe(query) }

    /// Creates a list from results such as those of `ToMany.observe()`, and begins to read.
    public init(_ results: LiveList<Entity>) { observe(results) }

    isolated deinit { task?.cancel() }

    /// Replaces the query. The old entities remain until the first result of the new query.
    public func observe(_ query: BoxQuery<Entity>) {
        observe { () throws(TidelogError) in try query.observe() }
    }

    /// Replaces the query by the one of these results. The old entities remain until the first result.
    public func observe(_ results: LiveList<Entity>) {
        observe { () throws(TidelogError) in results }
    }

    /// Ends the updates. The entities remain.
    public func stop() {
        task?.cancel()
        task = nil
        isUpdating = false
    }

    /// Begins to read. A failure to get the results is shown like one while reading.
    func observe(_ results: @escaping @Sendable () throws(TidelogError) -> LiveList<Entity>) {
        task?.cancel()
        // Nothing is changed before the task runs: a view must not change its state while it is updated.
        task = Task { [weak self] in
            guard self?.begin() == true else { return }
            do throws(TidelogError) {
                for try await update in try results() {
                    guard let self, !Task.isCancelled else { return }
                    show(update)
                }
                self?.end(nil)
            } catch {
                self?.end(error)
            }
        }
    }

    private func begin() -> Bool {
        guard !Task.isCancelled else { return false }
        (isLoaded, isUpdating, lastChange, error) = (false, true, nil, nil)
        return true
    }

    private func show(_ update: ListUpdate<Entity>) {
        entities = isLoaded ? update.applied(to: entities) : update.entities
        lastChange = update.difference
        isLoaded = true
    }

    private func end(_ error: TidelogError?) {
        guard !Task.isCancelled else { return }
        (isUpdating, self.error) = (false, error)
    }
}
