import type { HttpAgent } from '@ag-ui/client'
import { EventType } from '@ag-ui/core'
import { EventSchemas } from '@ag-ui/core/schemas'
import * as fc from 'fast-check'
import { defineAgent } from '../../../src/index.ts'
import { scriptedModel } from '../../../src/testing.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { inputOf, serveFrontEnds, type FrontEnd } from './agUiHarness.ts'
import { asks, calling, echo, fails, plainReplies } from '../../bridge/test/anyReplies.ts'

const reply = fc.oneof(...plainReplies, calling(['echo', 'fails', 'asks', 'worker', 'nothing']))

/** Behaviour of a client during a run: after this many events it leaves and comes back, or aborts. */
const whim = fc.record({
  type: fc.constantFrom('stay' as const, 'leave' as const, 'abort' as const),
  after: fc.integer({ min: 1, max: 14 }),
})

const journey = fc.record({
  replies: fc.array(reply, { minLength: 1, maxLength: 8 }),
  worker: fc.array(reply, { minLength: 0, maxLength: 4 }),
  answers: fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }),
  whims: fc.array(whim, { minLength: 7, maxLength: 7 }),
})

/** Which journeys are taken; `AG_UI_SEEDS="1 2 3" AG_UI_RUNS=1000` takes others, and more. */
const seeds = (process.env['AG_UI_SEEDS'] ?? '7 21 84').split(' ').map(Number)
const numRuns = Number(process.env['AG_UI_RUNS'] ?? 30)

let runs = 0

async function ask(
  front: FrontEnd,
  agent: HttpAgent,
  { type, after }: { readonly type: 'stay' | 'leave' | 'abort'; readonly after: number },
  parameters: NonNullable<Parameters<HttpAgent['runAgent']>[0]>,
): Promise<void> {
  const runId = `run-${(runs += 1)}`
  let seen = 0
  let isOver = false
  const aborting: Promise<unknown>[] = []
  await agent.runAgent(
    { ...parameters, runId },
    {
      onEvent: ({ event }) => {
        EventSchemas.parse(event)
        // A client that leaves says so to itself as a RUN_ERROR.
        isOver ||= event.type === EventType.RUN_FINISHED || (event.type === EventType.RUN_ERROR && type !== 'leave')
        if ((seen += 1) !== after || type === 'stay') return
        if (type === 'leave') return agent.abortRun()
        const input = inputOf({
          threadId: agent.threadId,
          runId: `${runId}-abort`,
          forwardedProps: { command: 'abort' },
        })
        aborting.push(front.post(input).then((response) => response.text()))
      },
    },
  )
  await Promise.all(aborting)
  if (isOver) return
  // It is there as if it had never been away.
  const back = front.agent(agent.threadId)
  back.setMessages(agent.messages)
  await back.runAgent({ ...parameters, runId })
  agent.setMessages(back.messages)
  agent.pendingInterrupts = back.pendingInterrupts
}

const shared = (agent: HttpAgent): object[] =>
  agent.messages
    .filter(({ role, subagentRunId }) => role !== 'reasoning' && subagentRunId == null)
    .map(({ id, role, content }) => ({ id, role, content: content ?? '' }))

describe('AG-UI event sequences', (it) => {
  for (const seed of seeds) {
    const title = `leave every official client with the conversation, whatever agent and client do (seed ${seed})`
    it(title, { timeoutMs: 20_000 + numRuns * 200 }, async () => {
      let number = 0
      await fc.assert(
        fc.asyncProperty(journey, async ({ replies, worker, answers, whims }) => {
          const undo: (() => unknown)[] = []
          const scope = { cleanup: (call: () => unknown) => void undo.push(call) }
          try {
            const tools = [echo, fails, asks]
            const settings = { tools, braking: { revert: true }, retry: { baseMs: 1 } }
            const child = defineAgent({
              name: 'worker',
              description: 'Works.',
              model: scriptedModel([...worker, ...Array.from({ length: 20 }, () => 'worked')]),
              ...settings,
            })
            const definition = defineAgent({
              name: 'a',
              model: scriptedModel([...replies, ...Array.from({ length: 20 }, () => 'last')]),
              agents: [child],
              ...settings,
            })
            const front = await serveFrontEnds(scope, [definition])
            const agent = front.agent(`t${(number += 1)}`)
            agent.addMessage({ id: 'begin', role: 'user', content: 'begin' })
            await ask(front, agent, whims[0]!, {})
            for (const [index, approved] of answers.entries()) {
              if (agent.pendingInterrupts.length === 0) break
              // What was aborted need not be answered.
              if (front.runtime.agent(agent.threadId)!.approvals().length === 0) break
              const resume = agent.pendingInterrupts.map(({ id }) => ({
                interruptId: id,
                status: 'resolved' as const,
                payload: { approved },
              }))
              await ask(front, agent, whims[index + 1]!, { resume })
            }
            await front.runtime.agent(agent.threadId)!.durable()
            const stranger = front.agent(agent.threadId)
            await stranger.runAgent({ runId: 'look', forwardedProps: { command: 'abort' } })
            // An abort of what waited for an answer has changed the conversation once more.
            const last = front.agent(agent.threadId)
            last.setMessages(agent.messages)
            await last.runAgent({ runId: 'look-too', forwardedProps: { command: 'abort' } })
            assert.equal(shared(last), shared(stranger))
            assert.is(agent.messages.find(({ role }) => role === 'user')!.content, 'begin')
          } finally {
            for (const call of undo.toReversed()) await call()
          }
        }),
        { seed, numRuns },
      )
    })
  }
})
