/**
 * The tools that the scenarios of the conformance suite call, except those that need input: after the fixture of the
 * official TypeScript SDK (MIT), on its package `@modelcontextprotocol/server`.
 */
import { type CallToolResult, fromJsonSchema, type JsonSchemaType, type McpServer } from "@modelcontextprotocol/server"

type Handler = (args: Readonly<Record<string, unknown>>, context: ToolContext) => Promise<CallToolResult>

/** What a tool uses of its request. */
export interface ToolContext {
  readonly sessionId?: string | undefined
  readonly mcpReq: {
    readonly id: string | number
    readonly _meta?: { readonly progressToken?: string | number | undefined } | undefined
    notify(notification: { readonly method: string; readonly params: object }): Promise<void>
    send(request: { readonly method: string; readonly params: object }): Promise<unknown>
    log(level: "info", data: unknown): Promise<void>
  }
}

export const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
const SOUND = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="

export const text = (value: string): CallToolResult => ({ content: [{ type: "text", text: value }] })

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

export const NO_ARGUMENTS: JsonSchemaType = { type: "object", properties: {} }

const elicitation =
  (requestedSchema: object, label: string, message?: string): Handler =>
  async (args, { mcpReq }) => {
    try {
      const params = { message: message ?? String(args["message"]), requestedSchema }
      const result = (await mcpReq.send({ method: "elicitation/create", params })) as {
        readonly action?: string
        readonly content?: unknown
      }
      return text(`${label}: action=${result.action}, content=${JSON.stringify(result.content ?? {})}`)
    } catch (error) {
      return text(`Elicitation not supported or error: ${String(error)}`)
    }
  }

const DEFAULTS = {
  type: "object",
  properties: {
    name: { type: "string", description: "User name", default: "John Doe" },
    age: { type: "integer", description: "User age", default: 30 },
    score: { type: "number", description: "User score", default: 95.5 },
    status: { type: "string", description: "User status", enum: ["active", "inactive", "pending"], default: "active" },
    verified: { type: "boolean", description: "Verification status", default: true }
  },
  required: []
}

const OPTIONS = ["option1", "option2", "option3"]
const titled = (choice: string) =>
  ["First", "Second", "Third"].map((name, n) => ({ const: `value${n + 1}`, title: `${name} ${choice}` }))

const ENUMS = {
  type: "object",
  properties: {
    untitledSingle: { type: "string", description: "Select one option", enum: OPTIONS },
    titledSingle: { type: "string", description: "Select one option with titles", oneOf: titled("Option") },
    legacyEnum: {
      type: "string",
      description: "Select one option (legacy)",
      enum: ["opt1", "opt2", "opt3"],
      enumNames: ["Option One", "Option Two", "Option Three"]
    },
    untitledMulti: {
      type: "array",
      description: "Select multiple options",
      minItems: 1,
      maxItems: 3,
      items: { type: "string", enum: OPTIONS }
    },
    titledMulti: {
      type: "array",
      description: "Select multiple options with titles",
      minItems: 1,
      maxItems: 3,
      items: { anyOf: titled("Choice") }
    }
  },
  required: []
}

const JSON_SCHEMA_2020_12 = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } }
    }
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" }
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false
}

const REGIONAL = {
  type: "object",
  properties: { region: { type: "string", "x-mcp-header": "Region" }, level: { type: "integer" } }
}

const asks = (name: string) => ({ type: "object", properties: { [name]: { type: "string" } }, required: [name] })

export interface ToolHooks {
  /** Closes the stream that the request's response is sent on. */
  closeStream(sessionId: string | undefined, requestId: string | number): void
  toolsChanged(): void
  promptsChanged(): void
}

const plainTools = (hooks: ToolHooks): Readonly<Record<string, readonly [schema: object, handler: Handler]>> => ({
  test_x_mcp_header: [REGIONAL, async ({ region }) => text(`region=${String(region ?? "<none>")}`)],
  test_streaming_elicitation: [NO_ARGUMENTS, async () => text("only this result is on the stream")],
  test_logging_tool: [
    NO_ARGUMENTS,
    async (_, { mcpReq }) => {
      await mcpReq.log("info", "sent only if the request asked for a level")
      return text("logged")
    }
  ],
  test_simple_text: [NO_ARGUMENTS, async () => text("This is a simple text response for testing.")],
  test_image_content: [
    NO_ARGUMENTS,
    async () => ({ content: [{ type: "image", data: PIXEL, mimeType: "image/png" }] })
  ],
  test_audio_content: [
    NO_ARGUMENTS,
    async () => ({ content: [{ type: "audio", data: SOUND, mimeType: "audio/wav" }] })
  ],
  test_embedded_resource: [
    NO_ARGUMENTS,
    async () => ({
      content: [
        {
          type: "resource",
          resource: { uri: "test://embedded-resource", mimeType: "text/plain", text: "This is an embedded resource." }
        }
      ]
    })
  ],
  test_multiple_content_types: [
    NO_ARGUMENTS,
    async () => ({
      content: [
        { type: "text", text: "Multiple content types test:" },
        { type: "image", data: PIXEL, mimeType: "image/png" },
        {
          type: "resource",
          resource: { uri: "test://mixed-content-resource", mimeType: "application/json", text: '{"value":123}' }
        }
      ]
    })
  ],
  test_tool_with_logging: [
    NO_ARGUMENTS,
    async (_, { mcpReq }) => {
      for (const data of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
        await mcpReq.notify({ method: "notifications/message", params: { level: "info", data } })
        await pause(50)
      }
      return text("Tool with logging executed successfully")
    }
  ],
  test_tool_with_progress: [
    NO_ARGUMENTS,
    async (_, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken
      for (const progress of progressToken === undefined ? [] : [0, 50, 100]) {
        const params = { progressToken, progress, total: 100, message: `Completed step ${progress} of 100` }
        await mcpReq.notify({ method: "notifications/progress", params })
        await pause(50)
      }
      return text(String(progressToken ?? "no-progress-token"))
    }
  ],
  test_error_handling: [
    NO_ARGUMENTS,
    async () => {
      throw new Error("This tool intentionally returns an error for testing")
    }
  ],
  test_reconnection: [
    NO_ARGUMENTS,
    async (_, { mcpReq, sessionId }) => {
      hooks.closeStream(sessionId, mcpReq.id)
      await pause(100)
      return text("Reconnection test completed successfully.")
    }
  ],
  test_sampling: [
    asks("prompt"),
    async ({ prompt }, { mcpReq }) => {
      try {
        const messages = [{ role: "user", content: { type: "text", text: prompt } }]
        const result = await mcpReq.send({ method: "sampling/createMessage", params: { messages, maxTokens: 100 } })
        return text(`LLM response: ${(result as { content?: { text?: string } }).content?.text ?? "No response"}`)
      } catch (error) {
        return text(`Sampling not supported or error: ${String(error)}`)
      }
    }
  ],
  test_elicitation: [
    asks("message"),
    elicitation(
      { type: "object", properties: { response: { type: "string" } }, required: ["response"] },
      "User response"
    )
  ],
  test_elicitation_sep1034_defaults: [NO_ARGUMENTS, elicitation(DEFAULTS, "Elicitation completed", "Please review")],
  test_elicitation_sep1330_enums: [NO_ARGUMENTS, elicitation(ENUMS, "Elicitation completed", "Please select")],
  json_schema_2020_12_tool: [JSON_SCHEMA_2020_12, async (args) => text(JSON.stringify(args))],
  test_trigger_tool_change: [
    NO_ARGUMENTS,
    async () => {
      hooks.toolsChanged()
      return text("tools_list_changed published")
    }
  ],
  test_trigger_prompt_change: [
    NO_ARGUMENTS,
    async () => {
      hooks.promptsChanged()
      return text("prompts_list_changed published")
    }
  ]
})

const WEATHER = {
  type: "object",
  properties: { temperature: { type: "number" } },
  required: ["temperature"],
  additionalProperties: false
}

/** Clients check its results against its schema. */
const registerStrictTool = (server: McpServer): void => {
  const outputSchema = fromJsonSchema<{ temperature: number }>(WEATHER as JsonSchemaType)
  const inputSchema = fromJsonSchema<Record<string, unknown>>(asks("city") as JsonSchemaType)
  server.registerTool("strict_weather", { description: "Today's weather", inputSchema, outputSchema }, async () => ({
    content: [{ type: "text", text: '{"temperature":21.5}' }],
    structuredContent: { temperature: 21.5 }
  }))
}

export const registerPlainTools = (server: McpServer, hooks: ToolHooks): void => {
  for (const [name, [schema, handler]] of Object.entries(plainTools(hooks))) {
    const inputSchema = fromJsonSchema<Record<string, unknown>>(schema as JsonSchemaType)
    server.registerTool(name, { description: `Scenario tool ${name}`, inputSchema }, (args, context) =>
      handler(args, context as ToolContext)
    )
  }
  registerStrictTool(server)
}
