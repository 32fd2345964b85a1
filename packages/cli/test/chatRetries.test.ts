import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../models/src/policyModel.ts'
import { createRuntime } from '../../bridge/src/createRuntime.ts'
import { chatInTerminal } from '../src/chat/localChat.ts'
import { folderPlace } from '../src/config/storePlace.ts'
import { textOf } from '../../../src/protocol/text/messageText.ts'
import type { Agent } from '../../../src/runtime/agents/agent.ts'
import { fileStore } from '../../stores/src/fileStore.ts'
import { serveAgents } from '../../bridge/test/server/bridgeHarness.ts'
import { storeFolder } from '../../stores/test/storeFolder.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { join } from 'node:path'
import { startCli } from './cliInProcess.ts'

/** Fails as long as it is told to. */
function moody() {
  const mood = { isBad: true }
  const model = policyModel(({ messages }) => {
    if (mood.isBad) throw new Error('gone')
    return `Heard ${messages.filter(({ role }) => role === 'user').length}.`
  })
  return { mood, definition: defineAgent({ name: 'moody', retry: { attempts: 1 }, model }) }
}

const usersOf = (agent: Agent): string[] =>
  agent.conversation.trunk().flatMap(({ message }) => (message.role === 'user' ? [textOf(message.content)] : []))

/** A run fails, is retried, and its prompt is said again; what is on the trunk then. */
async function retries(cli: ReturnType<typeof startCli>, mood: { isBad: boolean }): Promise<void> {
  await cli.until('› ')
  cli.send('hello\r')
  await cli.until('gone')
  cli.send('/retry\r')
  await cli.until('gone')
  mood.isBad = false
  cli.send('/retry\r')
  await cli.until('Heard 1.')
  await cli.until('✓ done')
  cli.send('/retry\r')
  await cli.until('Heard 2.')
}

describe('/retry', (it) => {
  it(
    'goes on with a failed run of an agent on a server, and says the prompt again after one that did not',
    { timeoutMs: 10_000 },
    async (context) => {
      const { mood, definition } = moody()
      const { runtime, server } = await serveAgents(context, [definition])
      const agent = await runtime.spawn(definition, { id: 'a1' })
      await retries(startCli(context, ['attach', server.url, 'a1'], { isTerminal: true }), mood)
      assert.equal(usersOf(agent), ['hello', 'hello'])
    },
  )

  it('goes on with a run that had failed before the chat began', { timeoutMs: 10_000 }, async (context) => {
    const { mood, definition } = moody()
    const { runtime, server } = await serveAgents(context, [definition])
    const agent = await runtime.spawn(definition, { id: 'a1' })
    await agent.prompt('hello').result
    mood.isBad = false
    const cli = startCli(context, ['attach', server.url, 'a1'], { input: '/retry\n' })
    assert.is(await cli.ended, 0)
    assert.match(cli.stdout, /Heard 1\./)
    assert.equal(usersOf(agent), ['hello'])
  })

  it('goes on with a failed run of an agent in this process', { timeoutMs: 10_000 }, async (context) => {
    const { mood, definition } = moody()
    const { dir } = await storeFolder(context)
    const store = fileStore(dir)
    const runtime = await createRuntime({ store })
    context.cleanup(() => runtime.close())
    const agent = await runtime.spawn(definition, { id: 'a1' })
    const prompt = (text: string) => agent.prompt(text)
    const place = { dir, place: folderPlace('.', dir), store, logFile: join(dir, 'a1.jsonl') }
    const session = { agent, runtime, definition, prompt, ...place, close: async () => {} }
    const options = { json: false, isPriced: false, modelId: 'policy', begin: () => {}, onSessions: async () => {} }
    const run = startCli(context, [], {
      cwd: dir,
      isTerminal: true,
      run: (_, host) => chatInTerminal(session, { ...options, host }),
    })
    await retries(run, mood)
    assert.equal(usersOf(agent), ['hello', 'hello'])
  })
})
