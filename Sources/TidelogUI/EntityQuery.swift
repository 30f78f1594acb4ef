#if canImport(SwiftUI)
    public import SwiftUI
    public import Tidelog

    /// The entities of a query as a property of a view, which is updated when they change.
    ///
    /// ```swift
    /// struct OrderList: View {
    ///     @EntityQuery(DataQuery().filter(Order.total > 100).orderBy(Order.placedAt)) private var orders: [Order]
    ///
    ///     var body: some View {
    ///         List(orders) { order in Text(order.note ?? "") }
    ///     }
    /// }
    /// ```
    ///
    /// The service is a value of the environment: `OrderList().environment(\.dataService, service)`. Without it, the
    /// property is empty. The projected value (`$orders`) is the ``ObservedList``, with the error and the last change.
    @MainActor @propertyWrapper public struct EntityQuery<Entity: EntityValue>: DynamicProperty {
        @Environment(\.dataService) private var service
        @State private var source = QuerySource<Entity>()
        private let set: String?
        private let query: DataQuery

        /// Creates a property for the entities of the class that match the query.
        ///
        /// - Parameters:
        ///   - query: the conditions, sort order, range and expansions.
        ///   - set: the entity set; needed if several sets contain entities of the class.
        public init(_ query: DataQuery = DataQuery(), in set: String? = nil) {
            self.query = query
            self.set = set
        }

        /// The entities in the order of the query.
        public var wrappedValue: [Entity] { source.list.entities }

        /// The list that reads the entities.
        public var projectedValue: ObservedList<Entity> { source.list }

        /// Starts the query, or replaces it if it or the service has changed. SwiftUI calls this method before `body`.
        nonisolated public func update() {
            MainActor.assumeIsolated { source.show(query, in: set, of: service) }
        }
    }

    private struct DataServiceKey: EnvironmentKey {
        static let defaultValue: DataService? = nil
    }

    extension EnvironmentValues {
        /// The service from which the properties of the type ``EntityQuery`` read.
        public var dataService: DataService? {
            get { self[DataServiceKey.self] }
            set { self[DataServiceKey.self] = newValue }
        }
    }
#endif
