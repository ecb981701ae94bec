/**
 * The answer to `initialize` where no server of the legacy era gives its own.
 */
import { membersOf, objectWith } from "../shared/JsonText.ts"
import { LEGACY_VERSIONS, type McpEra } from "../upstream/Protocol.ts"
import { withoutTasks, withOwnTasks } from "../upstream/TaskSupport.ts"

/** JSON texts. */
export interface LegacyProfile {
  readonly capabilities: string
  readonly serverInfo: string
  readonly instructions: string | undefined
}

/** A client that asks for another version gets the newest one, as the specification says. */
export const negotiatedVersion = (requested: string): string =>
  LEGACY_VERSIONS.find((known) => known === requested) ?? LEGACY_VERSIONS[0]

export const initializeResult = (
  { capabilities, instructions, serverInfo }: LegacyProfile,
  version: string
): string => {
  const last = instructions === undefined ? "" : `,"instructions":${instructions}`
  return `{"protocolVersion":"${version}","capabilities":${capabilities},"serverInfo":${serverInfo}${last}}`
}

/** The server's own result, as it is offered here. A server that speaks both eras gets calls in the modern one. */
export const offeredResult = (result: string, era: McpEra | undefined): string =>
  withCapabilities(result, era === "legacy" ? withOwnTasks : withoutTasks)

/** With other capabilities, and otherwise verbatim. */
export const withCapabilities = (result: string, offered: (capabilities: string) => string): string => {
  const capabilities = membersOf(result).findLast(({ name }) => name === "capabilities")
  return capabilities === undefined ? result : objectWith(result, "capabilities", offered(capabilities.text))
}
