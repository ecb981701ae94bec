/**
 * The account that pays for calls from a tool's page: asks for its key, unless this browser tab has one.
 */
import type { ComponentChildren } from "preact"
import { useEffect, useState } from "preact/hooks"
import { identifyAccount } from "../console/AccountKey.browser.ts"
import type { ConsoleAccount } from "../console/ConsoleContext.browser.ts"
import { Loaded, useResource } from "../console/Resource.browser.ts"
import { keyField, SignInForm } from "../console/SignInForm.browser.ts"
import { h, type View } from "../console/View.browser.ts"
import { forgetKey, REGISTRATION_PATHS, storedKey, storeKey } from "../kit/Session.browser.ts"

const ROLE = "consumer"
const identify = identifyAccount(ROLE)

interface Stored {
  readonly account?: ConsoleAccount
  /** Why the stored key was rejected. */
  readonly error?: ComponentChildren
}

const storedAccount = async (): Promise<Stored> => {
  const key = storedKey(ROLE)
  if (key === undefined) return {}
  const found = await identify(key)
  if ("error" in found) forgetKey(ROLE)
  return found
}

export interface CallAccountProps {
  readonly signedIn: () => void
}

export const CallAccount = ({ signedIn }: CallAccountProps): View => {
  const stored = useResource(storedAccount, [])
  const [entered, setEntered] = useState<ConsoleAccount>()
  const account = entered ?? stored.state.value.value?.account
  useEffect(() => {
    if (account !== undefined) signedIn()
  }, [account])
  const enter = async ({ key = "" }: Readonly<Record<string, string>>) => {
    const identified = await identify(key)
    if ("error" in identified) return identified.error
    storeKey(ROLE, key)
    setEntered(identified.account)
    return undefined
  }
  if (account !== undefined) return h(BilledTo, { account })
  return h(Loaded<Stored>, {
    of: stored,
    show: ({ error }) =>
      h(SignInForm, {
        fields: [keyField("Your developer key", "Kept in this tab until you close it or sign out.")],
        submit: "Use this key",
        enter,
        error,
        help: ["No key yet? ", h("a", { href: REGISTRATION_PATHS[ROLE] }, "Register as a developer"), "."]
      })
  })
}

const BilledTo = ({ account }: { readonly account: ConsoleAccount }): View =>
  h(
    "p",
    { class: "toolbar small muted" },
    h("span", null, "Billed to ", h("strong", null, account.name), "."),
    h(
      "button",
      {
        type: "button",
        class: "plain",
        onClick: () => {
          forgetKey(ROLE)
          location.reload()
        }
      },
      "Sign out"
    )
  )
