/**
 * What a provider is asked to do to verify a mailbox, a domain or a repository.
 */
import { Context, DateTime } from "effect"
import { recordName, recordValue, repositoryText } from "./Proofs.ts"
import type { Proof } from "./VerificationStore.ts"

export const MAIL_TOKEN_HOURS = 24

export interface Challenge {
  readonly type: "email" | "dns_txt_or_well_known" | "repository_file"
  readonly recordName: string
  readonly recordValue: string
  readonly expiresAt: DateTime.Utc
  readonly instructions: string
}

/** Where a provider sends the token of its mail, as the mail names it. */
export const VerificationEndpoint = Context.Reference<string>("agent-tool-billing/domain/trust/VerificationEndpoint", {
  defaultValue: () => "the endpoint that verifies providers"
})

export const letter = (token: string, endpoint: string): string =>
  [
    "A provider of MCP tools wants to verify this mailbox as its own.",
    "",
    `Send this token to ${endpoint}, with your provider key:`,
    "",
    `  {"level": "email", "token": "${token}"}`,
    "",
    `The token works once and expires after ${MAIL_TOKEN_HOURS} hours. If you did not request it, ignore this mail.`
  ].join("\n")

export const newAddressLetter = (token: string): string =>
  [
    "A provider of MCP tools wants to use this address as its contact address.",
    "",
    "To confirm it, enter this code on the provider dashboard, or send it as `token` to the endpoint that changes the address:",
    "",
    `  ${token}`,
    "",
    `The code works once and expires after ${MAIL_TOKEN_HOURS} hours. If you did not request it, ignore this mail.`
  ].join("\n")

/** To the address before. */
export const addressChangedLetter = (handle: string): string =>
  [
    `The contact address of the provider ${handle} was changed. This address is no longer used.`,
    "",
    "If you did not change it, another person has an API key of the account: revoke your keys, and tell the operator of the",
    "service."
  ].join("\n")

export const publication = ({ expiresAt, level, providerId, subject }: Proof, token: string): Challenge => {
  const shared = { expiresAt: expiresAt ?? DateTime.makeUnsafe(0) }
  return level === "code"
    ? {
        ...shared,
        type: "repository_file",
        recordName: ".mcp-billing.json",
        recordValue: repositoryText(providerId, token),
        instructions: `Commit this as .mcp-billing.json to the default branch of ${subject}, then repeat this call.`
      }
    : {
        ...shared,
        type: "dns_txt_or_well_known",
        recordName: recordName(subject),
        recordValue: recordValue(providerId, token),
        instructions:
          `Publish this text as a TXT record of ${recordName(subject)}, or at ` +
          `https://${subject}/.well-known/mcp-billing-verify.txt, then repeat this call.`
      }
}
