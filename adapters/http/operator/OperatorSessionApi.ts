/**
 * The operator's session in a browser, and the audit trail of everything that the operator changed.
 */
import { Schema } from "effect"
import { HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { OperatorSessionId } from "../../../domain/accounts/Authentication.ts"
import { AuditedAction, AuditEntryId } from "../../../domain/operator/AuditTrail.ts"
import { operatorAction, readBy, uncached } from "../contract/Access.ts"
import * as Endpoint from "../contract/Endpoint.ts"
import * as Field from "../contract/Field.ts"
import { Name, Note, pageQuery } from "../contract/InputSchemas.ts"
import { CONSUMER_ID, KEY_ID, SAMPLE_OPERATOR_KEY } from "../contract/SampleValues.ts"
import * as shared from "../contract/SharedFields.ts"

const KEY_CHARS_MAX = 1_000
const NAME_CHARS_MAX = 100
const SUBJECT_CHARS_MAX = 200

const SignIn = Field.object("OperatorSignIn", "The operator's key, and who signs in.", {
  key: Field.of(
    Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(KEY_CHARS_MAX)),
    "Value of `OPERATOR_KEY`.",
    SAMPLE_OPERATOR_KEY
  ),
  name: Field.of(Name(NAME_CHARS_MAX), "Your name, as the audit trail shows it. It is not verified.", "Ada Lovelace")
})

const session = {
  session_id: Field.nullable(OperatorSessionId, "ID of the session. `null`: the request has the key itself.", KEY_ID),
  name: Field.string("Name that was given at the sign-in.", "Ada Lovelace"),
  expires_at: Field.nullableTimestamp(
    "Time at which the session ends. It ends earlier after an hour without a request."
  )
}

const Session = Field.object("OperatorSession", "The session of this request.", session)

const SessionEnd = Field.object("OperatorSessionEnded", "The session has ended.", {
  ended: Field.boolean("Whether there was a session.")
})

const REASON_CHARS_MAX = 500

const EndSessions = Field.object("EndOperatorSessions", "Why all sessions are ended.", {
  reason: Field.of(Note(REASON_CHARS_MAX), "Reason, for the audit trail.", "A laptop was stolen.")
})

const SessionsEnd = Field.object("OperatorSessionsEnded", "All sessions have ended.", {
  ended: Field.int("Number of sessions that were ended.", 3)
})

const Entry = Field.object("AuditEntry", "One action of the operator.", {
  entry_id: Field.of(AuditEntryId, "ID of the entry.", KEY_ID),
  at: Field.timestamp("Time of the action."),
  action: Field.of(AuditedAction, "What was done.", "account.freeze"),
  actor: Field.string("Name that was given at the sign-in, or `API key`.", "Ada Lovelace"),
  session_id: Field.nullable(OperatorSessionId, "ID of the session. `null`: the request had the key itself.", KEY_ID),
  address: Field.string("IP address of the request.", "203.0.113.7"),
  subject: Field.nullableString("ID of the account, dispute or document. `null`: the action has none.", CONSUMER_ID),
  reason: Field.nullableString("Reason that was given. `null`: none.", "Fraud is suspected."),
  details: Field.nullableString("Body of the request as JSON. Texts beyond 500 characters are cut. `null`: none.", "{}")
})

const Entries = shared.pageOf(
  "AuditTrail",
  "A page of the audit trail.",
  "entries",
  Field.list(Entry, "Entries of this page, newest first.")
)

export class OperatorSessionApi extends HttpApiGroup.make("operatorSession")
  .add(
    Endpoint.post("signIn", "/api/v1/operator/session", {
      access: uncached,
      summary: "Sign in as the operator",
      description:
        "Exchanges the operator's key for a session cookie (`HttpOnly`, `SameSite=Strict`, and `Secure` behind HTTPS) that " +
        "works on pages of this service only, for 8 hours. Programs send the key as a bearer token instead. " +
        "At most 10 wrong attempts a minute.",
      payload: SignIn,
      success: Session.pipe(HttpApiSchema.status(201)),
      problems: [401, 403, 503]
    }),
    Endpoint.get("session", "/api/v1/operator/session", {
      access: readBy("operator"),
      summary: "Retrieve the operator's session",
      description: "Returns who is signed in, and until when.",
      success: Session
    }),
    Endpoint.delete("signOut", "/api/v1/operator/session", {
      access: operatorAction("session.end"),
      summary: "Sign out",
      description: "Ends the session of this request.",
      success: SessionEnd
    }),
    Endpoint.post("endSessions", "/api/v1/operator/sessions/end", {
      access: operatorAction("session.end_all"),
      summary: "End all sessions of the operator",
      description:
        "Signs everyone out, also the session of this request. `OPERATOR_KEY` still signs in: change it if it is known to " +
        "others.",
      payload: EndSessions,
      success: SessionsEnd
    }),
    Endpoint.get("auditTrail", "/api/v1/operator/audit-trail", {
      access: readBy("operator"),
      summary: "List what the operator changed",
      description:
        "Returns every action that succeeded, newest first. Entries are never changed or deleted. Reads are not recorded.",
      query: {
        ...pageQuery,
        action: Field.optional(AuditedAction, "Only this action."),
        subject: Field.optional(
          Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(SUBJECT_CHARS_MAX)),
          "Only actions on the account, dispute or document with this ID."
        )
      },
      success: Entries
    })
  )
  .annotateMerge(
    Endpoint.about(
      "Operator session",
      "Sign-in of the operator in a browser, and the audit trail. Needs `OPERATOR_KEY`."
    )
  ) {}
