import NorthwindService
import ODataSandbox
import Testing
import Tidelog

/// Customers with string keys, categories and products: the models of the guide to the data component.
struct Trade {
    let sample: SampleService<ODataV4ServiceProxy>
    var service: ODataV4ServiceProxy { sample.service }

    init() async throws {
        let metadata = try Checkout.metadata("Northwind.v4")
        let sandbox = try Sandbox(
            v4Metadata: metadata, v2Metadata: metadata,
            configuration: SandboxConfiguration(generatedKeys: ["Categories", "Products", "Suppliers", "Orders"]))
        sample = try await SampleService(sandbox, .v4, seed: Self.fill) { ODataV4ServiceProxy(provider: $0) }
    }

    private static func fill(_ service: ODataV4ServiceProxy) async throws {
        let category = Category(withDefaults: false)
        category.name = "Beverages"
        try await service.createEntity(category)
        let supplier = Supplier(withDefaults: false)
        supplier.name = "Exotic Liquids"
        try await service.createEntity(supplier)
        let product = Product(withDefaults: false)
        product.name = "Chai"
        product.bindEntity(supplier, to: Product.supplier)
        try await service.createEntity(product)
        let detail = ProductDetail(withDefaults: false)
        detail.productID = 1
        detail.details = "Spiced tea"
        detail.bindEntity(product, to: ProductDetail.product)
        try await service.createEntity(detail)
        for (id, company) in [("ALFKI", "Maria's Futterkiste"), ("BONAP", "Bon app'")] {
            let customer = Customer(withDefaults: false)
            customer.customerID = id
            customer.companyName = company
            customer.contactName = "somebody"
            try await service.createEntity(customer)
        }
        let order = Order(withDefaults: false)
        order.customerID = "ALFKI"
        try await service.createEntity(order)
    }
}
