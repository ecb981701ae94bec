/**
 * The answer to `initialize` where no server of the legacy era gives its own.
 */
import { LEGACY_VERSIONS } from "./Protocol.ts"

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
