/**
 * Data that a page loads: shown when it arrives, kept while it is loaded again, with a way to retry.
 */
import { type ReadonlySignal, useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { useEffect, useRef } from "preact/hooks"
import { ApiError, errorMessage } from "../kit/ApiRequest.browser.ts"
import { h, Notice, type View } from "./View.browser.ts"

interface State<A> {
  readonly value?: A
  readonly error?: unknown
  readonly isLoading: boolean
}

export interface Resource<A> {
  readonly state: ReadonlySignal<State<A>>
  readonly reload: () => Promise<void>
}

interface ResourceOptions<A> {
  /** The time after which a visible page loads the value again. Undefined: never. */
  readonly refreshMs?: (value: A) => number | undefined
}

/** Loads again when a dependency changes. Of overlapping loads only the latest counts. */
export const useResource = <A>(
  load: () => Promise<A>,
  dependencies: ReadonlyArray<unknown>,
  { refreshMs }: ResourceOptions<A> = {}
): Resource<A> => {
  const state = useSignal<State<A>>({ isLoading: true })
  const latest = useRef(0)
  const current = useRef(load)
  current.current = load
  const reload = async (): Promise<void> => {
    const mine = ++latest.current
    state.value = { ...state.peek(), isLoading: true }
    const next = await current.current().then(
      (value): State<A> => ({ value, isLoading: false }),
      (error: unknown): State<A> => ({ error, isLoading: false })
    )
    if (mine === latest.current) state.value = next
  }
  useEffect(() => {
    state.value = { isLoading: true }
    void reload()
    return () => {
      latest.current++
    }
  }, dependencies)
  const { value } = state.value
  const waitMs = value === undefined ? undefined : refreshMs?.(value)
  useEffect(() => {
    if (waitMs === undefined) return
    const timer = setTimeout(() => {
      if (document.visibilityState === "visible") void reload()
    }, waitMs)
    const seen = () => document.visibilityState === "visible" && void reload()
    document.addEventListener("visibilitychange", seen)
    return () => {
      clearTimeout(timer)
      document.removeEventListener("visibilitychange", seen)
    }
  }, [waitMs, value])
  return { state, reload }
}

interface LoadedProps<A> {
  readonly of: Resource<A>
  readonly show: (value: A) => ComponentChildren
}

/** Shows the value, an error with a button that retries, or a skeleton that appears after 300 ms. */
export const loaded = <A>(of: Resource<A>, show: (value: A) => ComponentChildren): View => h(Loaded<A>, { of, show })

const Loaded = <A>({ of, show }: LoadedProps<A>): View => {
  const { error, isLoading, value } = of.state.value
  const content =
    error !== undefined
      ? h(LoadFailure, { error, retry: () => void of.reload() })
      : value === undefined
        ? h(Skeleton, null)
        : show(value)
  return h("div", { class: "loaded", "aria-busy": isLoading && value === undefined ? "true" : "false" }, content)
}

/** A retry does not help where nothing exists. The ID comes from the address, so the API's advice does not help. */
const LoadFailure = ({ error, retry }: { readonly error: unknown; readonly retry: () => void }): View =>
  error instanceof ApiError && error.status === 404
    ? h(Notice, { style: "bad" }, "Not found. The ID in the address is wrong, or belongs to another account.")
    : h(
        "div",
        null,
        h(Notice, { style: "bad" }, errorMessage(error)),
        h("button", { type: "button", class: "plain", onClick: retry }, "Try again")
      )

/** Its style delays it: what loads fast does not flicker. */
export const Skeleton = (): View =>
  h(
    "div",
    { class: "skeleton", role: "status" },
    h("span", { class: "hidden" }, "Loading…"),
    h("div", null),
    h("div", null),
    h("div", null)
  )
