import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { allRights, type Right } from '../../../wire/src/rights.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { agUi } from '../../../ag-ui/src/agUi.ts'
import { aiSdkChat } from '../../../ai-sdk/src/aiSdkChat.ts'
import { serveAgents } from '../server/bridgeHarness.ts'

const echo = defineAgent({ name: 'echo', model: policyModel(() => 'yes') })
const token = 'token-of-somebody-who-asks'

const said = { id: 'm1', role: 'user' } as const
/** Ways to say the first words to an agent that is not there yet. */
const doors = {
  '/ag-ui': {
    threadId: 'new',
    runId: 'r1',
    messages: [{ ...said, content: 'go' }],
    tools: [],
    context: [],
  },
  '/api/chat': { id: 'new', messages: [{ ...said, parts: [{ type: 'text', text: 'go' }] }] },
}

describe('who lacks a right for the first words', (it) => {
  for (const [path, body] of Object.entries(doors))
    for (const missing of ['talk', 'spawn'] as const)
      it(`begins nothing at ${path}: ${missing}`, async (context) => {
        const may: readonly Right[] = allRights.filter((right) => right !== missing)
        const serving = await serveAgents(context, [echo], {
          tokens: { [token]: { may } },
          endpoints: [agUi(), aiSdkChat()],
        })
        const answer = await fetch(`http://127.0.0.1:${serving.server.port}${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
          body: JSON.stringify(body),
        })
        await answer.text()
        assert.is(answer.status, 403)
        assert.equal([serving.runtime.agents(), await serving.store.list()], [[], []])
      })
})
