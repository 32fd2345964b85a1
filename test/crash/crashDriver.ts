import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { jobFiles } from './crashJob.ts'
import { differencesIn, readOutcome, type JobOutcome } from './jobOutcome.ts'
import type { KillMode } from './killingStore.ts'

/** When a life ends before its time: around a record, counted over the whole job from 1, or some milliseconds after its start. */
export type Death = { readonly mode: KillMode; readonly at: number } | { readonly mode: 'timer'; readonly ms: number }

/** One job with the deaths it goes through, in order; those after its end are left out. */
export interface Scenario {
  readonly deaths: readonly Death[]
}

export interface Verdict {
  /** The deaths that happened. */
  readonly deaths: readonly Death[]
  /** Faults at the end; empty when all was right. */
  readonly faults: readonly string[]
}

const script = fileURLToPath(new URL('crashChild.ts', import.meta.url))

interface Life {
  readonly wasKilled: boolean
  readonly code: number | null
  readonly output: string
  /** Milliseconds from `ready` to its end. */
  readonly ms: number
}

/** Result of an undisturbed job, its records, and its milliseconds once the process is up. */
export interface Undisturbed {
  readonly records: number
  /** How many records there are of each type. */
  readonly types: ReadonlyMap<string, number>
  readonly ms: number
  readonly outcome: JobOutcome
}

/** Runs crash scenarios in folders below a temporary one. Call `close` in the end. */
export class CrashDriver {
  readonly #root: string
  #folders = 0
  #expected: Undisturbed | undefined

  private constructor(root: string, expected: Undisturbed | undefined) {
    this.#root = root
    this.#expected = expected
  }

  /** `expected`: what another driver found, if it did. */
  static async open(expected?: Undisturbed): Promise<CrashDriver> {
    return new CrashDriver(await mkdtemp(join(tmpdir(), 'escapement-crash-')), expected)
  }

  async close(): Promise<void> {
    await rm(this.#root, { recursive: true, force: true })
  }

  /** Runs the job once without a death; the same for every call. Throws when it goes wrong. */
  async undisturbed(): Promise<Undisturbed> {
    if (this.#expected !== undefined) return this.#expected
    await this.#live(this.#newFolder(), undefined) // fills the compile cache
    const folder = this.#newFolder()
    const life = await this.#live(folder, undefined)
    const { outcome, faults } = await readOutcome(folder)
    const wrong = [...endFaults(life), ...faults]
    if (wrong.length > 0) throw new Error(`The undisturbed job went wrong:\n${wrong.join('\n')}`)
    const lines = linesIn(folder)
    const types = new Map([...Map.groupBy(lines, typeOf)].map(([type, some]) => [type, some.length]))
    return (this.#expected = { outcome, records: lines.length, types, ms: life.ms })
  }

  /** Lives through a scenario and compares its end with the undisturbed job. */
  async run({ deaths }: Scenario): Promise<Verdict> {
    const { outcome: expected } = await this.undisturbed()
    const folder = this.#newFolder()
    const died: Death[] = []
    for (const death of deaths) {
      if (death.mode !== 'timer' && death.at <= countRecords(folder)) continue
      const life = await this.#live(folder, death)
      if (!life.wasKilled) return { deaths: died, faults: [...endFaults(life), ...(await faultsIn(folder, expected))] }
      died.push(death)
    }
    const life = await this.#live(folder, undefined)
    const faults = [...endFaults(life), ...(await faultsIn(folder, expected))]
    if (faults.length === 0) await rm(folder, { recursive: true })
    return { deaths: died, faults: faults.length === 0 ? faults : [...faults, `left in ${folder}`] }
  }

  #newFolder(): string {
    return join(this.#root, `job-${(this.#folders += 1)}`)
  }

  async #live(folder: string, death: Death | undefined): Promise<Life> {
    const kill =
      death === undefined || death.mode === 'timer' ? [] : [death.mode, String(death.at - countRecords(folder))]
    const child = spawn(process.execPath, [script, folder, ...kill], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { NODE_COMPILE_CACHE: join(this.#root, 'cache'), ...process.env },
    })
    let output = ''
    let readyAt = performance.now()
    const ready = Promise.withResolvers<void>()
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        if (output === '') readyAt = performance.now()
        output += text
        ready.resolve()
      })
    const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>
    const stuck = new AbortController()
    const isStuck = wait(60_000, 'stuck', { signal: stuck.signal, ref: false }).catch(() => undefined)
    if (death?.mode === 'timer')
      void Promise.race([ready.promise, closed])
        .then(() => wait(death.ms))
        .then(() => child.kill('SIGKILL'))
    void isStuck.then((is) => {
      if (is === 'stuck') child.kill('SIGTERM')
    })
    const [code, signal] = await closed
    stuck.abort()
    return { wasKilled: signal === 'SIGKILL', code, output, ms: performance.now() - readyAt }
  }
}

function endFaults({ code, output }: Life): string[] {
  if (code === 0 && output.includes('"stopReason":"stop"')) return []
  return [`the last life ended with ${code ?? 'a signal'}: ${output.slice(-600)}`]
}

async function faultsIn(folder: string, expected: JobOutcome): Promise<string[]> {
  try {
    const { outcome, faults } = await readOutcome(folder)
    return [...faults, ...differencesIn(outcome, expected)]
  } catch (thrown) {
    return [`the log cannot be read: ${String(thrown)}`]
  }
}

/** Whole lines of all logs. */
function linesIn(folder: string): string[] {
  const { store } = jobFiles(folder)
  if (!existsSync(store)) return []
  return readdirSync(store)
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => readFileSync(join(store, name), 'utf8').split('\n').slice(0, -1))
}

const countRecords = (folder: string): number => linesIn(folder).length

const typeOf = (line: string): string => /"type":"([^"]+)"/.exec(line)?.[1] ?? ''
