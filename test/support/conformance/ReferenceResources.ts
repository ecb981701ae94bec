/**
 * Resources, prompts, logging and completion of the conformance suite: after the fixture of the official TypeScript SDK
 * (MIT).
 */
import { fromJsonSchema, type McpServer, ResourceTemplate } from "@modelcontextprotocol/server"
import { PIXEL } from "./ReferenceTools.ts"

export const registerResources = (server: McpServer): void => {
  const plain = (name: string, uri: string, mimeType: string, content: { text: string } | { blob: string }) =>
    server.registerResource(name, uri, { title: name, description: name, mimeType }, async () => ({
      contents: [{ uri, mimeType, ...content }]
    }))
  plain("static-text", "test://static-text", "text/plain", { text: "This is the content of the static text resource." })
  plain("static-binary", "test://static-binary", "image/png", { blob: PIXEL })
  plain("watched-resource", "test://watched-resource", "text/plain", { text: "Watched resource content" })
  server.registerResource(
    "template",
    new ResourceTemplate("test://template/{id}/data", { list: undefined }),
    { title: "Resource Template", mimeType: "application/json" },
    async (uri, { id }) => ({
      contents: [
        { uri: uri.toString(), mimeType: "application/json", text: JSON.stringify({ id, data: `Data for ID: ${id}` }) }
      ]
    })
  )
  for (const method of ["resources/subscribe", "resources/unsubscribe"] as const) {
    server.server.setRequestHandler(method, async () => ({}))
  }
}

const strings = (...names: ReadonlyArray<string>) =>
  fromJsonSchema<Record<string, string>>({
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name, { type: "string", description: name }])),
    required: [...names]
  })

export const registerPrompts = (server: McpServer): void => {
  const say = (text: string) => ({ role: "user" as const, content: { type: "text" as const, text } })
  server.registerPrompt("test_simple_prompt", { description: "A prompt without arguments" }, async () => ({
    messages: [say("This is a simple prompt for testing.")]
  }))
  server.registerPrompt(
    "test_prompt_with_arguments",
    { description: "A prompt with arguments", argsSchema: strings("arg1", "arg2") },
    async ({ arg1, arg2 }) => ({ messages: [say(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)] })
  )
  server.registerPrompt(
    "test_prompt_with_embedded_resource",
    { description: "A prompt with an embedded resource", argsSchema: strings("resourceUri") },
    async ({ resourceUri }) => ({
      messages: [
        {
          role: "user" as const,
          content: {
            type: "resource" as const,
            resource: {
              uri: String(resourceUri),
              mimeType: "text/plain",
              text: "Embedded resource content for testing."
            }
          }
        },
        say("Please process the embedded resource above.")
      ]
    })
  )
  server.registerPrompt("test_prompt_with_image", { description: "A prompt with an image" }, async () => ({
    messages: [
      { role: "user" as const, content: { type: "image" as const, data: PIXEL, mimeType: "image/png" } },
      say("Please analyze the image above.")
    ]
  }))
  server.server.setRequestHandler("logging/setLevel", async () => ({}))
  server.server.setRequestHandler("completion/complete", async () => ({
    completion: { values: [], total: 0, hasMore: false }
  }))
}
