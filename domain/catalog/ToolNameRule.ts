/**
 * The rule for names of new tools, beside handles: a qualified name always means the tool of that provider.
 */
import type { Provider } from "../accounts/Account.ts"
import { qualifiedName, splitQualified } from "../accounts/Handle.ts"
import type { ProviderId } from "../shared/Ids.ts"

/**
 * Why a new tool cannot have this name. A tool named `acme/echo` would be mistaken for the tool `echo` of the provider with
 * the handle `acme`.
 */
export const nameFault = (
  { handle: own, id }: Provider,
  toolName: string,
  taken: ReadonlySet<string>,
  owners: ReadonlyMap<string, ProviderId>
): string | undefined => {
  // Calls of its own tool `acme/echo` would go to the new `echo`, at another price and without notice.
  const qualified = qualifiedName(own, toolName)
  if (taken.has(qualified)) return `calls of your tool \`${qualified}\` would go to this one. Choose another tool_name`
  const handle = splitQualified(toolName)?.handle
  const owner = handle === undefined ? undefined : owners.get(handle)
  if (owner === undefined || owner === id) return undefined
  return `a tool_name cannot begin with \`${handle}/\`: \`${handle}\` is the handle of another provider`
}
