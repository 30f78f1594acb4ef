package import OperationLog
package import Views

extension ViewsKey {
    /// Creates the key of a store's views, derived from the newest log key. Nil if the store has no keys.
    package init?(_ keys: [LogKey], in store: StoreIdentifier) {
        guard let key = keys.first else { return nil }
        self.init(identifier: key.identifier(in: store), secret: key.derived(for: "views", in: store))
    }
}
