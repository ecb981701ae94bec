/**
 * A console: signs in, then shows one tab at a time beside the list of all of them.
 */
import { signal } from "@preact/signals"
import { type ComponentChildren, render } from "preact"
import { useEffect, useMemo, useRef } from "preact/hooks"
import { errorMessage } from "../kit/ApiRequest.browser.ts"
import { forgetKey, KEY_CHANGED, type KeyRole, type Role, storedKey, storeKey } from "../kit/Session.browser.ts"
import { announce, Announcements } from "./Announcements.browser.ts"
import { type ConsoleAccount, consoleApi, type ConsoleSession, Context, type Tab } from "./ConsoleContext.browser.ts"
import { Modals } from "./Modal.browser.ts"
import { followPlace, pathTo, place } from "./Place.browser.ts"
import { loaded, Skeleton, useResource } from "./Resource.browser.ts"
import { type Identified, keyField, SignInForm } from "./SignInForm.browser.ts"
import { h, Notice, TimeText, type View } from "./View.browser.ts"

const MEANINGS: Readonly<Record<KeyRole, string>> = {
  consumer: "Your keys cannot call tools. Calls in progress end as usual, and you can read everything and add funds. ",
  provider:
    "Your tools are not listed and cannot be called, reported calls are rejected, and nothing is paid out. Calls in " +
    "progress are settled, your earnings stay yours, and you can still answer disputes. ",
  operator: ""
}

interface FreezeNoticeProps {
  readonly role: KeyRole
  readonly account: ConsoleAccount
}

/** Says on every tab that the account is frozen: since when, why, what that means and how it ends. */
const FreezeNotice = ({ account, role }: FreezeNoticeProps): View | undefined =>
  typeof account.frozen_at === "string"
    ? h(
        "div",
        { id: "frozen" },
        h(
          Notice,
          { style: "bad" },
          h(
            "p",
            null,
            h("strong", null, "Your account has been frozen since ", h(TimeText, { at: account.frozen_at }), "."),
            ` Reason: ${account.frozen_reason ?? "none was given"}`
          ),
          h("p", null, MEANINGS[role], "To end the freeze, contact the operator of this service.")
        )
      )
    : undefined

/** A console that opens with a key, which this browser tab keeps. */
interface KeyAccess {
  readonly role: Role
  readonly keyLabel: string
  readonly help?: ComponentChildren
  readonly identify: (key: string) => Promise<Identified>
  readonly session?: undefined
}

/** A console that opens with a session, which a cookie proves. */
interface SessionAccess {
  readonly role: "operator"
  readonly session: ConsoleSession
}

type ConsoleDefinition = (KeyAccess | SessionAccess) & {
  /** The first tab is there, and the others are below it. */
  readonly path: string
  readonly name: string
  /** The tabs in the order of the navigation. */
  readonly tabs: ReadonlyArray<Tab>
}

type Session =
  | { readonly kind: "checking" }
  | { readonly kind: "signed-out"; readonly error?: ComponentChildren }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "signed-in"; readonly account: ConsoleAccount }

export const startConsole = (definition: ConsoleDefinition): void => {
  const root = document.querySelector<HTMLElement>("#dashboard")!
  const { role } = definition
  const session = signal<Session>({ kind: "checking" })
  const check = async () => {
    session.value = { kind: "checking" }
    try {
      const found = await signedInTo(definition)
      if (found !== undefined && "account" in found) {
        session.value = { kind: "signed-in", account: found.account }
        return
      }
      forgetKey(role)
      session.value = { kind: "signed-out", error: found?.error }
    } catch (error) {
      session.value = { kind: "failed", error }
    }
  }
  followPlace(definition.path)
  addEventListener(KEY_CHANGED, (event) => {
    if (storedKey(role) !== undefined || session.value.kind !== "signed-in") return
    session.value = { kind: "signed-out", error: (event as CustomEvent<string | null>).detail ?? undefined }
  })
  const entered = (account: ConsoleAccount) => {
    session.value = { kind: "signed-in", account }
  }
  const Root = (): ComponentChildren => {
    const current = session.value
    switch (current.kind) {
      case "checking":
        return h(Skeleton, null)
      case "failed":
        return [
          h(Notice, { style: "bad" }, errorMessage(current.error)),
          h("button", { type: "button", onClick: () => void check() }, "Try again")
        ]
      case "signed-out":
        return [
          h("h1", null, definition.name),
          definition.session === undefined
            ? h(SignInForm, {
                fields: [keyField(definition.keyLabel, "Kept in this tab until you close it or sign out.")],
                submit: "Open dashboard",
                enter: async ({ key = "" }) => {
                  const found = await definition.identify(key)
                  if ("error" in found) return found.error
                  storeKey(role, key)
                  entered(found.account)
                  return undefined
                },
                error: current.error,
                help: definition.help
              })
            : h(definition.session.form, { entered, error: current.error })
        ]
      case "signed-in":
        return h(Console, { definition, account: current.account, data: root.dataset })
      default:
        return current satisfies never
    }
  }
  root.replaceChildren()
  render(h(Root, null), root)
  void check()
}

/** Undefined without a key or a session. */
const signedInTo = async (definition: ConsoleDefinition): Promise<Identified | undefined> => {
  if (definition.session === undefined) {
    const key = storedKey(definition.role)
    return key === undefined ? undefined : definition.identify(key)
  }
  const account = await definition.session.current()
  return account === undefined ? undefined : { account }
}

interface ConsoleProps {
  readonly definition: ConsoleDefinition
  readonly account: ConsoleAccount
  readonly data: DOMStringMap
}

const Console = ({ account, data, definition }: ConsoleProps): View => {
  const { role, session, tabs } = definition
  const signOut = async () => {
    try {
      await session?.end()
      forgetKey(role)
    } catch (error) {
      announce("bad", errorMessage(error))
    }
  }
  const context = useMemo(() => ({ role, account, api: consoleApi(role), data }), [account])
  const { detail, tab: path } = place.value
  const open = path === undefined ? tabs[0] : tabs.slice(1).find((tab) => tab.path === path)
  return h(
    Context.Provider,
    { value: context },
    h(
      "div",
      { class: "console" },
      h(
        "div",
        { class: "console-side" },
        h(
          "p",
          { class: "console-account" },
          h("span", { class: "small muted" }, `Signed in as ${account.name}.`),
          h(
            "button",
            {
              type: "button",
              class: "plain tiny",
              onClick: () => void signOut()
            },
            "Sign out"
          )
        ),
        h(
          "nav",
          { class: "console-tabs", "aria-label": definition.name },
          tabs.map((tab, index) =>
            h(
              "a",
              {
                key: tab.path,
                href: index === 0 ? pathTo() : pathTo(tab.path),
                ...(tab === open ? { "aria-current": "page" as const } : {})
              },
              tab.title
            )
          )
        )
      ),
      h(
        "div",
        { class: "console-main", id: `tab-${open?.path ?? "none"}` },
        h(FreezeNotice, { role, account }),
        open === undefined
          ? h(Notice, { style: "bad" }, "This page does not exist.")
          : h(OpenTab, { key: open.path, tab: open, detail, of: definition.name })
      )
    ),
    h(Modals, null)
  )
}

type TabModule = Awaited<ReturnType<Tab["load"]>>

/** Browsers name the file of a module that they could not load, which is no help. */
const loadedTab = async ({ load }: Tab): Promise<TabModule> => {
  try {
    return await load()
  } catch {
    throw new Error("This tab could not be loaded. Check your network and reload the page.")
  }
}

interface OpenTabProps {
  readonly tab: Tab
  readonly detail: string | undefined
  /** The console's name, for the window's title. */
  readonly of: string
}

/** Going to another tab or row moves the focus to the heading, as loading a page would. */
const OpenTab = ({ detail, of, tab }: OpenTabProps): ComponentChildren => {
  const heading = useRef<HTMLHeadingElement>(null)
  const shown = useRef(detail)
  const module = useResource(() => loadedTab(tab), [tab])
  useEffect(() => {
    document.title = `${tab.title} · ${of}`
    const { activeElement } = document
    // The link or button that led to another row may be gone.
    const isMoved = shown.current !== detail || (activeElement !== null && activeElement !== document.body)
    shown.current = detail
    if (isMoved) heading.current?.focus({ preventScroll: true })
  }, [tab, detail])
  return [
    h("h1", { ref: heading, tabIndex: -1 }, tab.title),
    h(Announcements, null),
    loaded(module, ({ tab: Content }) => h(Content, { detail }))
  ]
}
