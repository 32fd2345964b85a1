import * as fc from 'fast-check'
import { assembleRequest } from '../../src/conversation/request/assembleRequest.ts'
import { checkRequest } from '../../src/conversation/request/checkRequest.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { rebuildContext } from '../../src/machines/rebuildContext.ts'
import { toolCallsOf } from '../../src/protocol/messages.ts'
import { plannedInterpreter, xstateInterpreter } from '../../src/runtime/interpreter/interpreter.ts'
import { moves, policies } from '../support/arbitraries.ts'
import { someRuns } from '../support/seeds.ts'
import { assert, describe } from '../support/suite.ts'
import { LiveAgent } from './liveAgent.ts'
import { Wanderer } from './wanderer.ts'

const frame = { system: 'You test.', tools: [], settings: {} }
const hooked = policies.map((policy) => ({
  ...policy,
  flags: { ...policy.flags!, beforeTool: true, inputGuards: true, outputGuards: true } as const,
}))

describe('any road of an agent with hooks and guards', (it) => {
  it('ends at rest, with a log that folds to its context and valid requests', { timeoutMs: 30_000 }, () => {
    fc.assert(
      fc.property(hooked, moves({ maxLength: 40 }), (policy, road) => {
        const wanderer = new Wanderer(policy)
        const { driver } = wanderer
        driver.onStart = ({ src }) => {
          if (src !== 'streamReply') return
          const conversation = rebuildConversation(driver.records)
          assert.equal(checkRequest(assembleRequest(conversation, frame).request, { trunk: conversation.path }), [])
        }
        for (const move of road) wanderer.play(move)
        wanderer.rest()
        const { context, records, state } = driver
        assert.ok(['idle', 'paused', 'stopped'].includes(state), `it rests in ${state}`)
        assert.is(rebuildConversation(records).head, context.head)
        const folded = rebuildContext(records)
        assert.equal([folded.guardedTo, folded.turns], [context.guardedTo, context.turns])
        assert.is(folded.run?.refusal, undefined)
        const starts = driver.recordsOf('tool.start')
        assert.ok(
          starts.every(({ beforeTool }) => beforeTool === true),
          'a call started that nobody had looked at',
        )
        const made = records.flatMap((one) => (one.type === 'reply.end' ? toolCallsOf(one.message.content) : []))
        const open = context.calls.filter(({ status }) => status !== 'settled')
        assert.is(driver.recordsOf('tool.end').length + open.length, made.length)
        for (const { stopReason, refusal } of driver.recordsOf('run.end'))
          assert.is(refusal !== undefined, stopReason === 'refusal')
      }),
      { seed: 31, numRuns: someRuns(500) },
    )
  })

  for (const [how, interpreter] of Object.entries({ xstate: xstateInterpreter, plans: plannedInterpreter }))
    it(`is the same for live actors, by ${how}`, { timeoutMs: 30_000 }, async () => {
      await fc.assert(
        fc.asyncProperty(hooked, moves({ maxLength: 30 }), async (policy, road) => {
          const { driver, ...wanderer } = playedBy(policy, road)
          const live = new LiveAgent(policy, interpreter)
          try {
            for (const step of wanderer.steps) await live.step(step)
            assert.equal(
              live.records,
              driver.records.map(({ time: _, ...record }) => record),
            )
            assert.is(live.state, driver.state)
          } finally {
            live.close()
          }
        }),
        { seed: 32, numRuns: someRuns(60) },
      )
    })
})

function playedBy(policy: ConstructorParameters<typeof Wanderer>[0], road: Parameters<Wanderer['play']>[0][]) {
  const wanderer = new Wanderer(policy)
  for (const move of road) wanderer.play(move)
  return { driver: wanderer.driver, steps: wanderer.driver.steps }
}
