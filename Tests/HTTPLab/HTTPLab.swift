/// Servers with faults, and certificates, for tests of HTTP clients.
public enum HTTPLab {}
