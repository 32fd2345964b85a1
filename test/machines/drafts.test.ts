import type { AgentContext } from '../../src/machines/agentTypes.ts'
import type { Draft } from '../../src/machines/draft.ts'
import { dropSaid, enqueueMessage, takeLeftovers, takeMessages, withdrawPrompt } from '../../src/machines/queues.ts'
import {
  addUserMessage,
  beginAnswer,
  endRun,
  failuresOf,
  holdDeadline,
  pauseForBudget,
  releaseDeadline,
  retryTime,
  startRun,
} from '../../src/machines/runs.ts'
import { prepareTurn, takeTools } from '../../src/machines/turns.ts'
import { noUsage } from '../../src/protocol/messages.ts'
import { assert, describe } from '../support/suite.ts'

const content = (text: string) => [{ type: 'text', text }] as const
const message = (id: string, more: object = {}) => ({ id, content: content(id), ...more })
const report = { type: 'report' }

/** A draft over such a context, and what was written into it. */
function drafted(given: object) {
  const records: Record<string, unknown>[] = []
  const children: object[] = []
  const context = {
    agentId: 'a',
    runs: 1,
    turns: 3,
    now: 100,
    calls: [],
    run: null,
    ...given,
  } as unknown as AgentContext
  const draft = {
    context,
    children,
    at: { runId: 'a/r0', turnIndex: 2 },
    record: (body: Record<string, unknown>) => void records.push(body),
    set: (change: object) => void Object.assign(context, change),
    setRun: (change: object) => void Object.assign(context, { run: { ...context.run, ...change } }),
    place: () => ({ nodeId: 9, parentId: 8 }),
  }
  return { draft: draft as unknown as Draft, records, children, context }
}
const ids = (messages: readonly { readonly id: string }[]): string => messages.map(({ id }) => id).join()

describe('a queue of messages', (it) => {
  const queues = (more: object = {}) => ({
    steering: [message('s1'), message('s2', { provenance: report }), message('s3')],
    followUps: [message('f1'), message('f2', { provenance: report })],
    prompts: [message('p1'), message('p2')],
    policy: { queueMode: 'one' },
    ...more,
  })

  it('takes a message with all that goes with it and nothing else, last or first', () => {
    const { draft, records, context } = drafted(queues())
    const whole = message('p3', { provenance: report, context: [message('c')], limits: { turns: 1 } })
    enqueueMessage(draft, 'prompts', { ...whole, type: 'prompt' } as never)
    enqueueMessage(draft, 'prompts', message('p0'), true)
    assert.is(ids(context.prompts), 'p0,p1,p2,p3')
    const [last, first] = records
    assert.equal([last?.['added'], last?.['length'], last?.['first']], [whole, 3, undefined])
    assert.equal([first?.['added'], first?.['length'], first?.['first']], [message('p0'), 4, true])
  })

  it('gives one or all of its messages, as the agent has it', () => {
    for (const [queueMode, taken, left] of [
      ['one', 's1', 's2,s3'],
      ['all', 's1,s2,s3', ''],
    ] as const) {
      const { draft, records, context } = drafted(queues({ policy: { queueMode } }))
      const used: { readonly id: string }[] = []
      takeMessages(draft, 'steering', (one) => used.push(one))
      assert.equal([ids(used), ids(context.steering)], [taken, left])
      assert.equal(
        records.map(({ removed, why }) => [removed, why]),
        [[taken.split(','), 'taken']],
      )
    }
    const { draft, records } = drafted(queues({ steering: [] }))
    takeMessages(draft, 'steering', () => assert.unreachable())
    assert.equal(records, [])
  })

  it('that nobody takes any more gives all, steering first', () => {
    const { draft, context } = drafted(queues())
    const used: string[] = []
    takeLeftovers(draft, ({ id }, queue) => used.push(`${queue} ${id}`))
    assert.equal(used, ['steering s1', 'steering s2', 'steering s3', 'followUps f1', 'followUps f2'])
    assert.equal([context.steering.length, context.followUps.length, ids(context.prompts)], [0, 0, 'p1,p2'])
  })

  it('of a run that is aborted keeps the reports of agents', () => {
    const { draft, records, context } = drafted(queues())
    dropSaid(draft)
    assert.equal([ids(context.steering), ids(context.followUps), ids(context.prompts)], ['s2', 'f2', 'p1,p2'])
    assert.equal(
      records.map(({ queue, removed, why, length }) => [queue, removed, why, length]),
      [
        ['steering', ['s1', 's3'], 'dropped', 1],
        ['followUps', ['f1'], 'dropped', 1],
      ],
    )
    dropSaid(draft)
    assert.is(records.length, 2)
  })

  it('gives up the prompt that is withdrawn, and no other', () => {
    const { draft, records, context } = drafted(queues())
    withdrawPrompt(draft, { id: 'p1' })
    assert.is(ids(context.prompts), 'p2')
    withdrawPrompt(draft, { id: 'nobody' })
    assert.equal([ids(context.prompts), records.length], ['p2', 1])
  })
})

describe('the record of a run', (it) => {
  const before = {
    policy: { limits: { turns: 9 } },
    model: { id: 'm' },
    resuming: { id: 'x' },
    pausedRun: null,
    failedRun: null,
  }
  const started = (more: object, request: object) => {
    const { draft, records, context } = drafted({ ...before, givenLimits: null, ...more })
    startRun(draft, { requestId: 'r', ...request } as never)
    const [{ limits, given, resumedFrom }] = records as [Record<string, unknown>]
    return [limits, given, resumedFrom, context.resuming]
  }

  it('has the limits that were given, before those of the agent, and what it goes on with', () => {
    const prompt = { cause: 'prompt' }
    const resume = { cause: 'resume' }
    const given = { givenLimits: { tokens: 5 } }
    assert.equal(started({}, prompt), [{ turns: 9 }, undefined, undefined, null])
    assert.equal(started(given, { ...prompt, limits: { turns: 2 } }), [{ turns: 2 }, { turns: 2 }, undefined, null])
    assert.equal(started({ ...given, pausedRun: 'p', failedRun: 'f' }, resume), [
      { turns: 9, tokens: 5 },
      { tokens: 5 },
      'p',
      null,
    ])
    assert.equal(started({ ...given, failedRun: 'f' }, { ...resume, limits: { turns: 1 } }), [
      { turns: 1 },
      { tokens: 5 },
      'f',
      null,
    ])
    assert.equal(started({ pausedRun: 'p' }, prompt)[2], undefined)
  })

  it('has what was said after its context', () => {
    const { draft, records } = drafted({})
    addUserMessage(draft, message('m', { context: [{ content: content('c'), provenance: report }] }), 'steering')
    assert.equal(
      records.map(({ message: said }) => said),
      [
        { role: 'user', content: content('c'), source: 'steering', provenance: report },
        { role: 'user', content: content('m'), source: 'steering' },
      ],
    )
  })

  it('says at its end who aborted it, and stops its clock', () => {
    const run = { runId: 'a/r0', requestId: 'r', usage: noUsage, costUsd: 0, turns: 1, childTurns: 0, deadline: 7 }
    const ended = (stopReason: 'aborted' | 'stop', more: object) => {
      const { draft, records, children } = drafted({ run: { ...run, ...more }, isTurnOpen: false, task: null })
      endRun(draft, stopReason)
      const [{ requestId, childTurns }] = records as [Record<string, unknown>]
      return [requestId, childTurns, children]
    }
    const stops = [{ type: 'stop', id: 'deadline' }]
    assert.equal(ended('aborted', { abortedBy: 'q' }), ['q', undefined, stops])
    assert.equal(ended('stop', { abortedBy: 'q' }), [undefined, undefined, stops])
    assert.equal(ended('aborted', { abortedBy: null, childTurns: 2, deadline: null }), [undefined, 2, []])
  })
})

describe('the time of a run', (it) => {
  it('stands still while people are waited for', () => {
    const run = { runId: 'a/r0', deadline: 150, timers: 4, deadlinePassed: false }
    const { draft, children, context } = drafted({ run, heldAt: 0 })
    holdDeadline(draft)
    assert.equal([context.heldAt, context.run?.timers, children], [100, 5, [{ type: 'stop', id: 'deadline' }]])
    Object.assign(context, { now: 130 })
    releaseDeadline(draft)
    const input = { key: 'a/r0/deadline/5', until: 180 }
    assert.equal(
      [context.run?.deadline, children.at(-1)],
      [180, { type: 'start', src: 'sleep', id: 'deadline', input }],
    )
    for (const more of [{ deadline: null }, { deadlinePassed: true }]) {
      const none = drafted({ run: { ...run, ...more }, heldAt: 0 })
      releaseDeadline(none.draft)
      assert.equal([none.children, none.context.run?.deadline], [[], more.deadline === null ? null : 150])
    }
  })

  it('before the next attempt doubles with those that failed, and is what the provider asks for at least', () => {
    const policy = { baseMs: 100, maxMs: 1_000 } as never
    const at = (attempt: number, retryAfterMs?: number): number =>
      retryTime(policy, attempt, { at: 1_000, jitter: 1, failure: { retryAfterMs } } as never) - 1_000
    assert.ok(at(2) === 2 * at(1) && at(1) > 0)
    assert.equal([at(1, 5_000), at(1, 1)], [5_000, at(1)])
    assert.is(failuresOf({ attempt: 7, badAnswers: 2, fallbacks: 1 } as never), 4)
  })
})

describe('a run at a limit', (it) => {
  const run = {
    runId: 'a/r0',
    requestId: 'r',
    usage: { ...noUsage, output: 5 },
    costUsd: 2,
    turns: 1,
    childTurns: 0,
    timers: 4,
  }
  const rest = { isTurnOpen: false, task: null, owesReply: false, steering: [], followUps: [], policy: { flags: {} } }

  it('has a minute for its last answer where its time is up, and no other time where it is not', () => {
    for (const isLate of [true, false]) {
      const limits = { ms: 50, turns: 1, onLimit: 'answer' }
      const state = { ...run, limits: isLate ? { ms: 50 } : limits, deadline: 90, deadlinePassed: isLate }
      const { draft, children, context } = drafted({ ...rest, run: state, frame: { use: null, instructions: null } })
      beginAnswer(draft)
      const { answer, deadline, timers } = context.run!
      assert.equal([answer?.limit.limit, answer?.isAsked], [isLate ? 'ms' : 'turns', true])
      const until = 60_100
      const input = { key: 'a/r0/deadline/5', until }
      const clock = [
        { type: 'stop', id: 'deadline' },
        { type: 'start', src: 'sleep', id: 'deadline', input },
      ]
      assert.equal([deadline, timers, children], isLate ? [until, 5, clock] : [90, 4, []])
    }
  })

  it('that a request would exceed says how much of it was used', () => {
    for (const [limit, allowed, used] of [
      ['tokens', 9, 5],
      ['costUsd', 3, 2],
    ] as const) {
      const limits = { tokens: 9, costUsd: 3 }
      const { draft, records } = drafted({ ...rest, run: { ...run, limits, deadline: null, abortedBy: null } })
      pauseForBudget(draft, limit)
      assert.equal(
        records.map(({ reason }) => reason),
        [{ type: 'limit', limit, allowed, used }],
      )
    }
  })
})

describe('what a turn is asked with', (it) => {
  const prepared = (frame: object, run: object, decision?: object) => {
    const { draft, records } = drafted({ frame: { use: null, instructions: null, ...frame }, run })
    prepareTurn(draft, decision as never)
    const [found] = records
    if (found === undefined) return undefined
    const { type: _, runId: __, turnIndex: ___, ...rest } = found
    return rest
  }
  const use = { tools: ['u'], model: 'mu', instructions: 'iu' }
  const limit = { type: 'limit', limit: 'turns', allowed: 1, used: 1 }

  it('is what code decides, before what is in use, and no tools in a last answer', () => {
    const decision = { by: ['beforeTurn'], tools: ['d'], model: 'md', instructions: 'id' }
    for (const [frame, run, decided, expected] of [
      [{}, {}, undefined, undefined],
      [{ use }, {}, undefined, { by: ['use'], instructions: 'iu', tools: ['u'], model: 'mu' }],
      [{ use }, {}, decision, { by: ['use', 'beforeTurn'], instructions: 'id', tools: ['d'], model: 'md' }],
      [
        { use: { model: 'mu' } },
        { answer: { limit, isAsked: true } },
        undefined,
        { by: ['use', 'limit'], tools: [], model: 'mu', limit },
      ],
      [{}, { answer: { limit, isAsked: false } }, undefined, undefined],
      [{ use: { instructions: 'i' }, instructions: 'i' }, {}, undefined, { by: ['use'], sameInstructions: true }],
      [
        { instructions: 'i' },
        {},
        { by: ['instructions'], instructions: 'j' },
        { by: ['instructions'], instructions: 'j' },
      ],
    ] as const)
      assert.equal(prepared(frame, run, decided), expected)
  })

  it('has the tools of sources, whose change is recorded where there is one', () => {
    for (const change of [undefined, { added: [] }]) {
      const { draft, records, context } = drafted({})
      takeTools(draft, { policy: 'next', ...(change === undefined ? {} : { change }) } as never)
      assert.equal([records.length, context.policy], [change === undefined ? 0 : 1, 'next'])
    }
  })
})
