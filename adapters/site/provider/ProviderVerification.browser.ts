/**
 * Proving who one is: a token from one's mailbox, a text in the DNS or at the domain, a file in the repository. The first
 * press gives what to publish, ready to paste; the next one has it checked.
 */
import type { Trust, Verified } from "../kit/Answers.browser.ts"
import { ask } from "../kit/Api.browser.ts"
import { deed, saying } from "../kit/Action.browser.ts"
import { type Child, el, fill, notice } from "../kit/Dom.browser.ts"
import { moment, until } from "../kit/Figures.browser.ts"
import { form, type Values } from "../kit/Form.browser.ts"
import { command } from "../kit/KeyShown.browser.ts"
import { keyOf } from "../kit/Session.browser.ts"

type Level = Trust["details"]["verification_level"]
type Proof = Exclude<Level, "unverified">

const PATH = "/api/v1/market/providers/verify"
const WELL_KNOWN_FILE = "/.well-known/mcp-billing-verify.txt"

/** `changed` is told once a proof holds. */
export const proofs = (level: Level, changed: () => void): HTMLElement => {
  const prove = async (proof: Proof, values: Values): Promise<Verified> => {
    const given = Object.entries(values).filter(([, value]) => value !== "")
    const body = { level: proof, ...Object.fromEntries(given) }
    const answer = await ask<Verified>("POST", PATH, { key: keyOf("provider"), body })
    if (answer.verified) changed()
    return answer
  }
  const mailed = saying()
  return el(
    "div",
    { class: "grid" },
    card(level, "email", "Your mailbox", "A token goes to the address that you registered with. Worth 10 of 25.", [
      el(
        "div",
        { class: "actions" },
        deed("Mail me a token", mailed, async () => told(await prove("email", {})), "plain")
      ),
      mailed,
      form({
        id: "prove-email",
        submit: "Check the token",
        fields: [{ name: "token", label: "Token from the mail" }],
        send: async (values) => told(await prove("email", values))
      })
    ]),
    card(level, "domain", "Your domain", "A text in your endpoint's DNS, or in a file there. Worth 20 of 25.", [
      published("domain", prove, {
        name: "domain",
        label: "Domain",
        placeholder: "tools.example.org",
        hint: "Your endpoint's host, or a domain of yours above it."
      })
    ]),
    card(level, "code", "Your source repository", "A file on its default branch. Worth 25 of 25.", [
      published("code", prove, {
        name: "repo_url",
        label: "Repository",
        placeholder: "https://github.com/ada/tools",
        hint: "On GitHub, GitLab or Bitbucket."
      })
    ])
  )
}

const card = (level: Level, proof: Proof, title: string, what: string, content: ReadonlyArray<Child>): HTMLElement =>
  el(
    "div",
    { class: "card" },
    el("h4", {}, title),
    el(
      "p",
      { class: "muted" },
      what,
      level === proof ? el("strong", {}, " It holds, and is what counts now.") : undefined
    ),
    ...content
  )

const published = (
  proof: Proof,
  prove: (proof: Proof, values: Values) => Promise<Verified>,
  field: { readonly name: string; readonly label: string; readonly placeholder: string; readonly hint: string }
): HTMLElement => {
  const made = form({
    id: `prove-${proof}`,
    submit: "Show what to publish",
    fields: [field],
    send: async (values) => {
      const answer = await prove(proof, values)
      made.querySelector("button[type=submit]")!.textContent = answer.verified ? "Check it again" : "Check it now"
      return told(answer)
    }
  })
  return made
}

const told = ({ challenge, message, verified }: Verified): HTMLElement => {
  const made = el("div", {})
  fill(made, notice(verified ? "good" : "", message), challenge === null ? undefined : shown(challenge))
  return made
}

const shown = (challenge: NonNullable<Verified["challenge"]>): Child => {
  const { expires_at: expires, record_name: name, record_value: value, type } = challenge
  const ends = el("p", { class: "small muted" }, "It holds until ", moment(expires), `, ${until(expires)}.`)
  switch (type) {
    case "email":
      return ends
    case "dns_txt_or_well_known":
      return [
        el("p", {}, "As a TXT record:"),
        command(`${name}. IN TXT "${value}"`),
        el("p", {}, "Or as the text of ", el("code", {}, WELL_KNOWN_FILE), ":"),
        command(value),
        ends
      ]
    default:
      return [el("p", {}, "Commit this as ", el("code", {}, name), ":"), command(value), ends]
  }
}
