import { z } from 'zod'
import { modelOf } from '../../../ai-sdk/src/adapters/modelOf.ts'
import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import { onlyFields } from '../../../../src/protocol/checks/onlyFields.ts'
import { checkedBy, hasCode, RuntimeError } from '../../../../src/protocol/errors.ts'
import type { AgentEvent } from '../../../../src/protocol/events.ts'
import { quietClock, type Clock } from '../../../../src/protocol/ports/clock.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import type { TracedAgent, Tracer } from '../../../../src/protocol/ports/tracer.ts'
import { allLogs, pagesOf } from '../../../stores/src/logPages.ts'
import type { AgentRuntime } from '../../../../src/runtime/agentRuntime.ts'
import { spendOf } from '../../../sessions/src/spend/spendOf.ts'
import { foundBy, inTime } from '../checks/runChecks.ts'
import { defineJudge, judgeQuestion } from '../checks/judge.ts'
import { isSampled, isScoreId, scoreId } from './sampled.ts'
import { isEnd, readRun } from './scoredRun.ts'
import { findingAgent, heldScore } from './sideAgent.ts'
import type { LiveScore, LiveScorer, LiveScores, LiveScoresOptions, ScoredRun } from './liveTypes.ts'

const dayMs = 86_400_000
/** Time limit of a scorer, in milliseconds. */
const scorerMs = 60_000
/** Maximum number of waiting runs. Further ones are found by the next `begin`. */
const mostWaiting = 10_000

/** Marks agents that hold scores in lists; the rest of their metadata names the scored run. */
const scoreMark = { liveScore: true } as const

const called = z.custom((value) => typeof value === 'function', 'give a function')
const optionsSchema = onlyFields({
  scorers: z
    .record(
      z.string(),
      z.union([called, onlyFields({ judge: z.string().min(1), min: z.number().min(0).max(1).optional() })], {
        error: 'give a function, or { judge: criteria, min }',
      }),
    )
    .refine((scorers) => Object.keys(scorers).length > 0, 'give at least one')
    .refine(
      (scorers) => Object.keys(scorers).every((name) => /^[\w.-]{1,60}$/.test(name)),
      'names have 1 to 60 letters, digits, ".", "_" or "-"',
    ),
  sample: z.number().min(0).max(1).optional(),
  definitions: z.array(z.string()).readonly().optional(),
  judge: z.unknown().optional(),
  prices: z.unknown().optional(),
  budgetUsd: z.number().nonnegative().optional(),
  concurrency: z.int().min(1).max(100).optional(),
  lookBackMs: z.number().nonnegative().optional(),
  onScore: called.optional(),
  onError: called.optional(),
  clock: z.custom((value) => typeof (value as Clock | null)?.now === 'function', 'give { now, after }').optional(),
})

interface Place {
  readonly runtime: AgentRuntime
  readonly store: Store
}

interface Waiting {
  readonly agentId: string
  readonly runId: string
}

/**
 * Scores a share of the runs of a runtime as they end. A score is the answer of an agent of its own, whose session is in the same store: it has
 * the metadata `{ liveScore: true, scorer, scored, run }`, and includes the judge's cost. Runs never wait for a scorer or suffer from its failures.
 *
 * @throws RuntimeError `INVALID_OPTION`
 *
 * @example
 * ```ts no-run
 * import { liveScores } from 'escapement/testing'
 *
 * const scores = liveScores({ scorers: { brief: ({ answer }) => answer.length < 500 }, sample: 0.1 })
 * const store = fileStore('.escapement')
 * const runtime = await createRuntime({ store, tracer: scores.tracer })
 * await scores.begin(runtime, store)
 * ```
 */
export function liveScores(options: LiveScoresOptions): LiveScores {
  checkedBy(optionsSchema, options, 'liveScores')
  const isJudged = Object.values(options.scorers).some((scorer) => typeof scorer !== 'function')
  if (isJudged && options.judge === undefined)
    throw new RuntimeError('INVALID_OPTION', 'liveScores: judge: a scorer asks the judge; name its model.')
  if (options.budgetUsd !== undefined && options.prices === undefined)
    throw new RuntimeError(
      'INVALID_OPTION',
      'liveScores: budgetUsd: give prices too; without them every judgement costs 0.',
    )
  return new Scoring(options)
}

class Scoring implements LiveScores {
  readonly tracer: Tracer
  readonly #options: LiveScoresOptions
  readonly #clock: Clock
  readonly #judge: AgentDefinition | undefined
  readonly #queue: Waiting[] = []
  readonly #known = new Set<string>()
  readonly #closing = new AbortController()
  readonly #workers = new Set<Promise<void>>()
  #place: Place | undefined
  #spent = { day: -1, usd: 0 }
  #hasWarned = false

  constructor(options: LiveScoresOptions) {
    this.#options = options
    this.#clock = options.clock ?? quietClock
    this.#judge =
      options.judge === undefined
        ? undefined
        : defineJudge(modelOf(options.judge, 'liveScores: judge'), options.prices ?? {})
    this.tracer = {
      event: (event, agent) => this.#hear(event, agent),
      within: (_effect, _agent, run) => run(),
    }
  }

  get waiting(): number {
    return this.#known.size
  }

  async begin(runtime: AgentRuntime, store: Store): Promise<void> {
    this.#place = { runtime, store }
    this.#work()
    await this.#lookBack(store).catch((thrown: unknown) => this.#failed(thrown, { agentId: '', runId: '' }))
  }

  async settled(): Promise<void> {
    while (this.#workers.size > 0) await Promise.all(this.#workers)
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the scoring was closed'))
    await this.settled()
  }

  /** Takes the events of runs. Must be quick, and never throws. */
  #hear(event: AgentEvent, { agentId, path, name, incognito }: TracedAgent): void {
    if (event.type !== 'run.end' || path.length > 0 || incognito === true || !this.#isOf(name)) return
    if (isEnd(event)) this.#add({ agentId, runId: event.runId })
  }

  #isOf(definition: string): boolean {
    return this.#options.definitions?.includes(definition) ?? true
  }

  #add(run: Waiting): void {
    const key = JSON.stringify([run.agentId, run.runId])
    const isFull = this.#known.size >= mostWaiting
    if (this.#closing.signal.aborted || isScoreId(run.agentId) || this.#known.has(key) || isFull) return
    if (!isSampled(run, this.#options.sample ?? 0.1)) return
    this.#known.add(key)
    this.#queue.push(run)
    this.#work()
  }

  /** Finds runs that ended while scoring was off, or whose scoring was cut off. */
  async #lookBack(store: Store): Promise<void> {
    const { lookBackMs = dayMs } = this.#options
    const since = this.#clock.now() - lookBackMs
    if (lookBackMs === 0) return
    for await (const { id, writtenAt, origin } of allLogs(pagesOf(store), { parent: null })) {
      if (writtenAt < since || this.#closing.signal.aborted) return
      if (isScoreId(id) || origin === undefined || !this.#isOf(origin.definition)) continue
      for await (const record of store.read(id))
        if (isEnd(record) && record.time >= since && 'runId' in record) this.#add({ agentId: id, runId: record.runId })
    }
  }

  #work(): void {
    const { concurrency = 2 } = this.#options
    while (this.#place !== undefined && this.#workers.size < concurrency && this.#queue.length > 0) {
      const worker = this.#workOff(this.#place).finally(() => this.#workers.delete(worker))
      this.#workers.add(worker)
    }
  }

  async #workOff(place: Place): Promise<void> {
    for (let run = this.#queue.shift(); run !== undefined; run = this.#queue.shift()) {
      if (!this.#closing.signal.aborted) await this.#score(place, run)
      this.#known.delete(JSON.stringify([run.agentId, run.runId]))
    }
  }

  async #score({ runtime, store }: Place, at: Waiting): Promise<void> {
    try {
      // It is judged by what is stored of it.
      await runtime.agent(at.agentId)?.durable()
      const run = await readRun(store, at)
      if (run === undefined) return
      for (const [scorer, how] of Object.entries(this.#options.scorers)) {
        if (this.#closing.signal.aborted) return
        await this.#scoreBy({ runtime, store }, run, scorer, how).catch((thrown: unknown) => {
          // Another process scores it.
          if (isElsewhere(thrown) || this.#closing.signal.aborted) return
          this.#failed(thrown, { ...at, scorer })
        })
      }
    } catch (thrown) {
      if (!this.#closing.signal.aborted) this.#failed(thrown, at)
    }
  }

  async #scoreBy(
    { runtime, store }: Place,
    run: Omit<ScoredRun, 'signal'>,
    scorer: string,
    how: LiveScorer,
  ): Promise<void> {
    const id = scoreId(run, scorer)
    const min = typeof how === 'function' ? 0.5 : (how.min ?? 0.5)
    const before = await heldScore(store, id, min)
    if (before !== undefined && before !== 'open') return
    const { signal } = this.#closing
    const asked = typeof how === 'function' ? await this.#ask(how, run) : await this.#judgement(store, how.judge, run)
    signal.throwIfAborted()
    const metadata = { ...scoreMark, scorer, scored: run.agentId, run: run.runId }
    const agent = await runtime.open(id, asked.definition, { metadata })
    try {
      // It goes on with what an earlier process began.
      if (before === 'open') await agent.settled({ signal })
      if (before === undefined || (await heldScore(store, id, min)) === 'open') {
        if (agent.pause !== null) agent.abort()
        const { stopReason, error } = await agent.prompt(asked.question, { signal }).result
        if (stopReason !== 'stop') throw new Error(error?.message ?? `it ended with ${stopReason}`)
      }
    } finally {
      this.#spent.usd += agent.spent.costUsd
      await agent.close().catch(() => {})
    }
    const after = await heldScore(store, id, min)
    if (after === undefined || typeof after === 'string') throw new Error('it came to no score')
    const { agentId, definition, runId } = run
    const score: LiveScore = { scorer, agentId, definition, runId, ...after }
    this.#options.onScore?.(score)
  }

  async #ask(
    scorer: Extract<LiveScorer, (...given: never[]) => unknown>,
    run: Omit<ScoredRun, 'signal'>,
  ): Promise<{ readonly definition: AgentDefinition; readonly question: string }> {
    const late = new AbortController()
    const signal = AbortSignal.any([this.#closing.signal, late.signal])
    try {
      const answer = await inTime(this.#clock, scorerMs, () =>
        untilAborted(this.#closing.signal, async () => scorer({ ...run, signal })),
      )
      return { definition: findingAgent(foundBy(answer)), question: `Run ${run.runId} of ${run.agentId}` }
    } finally {
      late.abort()
    }
  }

  async #judgement(
    store: Store,
    criteria: string,
    { prompts, answer }: Pick<ScoredRun, 'prompts' | 'answer'>,
  ): Promise<{ readonly definition: AgentDefinition; readonly question: string }> {
    const { budgetUsd } = this.#options
    const spent = budgetUsd === undefined ? 0 : await this.#spentToday(store)
    if (budgetUsd !== undefined && spent >= budgetUsd)
      throw new Error(`${spent} of ${budgetUsd} US dollars of today are spent`)
    return { definition: this.#judge!, question: judgeQuestion({ criteria, prompts, answer }) }
  }

  /** Resolves with the US dollars that scores have cost today, in earlier processes too. */
  async #spentToday(store: Store): Promise<number> {
    const day = Math.floor(this.#clock.now() / dayMs)
    if (this.#spent.day !== day) {
      const { costUsd } = await spendOf(store, { since: day * dayMs, metadata: scoreMark })
      this.#spent = { day, usd: costUsd }
    }
    return this.#spent.usd
  }

  #failed(thrown: unknown, at: Waiting & { readonly scorer?: string }): void {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown))
    try {
      if (this.#options.onError !== undefined) return this.#options.onError(error, at)
    } catch {
      // It is warned of below.
    }
    if (this.#hasWarned) return
    this.#hasWarned = true
    process.emitWarning(`A run was not scored (${at.agentId} ${at.runId}): ${error.message}`, 'LiveScores')
  }
}

const elsewhere = ['AGENT_ELSEWHERE', 'STORE_LOCKED', 'STORE_LEASE_LOST', 'AGENT_STOPPED', 'RUNTIME_CLOSED'] as const

const isElsewhere = (thrown: unknown): boolean => elsewhere.some((code) => hasCode(thrown, code))

/** Settles as the work does, or rejects with the signal's reason if that aborts first. */
async function untilAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const aborted = Promise.withResolvers<never>()
  const onAbort = (): void => aborted.reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([work(), aborted.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
