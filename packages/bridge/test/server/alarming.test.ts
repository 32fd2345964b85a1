import { defineAgent } from '../../../define/src/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { defineTool } from '../../../../src/actors/tools/defineTool.ts'
import type { AgentSummary } from '../../../wire/src/frames.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { z } from 'zod'
import { connect } from '../../src/client/connect.ts'
import { createRuntime } from '../../src/createRuntime.ts'

describe('what a client needs to know of an alarming cost', (it) => {
  it('is the threshold of the server, and the limits of a run while it is under way', async ({ cleanup }) => {
    const gate = Promise.withResolvers<string>()
    const wait = defineTool({ name: 'wait', description: 'Waits.', input: z.object({}), run: () => gate.promise })
    const waiting = defineAgent({
      name: 'waiting',
      tools: [wait],
      model: policyModel(({ messages }) =>
        messages.some(({ role }) => role === 'toolResult') ? 'Done.' : { toolCalls: [{ name: 'wait', input: {} }] },
      ),
    })
    const runtime = await createRuntime()
    cleanup(() => runtime.close())
    const server = await runtime.serve({ definitions: [waiting], inspector: { alertUsd: 5 } })
    const client = connect(server.url)
    cleanup(() => client.close())
    assert.is(client.alertUsd, undefined)
    await client.ready
    assert.is(client.alertUsd, 5)
    const limitsOf = async (id: string): Promise<AgentSummary['limits']> =>
      (await client.agents()).agents.find(({ agentId }) => agentId === id)?.limits
    const free = await runtime.spawn(waiting, { id: 'free' })
    const bound = await runtime.spawn(waiting, { id: 'bound' })
    assert.is(await limitsOf('free'), undefined)
    const runs = [free.prompt('Go'), bound.prompt('Go', { limits: { costUsd: 2 } })]
    assert.equal([await limitsOf('free'), await limitsOf('bound')], [{}, { costUsd: 2 }])
    gate.resolve('waited')
    await Promise.all(runs.map(({ result }) => result))
    assert.is(await limitsOf('bound'), undefined)
    await assert.rejects(() => runtime.serve({ inspector: { alertUsd: 0 } }), /alertUsd/)
  })
})
