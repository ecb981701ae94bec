/**
 * The pages that are written as Markdown in the repository's `docs/`, in reading order. Other pages are generated.
 */
export interface Guide {
  /** Below `/docs/`. */
  readonly slug: string
  /** Below the repository's `docs/`. */
  readonly file: string
  /** In the navigation; the page has a heading of its own. */
  readonly title: string
  readonly summary: string
}

export interface GuideSection {
  readonly title: string
  readonly guides: ReadonlyArray<Guide>
}

const guide = (slug: string, title: string, summary: string, file = `${slug}.md`): Guide => ({
  slug,
  file,
  title,
  summary
})

/** Guides of the site, whose samples are requests to this service. Other chapters are those of the repository. */
const taught = (slug: string, title: string, summary: string): Guide => guide(slug, title, summary, `guides/${slug}.md`)

export const guideSections: ReadonlyArray<GuideSection> = [
  {
    title: "Start",
    guides: [
      taught("quickstart", "Quickstart", "From registration to a verified receipt, in a shell."),
      taught("concepts", "Concepts", "Accounts, calls, prices, money, receipts and trust.")
    ]
  },
  {
    title: "Guides",
    guides: [
      taught("buy-in-mcp", "Buy in MCP", "Give an agent tools through MCP, with limits."),
      taught("budgets", "Budgets and caps", "Limit what an agent can spend."),
      taught("sell-a-tool", "Sell a tool", "List the tools of your MCP server, with prices."),
      taught("payouts", "Payouts and reserves", "When a provider gets its earnings."),
      taught("disputes", "Disputes", "Complain about a call, answer, decide."),
      taught("command-line", "Command line", "Call tools and manage your account from a shell or a script."),
      taught("verify-offline", "Verify offline", "Check a receipt without trusting this service."),
      guide("mcp", "MCP in detail", "Clients, import of tools, and the rules of both MCP doors."),
      guide("clients", "TypeScript client", "Call the API from TypeScript, with retries and typed errors."),
      guide("receipts", "Receipts and the log", "What a receipt proves, and how to follow the transparency log."),
      guide("money", "How money is protected", "The rules that consumers, providers and operators can rely on."),
      guide("trust", "Trust", "Verification of providers, SLA, trust scores and disputes.")
    ]
  },
  {
    title: "Operate",
    guides: [
      guide("deployment", "Deploy", "Containers, compose, systemd, TLS and proxies."),
      guide("operations", "Operate", "Metrics, alerts, logs, traces and what to do about them."),
      guide("settings", "Settings and commands", "Every setting and command of the service."),
      guide("payments", "Payments", "Stripe, payouts and invoices."),
      guide("capacity", "Capacity", "What a call costs, and what a load needs."),
      guide("high-availability", "High availability", "Several nodes and database servers, failover, read replicas."),
      guide("backup", "Backup and restore", "What to keep, and how to restore it."),
      guide("upgrade", "Upgrade and rollback", "Move to another release while calls go on."),
      guide("retention", "Retention and erasure", "How long rows are kept, and how personal data is erased."),
      guide("threat-model", "Threat model", "Threats, limits, and the test for each.")
    ]
  },
  {
    title: "Embed",
    guides: [
      guide("embedding", "Embed the service", "Use the core or the HTTP API in your own Effect program."),
      guide("testing", "Test an embedding program", "A market in memory, builders and contracts of ports.")
    ]
  },
  {
    title: "About",
    guides: [guide("glossary", "Glossary", "The words of this documentation, of the API and of the pages.")]
  }
]

export const guides: ReadonlyArray<Guide> = guideSections.flatMap((section) => section.guides)

export const guidePath = ({ slug }: Guide): string => `/docs/${slug}`

/** Whether its samples call this service. */
export const hasSamples = ({ file }: Guide): boolean => file.startsWith("guides/")
