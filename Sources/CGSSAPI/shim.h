// What Swift can't import from MIT Kerberos by itself: macros, and global variables that are not constant.
#pragma once

#include <gssapi/gssapi.h>
#include <gssapi/gssapi_ext.h>
#include <gssapi/gssapi_krb5.h>
#include <krb5.h>
#include <string.h>

// SPNEGO (RFC 4178), which chooses Kerberos: 1.3.6.1.5.5.2.
static inline gss_OID netwatch_spnego(void) {
    static gss_OID_desc oid = {6, "\x2b\x06\x01\x05\x05\x02"};
    return &oid;
}

static inline int netwatch_gss_failed(OM_uint32 major) { return GSS_ERROR(major) != 0; }

// The name of the service HTTP on a host, as krb5.conf has names looked up: HTTP@host (RFC 2743, 4.1).
static inline OM_uint32 netwatch_gss_import_service(OM_uint32 *minor, const char *service, gss_name_t *name) {
    gss_buffer_desc text = {strlen(service), (void *)service};
    return gss_import_name(minor, &text, GSS_C_NT_HOSTBASED_SERVICE, name);
}

// The name of a principal, which must stay in place as long as the name is in use: the mechanisms copy it when they need
// it.
static inline OM_uint32 netwatch_gss_import_principal(OM_uint32 *minor, krb5_principal *principal, gss_name_t *name) {
    gss_buffer_desc pointer = {sizeof(*principal), principal};
    return gss_import_name(minor, &pointer, (gss_OID)gss_nt_krb5_principal, name);
}

// The principal of the service HTTP on a host whose name is taken as it is, in the realm that krb5.conf maps it to.
//
// A principal of an unknown type is not looked up in DNS; the type that it gets lets a KDC refer to other realms.
static inline krb5_error_code netwatch_krb5_service(krb5_context context, const char *host, krb5_principal *principal) {
    krb5_error_code code = krb5_sname_to_principal(context, host, "HTTP", KRB5_NT_UNKNOWN, principal);
    if (code == 0)
        (*principal)->type = KRB5_NT_SRV_HST;
    return code;
}

// Credentials for a mechanism, in a cache such as FILE:/tmp/krb5cc_1000; NULL for that of the process.
static inline OM_uint32 netwatch_gss_acquire(OM_uint32 *minor, const char *cache, gss_OID mechanism,
                                             gss_cred_id_t *credentials) {
    gss_key_value_element_desc element = {"ccache", cache};
    gss_key_value_set_desc store = {1, &element};
    gss_OID_set_desc mechanisms = {1, mechanism};
    return gss_acquire_cred_from(minor, GSS_C_NO_NAME, GSS_C_INDEFINITE, &mechanisms, GSS_C_INITIATE,
                                 cache ? &store : NULL, credentials, NULL, NULL);
}

// Whether there are Kerberos credentials that are valid still: SPNEGO's own error would not say what is missing.
static inline OM_uint32 netwatch_gss_check_credentials(OM_uint32 *minor, const char *cache) {
    gss_cred_id_t credentials = GSS_C_NO_CREDENTIAL;
    OM_uint32 ignored, lifetime = 0;
    OM_uint32 major = netwatch_gss_acquire(minor, cache, (gss_OID)gss_mech_krb5, &credentials);
    if (GSS_ERROR(major))
        return major;
    major = gss_inquire_cred(minor, credentials, NULL, &lifetime, NULL, NULL);
    gss_release_cred(&ignored, &credentials);
    return GSS_ERROR(major) ? major : lifetime == 0 ? GSS_S_CREDENTIALS_EXPIRED : GSS_S_COMPLETE;
}

// Whether the mechanism waits for a token of the other side.
static inline int netwatch_gss_continues(OM_uint32 major) { return (major & GSS_S_CONTINUE_NEEDED) != 0; }

// Whether there are no credentials, or none that are valid still.
static inline int netwatch_gss_lacks_credentials(OM_uint32 major) {
    OM_uint32 reason = GSS_ROUTINE_ERROR(major);
    return reason == GSS_S_NO_CRED || reason == GSS_S_CREDENTIALS_EXPIRED;
}
