/**
 * The tools and the prompt of the conformance suite that need input (`input_required`, 2026-07-28): after the fixture of
 * the official TypeScript SDK (MIT).
 */
import { randomUUID } from "node:crypto"
import {
  acceptedContent,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  fromJsonSchema,
  type GetPromptResult,
  inputRequired,
  type InputRequests,
  type InputRequiredResult,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext
} from "@modelcontextprotocol/server"
import { NO_ARGUMENTS, text } from "./ReferenceTools.ts"

/** Seals `requestState`: it comes back from the client. */
export const codec = createRequestStateCodec<Record<string, unknown>>({
  key: crypto.getRandomValues(new Uint8Array(32))
})

type Answer = CallToolResult | InputRequiredResult
type Handler = (context: ServerContext["mcpReq"]) => Promise<Answer>

const mint = (state: Record<string, unknown>) => codec.mint({ ...state, nonce: randomUUID() })

const elicit = (message: string, field: string) =>
  inputRequired.elicit({
    message,
    requestedSchema: { type: "object", properties: { [field]: { type: "string" } }, required: [field] }
  })

const confirm = inputRequired.elicit({
  message: "Please confirm",
  requestedSchema: { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] }
})

const sample = (prompt: string) =>
  inputRequired.createMessage({
    messages: [{ role: "user", content: { type: "text", text: prompt } }],
    maxTokens: 50
  })

const textIn = (response: unknown) => (response as { content?: { text?: string } } | undefined)?.content?.text
const rootsIn = (response: unknown) => (response as { roots?: Array<{ uri?: string }> } | undefined)?.roots

const inputTools: Readonly<Record<string, Handler>> = {
  test_missing_capability: async ({ inputResponses }) =>
    inputResponses?.["llm_answer"] === undefined
      ? inputRequired({ inputRequests: { llm_answer: sample("Reply with the single word: pong") } })
      : text("sampling round-trip complete"),

  test_input_required_result_elicitation: async ({ inputResponses }) => {
    const name = acceptedContent<{ name: string }>(inputResponses, "user_name")?.name
    return typeof name === "string"
      ? text(`Hello, ${name}!`)
      : inputRequired({ inputRequests: { user_name: elicit("What is your name?", "name") } })
  },

  test_input_required_result_sampling: async ({ inputResponses }) => {
    const response = inputResponses?.["capital_question"]
    return response === undefined
      ? inputRequired({ inputRequests: { capital_question: sample("What is the capital of France?") } })
      : text(`Sampling response: ${textIn(response) ?? JSON.stringify(response)}`)
  },

  test_input_required_result_list_roots: async ({ inputResponses }) => {
    const roots = rootsIn(inputResponses?.["client_roots"])
    return roots === undefined
      ? inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } })
      : text(`Client exposed ${roots.length} root(s): ${roots.map(({ uri }) => uri).join(", ")}`)
  },

  test_input_required_result_request_state: async ({ inputResponses, requestState }) => {
    if (acceptedContent<{ ok: boolean }>(inputResponses, "confirm") === undefined) {
      return inputRequired({
        inputRequests: { confirm },
        requestState: await mint({ tool: "request_state" })
      })
    }
    if (requestState() === undefined) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Invalid requestState")
    }
    return text("state-ok: requestState verified and confirmation received")
  },

  test_input_required_result_multiple_inputs: async ({ inputResponses }) => {
    const name = acceptedContent<{ name: string }>(inputResponses, "user_name")?.name
    const greeting = textIn(inputResponses?.["greeting"])
    const roots = rootsIn(inputResponses?.["client_roots"])
    if (typeof name === "string" && typeof greeting === "string" && roots !== undefined) {
      return text(`${greeting} ${name} - ${roots.length} root(s) visible`)
    }
    return inputRequired({
      inputRequests: {
        user_name: elicit("What is your name?", "name"),
        greeting: sample("Generate a greeting"),
        client_roots: inputRequired.listRoots()
      },
      requestState: await mint({ tool: "multiple_inputs" })
    })
  },

  test_input_required_result_multi_round: async ({ inputResponses, requestState }) => {
    const state = requestState<Record<string, unknown>>()
    const round = state?.["tool"] === "multi_round" ? Number(state["round"]) : 0
    if (round === 0) {
      return inputRequired({
        inputRequests: { step1: elicit("Step 1: What is your name?", "name") },
        requestState: await mint({ tool: "multi_round", round: 1 })
      })
    }
    if (round === 1) {
      const name = acceptedContent<{ name: string }>(inputResponses, "step1")?.name ?? "unknown"
      return inputRequired({
        inputRequests: { step2: elicit("Step 2: What is your favorite color?", "color") },
        requestState: await mint({ tool: "multi_round", round: 2, name })
      })
    }
    const color = acceptedContent<{ color: string }>(inputResponses, "step2")?.color ?? "unknown"
    return text(`Multi-round complete: ${String(state?.["name"])} likes ${color}`)
  },

  test_input_required_result_tampered_state: async ({ inputResponses, requestState }) =>
    requestState() !== undefined && acceptedContent(inputResponses, "confirm") !== undefined
      ? text("integrity-ok: requestState verified")
      : inputRequired({
          inputRequests: { confirm },
          requestState: await mint({ tool: "tampered_state" })
        }),

  test_input_required_result_capabilities: async ({ envelope, inputResponses }) => {
    if (inputResponses !== undefined) return text("Capability-aware input requests fulfilled")
    const declared = (envelope as Partial<Record<string, ClientCapabilities>> | undefined)?.[
      CLIENT_CAPABILITIES_META_KEY
    ]
    const inputRequests: InputRequests = {
      ...(declared?.elicitation === undefined ? {} : { user_name: elicit("What is your name?", "name") }),
      ...(declared?.sampling === undefined ? {} : { greeting: sample("Generate a short greeting") }),
      ...(declared?.roots === undefined ? {} : { client_roots: inputRequired.listRoots() })
    }
    return Object.keys(inputRequests).length === 0
      ? text("No declared client capability supports an in-band input request")
      : inputRequired({ inputRequests })
  }
}

const promptWithInput = async ({ mcpReq }: ServerContext): Promise<GetPromptResult | InputRequiredResult> => {
  const context = acceptedContent<{ context: string }>(mcpReq.inputResponses, "user_context")?.context
  if (typeof context !== "string") {
    return inputRequired({
      inputRequests: { user_context: elicit("What context should the prompt use?", "context") }
    })
  }
  return { messages: [{ role: "user", content: { type: "text", text: `Use the following context: ${context}` } }] }
}

export const registerInput = (server: McpServer): void => {
  for (const [name, handler] of Object.entries(inputTools)) {
    const inputSchema = fromJsonSchema<Record<string, unknown>>(NO_ARGUMENTS)
    server.registerTool(name, { description: `Scenario tool ${name}`, inputSchema }, (_, { mcpReq }) => handler(mcpReq))
  }
  server.registerPrompt("test_input_required_result_prompt", { description: "Needs input" }, (context) =>
    promptWithInput(context as ServerContext)
  )
}
