import { defineAgent } from '../../src/actors/defineAgent.ts'
import { connect } from '../../src/client/connect.ts'
import { createRuntime } from '../../src/createRuntime.ts'
import { restateDispatch } from '../../src/restate.ts'
import { scriptedModel } from '../../src/testing/scriptedModel.ts'
import { checkLog } from '../support/journeyRules.ts'
import { assert } from '../support/suite.ts'
import { recordsIn } from '../restate/recordsIn.ts'
import { describeWithEngine, type EngineContext } from './withEngine.ts'

/** A client of a server whose agents work where an engine has them. */
async function clientOf(
  { cleanup, engine, name, store }: EngineContext,
  definitions: Parameters<EngineContext['worker']>[0],
) {
  const runtime = await createRuntime({ store: store() })
  cleanup(() => runtime.close())
  const dispatch = await restateDispatch({ ingress: engine.ingress, name, store: store() })
  const server = await runtime.serve({ definitions, dispatch })
  const client = connect(server.url)
  cleanup(() => client.close())
  return { client, runtime }
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
})
