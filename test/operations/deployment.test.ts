/**
 * The files of docs/operations: what a linter of container files checks, and that they agree with the service.
 */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { parse } from "yaml"
import manifest from "../../package.json" with { type: "json" }
import { settings } from "../../src/config/Settings.ts"
import {
  argumentsOf,
  containerFile,
  environmentOf,
  parseContainerFile,
  textsOf
} from "../support/project/ContainerFile.ts"
import { projectRoot } from "../support/project/PlantedProject.ts"

const read = (name: string) => readFileSync(join(projectRoot, "docs/operations", name), "utf8")

const SECRETS = Object.entries(settings).flatMap(([name, { secret }]) => (secret ? [name] : []))
/** Of the process, not of the service. */
const PROCESS = ["NODE_ENV"]
const isKnown = (name: string): boolean => name in settings || PROCESS.includes(name)

/** What a stop takes at most with the default settings; see docs/high-availability.md. */
const STOP_SECONDS =
  (Number(settings.SHUTDOWN_NOTICE_MS.fallback) + Number(settings.SHUTDOWN_GRACE_MS.fallback)) / 1_000 + 5

/** The packages libc6, libgcc-s1, libgomp1 and libstdc++6. */
const IN_BASE_IMAGE = ["libc", "libdl", "libgcc_s", "libgomp", "libm", "libpthread", "librt", "libstdc++"]

const lines = (name: string) =>
  read(name)
    .split("\n")
    .filter((line) => !line.startsWith("#") && line !== "")

describe("The container file", () => {
  const stages = containerFile()
  const last = stages.at(-1)!

  it("is read as a container engine reads it", () => {
    const text = `ARG A=b:1\nFROM \${A} AS one\n# no\nRUN x \\\n  && y\nENV C=d E=f\nFROM z:2\nCOPY --from=one --chown=1:1 /a /b\nCMD ["--c", "d"]\n`
    const [one, two] = parseContainerFile(text)
    assert.deepStrictEqual([one!.image, one!.name, textsOf(one!, "RUN")], ["b:1", "one", ["x && y"]])
    assert.deepStrictEqual(environmentOf(one!), { C: "d", E: "f" })
    assert.deepStrictEqual(two!.instructions[0], {
      word: "COPY",
      options: { from: "one", chown: "1:1" },
      text: "/a /b"
    })
    assert.deepStrictEqual(argumentsOf(two!, "CMD"), ["--c", "d"])
  })

  it("starts from named versions", () => {
    for (const { image } of stages) assert.match(image, /^[a-z0-9.-]+\.[a-z]+\/[\w./-]+:(?!latest$)[\w.-]+$/u)
  })

  it("builds with the Node that the tests run on", () => {
    assert.include(stages[0]!.image, `:${manifest.devDependencies.node}-`)
  })

  it("has one process, without a shell, as a user without privileges", () => {
    assert.deepStrictEqual(textsOf(last, "RUN"), [])
    const [user = ""] = textsOf(last, "USER")
    assert.match(user, /^[1-9]\d+:[1-9]\d+$/u)
    assert.strictEqual(last.instructions.findLast(({ word }) => word === "USER")!.text, user)
    const entry = argumentsOf(last, "ENTRYPOINT")
    assert.strictEqual(entry[0], "/usr/local/bin/node")
    assert.strictEqual(entry[1], join("node_modules", manifest.name, manifest.bin["agent-tool-billing"]))
    assert.deepStrictEqual(argumentsOf(last, "CMD"), ["serve"])
    assert.strictEqual(argumentsOf(last, "HEALTHCHECK")[0], "/usr/local/bin/node")
    assert.deepStrictEqual(textsOf(last, "STOPSIGNAL"), ["SIGTERM"])
  })

  it.skipIf(process.platform !== "linux")("brings the libraries of Node that its base image does not have", () => {
    const { stdout } = spawnSync("ldd", [process.execPath], { encoding: "utf8" })
    const needed = [...stdout.matchAll(/\b(?<name>lib[\w+-]+)\.so\.\d+ =>/gu)].map(({ groups }) => groups!["name"]!)
    assert.include(needed, "libc")
    const commands = textsOf(stages[0]!, "RUN").join("\n")
    for (const name of needed.filter((one) => !IN_BASE_IMAGE.includes(one))) {
      assert.match(commands, new RegExp(`^cp --dereference \\S+/${name}\\.so\\.\\d+ /libraries/$`, "mu"))
    }
    assert.include(textsOf(last, "COPY"), "/libraries /usr/lib")
  })

  it("copies what exists, adds nothing from elsewhere, and installs from the lock file", () => {
    const names = stages.map(({ name }) => name)
    for (const stage of stages) {
      assert.deepStrictEqual(textsOf(stage, "ADD"), [])
      for (const { options, text, word } of stage.instructions) {
        if (word !== "COPY") continue
        if (options["from"] !== undefined) assert.include(names, options["from"])
        else
          for (const source of text.split(" ").slice(0, -1))
            assert.isTrue(existsSync(join(projectRoot, source)), source)
      }
    }
    const commands = textsOf(stages[0]!, "RUN").join("\n")
    assert.include(commands, "npm ci\n")
    assert.match(commands, /cp \/src\/package-lock\.json .* && npm install --omit=dev --save-exact/u)
  })

  it("has settings of the service, and no secret among them", () => {
    const given = Object.keys(environmentOf(last))
    assert.deepStrictEqual(
      given.filter((name) => !isKnown(name) || SECRETS.includes(name)),
      []
    )
    for (const stage of stages) assert.deepStrictEqual(textsOf(stage, "ARG"), [])
  })

  it("leaves private files out of the build", () => {
    const ignored = lines("Containerfile.dockerignore").map((line) => line.replace(/^\*\*\//u, ""))
    const always = readFileSync(join(projectRoot, ".gitignore"), "utf8")
      .split("\n")
      .map((line) => line.replaceAll(/^\/|\/$/gu, ""))
      .filter((line) => line !== "" && line !== ".bench")
    assert.includeMembers(ignored, [".git", ...always])
    // What the build needs.
    for (const name of ["src", "docs", "package-lock.json", "rolldown.config.ts"]) assert.notInclude(ignored, name)
  })
})

describe("The compose file", () => {
  const { configs, services, volumes } = parse(read("compose.yaml"))
  const given = new Set(
    lines("settings.env.example")
      .join("\n")
      .matchAll(/^([A-Z_]+)=/gmu)
      .map(([, name]) => name!)
  )

  it("runs the service beside PostgreSQL and Redis, and publishes only the service, on loopback", () => {
    assert.sameMembers(Object.keys(services), ["service", "database", "redis"])
    assert.deepStrictEqual(services.service.ports, ["127.0.0.1:3000:3000"])
    assert.isUndefined(services.database.ports ?? services.redis.ports)
    for (const name of ["database", "redis"]) {
      assert.match(services[name].image, /^docker\.io\/library\/\w+:\d+$/u)
      assert.isArray(services[name].healthcheck.test)
      assert.deepStrictEqual(services.service.depends_on[name], { condition: "service_healthy" })
    }
    assert.isTrue(existsSync(join(projectRoot, "docs/operations", services.service.build.context, "package.json")))
    assert.sameMembers(Object.keys(volumes), ["database", "log-state"])
    assert.deepInclude(services.service, { read_only: true, cap_drop: ["ALL"] })
  })

  it("has no value of a secret, and asks for those that it needs", () => {
    const text = read("compose.yaml")
    const asked = [...text.matchAll(/\$\{(\w+)(:\?)?\}/gu)]
    for (const [variable, name, required] of asked) {
      assert.isDefined(required, variable)
      assert.isTrue(given.has(name!), name)
    }
    assert.notMatch(text, /PASSWORD: (?!\$\{|"")|postgres:\/\/\w+:(?!\$\{)/u)
    for (const [name, value] of Object.entries(services.service.environment)) {
      // What `.env` has for another service is cleared.
      assert.isTrue(value === "" ? given.has(name) : isKnown(name), name)
    }
    assert.strictEqual(services.service.environment.DATABASE_ADMIN_PASSWORD, "", "the service is no superuser")
    for (const statement of configs.roles.content.trim().split("\n")) {
      const words = statement.split(" ").slice(0, 3).join(" ")
      assert.include(readFileSync(join(projectRoot, "docs/operations.md"), "utf8"), words)
    }
  })

  it("waits longer for the service to stop than a stop takes", () => {
    assert.isAtLeast(Number.parseInt(services.service.stop_grace_period, 10), STOP_SECONDS)
  })

  it("has an example of settings that exist, with secrets left empty", () => {
    const own = [...given].filter((name) => !name.startsWith("DATABASE_") || name === "DATABASE_URL")
    assert.deepStrictEqual(
      own.filter((name) => !isKnown(name)),
      []
    )
    for (const line of lines("settings.env.example")) {
      const [name = "", value] = line.split("=")
      if (SECRETS.includes(name) || name.endsWith("PASSWORD")) assert.strictEqual(value, "", name)
    }
  })
})

describe("The systemd units", () => {
  const unit = (name: string) => {
    const pairs = lines(name).flatMap((line) => (line.startsWith("[") ? [] : [line.split(/=(.*)/su)]))
    return new Map(pairs.map(([key, value]) => [key!, value!]))
  }
  const program = manifest.bin["agent-tool-billing"]

  it.each(["agent-tool-billing.service", "agent-tool-billing-audit.service"])(
    "%s runs Node directly, without privileges, on the settings file",
    (name) => {
      const service = unit(name)
      const [node, main, command] = service.get("ExecStart")!.split(" ")
      assert.strictEqual(node, "/usr/bin/node")
      assert.strictEqual(main, join("/opt/agent-tool-billing/node_modules", manifest.name, program))
      assert.include(["serve", "fsck"], command)
      for (const key of ["DynamicUser", "NoNewPrivileges", "ProtectHome", "PrivateTmp"]) {
        assert.strictEqual(service.get(key), "yes", key)
      }
      assert.strictEqual(service.get("EnvironmentFile"), "/etc/agent-tool-billing.env")
      const environment = service.get("Environment")!.split(" ")
      for (const pair of environment) assert.isTrue(isKnown(pair.split("=")[0]!), pair)
    }
  )

  it("wait longer for the service to stop than a stop takes", () => {
    assert.isAtLeast(Number(unit("agent-tool-billing.service").get("TimeoutStopSec")), STOP_SECONDS)
  })
})

describe("The chapter on deployment", () => {
  const chapter = readFileSync(join(projectRoot, "docs/deployment.md"), "utf8")

  it("installs the versions of package.json", () => {
    const named = [...chapter.matchAll(/(\S+)@(\d[\w.-]+)/gu)]
    assert.isAbove(named.length, 3)
    const versions: Readonly<Record<string, string>> = manifest.devDependencies
    for (const [, name, version] of named) assert.strictEqual(version!, versions[name!]!, name)
  })
})
