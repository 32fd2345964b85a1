import { createRuntime } from '../../bridge/src/createRuntime.ts'
import { fileStore } from '../../stores/src/fileStore.ts'
import { chatInTerminal, chatOverPipe } from '../src/chat/localChat.ts'
import { decide } from '../../policies/src/decide.ts'
import { policy } from '../../../src/actors/define/policy.ts'
import { when } from '../../policies/src/when.ts'
import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../models/src/policyModel.ts'
import { defineTool } from '../../../src/actors/tools/defineTool.ts'
import { textOf } from '../../../src/protocol/messages.ts'
import { z } from 'zod'
import { chatCommands, chatHelp, type ChatParts } from '../src/chat/slashCommands.ts'
import { folderPlace } from '../src/config/storePlace.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { serveAgents } from '../../bridge/test/server/bridgeHarness.ts'
import { storeFolder } from '../../stores/test/storeFolder.ts'
import { join } from 'node:path'
import { startCli } from './cliInProcess.ts'

/** Says how often it was asked; `lay` lays something down that can be taken away again. */
function layer() {
  const laid: string[] = []
  const definition = defineAgent({
    name: 'layer',
    model: policyModel(({ messages }) => {
      const last = messages.at(-1)!
      const said = textOf(last.content)
      if (last.role === 'toolResult') return 'It lies there.'
      if (said.includes('lay')) return { toolCalls: [{ name: 'lay', input: { what: 'egg' } }] }
      return `Heard ${messages.filter(({ role }) => role === 'user').length}.`
    }),
    models: { other: policyModel(() => 'I am another.') },
    braking: {
      revert: true,
      policies: [policy({ name: 'tidy', when: when.onRequest(), decide: decide.oldest({ downTo: 100_000 }) })],
    },
    tools: [
      defineTool({
        name: 'lay',
        description: 'Lays.',
        input: z.object({ what: z.string() }),
        effects: 'reversible',
        run: ({ what }) => {
          laid.push(what)
          return 'laid'
        },
        undo: () => void laid.pop(),
      }),
    ],
  })
  return { laid, definition }
}

async function attached(context: CaseContext, how: { readonly isTerminal?: boolean; readonly input?: string }) {
  const { laid, definition } = layer()
  const { runtime, server } = await serveAgents(context, [definition])
  const agent = await runtime.spawn(definition, { id: 'a1' })
  return { laid, agent, cli: startCli(context, ['attach', server.url, 'a1'], how) }
}

async function local(context: CaseContext) {
  const { laid, definition } = layer()
  const { dir } = await storeFolder(context)
  const store = fileStore(dir)
  const runtime = await createRuntime({ store })
  context.cleanup(() => runtime.close())
  const agent = await runtime.spawn(definition, { id: 'a1' })
  const prompt = (text: string) => agent.prompt(text)
  const place = { dir, place: folderPlace('.', dir), store, logFile: join(dir, 'a1.jsonl') }
  return { laid, agent, dir, session: { agent, runtime, definition, prompt, ...place, close: async () => {} } }
}

/** Both answer, whether there is something to do or not. */
async function compactsAndBrakes(cli: ReturnType<typeof startCli>): Promise<void> {
  for (let i = 0; i < 3; i += 1) {
    cli.send(`${'word '.repeat(40)}\r`)
    await cli.until('✓ done')
  }
  cli.send('/compact the words\r')
  await cli.until('not compacted: it could save')
  cli.send('/brake tidy\r')
  await cli.until('policy tidy changes nothing')
  cli.send('/brake none\r')
  await cli.until('has no policy "none"')
}

const chatOptions = { json: false, isPriced: false, modelId: 'policy' } as const

describe('the commands that a chat offers', (it) => {
  const names = (has: ChatParts): string[] => chatCommands(has).map(({ text }) => text.trim())

  it('are those that can work there, in the menu and in the help', () => {
    const missing: readonly string[] = ['fold', 'policies', 'models', 'sessions']
    const few = names((part) => !missing.includes(part))
    assert.equal(
      names(() => true).filter((name) => !few.includes(name)),
      ['/fold', '/brake', '/model', '/sessions'],
    )
    assert.equal(
      names(() => false),
      ['/tree', '/cost', '/help', '/quit'],
    )
    const help = chatHelp({ ctrlC: 'leave', isTyped: false, has: (part) => !missing.includes(part) })
    assert.match(help, '/undo')
    assert.not.match(help, /\/(?:fold|brake|model|sessions)/)
    // A form as wide as its column keeps a space before the words.
    assert.match(help, '/revert <step> [--undo] [why]  go back')
  })

  it('follow from the token of a client and from the policies of its agent', async (context) => {
    const { definition } = layer()
    const bare = defineAgent({ name: 'bare', model: policyModel(() => 'Yes.') })
    const tokens = {
      'looks-at-all-of-it': 'observe',
      'talks-and-no-more': 'talk',
      'drives-what-there-is': 'drive',
    } as const
    const { runtime, server } = await serveAgents(context, [definition, bare], { tokens })
    await runtime.spawn(definition, { id: 'a1' })
    await runtime.spawn(bare, { id: 'a2' })
    const offered = async (id: string, token: keyof typeof tokens): Promise<string> => {
      const cli = startCli(context, ['attach', server.url, id, '--token', token], { input: '/help\n' })
      assert.is(await cli.ended, 0)
      return cli.stdout
    }
    assert.match(await offered('a1', 'drives-what-there-is'), '/brake')
    const [plain, talking, looking] = await Promise.all([
      offered('a2', 'drives-what-there-is'),
      offered('a1', 'talks-and-no-more'),
      offered('a1', 'looks-at-all-of-it'),
    ])
    assert.match(plain, '/undo')
    assert.not.match(plain, '/brake')
    assert.match(talking, '/steer')
    assert.not.match(talking, '/undo')
    assert.not.match(looking, '/steer')
  })
})

describe('commands of a chat over the wire', (it) => {
  it('show a step whose results are not all there yet on the trunk', async (context) => {
    const { promise, resolve } = Promise.withResolvers<string>()
    const dig = defineTool({
      name: 'dig',
      description: 'Digs.',
      input: z.object({ place: z.string() }),
      run: ({ place }) => (place === 'far' ? promise : 'Found.'),
    })
    const definition = defineAgent({
      name: 'digger',
      model: policyModel(({ messages }) =>
        messages.at(-1)?.role === 'toolResult'
          ? 'Done.'
          : { toolCalls: ['near', 'far'].map((place) => ({ name: 'dig', input: { place } })) },
      ),
      tools: [dig],
    })
    const { runtime, server } = await serveAgents(context, [definition])
    await runtime.spawn(definition, { id: 'a1' })
    const cli = startCli(context, ['attach', server.url, 'a1'], { isTerminal: true })
    await cli.until('› ')
    cli.send('dig\r')
    await cli.until('✓ dig near')
    cli.send('/tree\r')
    await cli.until('● n2')
    resolve('Found.')
    await cli.until('✓ done')
  })

  it(
    'say the last prompt again, show the tree, and undo what was done since the last prompt',
    { timeoutMs: 10_000 },
    async (context) => {
      const { cli, laid, agent } = await attached(context, { isTerminal: true })
      await cli.until('› ')
      cli.send('/retry\r')
      await cli.until('(no messages yet)')
      cli.send('hello\r')
      await cli.until('Heard 1.')
      await cli.until('✓ done')
      cli.send('/retry\r')
      await cli.until('Heard 2.')
      await cli.until('✓ done')
      cli.send('lay\r')
      await cli.until('It lies there.')
      await cli.until('✓ done')
      assert.equal(laid, ['egg'])
      cli.send('/undo wrong nest\r')
      await cli.until('↩ back to n5')
      await cli.until('undone: ')
      assert.equal(laid, [])
      cli.send('/tree\r')
      await cli.until('n1 ')
      await cli.until('user: lay')
      await cli.until('lay egg')
      assert.is(agent.conversation.head, 5)
      cli.send('/undo\r')
      await cli.until('(nothing to undo since your last message;')
      cli.send('/cost\r')
      await cli.until('(4 turns · ')
      cli.send('/fork\r')
      await cli.until('(forked at n5: continue with: escapement attach ws://')
      cli.send('/fork n3\r')
      await cli.until('(forked at n3: continue with: escapement attach ws://')
      cli.send('/fork n99\r')
      await cli.until('has no node n99')
    },
  )

  it('compact, and ask a policy', { timeoutMs: 10_000 }, async (context) => {
    const { cli } = await attached(context, { isTerminal: true })
    await cli.until('› ')
    await compactsAndBrakes(cli)
  })

  it('use another model, tell one that is not known, and go back', async (context) => {
    const { cli } = await attached(context, { isTerminal: true })
    await cli.until('› ')
    cli.send('/model nothing\r')
    await cli.until('! ')
    await cli.until('other')
    cli.send('/model other\r')
    await cli.until('(used from the next turn on)')
    cli.send('hello\r')
    await cli.until('I am another.')
    await cli.until('✓ done')
    cli.send('/model reset\r')
    await cli.until('(used from the next turn on)')
    cli.send('hello\r')
    await cli.until('Heard 2.')
  })

  it('work in a pipe too', async (context) => {
    const { cli } = await attached(context, { input: 'hello\n/retry\n/cost\n/tree\n/fork x\n' })
    assert.is(await cli.ended, 0)
    assert.match(cli.stdout, /Heard 1\..*Heard 2\..*\(2 turns · .*user: hello.*\/fork needs a step/s)
  })
})

describe('commands of a chat in this process', (it) => {
  it('compact, and ask a policy', { timeoutMs: 10_000 }, async (context) => {
    const { session, dir } = await local(context)
    const cli = startCli(context, [], {
      cwd: dir,
      isTerminal: true,
      run: (_, host) => chatInTerminal(session, { ...chatOptions, host, begin: () => {}, onSessions: async () => {} }),
    })
    await cli.until('› ')
    await compactsAndBrakes(cli)
  })

  it('begin a session at a step, and at the newest', async (context) => {
    const { session, agent, dir } = await local(context)
    const cli = startCli(context, [], {
      cwd: dir,
      isTerminal: true,
      run: (_, host) => chatInTerminal(session, { ...chatOptions, host, begin: () => {}, onSessions: async () => {} }),
    })
    await cli.until('› ')
    cli.send('/fork\r')
    await cli.until('(no messages yet)')
    cli.send('hello\r')
    await cli.until('✓ done')
    cli.send('/fork n1\r')
    await cli.until('(forked at n1: continue with: escapement resume layer-')
    cli.send('/fork\r')
    await cli.until('(forked at n2: continue with: escapement resume layer-')
    cli.send('/fork n9\r')
    await cli.until('! ')
    assert.is((await fileStore(dir).list()).length, 3)
    assert.is(agent.conversation.head, 2)
  })

  it('work in a pipe too', async (context) => {
    const { session, dir } = await local(context)
    const cli = startCli(context, [], {
      cwd: dir,
      input: 'lay\n/undo\n/cost\n/fork\n',
      run: (_, host) => chatOverPipe(session, { ...chatOptions, host }),
    })
    assert.is(await cli.ended, 0)
    assert.match(cli.stdout, /undone: .*\(2 turns · .*\(forked at n1: /s)
  })
})
