import { z } from 'zod'
import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../models/src/policyModel.ts'
import { defineTool } from '../../../src/actors/tools/defineTool.ts'
import { readAnswerLine, type Askable } from '../src/chat/askPerson.ts'
import { codeOf, runTask } from '../src/chat/runTask.ts'
import { createRuntime } from '../../bridge/src/createRuntime.ts'
import { textOf } from '../../../src/protocol/messages.ts'
import { serveAgents } from '../../bridge/test/server/bridgeHarness.ts'
import { tool } from '../../../test/support/agentHarness.ts'
import { folderPlace } from '../src/config/storePlace.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { startCli } from './cliInProcess.ts'

const down = '\u001B[B'

const schemas: { readonly [subject: string]: z.ZodType } = {
  yes: z.boolean(),
  colour: z.enum(['red', 'blue']),
  name: z.string().min(3),
  trip: z.object({
    to: z.string().refine((to) => to !== 'Atlantis', 'there is no such place'),
    seats: z.int().max(9).optional().describe('One for each of you'),
    by: z.enum(['train', 'ship']),
  }),
}

/** Asks about what it is told, or has a client find a place. */
const interviewer = () =>
  defineAgent({
    name: 'interviewer',
    model: policyModel(({ messages }) => {
      const last = messages.at(-1)!
      const said = textOf(last.content)
      if (last.role === 'toolResult') return `It was: ${said}.`
      return {
        toolCalls: [{ name: said === 'place' ? 'locate' : said === 'write' ? 'write' : 'ask', input: { said } }],
      }
    }),
    tools: [
      tool('ask', ({ said }: { said?: string }, { ask }) => ask(schemas[said!]!, `Which ${said}?`)),
      defineTool({ name: 'locate', description: 'Where.', input: z.looseObject({}) }),
      tool('write', () => 'written', { needsApproval: true }),
    ],
  })

async function attach(context: CaseContext, how: { readonly isTerminal?: boolean; readonly input?: string }) {
  const definition = interviewer()
  const { runtime, server } = await serveAgents(context, [definition])
  const agent = await runtime.spawn(definition, { id: 'a1' })
  return { agent, url: server.url, cli: startCli(context, ['attach', server.url, 'a1'], how) }
}

describe('a question at a terminal', (it) => {
  it('is asked by its schema until the answer fits', async (context) => {
    const { cli } = await attach(context, { isTerminal: true })
    const answer = async (subject: string, hint: string, line: string): Promise<void> => {
      await cli.until('› ')
      cli.send(`${subject}\r`)
      await cli.until(`? ask asks: Which ${subject}?`)
      await cli.until(hint)
      cli.send(`${line}\r`)
    }
    /** The line is shown again with every key, so that what came of the last answer is waited for first. */
    const again = async (why: string, hint: string, line: string): Promise<void> => {
      await cli.until(why)
      await cli.until(hint)
      cli.send(`${line}\r`)
    }
    await answer('yes', 'y  yes', 'perhaps')
    await again('(answer yes or no)', 'n  no', 'y')
    await cli.until('It was: true.')
    await answer('colour', '2  blue', '2')
    await cli.until('It was: blue.')
    await answer('colour', '2  blue', `${down}${down}`)
    await cli.until('It was: blue.')
    await answer('name', 'your answer', 'me')
    await again('(at least 3 characters)', 'your answer, at least 3 characters', 'Ann')
    await cli.until('It was: Ann.')
  })

  it('is a form for an object, with what the schema and the server say at each field', async (context) => {
    const { cli } = await attach(context, { isTerminal: true })
    await cli.until('› ')
    cli.send('trip\r')
    await cli.until('? ask asks: Which trip?')
    await cli.until('One for each of you · a whole number, at most 9')
    cli.send(`Atlantis${down}99${down}\u001B[C\r`)
    await cli.until('at most 9')
    cli.send('\u00152\r')
    await cli.until('there is no such place')
    // Its fields are as they were left; the cursor is in the one to correct.
    cli.send('\u0015Ulm\r')
    await cli.until('to: Ulm')
    await cli.until('seats: 2')
    await cli.until('It was: {"to":"Ulm","seats":2,"by":"train"}.')
  })

  it('is a form that can be declined, left for a command, and is withdrawn', async (context) => {
    const { cli, agent } = await attach(context, { isTerminal: true })
    await cli.until('› ')
    cli.send('trip\r')
    await cli.until('- no answer')
    cli.send('- ask Ann\r')
    await cli.until('no answer: ask Ann')
    await cli.until('Reason: ask Ann')
    await cli.until('› ')
    cli.send('trip\r')
    await cli.until('- no answer')
    cli.send('/cost\r')
    await cli.until('tokens')
    await cli.until('› to')
    agent.decide(agent.pending()[0]!.key, { value: { to: 'Bonn', by: 'ship' } })
    await cli.until('It was: {"to":"Bonn","by":"ship"}.')
    await cli.until('› ')
    cli.send('yes\r')
    await cli.until('Which yes?')
  })

  it('need not be answered, and a call for a client is given its result', async (context) => {
    const { cli } = await attach(context, { isTerminal: true })
    await cli.until('› ')
    cli.send('name\r')
    await cli.until('- for no answer')
    cli.send('- ask Ann\r')
    await cli.until('Reason: ask Ann')
    await cli.until('› ')
    cli.send('place\r')
    await cli.until('locate {"said":"place"} waits for a client')
    await cli.until('- for no answer')
    cli.send('in Ulm\r')
    await cli.until('It was: in Ulm.')
  })

  it('is withdrawn when somebody else answers', async (context) => {
    const { cli, agent } = await attach(context, { isTerminal: true })
    await cli.until('› ')
    cli.send('name\r')
    await cli.until('your answer')
    agent.decide(agent.pending()[0]!.key, { value: 'Bob' })
    await cli.until('It was: Bob.')
  })
})

describe('a question where nobody can be asked', (it) => {
  it('is denied in a chat over a pipe, which goes on', async (context) => {
    const definition = interviewer()
    const { runtime, server } = await serveAgents(context, [definition])
    await runtime.spawn(definition, { id: 'a1' })
    const cli = startCli(context, ['attach', server.url, 'a1'], { input: 'name\nplace\n' })
    await cli.ended
    assert.match(cli.stdout, /Nobody answers "Which name\?".*nobody can be asked/s)
    assert.match(cli.stdout, /It was: Denied/)
  })

  for (const yes of [false, true])
    it(`ends the work of a command with a line that says so, ${yes ? 'also with --yes' : 'without --yes'}`, async (context) => {
      const runtime = await createRuntime()
      context.cleanup(() => runtime.close())
      const definition = interviewer()
      const agent = await runtime.spawn(definition, { id: 'a1' })
      const place = { dir: '/x', place: folderPlace('.', '/x'), store: memoryStore(), logFile: '/x/a1.jsonl' }
      const prompt = (text: string) => agent.prompt(text)
      const session = { agent, runtime, definition, prompt, ...place, close: async () => {} }
      const cli = startCli(context, [], {
        run: async (_, host) => codeOf(await runTask(session, 'name', { host, json: false, isPriced: false, yes })),
      })
      assert.is(await cli.ended, 1)
      assert.match(cli.stdout, 'waits: ask asks: Which name?')
      assert.match(cli.stdout, 'resume')
      assert.equal(
        agent.pending().map(({ kind }) => kind),
        ['question'],
      )
    })

  it('is said by a command that sends, which waits for others', async (context) => {
    const definition = interviewer()
    const { runtime, server } = await serveAgents(context, [definition])
    const agent = await runtime.spawn(definition, { id: 'a1' })
    const cli = startCli(context, ['send', server.url, 'a1', 'name'])
    while (!cli.stderr.includes('ask asks: Which name?; nobody can be asked here')) await new Promise(setImmediate)
    agent.decide(agent.pending()[0]!.key, { value: 'Ann' })
    assert.is(await cli.ended, 0)
    assert.match(cli.stdout, 'It was: Ann.')
  })
})

describe('an answer in a line', (it) => {
  const call = { agentId: 'a', callId: 'c', key: 'k', name: 't', input: {} }
  const question = (schema: object): Askable => ({ kind: 'question', ...call, question: 'q', schema: { ...schema } })
  for (const [pending, said, read] of [
    [question({ type: 'boolean' }), 'y', { decision: { value: true } }],
    [question({ type: 'string' }), '-', { decision: 'deny' }],
    [question({ type: 'string' }), '- no idea', { decision: 'deny', reason: 'no idea' }],
    [question({ type: 'number' }), '-1', { decision: { value: -1 } }],
    [question({ type: 'string' }), ' ', { problem: 'no input' }],
    [question({ type: 'array' }), '[1', { problem: 'not JSON' }],
    [{ kind: 'call', ...call }, '', { decision: { result: '' } }],
  ] as const)
    it(`is read: ${pending.kind === 'question' ? JSON.stringify(pending.schema) : 'call'} ${JSON.stringify(said)}`, () => {
      assert.equal(readAnswerLine(pending, said), read)
    })
})
