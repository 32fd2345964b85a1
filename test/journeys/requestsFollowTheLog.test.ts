import * as fc from 'fast-check'
import { createRuntime, defineAgent, memoryStore, type LogRecord, type Store } from '../../src/index.ts'
import { capturedRequests } from '../../src/sessions.ts'
import { takenAfter, nothingTaken } from '../../src/conversation/tree/takenTools.ts'
import type { ToolSpec } from '../../src/protocol/ports/model.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { simulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { counter, tool } from '../support/agentHarness.ts'
import { scriptedSource } from '../support/scriptedSource.ts'
import { assert, describe } from '../support/suite.ts'
import { cutStore, recordsOf } from './cutLogs.ts'

const own = [tool('own', () => 'mine'), tool('other', () => 'mine too')]

const specOf = ({ name, description, inputSchema }: ToolSpec): ToolSpec => ({ name, description, inputSchema })

/** State of the source in a turn: its tools by name, with a description each. */
const said = fc.oneof(
  { weight: 1, arbitrary: fc.constant('down' as const) },
  {
    weight: 3,
    arbitrary: fc.dictionary(fc.constantFrom('a', 'b', 'c', 'own'), fc.constantFrom('1', '2'), { maxKeys: 4 }),
  },
)

const script = fc.array(fc.record({ said, isReloaded: fc.boolean() }), { minLength: 1, maxLength: 6 })

/** The tools of each turn as its log says: the agent's own, and what was taken by then. */
function toolsByTurn(records: readonly LogRecord[]): unknown[] {
  const turns: unknown[] = []
  let taken = nothingTaken
  for (const record of records) {
    taken = takenAfter(taken, record)
    if (record.type !== 'reply.end') continue
    turns.push([...own.map(specOf), ...[...taken.tools.values()].map(specOf)])
  }
  return turns
}

describe('requests with tools of a source', (it) => {
  it('are what the log says, over reloads too, and equal where nothing changed', { timeoutMs: 30_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(script, async (turns) => {
        let store: Store = memoryStore()
        const clock = simulatedClock()
        const source = scriptedSource('srv')
        const model = scriptedModel(turns.map((_, index) => `${index}`))
        const definition = defineAgent({ name: 'tester', model, tools: [source, ...own], captureTurnRequests: true })
        let runtime = await createRuntime({ store, clock, newId: counter('q') })
        let agent = await runtime.spawn(definition, { id: 'a1' })
        for (const { said: now, isReloaded } of turns) {
          if (isReloaded) {
            const past = await recordsOf(store, 'a1')
            await runtime.close()
            store = await cutStore('a1', past)
            runtime = await createRuntime({ store, clock, newId: counter('r') })
            agent = await runtime.resume('a1', definition)
          }
          if (now === 'down') source.goDown('down')
          else {
            source.comeUp()
            source.has(...Object.entries(now).map(([name, description]) => tool(name, () => '', { description })))
          }
          await agent.prompt('go').result
        }
        const records = await recordsOf(store, 'a1')
        await runtime.close()
        const asked = model.requests.map(({ tools }) => tools)
        assert.is(JSON.stringify(asked), JSON.stringify(toolsByTurn(records)))
        const captured = [...capturedRequests(records)].map(({ request }) => request.tools)
        assert.is(JSON.stringify(captured), JSON.stringify(asked))
        const changed = records.flatMap((record) => (record.type === 'tools.changed' ? [record.turnIndex] : []))
        for (const [turn, tools] of asked.entries()) {
          const before = asked[turn - 1] ?? own.map(specOf)
          const isSame = JSON.stringify(tools) === JSON.stringify(before)
          assert.is(isSame, !changed.includes(turn), `turn ${turn}`)
          if (turns[turn]!.said === 'down') assert.not.ok(changed.includes(turn), `nothing is recorded in ${turn}`)
        }
      }),
      { seed: 37, numRuns: 60 },
    )
  })
})
