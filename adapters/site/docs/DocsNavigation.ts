/**
 * All pages of the documentation, in the order of the navigation.
 */
import { Context } from "effect"
import { HttpApi, OpenApi } from "effect/http-api"
import { feePercent } from "../../../domain/ledger/PlatformFee.ts"
import { ERRORS_PAGE } from "../../http/contract/Problem.ts"
import { allEndpoints, Api } from "../../http/openapi/Api.ts"
import type { DocumentLink } from "../../http/pipeline/Route.ts"

// The pages that are written as Markdown in the repository's `docs/`, in reading order. Other pages are generated.

export interface Guide {
  /** The path below `/docs/`. */
  readonly slug: string
  /** The path below the repository's `docs/`. */
  readonly file: string
  /** The title in the navigation; the page has a heading of its own. */
  readonly title: string
  readonly summary: string
}

interface GuideSection {
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
      taught("budgets", "Budgets, keys and runs", "Limit what an account, a key or a run can spend."),
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
      guide("scaling-out", "Scaling out", "More than one PostgreSQL, with Citus."),
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

/** Samples of a guide call this service. */
export const hasSamples = ({ file }: Guide): boolean => file.startsWith("guides/")

// The pages that the operator publishes: terms, privacy and fees. Without a text of the operator, the page says so.

export const OPERATOR_PAGES = ["terms", "privacy", "fees"] as const
export type OperatorPage = (typeof OPERATOR_PAGES)[number]

/** The operator's Markdown among the documents. */
export const operatorFile = (page: OperatorPage): string => `operator/${page}.md`

/** Keeps the page of a text small. */
export const OPERATOR_TEXT_BYTES_MAX = 32_768

export const operatorPageNames: Readonly<Record<OperatorPage, { readonly title: string; readonly summary: string }>> = {
  terms: { title: "Terms", summary: "The operator's terms of service." },
  privacy: { title: "Privacy", summary: "The operator's privacy policy." },
  fees: { title: "Fees", summary: "What the operator charges." }
}

/** `feeBasisPoints`: the platform fee of providers without a fee of their own. */
export const unpublished = (page: OperatorPage, feeBasisPoints: number): string =>
  ({
    terms: "# Terms\n\nThe operator of this service has not published terms yet.\n",
    privacy:
      "# Privacy\n\nThe operator of this service has not published a privacy policy yet.\n\n" +
      "[Retention and erasure](/docs/retention) says which personal data the service stores, and for how long.\n",
    fees:
      "# Fees\n\nThe operator of this service has not published its fees yet.\n\n" +
      `The platform fee is ${feePercent(feeBasisPoints)} of what a call costs, unless the operator has set another fee for a ` +
      "provider. It is part of the price. [List prices](/docs/api/catalog/pricing) returns the fee of each tool.\n"
  })[page]

export interface NavigationLink {
  readonly path: string
  readonly title: string
  readonly below: ReadonlyArray<NavigationLink>
}

interface NavigationSection {
  readonly title: string
  readonly links: ReadonlyArray<NavigationLink>
}

export interface DocsNavigation {
  readonly sections: ReadonlyArray<NavigationSection>
  /** Every page once, for the links to the previous and the next one. */
  readonly order: ReadonlyArray<NavigationLink>
}

export const API_PAGE = "/docs/api"

/** `receipts.find` is at `/docs/api/receipts/find`. */
export const operationPath = (operationId: string): string => {
  const [group = "", name = ""] = operationId.split(".")
  return `${resourcePath(group)}/${kebab(name)}`
}

export const resourcePath = (group: string): string => `${API_PAGE}/${kebab(group)}`

const kebab = (name: string): string => name.replaceAll(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`)

const link = (path: string, title: string, below: ReadonlyArray<NavigationLink> = []): NavigationLink => ({
  path,
  title,
  below
})

/** Pages of the site with a layout of their own. An app that mounts the API below a prefix does not have them. */
const ELSEWHERE = [link("/changelog", "Changelog"), link("/spec", "Specification")]

/** A group of the contract with a page for each of its operations. */
const resources = (): ReadonlyArray<NavigationLink> => {
  const groups: Array<NavigationLink> = []
  HttpApi.reflect(Api, {
    onGroup: ({ group }) => {
      const operations = allEndpoints().filter(({ operationId }) => operationId.startsWith(`${group.identifier}.`))
      groups.push(
        link(
          resourcePath(group.identifier),
          Context.getOrElse(group.annotations, OpenApi.Title, () => group.identifier),
          operations.map(({ operationId, summary }) => link(operationPath(operationId), summary))
        )
      )
    },
    onEndpoint: () => {}
  })
  return groups
}

export const docsNavigation = (prefix = ""): DocsNavigation => {
  const written = guideSections.map(({ guides, title }) => ({
    title,
    links: guides.map((guide) => link(guidePath(guide), guide.title))
  }))
  const [start, taught, ...others] = written
  const about = others.at(-1)!
  const sections: ReadonlyArray<NavigationSection> = [
    { title: start!.title, links: [link("/docs", "Overview"), ...start!.links] },
    taught!,
    { title: "API reference", links: [link(API_PAGE, "Conventions"), ...resources(), link(ERRORS_PAGE, "Errors")] },
    ...others.slice(0, -1),
    {
      title: about.title,
      links: [
        ...about.links,
        ...(prefix === "" ? ELSEWHERE : []),
        ...OPERATOR_PAGES.map((page) => link(`/docs/${page}`, operatorPageNames[page].title))
      ]
    }
  ]
  const flat = (links: ReadonlyArray<NavigationLink>): ReadonlyArray<NavigationLink> =>
    links.flatMap((one) => [one, ...flat(one.below)])
  return { sections, order: flat(sections.flatMap(({ links }) => links)).filter((one) => !ELSEWHERE.includes(one)) }
}

// The documentation's Markdown pages, for llms.txt.

export const documentLinks = (): ReadonlyArray<DocumentLink> => [
  { path: "/docs.md", title: "Overview", summary: "Every page, and every endpoint." },
  ...guides.map((guide) => ({ path: `${guidePath(guide)}.md`, title: guide.title, summary: guide.summary })),
  { path: `${API_PAGE}.md`, title: "API conventions", summary: "Authentication, amounts, names, idempotency, limits." },
  { path: `${ERRORS_PAGE}.md`, title: "Errors", summary: "Every error code: what it means and what to do." }
]
