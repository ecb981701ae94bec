/**
 * The files that pages load, by name. Without them pages are plain HTML.
 */
import { Context } from "effect"

export interface Asset {
  readonly contentType: string
  readonly text: string
}

export const Assets = Context.Reference<ReadonlyMap<string, Asset>>("agent-tool-billing/adapters/site/Assets", {
  defaultValue: () => new Map()
})
