import { z } from 'zod'
import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { defineTool } from '../../../../src/actors/tools/defineTool.ts'
import type { Right } from '../../../wire/src/rights.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { Heard, serveAgents } from './bridgeHarness.ts'

const [all, some] = ['token-of-one-who-sees-all', 'token-of-one-who-sees-words']
const secret = 'CANARY'

/** An agent whose call never ends, and whose arguments only some may see. */
const busy = defineAgent({
  name: 'busy',
  tools: [
    defineTool({
      name: 'hang',
      description: 'Hangs.',
      input: z.object({ what: z.string() }),
      run: () => new Promise(() => {}),
    }),
  ],
  model: policyModel(() => ({ toolCalls: [{ name: 'hang', input: { what: secret } }] })),
})
const failing = defineAgent({
  name: 'failing',
  model: policyModel(() => {
    throw new Error(secret)
  }),
  retry: { attempts: 1 },
})

/** Commands that list agents, or tell how one stands. */
const commands = [
  { type: 'agent.list' },
  { type: 'session.list' },
  { type: 'agent.snapshot', agentId: 'busy' },
  { type: 'agent.snapshot', agentId: 'failing' },
  { type: 'agent.watch' },
] as const

describe('what is listed', (it) => {
  for (const command of commands)
    it(`has the words of calls and errors for who sees all, and for nobody else: ${Object.values(command).join(' ')}`, async (context) => {
      const may: readonly Right[] = ['see.messages', 'talk', 'answer.own', 'approve']
      const serving = await serveAgents(context, [busy, failing], { tokens: { [all]: 'admin', [some]: { may } } })
      const agent = await serving.runtime.spawn(busy, { id: 'busy' })
      const heard = new Heard()
      agent.subscribe(heard.listen)
      agent.prompt('go')
      await heard.until(({ type }) => type === 'tool.start')
      await (await serving.runtime.spawn(failing, { id: 'failing' })).prompt('go').result
      const ask = async (token: string): Promise<string> => {
        const bare = await serving.dial({ hello: { token } })
        const answer = await bare.ask(command)
        assert.is(answer.type, 'ok')
        if (command.type === 'agent.watch') await bare.until(({ type }) => type === 'agents')
        return JSON.stringify(bare.frames)
      }
      const [seen, shown] = [await ask(all), await ask(some)]
      assert.ok(seen.includes(secret))
      for (const word of [secret, '"doing"', '"contextTokens"']) assert.not.ok(shown.includes(word), word)
      assert.ok(shown.includes('agentId' in command ? `"agentId":"${command.agentId}"` : '"agentId":"failing"'))
    })
})
