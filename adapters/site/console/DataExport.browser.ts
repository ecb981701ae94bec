/**
 * Exports what the service stores about the account, as one JSON file.
 */
import { useState } from "preact/hooks"
import { plural } from "../kit/Format.browser.ts"
import { ActionButton } from "./ActionButton.browser.ts"
import { saveFile, useConsole } from "./ConsoleContext.browser.ts"
import { h, section, type View } from "./View.browser.ts"

export interface ExportedList {
  readonly name: string
  readonly path: string
  /** Field with the items of a list that is read page by page. */
  readonly items?: string
}

type Answer = Readonly<Record<string, unknown>>

const PAGE_SIZE = 100
/** Limits each list. The API returns all items. */
const ITEMS_MAX = 10_000

export const DataExport = ({ lists }: { readonly lists: ReadonlyArray<ExportedList> }): View => {
  const { account, api } = useConsole()
  const [progress, setProgress] = useState<string>()
  const read = async ({ items, name, path }: ExportedList): Promise<unknown> => {
    const label = name.replaceAll("_", " ")
    setProgress(`Reading ${label}…`)
    if (items === undefined) return api.get<Answer>(path)
    const all: Array<unknown> = []
    let cursor: string | undefined
    do {
      const page = await api.get<Answer>(path, { limit: PAGE_SIZE, cursor })
      all.push(...(page[items] as ReadonlyArray<unknown>))
      cursor = (page["next_cursor"] as string | null) ?? undefined
      setProgress(`Reading ${label}: ${plural(all.length, "item")}…`)
    } while (cursor !== undefined && all.length < ITEMS_MAX)
    return { items: all, is_complete: cursor === undefined }
  }
  return section(
    "export",
    h("h2", null, "Data export"),
    h(
      "p",
      { class: "muted" },
      `One JSON file: ${lists.map(({ name }) => name.replaceAll("_", " ")).join(", ")}. Lists have at most ${ITEMS_MAX.toLocaleString()} items.`
    ),
    h(
      "div",
      { class: "actions" },
      h(ActionButton, {
        label: "Export data",
        style: "plain",
        run: async () => {
          const found: Record<string, unknown> = { exported_at: new Date().toISOString() }
          try {
            for (const list of lists) found[list.name] = await read(list)
          } finally {
            setProgress(undefined)
          }
          saveFile(`agent-tool-billing-${account.id.slice(0, 8)}.json`, `${JSON.stringify(found, null, 2)}\n`)
          return "Data exported."
        }
      }),
      h("span", { class: "small muted", role: "status" }, progress)
    )
  )
}
