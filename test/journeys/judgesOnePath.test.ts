import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { defineTool } from '../../src/actors/tools/defineTool.ts'
import { workspaceTools } from '../../packages/tools/src/workspace/workspaceTools.ts'
import { wrongInName } from '../../packages/tools/src/files/wrongInName.ts'
import type { AgentDefinition } from '../../src/actors/define/agentDefinition.ts'
import type { Agent } from '../../src/runtime/agents/agent.ts'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { calls, resultsOf, startAgent } from '../support/agentHarness.ts'
import { ends, Lives, paused, types } from '../support/lives.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'
import { workspaceFolder } from '../../packages/tools/test/workspace/workspaceFolder.ts'

/** A folder with a secret, and links to it. */
function secretFolder(context: CaseContext): string {
  const { dir } = workspaceFolder(context, { '.env': 'SECRET=4711', 'src/a.ts': 'a', 'secrets/key': 'SECRET=12' })
  symlinkSync('.env', join(dir, 'notes.txt'))
  symlinkSync('secrets', join(dir, 'public'))
  return dir
}

const inputsOf = (agent: Agent): unknown[] => agent.pending().map(({ input }) => input)

const isSecret = (path: string): boolean => path.endsWith('.env') || path.startsWith('secrets/')

/** Spellings of the secret files; of a file that is named like a folder the tool says no itself. */
const spellings = (dir: string): readonly string[] => [
  '.env',
  './.env',
  './/.env',
  'src/../.env',
  'src/.././/.env',
  `${dir}/.env`,
  `${dir}//src/../.env`,
  'notes.txt',

  './notes.txt',
  'secrets/key',
  './secrets/key',
  'src/../secrets/key',
  'secrets//key',
  'public/key',
  './public/./key',
  '.env/',
  '.env/.',
  './/.env//',
  '.env/x/..',
  'src/../.env/',
  'notes.txt/',
  'public/key/.',
  '.env/x/../../.env',
]

describe('rules on a path', (it) => {
  it('see the file that the tool takes, however it is spelled', async (context) => {
    const dir = secretFolder(context)
    for (const path of spellings(dir)) {
      const asked: unknown[] = []
      const hooked: unknown[] = []
      const { agent, ofType, script } = await startAgent(context, {
        tools: workspaceTools(dir, {
          snapshots: true,
          needsApproval: {
            write_file: (input) => isSecret(input.path),
            edit_file: (input) => isSecret(input.path),
            delete_file: (input) => isSecret(input.path),
          },
        }),
        beforeTool: ({ name, input }) => {
          const given = (input as { path: string }).path
          hooked.push(given)
          return name === 'read_file' && isSecret(given) ? { deny: 'secrets stay where they are' } : undefined
        },
        replies: [
          calls(
            'c',
            ['read_file', { path }],
            ['write_file', { path, content: 'X=1' }],
            ['edit_file', { path, oldText: 'SECRET', newText: 'X' }],
            ['delete_file', { path }],
          ),
          'done',
        ],
      })
      agent.subscribe((event) => {
        if (event.type !== 'approval.requested') return
        asked.push((event.input as { path: string }).path)
        agent.decide(event.key, 'deny')
      })
      await agent.prompt('go').result
      const results = resultsOf(script.requests[1])
      const isFolderName = /\/\.{0,2}$/.test(path)
      const real = path.includes('key') ? 'secrets/key' : '.env'
      assert.equal(asked, isFolderName ? [] : [real, real, real], path)
      assert.equal(hooked, isFolderName ? [] : [real, real, real, real], path)
      for (const result of results) assert.not.match(result, /SECRET|Created|Overwrote|Edited|Deleted/)
      if (isFolderName) for (const result of results) assert.match(result, /folder/)
      assert.equal(
        ofType('tool.start').filter(({ name }) => name !== 'read_file' && !isFolderName),
        [],
        path,
      )
      assert.is(readFileSync(join(dir, '.env'), 'utf8'), 'SECRET=4711')
    }
  })

  it('are not passed by a link that comes after the decision', async (context) => {
    const dir = secretFolder(context)
    writeFileSync(join(dir, 'plain.txt'), 'plain')
    const { agent, script, untilState } = await startAgent(context, {
      tools: workspaceTools(dir, { needsApproval: { read_file: true } }),
      replies: [calls('c', ['read_file', { path: 'plain.txt' }]), 'done'],
    })
    const run = agent.prompt('go')
    await untilState('paused')
    rmSync(join(dir, 'plain.txt'))
    symlinkSync('.env', join(dir, 'plain.txt'))
    agent.decide('c0', 'approve')
    await run.result
    assert.match(resultsOf(script.requests[1])[0]!, /^Not run: .* call again/)
  })

  it('hold for what a person or a hook put in place of the path', async (context) => {
    const dir = secretFolder(context)
    const { agent, ofType, script, untilState } = await startAgent(context, {
      tools: workspaceTools(dir, { needsApproval: { read_file: true } }),
      beforeTool: () => ({ input: { path: './src/../src/a.ts' } }),
      replies: [calls('c', ['read_file', { path: 'x' }]), 'done'],
    })
    const run = agent.prompt('go')
    await untilState('paused')
    assert.equal(
      agent.pending().map(({ input }) => input),
      [{ path: 'src/a.ts' }],
    )
    agent.decide('c0', 'approve', { input: { path: './public/../notes.txt' } })
    await run.result
    assert.equal(
      ofType('approval.decided').map(({ input }) => input),
      [{ path: '.env' }],
    )
    assert.equal(
      ofType('tool.start').map(({ input }) => input),
      [{ path: '.env' }],
    )
    // The log has both: what the model said, and what was run.
    const said = script.requests[1]!.messages.flatMap(({ content }) => content).find(({ type }) => type === 'toolCall')
    assert.equal((said as { input: unknown }).input, { path: 'x' })
  })

  it('hold after a restart', async (context) => {
    const dir = secretFolder(context)
    const lives = new Lives(context)
    const requests: string[] = []
    const definition = (): AgentDefinition =>
      defineAgent({
        name: 'a',
        tools: workspaceTools(dir, { needsApproval: { read_file: ({ path }) => isSecret(path) } }),
        model: policyModel((request) => {
          requests.push(JSON.stringify(request.messages))
          return request.messages.length === 1
            ? { toolCalls: [{ name: 'read_file', input: { path: './notes.txt' } }] }
            : 'done'
        }),
      })
    const first = await lives.begin(definition(), 'go')
    await paused(first.agent)
    assert.equal(inputsOf(first.agent), [{ path: '.env' }])
    const records = (await first.logs())['a1']!
    // The process dies before it asked, and after.
    for (const end of [types(records).indexOf('reply.end') + 1, records.length]) {
      const next = await lives.resume(definition(), { a1: records.slice(0, end) }, { continue: true })
      await paused(next.agent)
      assert.equal(inputsOf(next.agent), [{ path: '.env' }])
      const ended = ends(next.agent)
      next.agent.decide(next.agent.pending()[0]!.key, 'approve')
      await ended
      assert.match(requests.at(-1)!, /4711/)
    }
    // What it leads to changes before it is decided about.
    const last = await lives.resume(definition(), { a1: records }, { continue: true })
    await paused(last.agent)
    rmSync(join(dir, '.env'))
    symlinkSync('secrets/key', join(dir, '.env'))
    const ended = ends(last.agent)
    last.agent.decide(last.agent.pending()[0]!.key, 'approve')
    await ended
    assert.match(requests.at(-1)!, /Not run: these arguments/)
  })
})

describe('names of new files', (it) => {
  it('have one spelling on every system', async (context) => {
    const dir = secretFolder(context)
    const { call } = workspaceFolder(context)
    for (const path of ['.env::$DATA', '.env:x:$DATA', 'secrets\\key', 'C:\\x', 'C:x', '.env.', '.env ', 'src./b.ts'])
      await call('write_file', { path, content: 'x' }).then(
        () => assert.unreachable(path),
        (thrown: unknown) => assert.match((thrown as Error).message, /path ".*": /),
      )
    assert.ok(!existsSync(join(dir, 'C:x')))
    for (const name of ['con', 'NUL.txt', 'aa:b', 'a?', 'lpt1']) {
      assert.type(wrongInName(name, 'win32'), 'string', name)
      assert.is(wrongInName(name, 'linux'), undefined, name)
    }
    for (const name of ['.env', 'console', 'a.b', 'nullable.ts']) assert.is(wrongInName(name, 'win32'), undefined, name)
  })

  it('are the composed form of those that look the same', async (context) => {
    const { dir, call } = workspaceFolder(context, { 'caf\u00E9.txt': 'here\n' })
    assert.is(await call('read_file', { path: 'cafe\u0301.txt' }), 'here\n')
    await call('write_file', { path: 'the\u0301/e\u0301.txt', content: 'x' })
    assert.ok(existsSync(join(dir, 'th\u00E9', '\u00E9.txt')))
    mkdirSync(join(dir, 'o\u0308'))
    writeFileSync(join(dir, 'o\u0308', 'x'), 'as it is\n')
    assert.is(await call('read_file', { path: 'o\u0308/x' }), 'as it is\n')
    await call('read_file', { path: 'x\uD800' }).then(
      () => assert.unreachable(),
      (thrown: unknown) => assert.match((thrown as Error).message, /half a character/),
    )
  })
})

describe('arguments', (it) => {
  it('are for hooks, approvals, people and records what the tool gets', async (context) => {
    const seen: { [by: string]: unknown } = {}
    const pay = defineTool({
      name: 'pay',
      description: 'Pays.',
      input: z.object({
        to: z.string().trim().toLowerCase(),
        eur: z.coerce.number(),
        isFast: z.boolean().default(true),
      }),
      needsApproval: (input) => {
        seen['approval'] = input
        return true
      },
      run: (input) => {
        seen['tool'] = input
        return 'paid'
      },
    })
    const { agent, ofType, untilState } = await startAgent(context, {
      tools: [pay],
      beforeTool: ({ input }) => {
        seen['hook'] = input
        return undefined
      },
      replies: [calls('c', ['pay', { to: ' Ada ', eur: '12.50', note: 'for whoever reads this' }]), 'done'],
    })
    const run = agent.prompt('go')
    await untilState('paused')
    seen['person'] = agent.pending()[0]!.input
    agent.decide('c0', 'approve')
    await run.result
    seen['record'] = ofType('tool.start')[0]!.input
    const paid = { to: 'ada', eur: 12.5, isFast: true }
    assert.equal(seen, { approval: paid, tool: paid, hook: paid, person: paid, record: paid })
  })

  it('stay as they are where the schema makes something else of them that it would not take', async (context) => {
    const ran: unknown[] = []
    const tool = defineTool({
      name: 'count',
      description: 'Counts.',
      input: z.object({
        text: z.string().transform((text) => text.length),
        list: z.string().transform((text) => text.split(',')),
      }),
      run: (input) => {
        ran.push(input)
        return 'ok'
      },
    })
    const { agent, ofType } = await startAgent(context, {
      tools: [tool],
      replies: [calls('c', ['count', { text: 'four', list: 'a,b' }]), 'done'],
    })
    await agent.prompt('go').result
    assert.equal(
      ofType('tool.start').map(({ input }) => input),
      [{ text: 'four', list: 'a,b' }],
    )
    assert.equal(ran, [{ text: 4, list: ['a', 'b'] }])
  })
})
