import { runContext } from '../../src/actors/calls/runContext.ts'
import { runTool } from '../../src/actors/calls/runTool.ts'
import { streamReply } from '../../src/actors/turn/streamReply.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { actorPorts, runActor } from '../support/actorPorts.ts'
import { calls, tool } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

class Shop {
  #orders = 7
  get orders(): number {
    return this.#orders
  }
}

const turn = { agentId: 'a1', runId: 'a1/r2', turnIndex: 3 }

describe('what the application gives to a run', (it) => {
  it('reaches a tool as it is, with the run and the turn', async () => {
    const seen: unknown[] = []
    const look = tool('look', (_, { deps, runId, turnIndex, agent }) => {
      seen.push(deps, runId, turnIndex, agent.id)
      return (deps as Shop).orders
    })
    const ports = actorPorts({ tools: [look] })
    const shop = new Shop()
    ports.deps = shop
    const call = { ...turn, key: 'k1', callId: 'c0', name: 'look', input: {} }
    const { content } = await runActor(runTool, ports, call).output
    assert.equal(content, [{ type: 'text', text: '7' }])
    assert.is(seen[0], shop)
    assert.equal(seen.slice(1), ['a1/r2', 3, 'a1'])
  })

  it('reaches the predicate of an approval', async () => {
    const shop = new Shop()
    const seen: unknown[] = []
    const pay = tool('pay', () => '', {
      needsApproval: (_, { deps, runId, signal }) => {
        seen.push(deps, runId, signal.aborted)
        return (deps as Shop).orders > 6
      },
    })
    const ports = actorPorts({ tools: [pay], model: scriptedModel([calls('c', 'pay')]) })
    ports.deps = shop
    const reply = await runActor(streamReply, ports, { ...turn, key: 'k1', attempt: 0 }).output
    assert.ok(reply.ok && reply.calls[0]?.needsApproval)
    assert.is(seen[0], shop)
    assert.equal(seen.slice(1), ['a1/r2', false])
  })

  it('is read when the code starts', () => {
    const ports = actorPorts()
    ports.deps = 'first'
    const context: { readonly deps: unknown } = runContext(ports, turn, new AbortController())
    ports.deps = 'second'
    assert.is(context.deps, 'first')
  })
})
