import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import type { AgentAccess } from '../../bridge/src/server/agentAccess.ts'
import type { Endpoint } from '../../bridge/src/server/endpoint.ts'
import { scriptedModel } from '../../evaluation/src/testing/scriptedModel.ts'
import { openRun } from '../src/openRun.ts'
import { inputOf, serveFrontEnds } from './agUiHarness.ts'

describe('a run that two clients ask for at once', (it) => {
  it('is one run, which both are shown', async (context) => {
    let access: AgentAccess | undefined
    const look: Endpoint = {
      path: '/look',
      answer: (_, response, given) => {
        access = given
        response.end()
      },
    }
    const model = scriptedModel(['yes', 'no'])
    const { server } = await serveFrontEnds(context, [defineAgent({ name: 'a', model })], { endpoints: [look] })
    await fetch(`http://127.0.0.1:${server.port}/look`)
    const rules = { threads: new WeakMap(), definition: undefined }
    const first = await openRun(access!, inputOf(), rules)
    const again = inputOf({ runId: 'r2', messages: [{ id: 'm2', role: 'user', content: 'more' }] })
    const [one, other] = await Promise.all([openRun(access!, again, rules), openRun(access!, again, rules)])
    assert.is(one, other)
    assert.is.not(one, first)
    assert.is(await openRun(access!, again, rules), one)
  })
})
