import { getEventListeners } from 'node:events'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import type { SharedLessons } from '../../src/conversation/brakes/lessons/sharedLessons.ts'
import { RuntimeError } from '../../src/protocol/errors.ts'
import type { RunResult } from '../../src/protocol/runs/runResult.ts'
import { atMost } from '../../packages/groups/src/atMost.ts'
import type { Branch, GroupHost } from '../../packages/groups/src/branch.ts'
import type { Judge } from '../../packages/groups/src/judge.ts'
import { parallel } from '../../packages/groups/src/parallel.ts'
import { pipeline } from '../../packages/groups/src/pipeline.ts'
import { usageOf } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

type End = 'stop' | 'error' | 'blank' | 'refused'
const ends: readonly End[] = ['stop', 'error']

/** An agent of a group that ends when it is told to, and notes what is done with it. */
class FakeAgent {
  readonly id: string
  readonly definition: string
  readonly #result = Promise.withResolvers<RunResult>()
  prompts = 0
  aborts = 0
  promptsAtAbort: number | undefined
  closes = 0
  isSettled = false
  lessons: SharedLessons | undefined
  readonly #cost: number

  constructor(name: string, cost: number) {
    this.id = name
    this.definition = name
    this.#cost = cost
  }

  joinGroup(lessons: SharedLessons): void {
    this.lessons = lessons
    lessons.join(this.id)
  }

  prompt(): { result: Promise<RunResult> } {
    this.prompts += 1
    return { result: this.#result.promise }
  }

  settle(stopReason: 'stop' | 'error' | 'aborted', text = this.id): void {
    if (this.isSettled) return
    this.isSettled = true
    const error = stopReason === 'error' ? { error: { code: 'MODEL_FAILED', message: 'no' } } : {}
    const spent = { usage: usageOf(this.#cost, 1), costUsd: this.#cost, turns: 1, childTurns: 0 }
    this.#result.resolve({ stopReason, text, ...spent, ...error } as unknown as RunResult)
  }

  abort(): void {
    this.promptsAtAbort ??= this.prompts
    if (this.closes > 0) throw new RuntimeError('AGENT_STOPPED', 'It is over.')
    this.aborts += 1
    if (this.prompts > 0) this.settle('aborted')
  }

  async close(): Promise<void> {
    this.closes += 1
    this.settle('aborted')
    throw new Error('its log could not be written')
  }
}

interface FakeHost {
  readonly host: GroupHost
  readonly agents: (FakeAgent | undefined)[]
}

function fakeHost(refuses?: string, opened?: Promise<void>): FakeHost {
  const agents: (FakeAgent | undefined)[] = []
  const spawn = async ({ name }: { readonly name: string }): Promise<FakeAgent> => {
    if (name === refuses) throw new RuntimeError('CHILD_REFUSED', `no ${name}`)
    await opened
    const agent = new FakeAgent(name, costs[name]!)
    agents[names.indexOf(name)] = agent
    return agent
  }
  return { agents, host: { spawn, agents: () => [], resume: () => {} } as unknown as GroupHost }
}

const names = ['a', 'b', 'c']
/** Cost of each; the second is the cheapest of those that end well. */
const costs: { readonly [name: string]: number } = { a: 3, b: 1, c: 2 }
const entries = names.map((name) => defineAgent({ name, model: policyModel(() => name) }))
const last: Judge = (branches) => branches.at(-1)!

interface Case {
  readonly end: readonly End[]
  /** In which order they end. */
  readonly order: readonly number[]
  readonly judge: Judge | undefined
  readonly concurrency: number | undefined
  readonly keep: boolean
  /** After how many have ended the group is aborted. */
  readonly abortAfter: number
}

function* cases(): Generator<Case> {
  const orders = [
    [0, 1, 2],
    [2, 1, 0],
    [1, 2, 0],
  ]
  for (let bits = 0; bits < 8; bits += 1)
    for (const order of orders)
      for (const judge of [undefined, 'first', 'cheapest', last] as const)
        for (const concurrency of [undefined, 1, 2])
          for (const keep of [false, true])
            for (const abortAfter of [-1, 0, 1, 2, 3])
              yield { end: names.map((_, at) => ends[(bits >> at) & 1]!), order, judge, concurrency, keep, abortAfter }
}

async function explore({ end, order, judge, concurrency, keep, abortAfter }: Case): Promise<void> {
  const { host, agents } = fakeHost()
  const controller = new AbortController()
  const { signal } = controller
  const abort = (): void => (controller.abort(), void (abortedBy = agents.map((agent) => agent?.prompts ?? 0)))
  let abortedBy: number[] | undefined
  if (abortAfter === -1) abort()
  const group = parallel(host, entries, 'go', { judge, concurrency, keep, signal })
  /** Those that ended by themselves, in their order. */
  const ended: string[] = []
  for (let step = 0; step < 4; step += 1) {
    await settled()
    if (step === abortAfter && step < 3) abort()
    const next = order.find((index) => (agents[index]?.prompts ?? 0) > 0 && !agents[index]!.isSettled)
    if (next === undefined) break
    agents[next]!.settle(end[next] as 'stop')
    ended.push(names[next]!)
    // Between the last answer and the choice.
    if (abortAfter === 3 && ended.length === 3) abort()
  }
  const { winner, branches, notBegun = [], costUsd, usage } = await group
  const began = agents.filter((agent) => (agent?.prompts ?? 0) > 0) as FakeAgent[]
  const isAborted = abortedBy !== undefined && abortedBy.length >= 0
  // Who was asked is told of, in the order of the entries, and who was not is named.
  assert.equal(
    branches.map(({ agentId }) => agentId),
    names.filter((name) => began.some(({ id }) => id === name)),
  )
  assert.equal(
    notBegun.map((index) => names[index]),
    concurrency === undefined ? [] : names.filter((name) => !began.some(({ id }) => id === name)),
  )
  assert.is(
    costUsd,
    began.reduce((sum, { id }) => sum + costs[id]!, 0),
  )
  assert.is(usage.output, began.length)
  if (abortedBy !== undefined)
    assert.equal(
      agents.map((agent) => agent?.prompts ?? 0),
      abortedBy.concat(agents.slice(abortedBy.length).map(() => 0)),
    )
  const well = ended.filter((name) => end[names.indexOf(name)] === 'stop' && judgedWell(branches, name))
  const inOrder = names.filter((name) => well.includes(name))
  const cheapest = inOrder.toSorted((one, other) => costs[one]! - costs[other]!)[0]
  const expected =
    judge === 'first'
      ? well[0]
      : judge === undefined || isAborted
        ? undefined
        : judge === 'cheapest'
          ? cheapest
          : inOrder.at(-1)
  assert.is(winner?.agentId, expected)
  if (judge === 'first' && expected !== undefined && !isAborted) assert.equal(well, [expected])
  const kept = keep ? (judge === undefined ? inOrder : expected === undefined ? [] : [expected]) : []
  for (const agent of agents.filter((one) => one !== undefined)) {
    assert.is(agent.prompts <= 1, true)
    assert.is(agent.closes, kept.includes(agent.id) ? 0 : 1, `${agent.id} is closed`)
    assert.is(agent.lessons!.find(agent.id, 'x'), undefined)
    // The group is over: nobody is a member any more.
    assert.is(agent.lessons!.join(agent.id), agent.id)
  }
  if (concurrency !== undefined && abortAfter === -1) assert.equal(agents, [])
  assert.equal(getEventListeners(signal, 'abort'), [])
}

const judgedWell = (branches: readonly Branch[], name: string): boolean =>
  branches.some(({ agentId, result }) => agentId === name && result.stopReason === 'stop')

describe('a group, whatever happens in it', (it) => {
  for (const concurrency of [undefined, 1, 2])
    it(`closes each once, asks nobody once it is over, and chooses by its rule; concurrency ${concurrency}`, async () => {
      for (const each of cases()) {
        if (each.concurrency !== concurrency) continue
        try {
          await explore(each)
        } catch (thrown) {
          throw Object.assign(thrown as Error, { message: `${JSON.stringify(each)}: ${(thrown as Error).message}` })
        }
      }
    })

  it('closes whom it has when one cannot be spawned, and rejects with that, however many wait', async () => {
    for (const refused of names)
      for (const concurrency of [undefined, 1, 2, 3]) {
        const { host, agents } = fakeHost(refused)
        const group = parallel(host, entries, 'go', { concurrency }).catch((thrown: unknown) => thrown)
        for (let step = 0; step < 4; step += 1) {
          await settled()
          agents.find((agent) => agent?.isSettled === false && agent.prompts > 0)?.settle('stop')
        }
        assert.match(String(await group), `no ${refused}`)
        for (const agent of agents) assert.is(agent?.closes ?? 1, 1)
        // Those beside it are aborted, and nobody is asked any more.
        for (const agent of agents.filter((one) => one?.promptsAtAbort !== undefined))
          assert.is(agent!.prompts, agent!.promptsAtAbort, `${refused} of ${concurrency}: ${agent!.id}`)
        const beside = agents.filter((agent) => (agent?.aborts ?? 0) > 0).map((agent) => agent!.id)
        const at = names.indexOf(refused)
        if (concurrency === 1) assert.equal(beside, [])
        if (concurrency === 2) assert.equal(beside, at === 0 ? ['b'] : [names[at - 1]])
      }
  })

  it('asks nobody who was still being opened when one could not be', async () => {
    for (const concurrency of [undefined, 2, 3]) {
      const opened = Promise.withResolvers<void>()
      const { host, agents } = fakeHost('a', opened.promise)
      const group = parallel(host, entries, 'go', { concurrency }).catch((thrown: unknown) => thrown)
      await settled()
      opened.resolve()
      await settled()
      for (const agent of agents) agent?.settle('stop')
      assert.match(String(await group), 'no a')
      assert.equal(
        agents.flatMap((agent) => (agent === undefined ? [] : [[agent.prompts, agent.closes]])),
        Array.from({ length: (concurrency ?? 3) - 1 }, () => [0, 1]),
      )
    }
  })
})

describe('a pipeline, whatever happens in it', (it) => {
  it('has one alive at a time, closes each once, and stops where one does not end well', async () => {
    for (const [mapped, keep] of [
      [false, false],
      [true, false],
      [false, true],
    ] as const)
      for (let number = 0; number < 4 ** 3; number += 1)
        for (const abortAfter of [-1, 0, 1, 2, 9]) {
          const kinds: readonly End[] = ['stop', 'error', 'blank', 'refused']
          const end = names.map((_, at) => kinds[Math.floor(number / 4 ** at) % 4]!)
          const refused = names[end.indexOf('refused')]
          const { host, agents } = fakeHost(refused)
          const controller = new AbortController()
          const { signal } = controller
          if (abortAfter === -1) controller.abort()
          const mapper = (text: string): string => `then ${text}`
          const steps = mapped ? [entries[0]!, mapper, entries[1]!, mapper, entries[2]!] : entries
          const running = pipeline(host, steps, 'go', { signal, keep }).catch((thrown: unknown) => thrown as Error)
          for (let step = 0; step < 3; step += 1) {
            await settled()
            assert.ok(agents.filter((agent) => agent?.closes === 0).length <= 1)
            if (step === abortAfter) controller.abort()
            const at = agents.findIndex((agent) => agent?.isSettled === false && agent.prompts > 0)
            if (at < 0) break
            agents[at]!.settle(end[at] === 'error' ? 'error' : 'stop', end[at] === 'blank' ? ' ' : names[at]!)
          }
          const result = await running
          const isUsable = (at: number): boolean => end[at] === 'stop' || (end[at] === 'blank' && (mapped || at === 2))
          const wrongAt = end.findIndex((_, at) => !isUsable(at))
          const stopsAt = wrongAt < 0 ? 3 : wrongAt
          const label = JSON.stringify({ mapped, keep, end, abortAfter })
          const isAbortedFirst = abortAfter <= stopsAt - (end[stopsAt] === 'refused' ? 1 : 0) && abortAfter < 3
          assert.equal(getEventListeners(signal, 'abort'), [], label)
          const done = !(result instanceof Error) && result.stopped === null
          for (const [at, agent] of agents.entries())
            assert.is(agent?.closes, keep && done && at === 2 ? 0 : 1, `${label} ${at}`)
          if (isAbortedFirst) {
            assert.ok(!(result instanceof Error), label)
            assert.is(result.stopped?.stopReason, 'aborted', label)
            assert.is(result.stopped?.index, Math.max(0, abortAfter), label)
          } else if (end[stopsAt] === 'refused') assert.match((result as Error).message, `no ${refused}`)
          else {
            assert.ok(!(result instanceof Error), label)
            assert.is(result.stopped?.index ?? 3, stopsAt, label)
            assert.is(
              result.stopped?.stopReason,
              stopsAt === 3 ? undefined : end[stopsAt] === 'error' ? 'error' : 'stop',
            )
            assert.is(result.steps.length, Math.min(3, stopsAt + 1), label)
          }
        }
  })
})

describe('work on many items', (it) => {
  it('is done in turn, whatever ends, fails or is over when', async () => {
    type What = 'ends' | 'fails'
    for (const most of [1, 2, 3])
      for (let bits = 0; bits < 8; bits += 1)
        for (const overAfter of [0, 1, 2, 3])
          for (const order of [
            [0, 1, 2],
            [2, 1, 0],
          ]) {
            const what = names.map((_, at): What => ((bits >> at) & 1 ? 'fails' : 'ends'))
            const begun: PromiseWithResolvers<string>[] = []
            const notes: string[] = []
            let ended = 0
            const all = atMost(
              most,
              names,
              (name) => {
                const at = names.indexOf(name)
                begun[at] = Promise.withResolvers()
                notes.push(name)
                return begun[at].promise
              },
              { isOver: () => ended >= overAfter, failed: () => notes.push('failed') },
            ).catch((thrown: unknown) => `rejects: ${(thrown as Error).message}`)
            const expected: string[] = []
            const live = new Set<number>()
            const done: (string | undefined)[] = [undefined, undefined, undefined]
            let [next, failure] = [0, '']
            const fill = (): void => {
              if (failure !== '' || ended >= overAfter) return
              while (live.size < most && next < 3) {
                live.add(next)
                expected.push(names[next]!)
                next += 1
              }
            }
            fill()
            for (;;) {
              await settled()
              assert.equal(notes, expected)
              const at = order.find((index) => live.has(index))
              if (at === undefined) break
              live.delete(at)
              ended += 1
              if (what[at] === 'ends') begun[at]!.resolve((done[at] = `${names[at]} done`))
              else begun[at]!.reject(new Error(names[at]))
              if (what[at] === 'fails' && failure === '') {
                failure = names[at]!
                expected.push('failed')
              }
              fill()
            }
            assert.equal(await all, failure === '' ? done : `rejects: ${failure}`)
          }
  })
})
