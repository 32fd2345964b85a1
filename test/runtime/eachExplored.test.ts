import { getEventListeners } from 'node:events'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { RuntimeError } from '../../src/protocol/errors.ts'
import type { RunResult } from '../../src/protocol/runs/runResult.ts'
import type { AgentRuntime } from '../../src/runtime/agentRuntime.ts'
import { each } from '../../packages/groups/src/each.ts'
import type { EachProgress } from '../../packages/groups/src/eachTypes.ts'
import { usageOf } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const definition = defineAgent({ name: 'd', model: policyModel(() => 'yes'), pricing: { input: 1, output: 1 } })
const states = ['new', 'answered', 'failed', 'paused', 'running', 'aborted', 'broken'] as const
type State = (typeof states)[number]

const resultOf = (stopReason: string, error?: string): RunResult =>
  ({
    stopReason,
    text: 'x',
    usage: usageOf(1, 1),
    costUsd: 1,
    turns: 1,
    childTurns: 0,
    ...(stopReason === 'paused' ? { reason: { type: 'limit', limit: 'turns' } } : {}),
    ...(error && { error: { code: error, message: 'no' } }),
  }) as unknown as RunResult

/** An agent of an input as its store has it, with what is done with it. */
class FakeAgent {
  readonly id: string
  readonly notes: string[] = []
  readonly state: State
  readonly live = Promise.withResolvers<RunResult>()
  isAsking = false
  costUsd = 0

  constructor(id: string, state: State) {
    this.id = id
    this.state = state
    if (state !== 'new' && state !== 'broken') this.costUsd = 1
  }

  get spent() {
    return { usage: usageOf(this.costUsd, 0), costUsd: this.costUsd }
  }

  get hasFailed(): boolean {
    return this.state === 'failed'
  }

  get pause(): object | null {
    return this.state === 'paused' ? { type: 'limit' } : null
  }

  async wasAsked(question: string): Promise<boolean> {
    return question === 'each' && this.state !== 'new'
  }

  async result(question: string): Promise<RunResult | undefined> {
    if (question !== 'each' || this.state === 'new') return undefined
    if (this.state === 'answered') return resultOf('stop')
    if (this.state === 'failed') return resultOf('error', 'MODEL_FAILED')
    if (this.state === 'paused') return resultOf('paused')
    if (this.state === 'aborted') return resultOf('aborted')
    return this.#ask('waits')
  }

  #ask(note: string): Promise<RunResult> {
    this.notes.push(note)
    this.isAsking = true
    return this.live.promise
  }

  askOnce(question: string, content: string): Promise<RunResult> {
    return this.#ask(`${question}: ${content}`)
  }

  resume(): { result: Promise<RunResult> } {
    return { result: this.#ask('resumes') }
  }

  answer(): void {
    this.isAsking = false
    this.costUsd += 1
    this.live.resolve(resultOf('stop'))
  }

  async close(): Promise<void> {
    this.notes.push('close')
    throw new Error('its log could not be written')
  }
}

interface Case {
  readonly of: readonly State[]
  readonly retry: boolean
  readonly isKnown: boolean
  readonly concurrency: number
  readonly abortAfter: number
}

async function explore({ of, retry, isKnown, concurrency, abortAfter }: Case): Promise<void> {
  const agents = new Map(of.map((state, at) => [`d-k${at}`, new FakeAgent(`d-k${at}`, state)]))
  const opened: string[] = []
  const isThere = ({ state }: FakeAgent): boolean => isKnown && state !== 'new' && state !== 'broken'
  const get = (id: string): FakeAgent => agents.get(id)!
  const open = (id: string): FakeAgent => {
    if (!isThere(get(id))) opened.push(id)
    return get(id)
  }
  const runtime = {
    spawn: () => assert.unreachable(),
    agents: () => [],
    agent: (id: string) => (isThere(get(id)) ? get(id) : undefined),
    resume: async (id: string) => {
      if (get(id).state === 'new') throw new RuntimeError('AGENT_NOT_FOUND', 'none')
      if (get(id).state === 'broken') throw new RuntimeError('LOG_CORRUPT', 'torn')
      return open(id)
    },
    open: async (id: string) => open(id),
    detach: async (id: string) => {
      get(id).notes.push('detach')
      throw new Error('it is gone already')
    },
  } as unknown as AgentRuntime
  const controller = new AbortController()
  const { signal } = controller
  if (abortAfter < 0) controller.abort()
  const inputs = of.map((_, at) => at)
  const batch = each(runtime, definition, inputs, {
    key: (input) => `k${input}`,
    prompt: (input) => `what is ${input}?`,
    retry,
    concurrency,
    signal,
  })
  const heard: EachProgress[] = []
  const listening = (async () => {
    for await (const progress of batch) heard.push(progress)
  })()
  for (let step = 0; step < 8; step += 1) {
    await settled()
    if (step === abortAfter) controller.abort()
    const live = [...agents.values()].filter(({ isAsking }) => isAsking)
    assert.ok(live.length <= concurrency)
    if (signal.aborted || live.length === 0) break
    live[0]!.answer()
  }
  const { items, left, stopped, costUsd } = await batch.result
  await listening
  const endOf = (state: State): string =>
    state === 'broken' || ((state === 'failed' || state === 'paused') && !retry) ? 'failed' : 'ok'
  for (const [at, item] of items.entries()) {
    const state = of[at]!
    assert.equal([item.index, item.key, item.agentId], [at, `k${at}`, `d-k${at}`])
    if (item.status === 'left') assert.ok(signal.aborted)
    else assert.is(item.status, endOf(state))
    const agent = get(item.agentId)
    const closes = agent.notes.filter((note) => note === 'close' || note === 'detach')
    assert.is(
      closes.length,
      opened.filter((id) => id === agent.id).length,
      'what was opened is let go of, and nothing else',
    )
    if (!signal.aborted) assert.not.ok(closes.includes('detach'))
    const asked = agent.notes.filter((note) => note.startsWith('each') || note === 'resumes' || note === 'waits')
    const number = state === 'aborted' ? 'each-2' : 'each'
    const expected =
      state === 'new' || state === 'aborted'
        ? `${number}: what is ${at}?`
        : state === 'running'
          ? 'waits'
          : retry && (state === 'failed' || state === 'paused')
            ? 'resumes'
            : undefined
    if (item.status !== 'left') assert.equal(asked, expected === undefined ? [] : [expected])
    else assert.ok(asked.length <= 1)
    if (state === 'paused' && item.status === 'failed') assert.is(item.error.code, 'LIMIT_REACHED')
    if (state === 'broken' && item.status === 'failed') assert.is(item.error.code, 'LOG_CORRUPT')
  }
  if (abortAfter < 0) assert.equal([items.every(({ status }) => status === 'left'), opened], [true, []])
  if (!signal.aborted) assert.equal(left, [])
  assert.is(stopped, left.length === 0 ? null : 'aborted')
  assert.equal(
    left.map(({ index }) => index),
    items.flatMap(({ status, index }) => (status === 'left' ? [index] : [])),
  )
  // What was told on the way adds up to what is told at the end.
  const done = items.filter(({ status }) => status !== 'left')
  assert.equal(
    heard.map((progress) => progress.done),
    done.map((_, at) => at + 1),
  )
  const last = heard.at(-1)
  if (last === undefined) return assert.is(done.length, 0)
  assert.is(last.total, of.length)
  assert.is(last.failed, done.filter(({ status }) => status === 'failed').length)
  const isStored = (state: State): boolean =>
    ['answered', 'running'].includes(state) || (['failed', 'paused'].includes(state) && !retry)
  assert.is(last.stored, done.filter(({ index, status }) => isStored(of[index]!) && status !== 'left').length)
  if (!signal.aborted)
    assert.is(
      costUsd,
      [...agents.values()].reduce((sum, agent) => sum + agent.costUsd, 0),
    )
  if (!signal.aborted) assert.is(last.costUsd, costUsd)
  if (!signal.aborted) assert.equal(getEventListeners(signal, 'abort'), [])
}

describe('many inputs, whatever became of them before', (it) => {
  for (const retry of [false, true])
    it(
      `are each asked at most once more, and let go of; ${retry ? 'with' : 'without'} another try`,
      { timeoutMs: 20_000 },
      async () => {
        for (const one of states)
          for (const other of states)
            for (const isKnown of [false, true])
              for (const concurrency of [1, 2])
                for (const abortAfter of [-1, 0, 1, 9]) {
                  const given = { of: [one, other], retry, isKnown, concurrency, abortAfter }
                  try {
                    await explore(given)
                  } catch (thrown) {
                    throw Object.assign(thrown as Error, {
                      message: `${JSON.stringify(given)}: ${(thrown as Error).message}`,
                    })
                  }
                }
      },
    )
})
