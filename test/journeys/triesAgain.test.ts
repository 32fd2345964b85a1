import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { promptAgain } from '../../packages/sessions/src/promptAgain.ts'
import type { ModelRequest } from '../../src/protocol/ports/model.ts'
import { textOf } from '../../src/protocol/text/messageText.ts'
import { calls, startAgent, tool } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'
import { Lives } from '../support/lives.ts'

const refused = { error: { kind: 'auth', message: 'the key is wrong' } } as const
const image = { type: 'image', mimeType: 'image/png', data: 'AAAA' } as const
const text = (said: string) => ({ type: 'text', text: said }) as const

const usersOf = (request: ModelRequest | undefined): string[] =>
  (request?.messages ?? []).flatMap((message) => (message.role === 'user' ? [textOf(message.content)] : []))

describe('what an agent was asked last, said again', (it) => {
  it('is asked the same, with its images, and stands in the conversation twice', async (context) => {
    const { agent, script } = await startAgent(context, { replies: [refused, 'fine'] })
    assert.is(promptAgain(agent.conversation.trunk()), undefined)
    assert.is((await agent.prompt([text('What is it?'), image]).result).stopReason, 'error')
    const again = promptAgain(agent.conversation.trunk())!
    assert.equal(again, { content: [text('What is it?'), image] })
    const { stopReason } = await agent.prompt(again.content).result
    assert.is(stopReason, 'stop')
    assert.equal(
      usersOf(script.requests[1])
        .join(' ')
        .match(/What is it\?/g)!.length,
      2,
    )
    assert.equal(promptAgain(agent.conversation.trunk()), again)
  })

  it('keeps what it had done, and repeats neither its context nor what was said into it', async (context) => {
    const { agent, script } = await startAgent(context, {
      tools: [tool('look', () => (agent.steer('but quickly'), 'seen'))],
      replies: [calls('a', 'look'), refused, 'fine'],
    })
    await agent.prompt('Look', { context: [{ content: 'A memory' }] }).result
    const again = promptAgain(agent.conversation.trunk())!
    assert.equal(again, { content: [text('Look')] })
    await agent.prompt(again.content).result
    const last = script.requests.at(-1)!
    assert.ok(last.messages.some(({ role }) => role === 'toolResult'))
    assert.equal(
      usersOf(last)
        .join('\n')
        .match(/A memory|but quickly|Look/g),
      ['A memory', 'Look', 'but quickly', 'Look'],
    )
  })

  it('is found where another message than a prompt began it', async (context) => {
    const { agent } = await startAgent(context, { replies: ['fine', refused] })
    await agent.prompt('One').result
    const ended = new Promise<void>((resolve) => {
      agent.subscribe((event) => event.type === 'run.end' && resolve())
    })
    agent.steer('Two')
    await ended
    assert.equal(promptAgain(agent.conversation.trunk()), { content: [text('Two')] })
  })

  it('is the prompt of the run before, where that went on after a crash and failed then', async (context) => {
    const lives = new Lives(context)
    const never = defineAgent({ name: 'tester', model: policyModel(() => new Promise<never>(() => {})) })
    const first = await lives.begin(never, 'Do it')
    const logs = await first.logs()
    const failing = defineAgent({
      name: 'tester',
      retry: { attempts: 1 },
      model: policyModel(() => {
        throw new Error('gone')
      }),
    })
    const { agent } = await lives.resume(failing, logs, { continue: false })
    assert.is((await agent.resume().result).stopReason, 'error')
    assert.equal(promptAgain(agent.conversation.trunk()), { content: [text('Do it')] })
  })
})
