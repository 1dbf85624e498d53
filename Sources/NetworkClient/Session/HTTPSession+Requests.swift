extension HTTPSession {
    /// Makes a request; it starts at once, unless the options say otherwise.
    ///
    /// What can't be sent (a bad URL, parameters that can't be written, an invalidated session) is an error of the
    /// handle, like all others.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - reference: The URL, or a reference that is resolved against the session's base URL.
    ///   - parameters: What the session's serializer puts into the query or the body.
    ///   - headers: Fields that replace the session's of the same name.
    ///   - body: The body; parameters go into the query then.
    ///   - options: What this request does otherwise than the session.
    /// - Returns: The request.
    @discardableResult
    public func request(
        _ method: HTTPRequest.Method,
        _ reference: String,
        parameters: ParameterValue? = nil,
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        options: RequestOptions = .init()
    ) -> RequestHandle {
        do throws(HTTPError) {
            let handle = core.handle(for: try prepare(method, reference, parameters, headers, body, options))
            if options.startsAtOnce { handle.resume() }
            return handle
        } catch {
            return core.handle(for: .invalid(method, error))
        }
    }

    /// Gets.
    @discardableResult
    public func get(
        _ reference: String,
        parameters: ParameterValue? = nil,
        headers: HTTPFields = [:],
        options: RequestOptions = .init()
    ) -> RequestHandle {
        request(.get, reference, parameters: parameters, headers: headers, options: options)
    }

    /// Gets the head alone.
    @discardableResult
    public func head(
        _ reference: String,
        parameters: ParameterValue? = nil,
        headers: HTTPFields = [:],
        options: RequestOptions = .init()
    ) -> RequestHandle {
        request(.head, reference, parameters: parameters, headers: headers, options: options)
    }

    /// Deletes.
    @discardableResult
    public func delete(
        _ reference: String,
        parameters: ParameterValue? = nil,
        headers: HTTPFields = [:],
        options: RequestOptions = .init()
    ) -> RequestHandle {
        request(.delete, reference, parameters: parameters, headers: headers, options: options)
    }

    /// Posts parameters or a body.
    @discardableResult
    public func post(
        _ reference: String,
        parameters: ParameterValue? = nil,
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        options: RequestOptions = .init()
    ) -> RequestHandle {
        request(.post, reference, parameters: parameters, headers: headers, body: body, options: options)
    }

    /// Puts parameters or a body.
    @discardableResult
    public func put(
        _ reference: String,
        parameters: ParameterValue? = nil,
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        options: RequestOptions = .init()
    ) -> RequestHandle {
        request(.put, reference, parameters: parameters, headers: headers, body: body, options: options)
    }

    /// Patches with parameters or a body.
    @discardableResult
    public func patch(
        _ reference: String,
        parameters: ParameterValue? = nil,
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        options: RequestOptions = .init()
    ) -> RequestHandle {
        request(.patch, reference, parameters: parameters, headers: headers, body: body, options: options)
    }
}
