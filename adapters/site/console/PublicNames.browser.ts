/**
 * Names of tools and providers, for lists and details that have only their IDs. Each is requested once per page.
 */
import { useEffect, useState } from "preact/hooks"
import { request } from "../kit/ApiRequest.browser.ts"
import type { CatalogPage, ReceiptResponse, ToolDetails } from "../kit/ApiResponses.browser.ts"
import { h, type View } from "./View.browser.ts"

const known = new Map<string, Promise<string | undefined>>()

/** `instead` is shown until the name is known, and where it is not public. */
const useName = (id: string, read: () => Promise<string | undefined>, instead: string): string => {
  const [name, setName] = useState(instead)
  useEffect(() => {
    let isShown = true
    const reading = known.get(id) ?? read().catch(() => undefined)
    known.set(id, reading)
    const show = async () => {
      const found = await reading
      if (isShown) setName(found ?? instead)
    }
    void show()
    return () => {
      isShown = false
    }
  }, [id])
  return name
}

const toolAt = (idOrName: string) => request<ToolDetails>("GET", `/api/v1/market/tools/${encodeURIComponent(idOrName)}`)

/** The ID of a tool that a person named, such as `demo/echo`. */
export const toolIdOf = async (idOrName: string): Promise<string> =>
  idOrName.includes("/") ? (await toolAt(idOrName)).id : idOrName

export const ToolLink = ({ id }: { readonly id: string }): View => {
  const name = useName(id, async () => (await toolAt(id)).qualified_name, "One tool")
  return h("a", { href: `/catalog/${id}` }, name)
}

export const ProviderLink = ({ id }: { readonly id: string }): View => {
  const path = `/api/market/catalog?${new URLSearchParams({ provider_id: id, limit: "1" })}`
  const name = useName(
    id,
    async () => (await request<CatalogPage>("GET", path)).tools[0]?.provider.name,
    "One provider"
  )
  return h("a", { href: `/catalog?provider_id=${id}`, title: id }, name)
}

/** The tool of a receipt and the receipt's ID. */
export const CallLink = ({ href, receiptId }: { readonly href: string; readonly receiptId: string }): View => {
  const path = `/api/v1/market/receipts/${encodeURIComponent(receiptId)}`
  const read = async () => `${(await request<ReceiptResponse>("GET", path)).receipt.tool_name} (${receiptId})`
  return h("a", { href }, useName(receiptId, read, receiptId))
}
