import { createRuntime } from '../../bridge/src/createRuntime.ts'
import { scriptedModel } from '../../evaluation/src/testing/scriptedModel.ts'
import { defineAgent } from '../../define/src/defineAgent.ts'
import { calls, resultsOf } from '../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { openApiTools } from '../src/openApiTools.ts'
import { documentOf, startService } from './service.ts'

describe('operations of a document with more than requests list', (it) => {
  it('are found by words and called as themselves', async (context) => {
    const { url, asked } = await startService(context)
    const many = Object.fromEntries(
      Array.from({ length: 90 }, (_, n) => [`/p${n}`, { get: { operationId: `get_p${n}`, summary: `Place ${n}.` } }]),
    )
    const tools = [
      await openApiTools(
        documentOf(url, { '/pets': { get: { operationId: 'listPets', summary: 'All pets.' } }, ...many }),
      ),
    ]
    const model = scriptedModel([
      calls('a', ['find_tools', { query: 'pets' }]),
      calls('b', ['call_tool', { name: 'get_p7', input: {} }]),
      'done',
    ])
    const runtime = await createRuntime()
    context.cleanup(() => runtime.close())
    const agent = await runtime.spawn(defineAgent({ name: 'clerk', model, tools }))
    await agent.prompt('go').result
    assert.equal(
      model.requests[0]!.tools.map(({ name }) => name),
      ['find_tools', 'call_tool'],
    )
    assert.match(resultsOf(model.requests[2])[0]!, /All pets\. .*\nlistPets\(/)
    assert.equal(
      asked.map((each) => each.url),
      ['/p7'],
    )
  })
})
