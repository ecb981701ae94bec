/**
 * Ready configurations of MCP clients for one of the service's doors, as each client expects them. Pages and the command line
 * show the same text. The key appears only in text to copy, never in a link.
 */
export const CLIENTS = [
  ["claude-code", "Claude Code"],
  ["claude-desktop", "Claude Desktop"],
  ["cursor", "Cursor"],
  ["vscode", "VS Code"],
  ["json", "JSON"]
] as const

export type ClientId = (typeof CLIENTS)[number][0]

export interface Door {
  /** Its name in the client: a client puts it before each tool's name and limits the length of both. */
  readonly name: string
  readonly url: string
}

interface Snippet {
  /** The place of the configuration: a file, or the terminal. */
  readonly place: string
  readonly code: string
}

export interface ClientConfig {
  readonly id: ClientId
  readonly label: string
  readonly snippets: ReadonlyArray<Snippet>
  /** Opens the client with the configuration, without the key. */
  readonly link?: { readonly label: string; readonly href: string }
  readonly note: string
}

export const KEY_PLACEHOLDER = "YOUR_API_KEY"
const KEY_VARIABLE = "AGENT_TOOL_BILLING_KEY"
const KEY_INPUT = "agent-tool-billing-key"

/** The door to the tools of all providers. */
export const marketDoor = (baseUrl: string): Door => ({ name: "market", url: `${baseUrl}/mcp` })

/** The door to one provider's server. */
export const providerDoor = (baseUrl: string, handle: string): Door => ({
  name: handle,
  url: `${baseUrl}/mcp/${handle}`
})

/** Keys of this service and of others, without characters that a shell or JSON would interpret. */
export const isPlainKey = (key: string): boolean => /^[\w.~+/=-]{1,512}$/u.test(key)

/** A placeholder stands for an undefined key. */
export const clientConfigs = (door: Door, key: string | undefined): ReadonlyArray<ClientConfig> =>
  CLIENTS.map(([id]) => clientConfig(id, door, key))

export const clientConfig = (id: ClientId, { name, url }: Door, key: string = KEY_PLACEHOLDER): ClientConfig => {
  const label = CLIENTS.find(([known]) => known === id)![1]
  const headers = bearer(key)
  switch (id) {
    case "claude-code":
      return {
        id,
        label,
        snippets: [
          {
            place: "Terminal",
            // `--header` takes several values, so it comes last.
            code: `claude mcp add --transport http ${name} ${url} \\\n  --header "Authorization: Bearer ${key}"`
          }
        ],
        note: "Add `--scope user` before the name for all of your projects. `/mcp` in Claude Code shows the connection."
      }
    case "claude-desktop": {
      const args = ["-y", "mcp-remote", url, ...plainHttp(url), "--header", "Authorization:${AUTH_HEADER}"]
      const server = { command: "npx", args, env: { AUTH_HEADER: `Bearer ${key}` } }
      return {
        id,
        label,
        snippets: [{ place: "claude_desktop_config.json", code: pretty({ mcpServers: { [name]: server } }) }],
        note:
          "Settings > Developer > Edit Config opens the file; restart Claude Desktop afterward. It needs Node. A custom " +
          "connector (Settings > Connectors) signs in with OAuth and cannot send an API key."
      }
    }
    case "cursor":
      return {
        id,
        label,
        snippets: [{ place: "~/.cursor/mcp.json", code: pretty({ mcpServers: { [name]: { url, headers } } }) }],
        link: { label: "Add to Cursor", href: cursorLink(name, { url, headers: bearer(`\${env:${KEY_VARIABLE}}`) }) },
        note: `\`.cursor/mcp.json\` in a project works too. The link adds the server without your key: set \`${KEY_VARIABLE}\`.`
      }
    case "vscode": {
      const asked = { type: "http", url, headers: bearer(`\${input:${KEY_INPUT}}`) }
      const inputs = [
        { type: "promptString", id: KEY_INPUT, description: "Agent Tool Billing API key", password: true }
      ]
      return {
        id,
        label,
        snippets: [
          { place: ".vscode/mcp.json", code: pretty({ inputs, servers: { [name]: asked } }) },
          { place: "Terminal", code: `code --add-mcp '${JSON.stringify({ name, type: "http", url, headers })}'` }
        ],
        link: {
          label: "Add to VS Code",
          href: `vscode:mcp/install?${encodeURIComponent(JSON.stringify({ name, ...asked, inputs }))}`
        },
        note: "The file and the link ask for your key once; VS Code stores it encrypted."
      }
    }
    case "json":
      return {
        id,
        label,
        snippets: [{ place: "mcp.json", code: pretty({ mcpServers: { [name]: { type: "http", url, headers } } }) }],
        note: "For other clients: streamable HTTP, and the key as `Authorization: Bearer` or `X-API-Key`."
      }
    default:
      return id satisfies never
  }
}

const bearer = (key: string) => ({ Authorization: `Bearer ${key}` })

const pretty = (value: unknown): string => JSON.stringify(value, null, 2)

/** mcp-remote connects without TLS only to this machine, unless it is told to. */
const plainHttp = (url: string): ReadonlyArray<string> =>
  /^http:\/\/(?!(?:localhost|127\.0\.0\.1)[:/])/u.test(url) ? ["--allow-http"] : []

const cursorLink = (name: string, config: unknown): string =>
  `cursor://anysphere.cursor-deeplink/mcp/install?name=${encodeURIComponent(name)}` +
  `&config=${encodeURIComponent(btoa(JSON.stringify(config)))}`
