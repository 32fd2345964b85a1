import { HttpAgent } from '@ag-ui/client'
import { EventType } from '@ag-ui/core'
import { z } from 'zod'
import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { defineTool } from '../../../../src/actors/tools/defineTool.ts'
import { agUi } from '../../../../src/agUi.ts'
import { connect } from '../../../bridge/src/client/connect.ts'
import { createRuntime } from '../../../bridge/src/createRuntime.ts'
import { restateDispatch } from '../../../../src/restate.ts'
import { scriptedModel } from '../../../evaluation/src/testing/scriptedModel.ts'
import { checkLog } from '../../../../test/support/journeyRules.ts'
import { ofType, say } from '../../../ag-ui/test/agUiHarness.ts'
import { assert } from '../../../../test/support/suite.ts'
import { recordsIn } from './recordsIn.ts'
import { describeWithEngine, type EngineContext } from './withEngine.ts'

/** A client of a server whose agents work where an engine has them. */
async function clientOf(
  { cleanup, engine, name, store }: EngineContext,
  definitions: Parameters<EngineContext['worker']>[0],
) {
  const runtime = await createRuntime({ store: store() })
  cleanup(() => runtime.close())
  const dispatch = await restateDispatch({ ingress: engine.ingress, name, store: store() })
  const server = await runtime.serve({ definitions, dispatch, endpoints: [agUi()] })
  const client = connect(server.url)
  cleanup(() => client.close())
  return { client, runtime, url: `http://127.0.0.1:${server.port}/ag-ui` }
}

describeWithEngine('a server that dispatches to an engine', (it) => {
  it('has agents begun and prompted in a worker, and its clients hear what they say', async (context) => {
    const coder = defineAgent({ name: 'coder', model: scriptedModel([{ text: 'One.' }, { text: 'Two.' }]) })
    const worker = await context.worker([coder])
    const { client, runtime } = await clientOf(context, [coder])
    const agent = await client.spawn('coder')
    assert.is((await agent.prompt('First?').result).text, 'One.')
    assert.is((await agent.prompt('Second?').result).text, 'Two.')
    assert.ok(worker.runtime.agent(agent.id))
    assert.equal(runtime.agents(), [])
    assert.equal(checkLog(await recordsIn(context.store(), agent.id), { isWhole: true }), [])
  })

  it('tells a client what the worker refuses', async (context) => {
    const coder = defineAgent({ name: 'coder', model: scriptedModel([{ text: 'One.' }]) })
    await context.worker([coder])
    const { client } = await clientOf(context, [coder])
    const agent = await client.spawn('coder')
    const undecided = await agent.decide('c1', 'approve').catch((thrown: unknown) => thrown)
    assert.match(String(undecided), /c1/)
  })

  it('has other protocols prompt and decide in a worker too, also what agents below ask', async (context) => {
    const careful = defineTool({
      name: 'careful',
      description: 'Asks first.',
      input: z.object({}),
      needsApproval: true,
      run: () => 'done',
    })
    const asks = { toolCalls: [{ name: 'careful', input: {} }] }
    const child = defineAgent({
      name: 'child',
      description: 'asks',
      model: scriptedModel([asks, 'asked']),
      tools: [careful],
    })
    const model = scriptedModel([asks, { toolCalls: [{ name: 'child', input: { task: 'go' } }] }, 'all done', 'more'])
    const coder = defineAgent({ name: 'coder', model, tools: [careful], agents: [child] })
    const worker = await context.worker([coder])
    const { runtime, url } = await clientOf(context, [coder])
    const agent = new HttpAgent({ url, threadId: `thread-${context.name}` })
    let events = await say(agent, 'do it')
    for (const _ of ['its own', 'that of the agent below']) {
      const [end] = ofType(events, EventType.RUN_FINISHED)
      assert.is(end?.outcome?.type, 'interrupt')
      const [interrupt] = end?.outcome?.type === 'interrupt' ? end.outcome.interrupts : []
      const resume = [{ interruptId: interrupt!.id, status: 'resolved', payload: { approved: true } }] as const
      events = await say(agent, undefined, { resume: [...resume] })
    }
    assert.equal(ofType(events, EventType.RUN_FINISHED)[0]?.result, { stopReason: 'stop', text: 'all done' })
    assert.match(JSON.stringify(await say(agent, 'and?')), '"text":"more"')
    assert.equal(runtime.agents(), [])
    assert.ok(worker.runtime.agent(agent.threadId))
    assert.equal(checkLog(await recordsIn(context.store(), agent.threadId), { isWhole: true }), [])
  })
})
