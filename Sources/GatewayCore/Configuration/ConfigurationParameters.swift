/// The parameters of the configuration file.
enum ConfigurationParameters {
    /// The effect of a parameter.
    enum ParameterUse: Equatable {
        case used
        /// The parameter is accepted without effect, for this reason.
        case ignored(String)
    }

    private static let gateway = [
        "listen", "admin", "public_root", "storage", "key_file", "ledger_days", "body_limit", "body_memory",
        "batch_parts", "requests", "requests_per_user", "requests_per_endpoint", "connections", "feed_rows",
        "feed_bytes", "trust_forwarded", "postgres_connections", "postgres_schema", "postgres_timeout",
        "drain_seconds",
    ]
    private static let endpoint = [
        "name", "root", "identity", "origin_timeout", "origin_margin", "certificate_authorities", "credentials_file",
    ]

    /// Parameters that a later version uses, or that configure the client in SAP's file.
    private static let later: Set<String> = [
        "prepopulate_offline_db", "prepopulate_offline_db_interval", "max_delta_resends", "correlation",
        "identity_probe", "identity_property",
    ]
    private static let ofTheClient: Set<String> = [
        "allow_omitting_max_length_facet", "batch_all_defining_queries", "case_sensitive_offline_db",
        "content_id_header_location", "delta_request_lifetime", "indexed_type", "json_datetimeoffset_in_utc",
        "local_change_expiry", "max_local_change_age", "offline_db_collation", "offline_db_page_size",
        "request_format", "server_supports_bind", "supports_repeatable_requests",
    ]
    private static let definingQuery = [
        "name", "query", "is_shared_data", "refresh_interval", "track_deltas", "delta_token_lifetime", "changes",
        "authorize", "accept_language",
    ]

    /// Returns the effect of a parameter, or `nil` if there is no such parameter.
    static func use(of name: String, in section: String) -> ParameterUse? {
        switch section {
        case "gateway": return gateway.contains(name) ? .used : nil
        case "endpoint":
            if endpoint.contains(name) { return .used }
            if later.contains(name) { return .ignored("this version does not use it") }
            return ofTheClient.contains(name) ? .ignored("it configures the database of a client") : nil
        default:
            if definingQuery.contains(name) { return .used }
            return name == "allow_defining_query_removal" ? .ignored("it configures the client") : nil
        }
    }

    static func names(in section: String) -> String {
        switch section {
        case "gateway": gateway.joined(separator: ", ")
        case "endpoint": endpoint.joined(separator: ", ")
        default: definingQuery.joined(separator: ", ")
        }
    }

    static func example(of name: String) -> String {
        switch name {
        case "listen": "127.0.0.1:8443"
        case "public_root": "https://gateway.example/odata/"
        case "storage": "sqlite:/var/lib/tidelog-gateway/gateway.db"
        case "name": "shop"
        default: "https://backend.example/shop/"
        }
    }
}
