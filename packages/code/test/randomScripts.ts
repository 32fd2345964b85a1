import type { CodeEngine, ScriptAnswer } from '../src/engine.ts'
import { runScript, type KnownCalls, type ScriptOutcome } from '../src/runScript.ts'
import { limits, resultOf, sha, startedAt } from './scripts.ts'

/** A source of numbers that is the same for the same seed. */
export type Dice = (sides: number) => number

export function dice(seed: number): Dice {
  let state = seed >>> 0
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * sides)
  }
}

/** `agent` stands for a sub-agent, which goes on with what it had done. */
const effects = { read: 'none', write: 'idempotent', once: 'irreversible', fail: 'none', agent: 'resumed' } as const
type ToolName = keyof typeof effects
const names = Object.keys(effects) as ToolName[]

/** Writes a script that calls in turn, at once, in races and loops, and branches on what it got, on time and on chance. */
export function randomScript(roll: Dice): string {
  return `const acc = []\n${block(roll, 2)}\nreturn { acc, random: Math.random(), now: Date.now() }`
}

function block(roll: Dice, depth: number): string {
  const call = (): string => `tools.${names[roll(names.length)]}({ v: acc.length, k: ${roll(100)} })`
  const many = (least: number): string => Array.from({ length: least + roll(4) }, call).join(', ')
  const kinds: readonly (() => string)[] = [
    () => `acc.push(await ${call()}.catch((e) => e.code ?? e.message))`,
    () => `acc.push(...(await Promise.allSettled([${many(1)}])).map((r) => r.value ?? r.reason.message))`,
    () => `acc.push(await Promise.race([${many(2)}].map((p) => p.catch((e) => 'E' + e.message))))`,
    () =>
      depth === 0
        ? `acc.push(Math.random())`
        : `if (Math.random() < 0.5 || Date.now() % 2) { ${block(roll, depth - 1)} } else { ${block(roll, depth - 1)} }`,
    () =>
      `try { acc.push(await ${call()}) } catch (e) { acc.push('caught ' + e.message, await ${call()}.catch(() => 0)) }`,
    () =>
      `await Promise.all([0, 1].map(async (i) => { acc.push(i, await ${call()}.catch(() => i)); acc.push(await ${call()}.catch(() => i)) }))`,
    () => `void ${call()}.catch(() => 0)`,
    () =>
      `await Promise.all([0, 1, 2].map(async (i) => { acc.push(await ${call()}.catch(() => i)); if (i === 1) await sleep(${roll(9)}); acc.push(i, await ${call()}.catch(() => i)) }))`,
    () => `await sleep(${roll(60)}); acc.push(Date.now() % 1000)`,
    () => `acc.push(await Promise.race([sleep(${roll(40)}).then(() => 'late'), ${call()}.catch((e) => e.code)]))`,
  ]
  return Array.from({ length: 1 + roll(4) }, () => kinds[roll(kinds.length)]!()).join('\n')
}

interface StartRecord {
  readonly type: 'start'
  readonly n: number
  readonly name: ToolName | '$sleep'
  readonly print: string
  /** Time until which it sleeps. */
  readonly until?: number
}

export type ScriptRecord = StartRecord | { readonly type: 'end'; readonly answer: ScriptAnswer }

/** How results are given when a script runs again. */
export type Order = 'by record' | 'by number'

function knownOf(log: readonly ScriptRecord[], order: Order): KnownCalls {
  const ends = log.flatMap((record) => (record.type === 'end' ? [record.answer] : []))
  return {
    starts: new Map(log.flatMap((record) => (record.type === 'start' ? [[record.n, record]] : []))),
    ends: order === 'by record' ? ends : ends.toSorted((a, b) => a.n - b.n),
  }
}

export interface Lives {
  readonly outcome: ScriptOutcome
  readonly log: readonly ScriptRecord[]
  /** Number of lives, of which all but the last ended in a crash. */
  readonly lives: number
  /** How often each call was carried out, by its place. */
  readonly done: ReadonlyMap<number, number>
  /** How often a sub-agent was begun for a call, by its place. */
  readonly begun: ReadonlyMap<number, number>
}

/** Runs a script to its end, through crashes after random records, each time from what the log has. */
export async function liveOn(engine: CodeEngine, text: string, roll: Dice, order: Order): Promise<Lives> {
  const log: ScriptRecord[] = []
  const done = new Map<number, number>()
  const begun = new Map<number, number>()
  for (let lives = 1; ; lives++) {
    const most = lives > 20 || roll(10) < 3 ? Infinity : 1 + roll(4)
    const outcome = await oneLife(engine, text, { log, most, roll, done, begun, life: lives, order })
    if (outcome !== undefined) return { outcome, log, lives, done, begun }
  }
}

interface Life {
  readonly log: ScriptRecord[]
  /** Number of records after which the process ends. */
  readonly most: number
  readonly roll: Dice
  readonly done: Map<number, number>
  readonly begun: Map<number, number>
  readonly life: number
  readonly order: Order
}

/** Resolves with `undefined` if the process ended before the script. */
async function oneLife(engine: CodeEngine, text: string, life: Life): Promise<ScriptOutcome | undefined> {
  const { log, most, roll, done, begun } = life
  const crash = new AbortController()
  const known = knownOf(log, life.order)
  const ended = new Set(known.ends.map(({ n }) => n))
  let written = 0
  const write = (record: ScriptRecord): boolean => {
    if (crash.signal.aborted) return false
    if (written >= most) {
      crash.abort(new Error('crashed'))
      return false
    }
    written += 1
    log.push(record)
    return true
  }
  const nap = async (): Promise<void> => {
    for (let turns = roll(4); turns > 0; turns--) await new Promise(setImmediate)
  }
  const now = (): number =>
    7 + log.reduce((last, record) => (record.type === 'end' ? Math.max(last, record.answer.at) : last), startedAt)
  const isLost = (n: number, name: ToolName): boolean =>
    known.starts.has(n) && !ended.has(n) && effects[name] === 'irreversible'
  const run = runScript({
    engine,
    script: { text, tools: names, seed: sha('key'), at: startedAt, limits },
    atOnce: 4,
    known,
    print: sha,
    over: () => {},
    printed: () => {},
    idle: () => {},
    signal: crash.signal,
    call: async ({ n, name: said, json }, tell) => {
      const never = new Promise<never>(() => {})
      const before = log.find((record): record is StartRecord => record.type === 'start' && record.n === n)
      if (said === '$sleep') {
        const until = before?.until ?? now() + (JSON.parse(json) as { readonly ms: number }).ms
        if (before === undefined && !write({ type: 'start', n, name: said, print: sha(json), until })) return never
        await nap()
        const answer = { n, at: Math.max(now(), until), result: { ok: true, json: 'null' } as const }
        if (!write({ type: 'end', answer })) return never
        return tell(answer)
      }
      const name = said as ToolName
      if (before === undefined) {
        if (!write({ type: 'start', n, name, print: sha(json) })) return never
        if (name === 'agent') begun.set(n, (begun.get(n) ?? 0) + 1)
      }
      await nap()
      const result = isLost(n, name)
        ? ({ ok: false, message: 'It is not known whether it happened.', code: 'INTERRUPTED' } as const)
        : await resultOf(() => {
            if (crash.signal.aborted) return never
            done.set(n, (done.get(n) ?? 0) + 1)
            if (name === 'fail') throw new Error('nope')
            return { name, given: JSON.parse(json), life: name === 'read' ? life.life : 0 }
          })
      await nap()
      const answer = { n, at: now(), result }
      if (!write({ type: 'end', answer })) return never
      tell(answer)
      await nap()
      return undefined
    },
  })
  return run.catch((thrown: unknown) => {
    if (crash.signal.aborted) return undefined
    throw thrown
  })
}

/** Runs a script again whose log is whole. Rejects if it calls anything. */
export function repeat(engine: CodeEngine, text: string, log: readonly ScriptRecord[]): Promise<ScriptOutcome> {
  return runScript({
    engine,
    script: { text, tools: names, seed: sha('key'), at: startedAt, limits },
    atOnce: 4,
    known: knownOf(log, 'by record'),
    print: sha,
    over: () => {},
    printed: () => {},
    idle: () => {},
    signal: new AbortController().signal,
    call: ({ n, name }) => Promise.reject(new Error(`call ${n} of ${name} was carried out again`)),
  })
}

export interface Tally {
  scripts: number
  crashes: number
  records: number
  interrupted: number
  differences: number
  twice: number
  /** Sleeps that ended before their time. */
  early: number
  /** Sub-agents, and those of them that were begun a second time. */
  agents: number
  anew: number
  sleeps: number
}

/** Runs random scripts through crashes, and each again from its whole log. */
export async function tally(engine: CodeEngine, seeds: Iterable<number>, order: Order): Promise<Tally> {
  const all: Tally = {
    scripts: 0,
    crashes: 0,
    records: 0,
    interrupted: 0,
    differences: 0,
    twice: 0,
    early: 0,
    agents: 0,
    anew: 0,
    sleeps: 0,
  }
  for (const seed of seeds) {
    const roll = dice(seed)
    const text = randomScript(roll)
    const { outcome, log, lives, done, begun } = await liveOn(engine, text, roll, order)
    const again = await repeat(engine, text, log).catch((thrown: unknown) => thrown)
    all.scripts += 1
    all.crashes += lives - 1
    all.records += log.length
    all.agents += begun.size
    all.anew += [...begun.values()].filter((times) => times > 1).length
    for (const record of log) {
      if (record.type === 'start' && record.until !== undefined) {
        const { n, until } = record
        all.sleeps += 1
        if (log.some((one) => one.type === 'end' && one.answer.n === n && one.answer.at < until)) all.early += 1
      }
      if (record.type === 'end' && !record.answer.result.ok && record.answer.result.code === 'INTERRUPTED')
        all.interrupted += 1
      if (record.type === 'start' && record.name === 'once' && (done.get(record.n) ?? 0) > 1) all.twice += 1
    }
    if (JSON.stringify(again) !== JSON.stringify(outcome)) all.differences += 1
  }
  return all
}

export const seedsFrom = (first: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, at) => first + at)
