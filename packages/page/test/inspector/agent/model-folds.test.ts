import {
  capturedRequests,
  captureRequest,
  type TurnRequest,
} from '../../../../../src/conversation/request/captureRequest.ts'
import { rebuildConversation } from '../../../../../src/conversation/tree/rebuildConversation.ts'
import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { defineTool } from '../../../../../src/actors/tools/defineTool.ts'
import type { LogRecord } from '../../../../../src/protocol/records.ts'
import { noticeOf } from '../../../src/inspector/model/conversation/graphNotices.ts'
import { LogFold, TimeTravel } from '../../../src/inspector/model/agent/logFold.ts'
import { SessionReader } from '../../../src/inspector/model/agent/sessionReader.ts'
import { createRuntime } from '../../../../bridge/src/createRuntime.ts'
import { loadSession } from '../../../../sessions/src/loadSession.ts'
import { sessionOf } from '../../../../sessions/src/sessionProjection.ts'
import { memoryStore } from '../../../../stores/src/memory/memoryStore.ts'
import { z } from 'zod'
import { assert, describe, type CaseContext } from '../../../../../test/support/suite.ts'

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  input: z.object({ at: z.number() }),
  effects: 'none',
  run: ({ at }) => {
    if (at === 2) throw new Error('too dark')
    return `seen ${at}`
  },
})

const model = policyModel(({ messages }) => {
  const replies = messages.filter(({ role }) => role === 'assistant').length
  const text = JSON.stringify(messages)
  if (text.includes('leave it') || replies > 4) return 'done'
  if (text.includes('too dark')) {
    const step = /\[(n\d+)\]/.exec(text)![1]
    return { toolCalls: [{ name: 'revert_to_state', input: { category: 'failure', step, summary: 'leave it' } }] }
  }
  return { toolCalls: [{ name: 'look', input: { at: replies } }] }
})

/** The log of an agent that looked, went back and ended. */
async function logOfALife({
  cleanup,
}: Pick<CaseContext, 'cleanup'>): Promise<{ records: LogRecord[]; states: Map<number, string> }> {
  const store = memoryStore()
  const runtime = await createRuntime({ store })
  cleanup(() => runtime.close())
  const definition = defineAgent({
    name: 'looker',
    model,
    tools: [look],
    braking: { revert: true },
    captureTurnRequests: true,
  })
  const agent = await runtime.spawn(definition, { id: 'looker' })
  const states = new Map<number, string>()
  agent.subscribe((event) => {
    if (event.type === 'state.changed') states.set(event.seq, event.state)
  })
  await agent.prompt('Look around.').result
  await agent.prompt('Again.').result
  await agent.stop()
  const records: LogRecord[] = []
  for await (const record of store.read('looker')) records.push(record)
  return { records, states }
}

const shape = (fold: LogFold): unknown => ({
  log: fold.conversation.log(),
  trunk: fold.conversation.trunk(),
  run: fold.run,
  last: fold.last,
  state: fold.state,
  spent: fold.spent,
  children: fold.children,
  requests: fold.requests.map(({ request, provenance, seq }) => ({ request, provenance, seq })),
})

describe('the fold of the inspector page', (it) => {
  it('says of a whole log what the library says', async ({ cleanup }) => {
    const { records } = await logOfALife({ cleanup })
    const fold = new LogFold()
    for (const record of records) fold.apply(record)
    const conversation = rebuildConversation(records)
    assert.ok(conversation.abandoned().length > 0, 'the life has an abandoned branch')
    assert.equal(fold.conversation.log(), conversation.log())
    const session = sessionOf(records)
    const run = session.runs.at(-1)!
    assert.equal([fold.last, fold.title], [session.last, session.title])
    assert.equal(new SessionReader(records).at(records.length), session)
    assert.equal(
      [fold.run?.id, fold.run?.startedAt, fold.run?.endedAt, fold.run?.costUsd, fold.run?.limits],
      [run.id, run.startedAt, run.endedAt, run.costUsd, run.limits],
    )
    assert.equal([fold.run?.turns, fold.run?.turnIndex], [run.turns.length, run.turns.at(-1)?.index])
    assert.equal(fold.spent.costUsd, session.costUsd)
    assert.equal(fold.spent.usage, session.usage)
    assert.is(fold.state, 'stopped')
  })

  it('puts together each captured request byte for byte, whichever is read first', async ({ cleanup }) => {
    const { records } = await logOfALife({ cleanup })
    const fold = new LogFold()
    for (const record of records) fold.apply(record)
    const expected = [...capturedRequests(records)]
    assert.ok(expected.length > 4)
    const inOrder = fold.requests.map(({ request }) => JSON.stringify(request))
    const backwards = fold.requests
      .toReversed()
      .map(({ request }) => JSON.stringify(request))
      .toReversed()
    assert.equal(
      inOrder,
      expected.map(({ request }) => JSON.stringify(request)),
    )
    assert.equal(backwards, inOrder)
    assert.equal(
      fold.requests.map(({ provenance }) => provenance),
      expected.map(({ provenance }) => provenance),
    )
  })

  it('puts together requests whose beginnings were cut at any place', () => {
    const lengths = [3, 6, 4, 9, 5, 5, 2, 8, 1, 7]
    const fold = new LogFold()
    const records: LogRecord[] = []
    let before: TurnRequest | undefined
    for (const [turnIndex, length] of lengths.entries()) {
      const messages = Array.from({ length }, (_, at) => {
        const old = before?.request.messages.slice(0, -1)[at]
        return old ?? ({ role: 'user', content: [{ type: 'text', text: `${turnIndex} ${at}` }] } as const)
      })
      const request = { system: `s${turnIndex >> 2}`, tools: [], settings: {}, messages }
      const now: TurnRequest = { model: 'm', request, provenance: messages.map(() => ({ type: 'unknown' }) as const) }
      const at = { v: 3, seq: turnIndex + 1, time: 0, runId: 'r', turnIndex, attempt: 1 } as const
      records.push({ ...at, type: 'turn.captured', ...captureRequest(before, now) })
      before = now
    }
    for (const record of records) fold.apply(record)
    const expected = [...capturedRequests(records)].map(({ request }) => JSON.stringify(request))
    assert.equal(
      fold.requests.map(({ request }) => JSON.stringify(request)),
      expected,
    )
  })

  it('shows any moment as a fold of the log up to there, in whatever order one goes', async ({ cleanup }) => {
    const { records } = await logOfALife({ cleanup })
    const travel = new TimeTravel(records)
    const moments = [5, 20, 12, 1, records.length, 3, records.length + 7]
    for (const seq of moments) {
      const fresh = new LogFold()
      for (const record of records.slice(0, seq)) fresh.apply(record)
      assert.equal(shape(travel.to(seq)), shape(fresh), `at ${seq}`)
    }
  })

  it('knows the state of the machine from the log wherever the log tells it', async ({ cleanup }) => {
    const { records, states } = await logOfALife({ cleanup })
    const fold = new LogFold()
    const wrong: string[] = []
    for (const record of records) {
      fold.apply(record)
      const live = states.get(record.seq)
      const isSame = live === undefined || live.split('.')[0] === fold.state.split('.')[0]
      // The log has no record of a drain that finds nothing to do.
      if (!isSame && !live.startsWith('draining') && !fold.state.startsWith('draining'))
        wrong.push(`${record.seq} ${record.type}: ${live}, not ${fold.state}`)
    }
    assert.ok(states.size > 10)
    assert.equal(wrong, [])
  })
})

describe('incognito children', (it) => {
  it('are no agents that the page could show, and are told of without a link', async ({ cleanup }) => {
    const store = memoryStore()
    const runtime = await createRuntime({ store })
    cleanup(() => runtime.close())
    const agent = await runtime.spawn(defineAgent({ name: 'looker', model, tools: [look] }), { id: 'looker' })
    const shown = await agent.spawn(defineAgent({ name: 'beside', model, tools: [look] }))
    await agent.spawn(defineAgent({ name: 'hidden', model, tools: [look] }), { incognito: true })
    await agent.durable()
    const fold = new LogFold()
    const notices: unknown[] = []
    for await (const record of store.read('looker')) {
      fold.apply(record)
      const notice = noticeOf(record)
      if (notice !== undefined) notices.push(notice)
    }
    assert.equal(fold.children, [shown.id])
    assert.equal(notices, [
      { tone: 'plain', text: 'Began beside beside it', link: shown.id },
      { tone: 'plain', text: 'Began hidden beside it, incognito' },
    ])
    assert.equal((await loadSession(store, 'looker')).children, [shown.id])
  })
})
