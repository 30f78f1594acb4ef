import EDM
import ODataQuery
import ODataWire
import OfflineStore
import SyncEngine

/// The registration of a store as a client of the service, as offline services of SAP offer it.
///
/// Before the first upload, the provider creates an entity with the identifier of the store, and the service assigns the
/// client an identifier. It is kept in the store, and every later request contains it as a header.
public struct ClientRegistration: Sendable, Hashable {
    /// The entity set of the clients.
    public var entitySet: String
    /// The property with the identifier that the service assigns.
    public var idProperty: String
    /// The property with the identifier of the store, a GUID or a string.
    public var guidProperty: String
    /// The name of the header.
    public var header: String

    /// Creates a registration with the given names of the entity set, of its properties and of the header.
    public init(
        entitySet: String = "ClientRegistrationSet", idProperty: String = "ClientID",
        guidProperty: String = "ClientGUID", header: String = "Client-Instance-ID"
    ) {
        self.entitySet = entitySet
        self.idProperty = idProperty
        self.guidProperty = guidProperty
        self.header = header
    }
}

extension OfflineODataParameters {
    /// Returns the header of a registered client, or no header.
    func registrationHeader(_ description: StoreDescription?) -> HTTPHeaders {
        guard let clientRegistration, let id = description?.clientID else { return .empty }
        return HTTPHeaders([(clientRegistration.header, id)])
    }
}

extension StorePlace {
    /// Registers the client if the parameters require it and it is not registered. Returns its header, or nil if nothing
    /// was done.
    func registerClient(
        _ engine: SyncEngine, _ parameters: OfflineODataParameters, _ known: SessionHeaders
    ) async throws(TidelogError) -> HTTPHeaders? {
        guard let registration = parameters.clientRegistration, known.registration.fields.isEmpty else { return nil }
        let registrar = try ClientRegistrar(
            registration, session: engine.session, model: try await engine.store.model,
            options: try await engine.store.serviceOptions, store: engine.store.identifier)
        let id = try await registrar.registered()
        var description = try description() ?? StoreDescription(serviceRoot: engine.session.givenRoot)
        description.clientID = id
        try write(description)
        return parameters.registrationHeader(description)
    }
}

/// Finds or creates the entity of a client.
private struct ClientRegistrar {
    private let session: ServiceSession
    private let set: EntitySet
    private let encoder: RequestEncoder
    private let reader: PayloadReader
    private let id: Property
    private let guid: (property: Property, value: Value)

    init(
        _ registration: ClientRegistration, session: ServiceSession, model: EntityDataModel, options: ServiceOptions,
        store: String
    ) throws(TidelogError) {
        guard let set = model.findEntitySet(registration.entitySet),
            let id = set.entityType.findProperty(registration.idProperty),
            let guid = set.entityType.findProperty(registration.guidProperty)
        else {
            throw TidelogError(
                .invalidRequest,
                "The metadata have no entity set \(registration.entitySet) with \(registration.idProperty) and \(registration.guidProperty), so the client cannot be registered.",
                recovery: "Correct or remove clientRegistration in the parameters of the store.")
        }
        self.session = session
        self.set = set
        self.id = id
        let digits = Array(store)
        let groups = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { range in
            String(digits.count == 32 ? digits[range] : [])
        }
        let value = GuidValue(groups.joined(separator: "-")).map(Value.guid)
        self.guid = (guid, guid.type.primitive == .guid ? value ?? .string(store) : .string(store))
        encoder = RequestEncoder(version: model.version, model: model, serviceRoot: session.root, options: options)
        reader = PayloadReader(version: model.version, model: model, limits: session.limits.reading)
    }

    /// Returns the identifier of the client.
    ///
    /// The service is asked first, because the response to an earlier registration may have been lost.
    func registered() async throws(TidelogError) -> String {
        if let known = try await find() { return known }
        let body = EntityBody(
            type: set.entityType, declaredType: set.entityType, values: [guid.property.name: guid.value])
        let response = try await session.modify(encoder.encode(DataModification(.create(in: set, body))))
        try response.requireSuccess("POST", session.root + set.segment)
        if !response.body.isEmpty, let entity = try? reader.entity(response.body, type: set.entityType),
            let found = text(of: entity)
        {
            return found
        }
        if let found = try await find() { return found }
        throw TidelogError(
            .notOData, "The service has not assigned an identifier to the client.",
            place: "POST \(session.root + set.segment)")
    }

    private func find() async throws(TidelogError) -> String? {
        let literal = PrimitiveLiteral.format(
            guid.value, as: guid.property.type.primitive, version: encoder.version, form: .url)
        let url = URLText.encoded("\(set.segment)?$filter=\(guid.property.name) eq \(literal)")
        let response = try await session.get(url, headers: encoder.headers)
        try response.requireSuccess("GET", session.root + set.segment)
        do throws(PayloadError) {
            return try reader.feed(response.body, type: set.entityType).entities.lazy.compactMap(text).first
        } catch {
            throw TidelogError(.notOData, "The clients of the service cannot be read: \(error)", cause: error)
        }
    }

    private func text(of entity: EntityPayload) -> String? {
        guard let value = entity.values[id.name], value != .null else { return nil }
        return PrimitiveLiteral.format(value, as: id.type.primitive, version: encoder.version, form: .json)
    }
}
