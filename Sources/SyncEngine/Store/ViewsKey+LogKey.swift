package import OperationLog
package import Views

extension ViewsKey {
    /// What the views of a store with these keys are encrypted with: of the newest one, by which the log is written. Nil where
    /// the store has none.
    package init?(_ keys: [LogKey], in store: StoreIdentifier) {
        guard let key = keys.first else { return nil }
        self.init(identifier: key.identifier(in: store), secret: key.derived(for: "views", in: store))
    }
}
