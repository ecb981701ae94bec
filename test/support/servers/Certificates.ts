/**
 * Certificates of an authority of the test's own, made with openssl.
 */
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { join } from "node:path"

export const hasOpenssl = spawnSync("openssl", ["version"]).status === 0

export interface Certificate {
  readonly certificate: string
  readonly key: string
}

const KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]

/** `names`: of each certificate, such as `DNS:localhost`. `command` runs a program as the owner of the folder. */
export const certificatesFor = Effect.fnUntraced(function* <E>(
  names: ReadonlyArray<string>,
  folder: string,
  command: (file: string, ...args: ReadonlyArray<string>) => Effect.Effect<unknown, E>
) {
  const place = (name: string): Certificate => ({
    certificate: join(folder, `${name}.crt`),
    key: join(folder, `${name}.key`)
  })
  const make = ({ certificate, key }: Certificate, ...more: ReadonlyArray<string>) =>
    command("openssl", "req", "-x509", "-days", "1", ...KEY, "-keyout", key, "-out", certificate, ...more)
  const authority = place("authority")
  yield* make(authority, "-subj", "/CN=authority of a test")
  const issuer = [
    "-CA",
    authority.certificate,
    "-CAkey",
    authority.key,
    "-addext",
    "basicConstraints=critical,CA:FALSE"
  ]
  const issued = yield* Effect.forEach(names, (name, n) => {
    const own = place(`server${n}`)
    return Effect.as(make(own, ...issuer, "-subj", "/CN=server", "-addext", `subjectAltName=${name}`), own)
  })
  return { authority: authority.certificate, issued }
})
