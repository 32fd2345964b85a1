import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../models/src/policyModel.ts'
import { tool } from '../../../test/support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { serveAgents, type Serving } from '../../bridge/test/server/bridgeHarness.ts'
import { helpfulAgent } from './cliAgents.ts'
import { endedCli, startCli } from './cliInProcess.ts'

const isTerminal = true
const ctrlD = '\u0004'

/** A server with one agent, "a1". */
async function served(context: CaseContext) {
  const { definition } = helpfulAgent()
  const serving = await serveAgents(context, [definition])
  const agent = await serving.runtime.spawn(definition, { id: 'a1' })
  const { url } = serving.server
  return { ...serving, agent, url, attach: () => startCli(context, ['attach', url], { isTerminal }) }
}

/** An agent whose only run has failed. */
async function failing(runtime: Serving['runtime']): Promise<void> {
  const model = policyModel(() => {
    throw new Error('out of words')
  })
  const agent = await runtime.spawn(defineAgent({ name: 'poor', model, retry: { attempts: 1 } }), { id: 'b2' })
  await agent.prompt('Do it.').result
}

/** Calls the same tool until its limit. */
const circling = defineAgent({
  name: 'circling',
  model: policyModel(() => ({ toolCalls: [{ name: 'look', input: {} }] })),
  tools: [tool('look', () => 'nothing')],
  limits: { turns: 2 },
})

describe('escapement attach without an id', (it) => {
  it('lists the agents when there are several, as a person would look for them', async (context) => {
    const { url, runtime, agent } = await served(context)
    await agent.prompt('good day').result
    await failing(runtime)
    const { code, stderr } = await endedCli(context, ['attach', url])
    assert.is(code, 2)
    assert.match(
      stderr,
      /There are 2 agents\. Name one, like: escapement attach ws:\S+ b2\n {2}b2 {2}Do it\. · failed: \w+\n {2}a1 {2}good day · idle\n/,
    )
  })

  it('has a person at a terminal choose among several, and says why the chosen one stands still', async (context) => {
    const { runtime, agent, attach } = await served(context)
    await agent.prompt('good day').result
    await failing(runtime)
    const cli = attach()
    await cli.until('Attach to')
    await cli.until('› ● Do it.')
    await cli.until('failed: ')
    await cli.until('  ○ good day')
    cli.send('\r')
    await cli.until('escapement · b2 · ')
    await cli.until('(the last run failed: ')
    // Not the call that code makes.
    await cli.until('retry: /retry.')
    cli.send(ctrlD)
    assert.is(await cli.ended, 0)
    const none = attach()
    await none.until('Attach to')
    none.send('\u001B')
    assert.is(await none.ended, 0)
    assert.not.match(none.stdout, 'detached')
  })

  it('says on attaching that a run was paused, and why', async (context) => {
    const { server } = await serveAgents(context, [circling])
    const cli = startCli(context, ['attach', server.url, '--spawn', 'circling'], { input: 'go\n' })
    await cli.ended
    const again = startCli(context, ['attach', server.url], { isTerminal: true })
    await again.until('(paused: the limit of 2 turns is reached; /resume continues)')
  })
})
