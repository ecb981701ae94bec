/**
 * Problems of registering or changing accounts, keys and tools, and of authentication.
 */
import { FAULTS_MAX, type NoToolRegistered } from "./Failures.ts"
import {
  duplicate,
  forbidden,
  invalid,
  invalidField,
  notFound,
  providerError,
  type ProblemRow,
  type ProblemTable
} from "./ProblemTable.ts"

export const accountProblems = {
  AuthorizationRejected: () => ({ ...unauthorized, hint: SEND_KEY }),
  AlreadyRegistered: duplicate("POST /api/v1/market/keys creates a key."),
  EndpointBlocked: (e) => ({ ...invalidField("endpoint_url")(e), code: "BLOCKED_ENDPOINT" }),
  ExpiryInThePast: invalidField("expires_at"),
  HandleRejected: invalidField("handle"),
  HandleTaken: duplicate(),
  KeyNotFound: notFound("GET /api/v1/market/keys lists your keys."),
  LastKey: duplicate(),
  MetricsRejected: () => unauthorized,
  NoToolRegistered: (e) => ({
    status: 422,
    code: "VALIDATION_ERROR",
    details: e.tools.flatMap(faultsOfTool).slice(0, FAULTS_MAX),
    extra: {
      registered: 0,
      errors: e.tools.length,
      tools: [],
      tool_errors: e.tools.map(({ tool_name, error }) => ({ tool_name, error }))
    }
  }),
  ServerUnreadable: providerError(),
  ProviderNotFound: notFound("GET /api/market/catalog lists tools with their providers."),
  ToolNotYours: notFound("GET /api/v1/market/tools lists yours."),
  ToolsRejected: (e) => ({
    status: 422,
    code: "VALIDATION_ERROR",
    details: e.tools.map((tool) => ({ path: ["tools", tool.index], message: `${tool.tool_name}: ${tool.error}` }))
  }),
  SessionEnded: () => unauthorized,
  TooManyKeys: invalid(),
  Unauthorized: ({ reason }) => (reason === "missing" ? { ...unauthorized, hint: SEND_KEY } : unauthorized),
  WrongOperatorKey: () => ({ ...unauthorized, hint: "It is the value of OPERATOR_KEY." }),
  WrongRole: forbidden()
} satisfies Partial<ProblemTable>

const SEND_KEY = "Send the key as `Authorization: Bearer <key>`."
const unauthorized: ProblemRow<401> = { status: 401, code: "UNAUTHORIZED", headers: { "www-authenticate": "Bearer" } }

const faultsOfTool = ({ error, faults, index, tool_name: name }: NoToolRegistered["tools"][number]) =>
  faults === undefined
    ? [{ path: ["tools", index], message: `${name}: ${error}` }]
    : faults.map(({ message, path }) => ({ path: ["tools", index, ...path], message }))
