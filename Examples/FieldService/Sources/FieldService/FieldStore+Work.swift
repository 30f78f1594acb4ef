import Tidelog

/// The work on site. Each call is durable when it returns, and sends nothing.
extension FieldStore {
    /// Returns the orders that are not done, by title.
    public func openOrders() async throws -> [OrderRow] {
        let query = DataQuery().filter(WorkOrder.status != "done").orderBy(WorkOrder.title)
            .expand(WorkOrder.customer)
        var rows: [OrderRow] = []
        for order in try await service.fetchWorkOrders(matching: query) {
            rows.append(
                OrderRow(
                    id: order.readLink ?? "", title: order.title ?? "", customer: order.customer.target?.name ?? "",
                    status: order.status ?? "", isPending: order.state != .clean))
        }
        return rows
    }

    /// Creates an order for the customer with this name.
    public func addOrder(_ title: String, customer name: String) async throws {
        let customer = try await service.fetchCustomer(matching: DataQuery().filter(Customer.name == name))
        let order = WorkOrder(withDefaults: false)
        order.title = title
        order.status = "open"
        order.customer.target = customer
        try await service.createEntity(order)
    }

    /// Completes an order.
    ///
    /// - Parameter hours: The working time, such as `1.75`.
    public func complete(_ row: OrderRow, hours: String, report: String) async throws {
        let order = try await loaded(row.id)
        order.status = "done"
        order.hours = DecimalValue(hours)
        order.report = report
        try await service.updateEntity(order)
    }

    /// Adds a photo, which is sent in a request of its own.
    public func addPhoto(_ bytes: [UInt8], caption: String) async throws {
        let photo = Photo(withDefaults: false)
        photo.caption = caption
        try await service.createMedia(photo, content: MediaContent(bytes, mediaType: "image/jpeg"))
    }

    /// Undoes the changes of an order that were not sent.
    public func undo(_ row: OrderRow) async throws {
        try await provider.undoPendingChanges(for: loaded(row.id))
    }

    func loaded(_ readLink: String) async throws -> WorkOrder {
        let order = WorkOrder(withDefaults: false)
        order.readLink = readLink
        try await service.loadEntity(order)
        return order
    }
}
