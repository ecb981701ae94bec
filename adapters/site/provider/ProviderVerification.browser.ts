/**
 * Verification of the provider's email address, domain or source repository.
 */
import { accountApi } from "../kit/AccountApi.browser.ts"
import { actionButton, statusArea } from "../kit/Action.browser.ts"
import { codeBlock } from "../kit/CodeBlock.browser.ts"
import { type Child, el, notice } from "../kit/Dom.browser.ts"
import { dateTime, relativeTime } from "../kit/Format.browser.ts"
import { type Field, form, type Values } from "../kit/Form.browser.ts"
import type { Trust, VerifyResponse } from "../kit/ApiResponses.browser.ts"

type Level = Trust["details"]["verification_level"]
type Method = Exclude<Level, "unverified">

const PATH = "/api/v1/market/providers/verify"
const WELL_KNOWN_FILE = "/.well-known/mcp-billing-verify.txt"

/** `verified` is called when a verification succeeds. */
export const verificationCards = (level: Level, verified: () => void): HTMLElement => {
  const verify = async (method: Method, values: Values = {}): Promise<VerifyResponse> => {
    const given = Object.entries(values).filter(([, value]) => value !== "")
    const body = { level: method, ...Object.fromEntries(given) }
    const response = await accountApi("provider").post<VerifyResponse>(PATH, body)
    if (response.verified) verified()
    return response
  }
  const card = (method: Method, title: string, text: string, ...content: ReadonlyArray<Child>): HTMLElement =>
    el(
      "div",
      { class: "card" },
      el("h4", title),
      el("p", { class: "muted" }, text, level === method ? el("strong", " Verified.") : undefined),
      ...content
    )
  const publishForm = (method: Method, field: Field): HTMLElement => {
    const made = form({
      id: `verify-${method}`,
      submit: "Get token",
      fields: [field],
      send: async (values) => {
        const response = await verify(method, values)
        made.querySelector("button[type=submit]")!.textContent = response.verified ? "Verify again" : "Verify"
        return resultView(response)
      }
    })
    return made
  }
  const status = statusArea()
  const sendToken = actionButton({
    label: "Send token",
    style: "plain",
    status,
    run: async () => resultView(await verify("email"))
  })
  return el(
    "div",
    { class: "grid" },
    card(
      "email",
      "Email address",
      "Enter the token that is sent to your registered address. 10 points.",
      el("div", { class: "actions" }, sendToken),
      status,
      form({
        id: "verify-email",
        submit: "Verify",
        fields: [{ name: "token", label: "Token" }],
        send: async (values) => resultView(await verify("email", values))
      })
    ),
    card(
      "domain",
      "Domain",
      "Publish a token in DNS or in a file on your endpoint's domain. 20 points.",
      publishForm("domain", {
        name: "domain",
        label: "Domain",
        placeholder: "tools.example.org",
        hint: "Your endpoint's host or a parent domain."
      })
    ),
    card(
      "code",
      "Source repository",
      "Commit a file to the default branch. 25 points.",
      publishForm("code", {
        name: "repo_url",
        label: "Repository URL",
        placeholder: "https://github.com/ada/tools",
        hint: "On GitHub, GitLab or Bitbucket."
      })
    )
  )
}

const resultView = ({ challenge, message, verified }: VerifyResponse): HTMLElement =>
  el("div", notice(verified ? "good" : "", message), challenge === null ? undefined : challengeView(challenge))

const challengeView = (challenge: NonNullable<VerifyResponse["challenge"]>): Child => {
  const { expires_at: expires, record_name: name, record_value: value, type } = challenge
  const expiry = el("p", { class: "small muted" }, "Expires ", dateTime(expires), ` (${relativeTime(expires)}).`)
  switch (type) {
    case "email":
      return expiry
    case "dns_txt_or_well_known":
      return [
        el("p", "Add this TXT record:"),
        codeBlock(`${name}. IN TXT "${value}"`),
        el("p", "Or serve this text at ", el("code", WELL_KNOWN_FILE), ":"),
        codeBlock(value),
        expiry
      ]
    default:
      return [el("p", "Commit this file as ", el("code", name), ":"), codeBlock(value), expiry]
  }
}
