import FieldService
import Tidelog

let root = "http://127.0.0.1:8080/v4/"
let store = try await FieldStore(
    serviceRoot: root, parameters: OfflineODataParameters(storePath: "field.store"))
let arguments = Array(CommandLine.arguments.dropFirst())
switch arguments.first {
case "add" where arguments.count == 3: try await store.addOrder(arguments[1], customer: arguments[2])
case "sync": print(try await store.synchronize())
default: break
}
for row in try await store.openOrders() { print(row.title, "-", row.customer, row.isPending ? "(pending)" : "") }
await store.close()
