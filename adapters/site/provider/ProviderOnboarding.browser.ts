/**
 * Onboarding steps of a new provider.
 */
import { accountApi } from "../kit/AccountApi.browser.ts"
import { request } from "../kit/ApiRequest.browser.ts"
import { codeBlock, curl } from "../kit/CodeBlock.browser.ts"
import { badge, type Child, el } from "../kit/Dom.browser.ts"
import { type Panel, panel } from "../kit/Panel.browser.ts"
import type { CatalogPage, Connection } from "../kit/ApiResponses.browser.ts"
import { readEarnings } from "./ProviderEarnings.browser.ts"
import { CONNECT } from "./ProviderPayouts.browser.ts"
import { readTrust } from "./TrustPanel.browser.ts"

/** `loaded`: whether the provider has had a call, and whether onboarding is complete. */
export const onboardingPanel = (providerId: string, loaded: (hasCalls: boolean, isDone: boolean) => void): Panel =>
  panel("start", "Get started", async () => {
    const [listed, summary, trust, connection] = await Promise.all([
      request<CatalogPage>("GET", `/api/market/catalog?provider_id=${providerId}&limit=1`, { isFresh: true }),
      readEarnings("all"),
      readTrust(providerId),
      accountApi("provider").get<Connection>(CONNECT)
    ])
    const hasCalls = summary.total_calls > 0
    loaded(hasCalls, listed.total > 0 && hasCalls)
    const tool = listed.tools[0]?.qualified_name ?? "<your handle>/search"
    return [
      el(
        "ol",
        { class: "steps" },
        step(listed.total > 0, "List a tool", "Set its price and free calls. ", link("#tools", "List tool")),
        step(
          hasCalls,
          "Receive the first call",
          "Your tools are in the ",
          link("/catalog", "catalog"),
          ". To test a call, ",
          link("/developers/register", "register as a developer"),
          " and call your tool with that key:",
          codeBlock(curl("/api/market/proxy", "$CONSUMER_KEY", { tool_name: tool, input: {} }))
        ),
        step(
          trust.details.verification_level !== "unverified",
          "Verify your identity",
          "Verification raises your trust score. ",
          link("#trust", "Verify")
        ),
        step(
          connection.connected,
          "Set up payouts",
          "The payment processor must verify your identity before it can pay you. ",
          link("#payouts", "Set up payouts")
        )
      )
    ]
  })

const link = (href: string, label: string): HTMLElement => el("a", { href }, label)

const step = (isDone: boolean, title: string, ...details: ReadonlyArray<Child>): HTMLElement =>
  el("li", el("strong", title), " ", isDone ? badge("Done", "good") : el("div", ...details))
