import { createHash } from 'node:crypto'
import { quickJsEngine } from '../src/quickJsEngine.ts'
import type { CodeEngine, ScriptAnswer, ScriptLimits } from '../src/engine.ts'
import { runScript, type KnownCalls, type ScriptOutcome } from '../src/runScript.ts'

export const startedAt = 1_700_000_000_000

export const limits: ScriptLimits = {
  cpuMs: 2_000,
  bytes: 2 ** 26,
  calls: 200,
  valueChars: 2 ** 20,
  printChars: 64_000,
}

export const sha = (text: string): string => createHash('sha256').update(text).digest('hex')

export type TestTools = Readonly<Record<string, (input: never) => unknown>>

interface TestRun {
  readonly tools?: TestTools
  readonly limits?: Partial<ScriptLimits>
  readonly signal?: AbortSignal
  readonly atOnce?: number
  readonly known?: KnownCalls
  readonly key?: string
}

export const noCalls: KnownCalls = { starts: new Map(), ends: [] }

/** The result of a tool as a script is given it. */
export async function resultOf(work: () => unknown): Promise<ScriptAnswer['result']> {
  try {
    return { ok: true, json: JSON.stringify(await work()) ?? 'null' }
  } catch (thrown) {
    const { message, code } = thrown as Error & { code?: string }
    return { ok: false, message, code }
  }
}

/** Runs a script whose calls are kept nowhere. */
export function runText(engine: CodeEngine, text: string, options: TestRun = {}): Promise<ScriptOutcome> {
  const { tools = {}, signal = new AbortController().signal, atOnce = 16, known = noCalls, key = 'a' } = options
  let at = startedAt
  return runScript({
    engine,
    script: {
      text,
      tools: Object.keys(tools),
      seed: sha(key),
      at: startedAt,
      limits: { ...limits, ...options.limits },
    },
    atOnce,
    known,
    print: sha,
    over: () => {},
    printed: () => {},
    idle: () => {},
    call: async ({ n, name, json }, ended) => {
      const result = await resultOf(() => tools[name]!(JSON.parse(json) as never))
      ended({ n, at: (at += 1_000), result })
    },
    signal,
  })
}

/** Returns what a script came to as a value, or throws what it failed with. */
export async function valueOf(outcome: Promise<ScriptOutcome>): Promise<unknown> {
  const end = await outcome
  if (!end.ok) throw new Error(end.error)
  return end.json === undefined ? undefined : JSON.parse(end.json)
}

/** An engine that is closed when a case is over. */
export function openEngine(onCleanup: (clean: () => Promise<void>) => void, hangMs = 3_000): CodeEngine {
  const engine = quickJsEngine({ hangMs })
  onCleanup(() => engine.close())
  return engine
}
